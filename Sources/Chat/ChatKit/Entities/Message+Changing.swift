public import ChatModel

extension Message {
    /// Replaces the text. Allowed for the message's author and the channel's moderators.
    ///
    /// - Throws: `.forbidden` for another user; `.gone` when the message is deleted; `.notFound` when it does not
    ///   exist; the errors of every call (``Chat``).
    public func editText(_ newText: String) async throws(ChatError) -> Message {
        Message(chat: chat, try await chat.backend.edit(timetoken, in: channelId, .text(newText)))
    }

    /// Replaces the whole payload. Allowed for the same users as ``editText(_:)``.
    ///
    /// - Throws: as ``editText(_:)``; `.malformed` when the content cannot be encoded.
    public func edit(content: any JSONCodable) async throws(ChatError) -> Message {
        Message(chat: chat, try await chat.backend.edit(timetoken, in: channelId, .all(try content.encoded())))
    }

    /// Deletes the message. Allowed for the message's author and the channel's moderators.
    ///
    /// - Parameter soft: true marks the message as deleted and keeps it in history; false removes it from history.
    /// - Throws: `.forbidden` for another user; `.notFound` when the message does not exist; the errors of every call
    ///   (``Chat``).
    public func delete(soft: Bool = false) async throws(ChatError) {
        try await chat.backend.delete(timetoken, in: channelId, isHard: !soft)
    }

    /// Adds the user's reaction with a value, or removes it when it exists. Returns the changed message.
    ///
    /// - Throws: `.notFound` when the message does not exist; `.gone` when it is deleted; `.tooMany` past the limits of
    ///   reactions; the errors of every call (``Chat``).
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
    /// - Throws: `.notFound` when the message does not exist; the errors of every call (``Chat``).
    public func hasUserReaction(_ reaction: String) async throws(ChatError) -> Bool {
        var cursor: String?
        repeat {
            let page = try await chat.backend.reactions(to: timetoken, in: channelId, cursor: cursor)
            if page.items.contains(where: { $0.value == reaction && $0.userId == chat.userId }) { return true }
            cursor = page.hasMore ? page.cursor : nil
        } while cursor != nil
        return false
    }

    /// Returns all reactions with their users, read page by page.
    ///
    /// - Throws: `.notFound` when the message does not exist; the errors of every call (``Chat``).
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

    /// Pins the message in its channel in place of the currently pinned one. Requires a moderator of the channel.
    ///
    /// - Throws: `.forbidden` when the user may not pin; `.notFound` when the message does not exist or the channel has
    ///   no record; `.gone` when the message is deleted; the errors of every call (``Chat``).
    public func pin() async throws(ChatError) { try await chat.backend.pin(timetoken, in: channelId) }

    /// Unpins the message.
    ///
    /// - Throws: `.forbidden` when the user may not pin; `.notFound` when the channel has no record; the errors of
    ///   every call (``Chat``).
    public func unpin() async throws(ChatError) { try await chat.backend.unpin(timetoken, in: channelId) }

    /// Sends the message to another channel. The copy's `meta` names the origin.
    ///
    /// - Throws: `.forbidden` when the user may not write in the other channel; `.notFound` when the message does not
    ///   exist; `.gone` when it is deleted; the errors of every call (``Chat``).
    @discardableResult
    public func forward(to channelId: String) async throws(ChatError) -> Timetoken {
        try await chat.backend.forward(timetoken, in: self.channelId, to: channelId)
    }

    /// Reports the message to the channel's moderators.
    ///
    /// - Throws: `.notFound` when the message does not exist; `.gone` when it is deleted; `.malformed` for a reason
    ///   that is not 1 to 1000 bytes long; the errors of every call (``Chat``).
    public func report(reason: String) async throws(ChatError) {
        try await chat.backend.report(timetoken, in: channelId, reason: reason)
    }

    /// Returns the thread of replies to this message. It needs no creation: a thread begins with its first reply.
    public func createThread() -> ThreadChannel { ThreadChannel(parentMessage: self) }

    func refreshed() async throws(ChatError) -> Message {
        guard let state = try await chat.backend.message(timetoken, in: channelId) else {
            throw ChatError(.gone, "the message is deleted")
        }
        return Message(chat: chat, state)
    }
}

/// The replies to a message. They are messages of the same channel.
public struct ThreadChannel: Sendable {
    /// The message that the thread belongs to.
    public let parentMessage: Message

    /// Replies with a text; see ``Channel/sendText(_:meta:usersToMention:quoting:storeInHistory:ttlHours:)``.
    ///
    /// - Throws: as ``Channel/sendText(_:meta:usersToMention:mentionsEverybody:quoting:storeInHistory:ttlHours:)``;
    ///   `.notFound` when the parent message does not exist; `.conflict` when it is a reply itself.
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
    /// - Throws: `.notFound` when the parent message does not exist; `.malformed` for a bad limit or page; the errors
    ///   of every call (``Chat``).
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
    /// Attaches an action of the app's own to the message: a type and a value. Reactions have a method of their own.
    ///
    /// - Throws: `.conflict` when the user has attached the same action before.
    @discardableResult
    public func addAction(type: String, value: String) async throws(ChatError) -> MessageAction {
        try await chat.backend.addAction(type, value, to: timetoken, in: channelId)
    }

    /// Removes an action. Allowed for the action's user and the channel's moderators.
    ///
    /// - Throws: `.forbidden` for another user; `.notFound` when the action does not exist; the errors of every call
    ///   (``Chat``).
    public func removeAction(_ action: MessageAction) async throws(ChatError) {
        try await chat.backend.removeAction(action.timetoken, from: timetoken, in: channelId)
    }

    /// Returns the first 250 actions of the message, including reactions.
    ///
    /// - Throws: `.notFound` when the message does not exist; the errors of every call (``Chat``).
    public func getActions() async throws(ChatError) -> [MessageAction] {
        try await chat.backend.actions(of: timetoken, in: channelId)
    }

    /// Undoes a soft deletion: the message has its content, replies and reactions again.
    ///
    /// - Throws: `.conflict` when the message is not deleted; `.notFound` when it has left history.
    public func restore() async throws(ChatError) -> Message {
        guard let now = try await chat.backend.message(timetoken, in: channelId) else {
            throw ChatError(.notFound, "the message is gone")
        }
        guard let deleted = now.deleted else { throw ChatError(.conflict, "the message is not deleted") }
        try await chat.backend.removeAction(deleted, from: timetoken, in: channelId)
        return try await refreshed()
    }
}
