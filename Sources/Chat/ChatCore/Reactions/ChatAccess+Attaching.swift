import ChatModel
import JSON

extension ChatAccess {
    /// Adds an action to a message, unless the same action exists.
    ///
    /// - Parameter evenDeleted: true to accept the action even when the message is marked as deleted.
    /// - Returns: the action with its timetoken, and true when it is new.
    func attach(
        _ action: MessageActionRecord, _ context: MessageContext, evenDeleted: Bool = false
    ) async throws(ChatError) -> (action: MessageActionRecord, isNew: Bool) {
        let key = action.key(in: app)
        let limits = limits
        return try await decide(context, [key] + (try await shownKeys(action, context))) { snapshot throws(ChatError) in
            var record = evenDeleted ? context.record(snapshot) : try context.present(snapshot)
            if let known = snapshot[key].flatMap({ MessageActionRecord($0) }) { return Decision((known, false)) }
            var action = action
            action.timetoken = snapshot.next
            try record.apply(action, within: limits)
            return Decision(
                (action, true), changes: [RecordChange(key, body: action.body), record.change(in: self.app)],
                events: [self.attached(action, true, record, context, snapshot)])
        }.value
    }

    /// Removes an action from a message. Allowed for the action's user and for operators of the channel.
    ///
    /// - Returns: true when the action existed.
    func detach(_ action: MessageActionRecord, _ context: MessageContext) async throws(ChatError) -> Bool {
        let key = action.key(in: app)
        return try await decide(context, [key] + (try await shownKeys(action, context))) { snapshot throws(ChatError) in
            try context.actor.require(over: action.user, in: context.channelRecord(snapshot))
            guard let known = snapshot[key].flatMap({ MessageActionRecord($0) }) else { return Decision(false) }
            var record = context.record(snapshot)
            record.remove(known)
            return Decision(
                true, changes: [RecordChange(key, body: nil), record.change(in: self.app)],
                events: [self.attached(known, false, record, context, snapshot)])
        }.value
    }

    /// Returns the keys of the user records that the event about the action contains.
    private func shownKeys(
        _ action: MessageActionRecord, _ context: MessageContext
    ) async throws(ChatError) -> [RecordKey] {
        guard action.type == BuiltInAction.threadRootId.rawValue else {
            return [UserRecord.key(action.user, in: app)]
        }
        return try await directory.read(context.key).flatMap { MessageRecord($0) }.map { threadAuthorKeys($0) } ?? []
    }

    /// Creates the event of an added or removed action.
    private func attached(
        _ action: MessageActionRecord, _ isThere: Bool, _ record: MessageRecord, _ context: MessageContext,
        _ snapshot: RecordSnapshot
    ) -> EventDraft {
        let channel = context.channelRecord(snapshot)
        if action.type == BuiltInAction.threadRootId.rawValue {
            return threadUpdated(
                record, isThere ? .replyCreated : .replyDeleted, .zero, by: context.actor.user, in: channel, snapshot,
                action: action)
        }
        var event = draft(
            action.eventType(isThere), on: context.channel, kind: .action, by: context.actor.user,
            audience: channel.audience(members: .joined, inside: .participants)
        ) { writer in
            writer.key(action.isReaction ? "reaction" : "action")
            action.show(to: &writer)
            writer.key("user")
            snapshot.user(action.user, in: app).printReference(to: &writer)
            if action.isReaction {
                writer.member("reaction_count", record.reactions[ExactText(action.value)] ?? 0)
            }
            writer.member("message_etag", snapshot.etag)
            printChannel(channel, snapshot, to: &writer)
        }
        event.thread = record.replied
        return event
    }
}

extension MessageActionRecord {
    var isReaction: Bool { type == BuiltInAction.reactions.rawValue }

    /// Returns the type of the event when the action is added (`isThere`) or removed.
    func eventType(_ isThere: Bool) -> String {
        (isReaction ? "reaction." : "action.") + (isThere ? "added" : "removed")
    }
}

extension MessageRecord {
    /// Adds an action to the counts of the message.
    ///
    /// - Throws: `.tooMany` when the message has the maximum number of actions or different reactions; `.conflict` when
    ///   the action names another channel for the thread.
    mutating func apply(_ action: MessageActionRecord, within limits: Limits) throws(ChatError) {
        if action.isReaction {
            reactions[ExactText(action.value), default: 0] += 1
            guard reactions.count <= limits.reactionsPerMessage else {
                throw .over(
                    .tooMany,
                    "the message has reached the limit of \(limits.reactionsPerMessage) different reactions; remove a reaction first",
                    name: "limit",
                    limit: limits.reactionsPerMessage)
            }
            return
        }
        if action.type == BuiltInAction.threadRootId.rawValue { try nameThread(action.value) }
        actions += 1
        guard actions <= limits.actionsPerMessage else {
            throw .over(
                .tooMany,
                "the message has reached the limit of \(limits.actionsPerMessage) actions; remove an action first",
                name: "limit",
                limit: limits.actionsPerMessage)
        }
    }

    /// Sets the channel of the thread. Several actions may name the same channel, because several first replies may be
    /// sent at the same time. The thread cannot move to another channel.
    ///
    /// - Throws: `.conflict` when the thread already has another channel.
    private mutating func nameThread(_ channel: String) throws(ChatError) {
        if threadNamings > 0, let known = thread.channel, ExactText(known) != ExactText(channel) {
            throw ChatError(.conflict, "the replies to this message are already in channel '\(known)'")
        }
        thread.channel = channel
        threadNamings += 1
    }

    /// Subtracts an action from the counts of the message.
    fileprivate mutating func remove(_ action: MessageActionRecord) {
        guard action.isReaction else {
            actions = max(0, actions - 1)
            guard action.type == BuiltInAction.threadRootId.rawValue else { return }
            threadNamings = max(0, threadNamings - 1)
            if threadNamings == 0 { thread.channel = nil }
            return
        }
        let left = (reactions[ExactText(action.value)] ?? 1) - 1
        reactions[ExactText(action.value)] = left > 0 ? left : nil
    }
}
