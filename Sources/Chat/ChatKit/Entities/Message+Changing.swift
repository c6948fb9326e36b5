public import ChatModel

extension Message {
    /// Replaces the text; for its author and for those who moderate the channel.
    public func editText(_ newText: String) async throws(ChatError) -> Message {
        Message(chat: chat, try await chat.backend.edit(timetoken, in: channelId, .text(newText)))
    }

    /// Replaces the whole payload; for whom ``editText(_:)`` is.
    public func edit(content: any JSONCodable) async throws(ChatError) -> Message {
        Message(chat: chat, try await chat.backend.edit(timetoken, in: channelId, .all(content.json)))
    }

    /// Deletes the message; for its author and for those who moderate the channel.
    ///
    /// - Parameter soft: marks it as deleted and keeps that there was one; otherwise it is gone from history.
    public func delete(soft: Bool = false) async throws(ChatError) {
        try await chat.backend.delete(timetoken, in: channelId, isHard: !soft)
    }

    /// Reacts with a value, or takes the user's reaction back when it is there. Returns the message as it is then.
    @discardableResult
    public func toggleReaction(_ reaction: String) async throws(ChatError) -> Message {
        if try await hasUserReaction(reaction) {
            try await chat.backend.takeBack(reaction, from: timetoken, in: channelId)
        } else {
            try await chat.backend.react(reaction, to: timetoken, in: channelId)
        }
        return try await refreshed()
    }

    /// Whether the user of this chat has reacted with a value.
    public func hasUserReaction(_ reaction: String) async throws(ChatError) -> Bool {
        var cursor: String?
        repeat {
            let page = try await chat.backend.reactions(to: timetoken, in: channelId, cursor: cursor)
            if page.items.contains(where: { $0.value == reaction && $0.userId == chat.userId }) { return true }
            cursor = page.hasMore ? page.cursor : nil
        } while cursor != nil
        return false
    }

    /// All reactions with their users, read a page at a time.
    public func getReactions() async throws(ChatError) -> [Reaction] {
        var reactions: [Reaction] = []
        var cursor: String?
        repeat {
            let page = try await chat.backend.reactions(to: timetoken, in: channelId, cursor: cursor)
            reactions += page.items
            cursor = page.hasMore ? page.cursor : nil
        } while cursor != nil
        return reactions
    }

    /// Shows the message first in its channel, in the place of the one that was; for those who moderate it.
    public func pin() async throws(ChatError) { try await chat.backend.pin(timetoken, in: channelId) }

    /// Ends that.
    public func unpin() async throws(ChatError) { try await chat.backend.unpin(timetoken, in: channelId) }

    /// Sends the message again in another channel; its `meta` says where it came from.
    @discardableResult
    public func forward(to channelId: String) async throws(ChatError) -> Timetoken {
        try await chat.backend.forward(timetoken, in: self.channelId, to: channelId)
    }

    /// Tells those who moderate the channel.
    public func report(reason: String) async throws(ChatError) {
        try await chat.backend.report(timetoken, in: channelId, reason: reason)
    }

    /// The replies to this message. There is nothing to be made: a thread begins with its first reply.
    public func createThread() -> ThreadChannel { ThreadChannel(parentMessage: self) }

    func refreshed() async throws(ChatError) -> Message {
        guard let state = try await chat.backend.message(timetoken, in: channelId) else {
            throw ChatError(.gone, "the message is deleted")
        }
        return Message(chat: chat, state)
    }
}

/// The replies to a message. They are messages of its channel.
public struct ThreadChannel: Sendable {
    public let parentMessage: Message

    /// Replies with a text; see ``Channel/sendText(_:meta:usersToMention:quoting:storeInHistory:ttlHours:)``.
    @discardableResult
    public func sendText(
        _ text: String, meta: [String: any JSONCodable]? = nil, usersToMention: [String] = []
    ) async throws(ChatError) -> Timetoken {
        var ties = MessageReferences()
        ties.threadOf = parentMessage.timetoken
        ties.mentions = usersToMention
        var posting = OutgoingMessage(text: text, on: parentMessage.channelId)
        posting.meta = meta?.object.text
        return try await parentMessage.chat.backend.send(posting, ties)
    }

    /// The replies, oldest first, a page at a time.
    public func getHistory(
        limit: Int = 50, page: String? = nil
    ) async throws(ChatError) -> (messages: [Message], page: String?) {
        let chat = parentMessage.chat
        let found = try await chat.backend.replies(
            to: parentMessage.timetoken, in: parentMessage.channelId, limit: limit, cursor: page)
        return (found.items.map { Message(chat: chat, $0) }, found.cursor)
    }
}

extension Message {
    /// Attaches something of the app's own to the message: a type and a value. Reactions have a call of their own.
    ///
    /// - Throws: `.conflict` when the user has attached the same before.
    @discardableResult
    public func addAction(type: String, value: String) async throws(ChatError) -> MessageAction {
        try await chat.backend.addAction(type, value, to: timetoken, in: channelId)
    }

    /// Takes an action back; for whose it is and for those who moderate the channel.
    public func removeAction(_ action: MessageAction) async throws(ChatError) {
        try await chat.backend.removeAction(action.timetoken, from: timetoken, in: channelId)
    }

    /// What is attached to the message, reactions too; the first 250.
    public func getActions() async throws(ChatError) -> [MessageAction] {
        try await chat.backend.actions(of: timetoken, in: channelId)
    }

    /// Takes a soft deletion back: the message says again what it said, with its replies and reactions.
    ///
    /// - Throws: `.conflict` when it is not deleted; `.notFound` when it is gone from history.
    public func restore() async throws(ChatError) -> Message {
        guard let now = try await chat.backend.message(timetoken, in: channelId) else {
            throw ChatError(.notFound, "the message is gone")
        }
        guard let deleted = now.deleted else { throw ChatError(.conflict, "the message is not deleted") }
        try await chat.backend.removeAction(deleted, from: timetoken, in: channelId)
        return try await refreshed()
    }
}
