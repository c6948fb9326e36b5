import ChatModel
import JSON

enum ThreadOperation: String { case replyCreated = "reply_created", replyDeleted = "reply_deleted" }

extension ChatAccess {
    /// The event of a changed thread.
    ///
    /// - Parameters:
    ///   - root: the message replied to, with its changed thread.
    ///   - reply: the reply; zero when only the thread's channel was named.
    ///   - action: the action that named the thread's channel, if that is the change.
    ///   - snapshot: contains the records of ``threadAuthorKeys(_:replying:)``; an author without a record appears with
    ///     the id only.
    func threadUpdated(
        _ root: MessageRecord, _ operation: ThreadOperation, _ reply: Timetoken, by user: String?,
        in channel: ChannelRecord?, _ snapshot: RecordSnapshot, action: MessageActionRecord? = nil
    ) -> EventDraft {
        let thread = root.thread
        return draft(
            "thread.updated", on: root.channel, kind: .action, by: user,
            audience: channel.audience(
                members: .joinedAndThreadButOrigin, inside: .participantsButOrigin,
                subjects: thread.listeners)
        ) { writer in
            writer.member("operation", operation.rawValue)
            writer.member("thread_of", root.timetoken.description)
            if reply != .zero { writer.member("message_timetoken", reply.description) }
            writer.member("thread", thread == MessageThread() ? .null : thread.body)
            writer.key("most_replies")
            writer.beginArray()
            for author in thread.authors.prefix(Self.authorsNamed) {
                snapshot.user(author.user, in: app).printReference(to: &writer)
            }
            writer.endArray()
            if let action {
                writer.key("action")
                action.show(to: &writer)
            }
            printChannel(channel, snapshot, to: &writer)
        }
    }

    /// The maximum number of authors of replies in the event.
    private static let authorsNamed = 5

    /// The keys of the users whom an event of the thread may contain.
    ///
    /// - Parameter user: the author of a new reply, if there is one.
    func threadAuthorKeys(_ root: MessageRecord, replying user: String? = nil) -> [RecordKey] {
        (root.thread.authors.map(\.user) + [user].compactMap(\.self)).map { UserRecord.key($0, in: app) }
    }
}

extension RecordSnapshot {
    /// The user's record; one with only the id when there is none or the decision did not request it.
    func user(_ id: String, in app: AppID) -> UserRecord {
        self[UserRecord.key(id, in: app)].flatMap { UserRecord($0) } ?? UserRecord(id: id)
    }
}
