import ChatModel
import JSON

enum ThreadOperation: String { case replyCreated = "reply_created", replyDeleted = "reply_deleted" }

extension ChatAccess {
    /// - Parameters:
    ///   - root: the message replied to, with its thread as it is now.
    ///   - reply: zero where only the thread's channel was made.
    ///   - action: the action that named the thread's channel, where that is what happened.
    func threadUpdated(
        _ root: MessageRecord, _ operation: ThreadOperation, _ reply: Timetoken, by user: String?,
        in channel: ChannelRecord?, _ situation: Situation, action: Timetoken = .zero
    ) -> EventDraft {
        let thread = root.thread
        return draft(
            "thread.updated", on: root.channel, kind: .action, by: user,
            audience: channel.audience(
                members: .joinedAndThreadButOrigin, inside: .participantsButOrigin,
                subjects: thread.listeners)
        ) { writer in
            writer.member("parent_message_timetoken", root.timetoken.description)
            if reply != .zero { writer.member("message_timetoken", reply.description) }
            writer.member("operation", operation.rawValue)
            if let name = thread.channel { writer.member("thread_channel_id", name) }
            if action != .zero { writer.member("action_timetoken", action.description) }
            writer.key("thread_info")
            writer.beginObject()
            writer.member("reply_count", thread.replies)
            writer.key("most_replies")
            writer.beginArray()
            for author in thread.authors.prefix(5) { UserRecord(id: author.user).printReference(to: &writer) }
            writer.endArray()
            writer.member("last_replied_at", thread.last.milliseconds)
            writer.member("updated_at", situation.next.milliseconds)
            writer.endObject()
        }
    }
}
