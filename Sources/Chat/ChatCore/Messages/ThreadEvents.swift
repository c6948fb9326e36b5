import ChatModel
import JSON

enum ThreadOperation: String { case replyCreated = "reply_created", replyDeleted = "reply_deleted" }

extension ChatAccess {
    /// - Parameters:
    ///   - root: the message replied to, with its thread as it is now.
    ///   - reply: zero where only the thread's channel was made.
    ///   - action: the action that named the thread's channel, where that is what happened.
    ///   - situation: holds the records of ``threadAuthorKeys(_:replying:)``; an author without one is named by the id alone.
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

    /// How many authors of replies the event names.
    private static let authorsNamed = 5

    /// The records of those whom an event of the thread may name.
    ///
    /// - Parameter user: who adds a reply, if that is what happens.
    func threadAuthorKeys(_ root: MessageRecord, replying user: String? = nil) -> [RecordKey] {
        (root.thread.authors.map(\.user) + [user].compactMap(\.self)).map { UserRecord.key($0, in: app) }
    }
}

extension RecordSnapshot {
    /// The user's record; one with the id alone where there is none, or where the decision does not look at it.
    func user(_ id: String, in app: AppID) -> UserRecord {
        self[UserRecord.key(id, in: app)].flatMap { UserRecord($0) } ?? UserRecord(id: id)
    }
}
