public import ChatModel

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
