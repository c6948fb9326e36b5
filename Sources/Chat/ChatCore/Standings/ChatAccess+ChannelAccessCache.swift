public import ChatModel

extension ChatAccess {
    /// What is known of a channel without asking for rights: its kind, whether it is frozen, who moderates it. Nearly
    /// always from memory.
    public func standing(of name: String) async throws(ChatError) -> ChannelRules {
        try await service.accessCache.channelAccess(of: nil, in: channel(name)).channel
    }
}
