public import ChatModel

extension Message {
    /// Replaces the text. The chat's user must be the author of the message or a moderator of the channel.
    ///
    /// - Throws: `.forbidden` for any other user; `.gone` when the message is deleted; `.notFound` when it does not
    ///   exist; the errors common to all calls (see ``Chat``).
    public func editText(_ newText: String) async throws(ChatError) -> Message {
        Message(chat: chat, try await chat.backend.edit(timetoken, in: channelId, .text(newText)))
    }

    /// Replaces the whole payload. The chat's user must be the author of the message or a moderator of the channel.
    ///
    /// - Throws: the errors of ``editText(_:)``; `.malformed` when the content cannot be encoded.
    public func edit(content: any JSONCodable) async throws(ChatError) -> Message {
        Message(chat: chat, try await chat.backend.edit(timetoken, in: channelId, .all(try content.encoded())))
    }

    /// Deletes the message. The chat's user must be the author of the message or a moderator of the channel.
    ///
    /// - Parameter soft: true marks the message as deleted but leaves it in history; false removes it from history.
    /// - Throws: `.forbidden` for any other user; `.notFound` when the message does not exist; the errors common to all
    ///   calls (see ``Chat``).
    public func delete(soft: Bool = false) async throws(ChatError) {
        try await chat.backend.delete(timetoken, in: channelId, isHard: !soft)
    }

    /// Adds the user's reaction, or removes it when the user has already reacted with this value. Returns the changed
    /// message.
    ///
    /// - Throws: `.notFound` when the message does not exist; `.gone` when it is deleted; `.tooMany` for too many
    ///   different reactions; the errors common to all calls (see ``Chat``).
    @discardableResult
    public func toggleReaction(_ reaction: String) async throws(ChatError) -> Message {
        if try await hasUserReaction(reaction) {
            try await chat.backend.removeReaction(reaction, from: timetoken, in: channelId)
        } else {
            try await chat.backend.react(reaction, to: timetoken, in: channelId)
        }
        return try await refreshed()
    }

    /// Returns true when the chat's user has reacted with a value.
    ///
    /// - Throws: `.notFound` when the message does not exist; the errors common to all calls (see ``Chat``).
    public func hasUserReaction(_ reaction: String) async throws(ChatError) -> Bool {
        var cursor: String?
        repeat {
            let page = try await chat.backend.reactions(to: timetoken, in: channelId, cursor: cursor)
            if page.items.contains(where: { $0.value == reaction && $0.userId == chat.userId }) { return true }
            cursor = page.hasMore ? page.cursor : nil
        } while cursor != nil
        return false
    }

    /// Returns all reactions with their users. Requests one page after the other.
    ///
    /// - Throws: `.notFound` when the message does not exist; the errors common to all calls (see ``Chat``).
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

    /// Pins the message in its channel and replaces the message that is pinned there. The user must be a moderator of
    /// the channel.
    ///
    /// - Throws: `.forbidden` when the user may not pin; `.notFound` when the message does not exist or the channel has
    ///   no record; `.gone` when the message is deleted; the errors common to all calls (see ``Chat``).
    public func pin() async throws(ChatError) { try await chat.backend.pin(timetoken, in: channelId) }

    /// Unpins the message.
    ///
    /// - Throws: `.forbidden` when the user may not pin; `.notFound` when the channel has no record; the errors common
    ///   to all calls (see ``Chat``).
    public func unpin() async throws(ChatError) { try await chat.backend.unpin(timetoken, in: channelId) }

    /// Sends a copy of the message to another channel. Returns the copy's timetoken. The copy's `meta` refers to the
    /// original.
    ///
    /// - Throws: `.forbidden` when the user may not write in the target channel; `.notFound` when the message does not
    ///   exist; `.gone` when it is deleted; the errors common to all calls (see ``Chat``).
    @discardableResult
    public func forward(to channelId: String) async throws(ChatError) -> Timetoken {
        try await chat.backend.forward(timetoken, in: self.channelId, to: channelId)
    }

    /// Reports the message to the channel's moderators.
    ///
    /// - Throws: `.notFound` when the message does not exist; `.gone` when it is deleted; `.malformed` for a reason
    ///   that is not 1 to 1000 bytes long; the errors common to all calls (see ``Chat``).
    public func report(reason: String) async throws(ChatError) {
        try await chat.backend.report(timetoken, in: channelId, reason: reason)
    }

    /// Returns the thread of replies to this message. Sends no request: a thread begins with its first reply.
    public func createThread() -> ThreadChannel { ThreadChannel(parentMessage: self) }

    func refreshed() async throws(ChatError) -> Message {
        guard let state = try await chat.backend.message(timetoken, in: channelId) else {
            throw ChatError(.gone, "the message is deleted")
        }
        return Message(chat: chat, state)
    }
}

/// The replies to a message. Replies are messages of the same channel.
public struct ThreadChannel: Sendable {
    /// The message that the thread belongs to.
    public let parentMessage: Message

    /// Replies with a text; see
    /// ``Channel/sendText(_:meta:usersToMention:mentionsEverybody:quoting:storeInHistory:ttlHours:)``.
    ///
    /// - Throws: the errors of
    ///   ``Channel/sendText(_:meta:usersToMention:mentionsEverybody:quoting:storeInHistory:ttlHours:)``; `.notFound`
    ///   when the parent message does not exist; `.conflict` when the parent message is a reply.
    @discardableResult
    public func sendText(
        _ text: String, meta: [String: any JSONCodable]? = nil, usersToMention: [String] = []
    ) async throws(ChatError) -> Timetoken {
        var links = MessageReferences()
        links.threadOf = parentMessage.timetoken
        links.mentions = usersToMention
        var posting = OutgoingMessage(text: text, on: parentMessage.channelId)
        posting.meta = try meta?.encodedObject().text
        return try await parentMessage.chat.backend.send(posting, links)
    }

    /// Returns a page of the replies, oldest first.
    ///
    /// - Throws: `.notFound` when the parent message does not exist; `.malformed` for an invalid limit or page; the
    ///   errors common to all calls (see ``Chat``).
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
    /// Attaches an action to the message: a type of the app and a value. For reactions, use ``toggleReaction(_:)``.
    ///
    /// - Throws: `.conflict` when the user has already attached this action.
    @discardableResult
    public func addAction(type: String, value: String) async throws(ChatError) -> MessageAction {
        try await chat.backend.addAction(type, value, to: timetoken, in: channelId)
    }

    /// Removes an action. The chat's user must be the user of the action or a moderator of the channel.
    ///
    /// - Throws: `.forbidden` for any other user; `.notFound` when the action does not exist; the errors common to all
    ///   calls (see ``Chat``).
    public func removeAction(_ action: MessageAction) async throws(ChatError) {
        try await chat.backend.removeAction(action.timetoken, from: timetoken, in: channelId)
    }

    /// Returns the first 250 actions of the message, including reactions.
    ///
    /// - Throws: `.notFound` when the message does not exist; the errors common to all calls (see ``Chat``).
    public func getActions() async throws(ChatError) -> [MessageAction] {
        try await chat.backend.actions(of: timetoken, in: channelId)
    }

    /// Undoes a soft deletion. Restores the content, replies and reactions of the message.
    ///
    /// - Throws: `.conflict` when the message is not deleted; `.notFound` when it is no longer in history.
    public func restore() async throws(ChatError) -> Message {
        guard let now = try await chat.backend.message(timetoken, in: channelId) else {
            throw ChatError(.notFound, "the message no longer exists")
        }
        guard let deleted = now.deleted else { throw ChatError(.conflict, "the message is not deleted") }
        try await chat.backend.removeAction(deleted, from: timetoken, in: channelId)
        return try await refreshed()
    }
}
