public import ChatModel

extension ChatAccess {
    /// What is known of a channel without asking for rights: its kind, whether it is frozen, who moderates it. Nearly
    /// always from memory.
    public func standing(of name: String) async throws(ChatError) -> ChannelStanding {
        try await service.standings.standing(of: channel(name))
    }

    /// What is known of a user in a channel: whether a member, and under which restriction.
    public func standing(of user: String, in name: String) async throws(ChatError) -> UserStanding {
        try await service.standings.standing(of: user, in: channel(name))
    }
}
