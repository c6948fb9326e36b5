import ChatModel
import JSON

enum ThreadOperation: String { case replyCreated = "reply_created", replyDeleted = "reply_deleted" }

extension ChatAccess {
    /// Creates the event `thread.updated` for a changed thread.
    ///
    /// - Parameters:
    ///   - root: the record of the thread's first message, with the changed thread.
    ///   - reply: the timetoken of the reply; zero when the change is not about one reply.
    ///   - action: the action that names the channel of the thread for PubNub clients; nil for any other change.
    ///   - snapshot: contains the records of ``threadAuthorKeys(_:replying:)``. For an author without a record, the
    ///     event contains only the id.
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

    /// The maximum number of reply authors in a `thread.updated` event.
    private static let authorsNamed = 5

    /// Returns the keys of the user records that the event `thread.updated` may contain: the authors of replies.
    ///
    /// - Parameter user: the author of a new reply; nil when there is no new reply.
    func threadAuthorKeys(_ root: MessageRecord, replying user: String? = nil) -> [RecordKey] {
        (root.thread.authors.map(\.user) + [user].compactMap(\.self)).map { UserRecord.key($0, in: app) }
    }
}

extension RecordSnapshot {
    /// Returns the record of a user. If the snapshot has no record of the user, returns a record with only the id.
    func user(_ id: String, in app: AppID) -> UserRecord {
        self[UserRecord.key(id, in: app)].flatMap { UserRecord($0) } ?? UserRecord(id: id)
    }
}
