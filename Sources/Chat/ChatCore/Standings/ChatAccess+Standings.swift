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

    /// Whether a user's devices may hear a channel: nobody who is banned, and of a private one only who has joined.
    public func mayHear(_ user: String, in name: String) async throws(ChatError) -> Bool {
        guard service.standings.concern(space) else { return true }
        let standing = try await standing(of: user, in: name)
        if standing.restriction(at: service.clock.now)?.isBanned ?? false { return false }
        guard standing.state != .joined else { return true }
        return try await !self.standing(of: name).isPrivate
    }

    /// Asks whether a user may write in a channel. Nobody in particular (an operator of the app, a program) always may.
    ///
    /// A ban, a mute or a frozen channel hold for whoever is named, by whatever credential; that a private channel is for
    /// its members holds for credentials of users, since a service may well speak for somebody who is none.
    /// - Throws: `.forbidden` with the slug `banned`, `muted`, `frozen` or `not_a_member`.
    func demandWriting(by user: String?, in name: String) async throws(ChatError) {
        guard let user, service.standings.concern(space) else { return }
        let standing = try await standing(of: user, in: name)
        if let restriction = standing.restriction(at: service.clock.now) { throw ChatError(restriction) }
        let channel = try await self.standing(of: name)
        if channel.isFrozen, !channel.isOperator(user) {
            throw ChatError(
                .forbidden, "channel '\(name)' is frozen: only its operators may write until it is unfrozen",
                slug: "frozen")
        }
        guard channel.isPrivate, standing.state != .joined, caller.user != nil else { return }
        throw ChatError(
            .forbidden, "channel '\(name)' is for its members: user '\(user)' has to join it first",
            slug: "not_a_member")
    }
}

extension ChatError {
    /// The answer to who is banned or muted.
    init(_ restriction: RestrictionRecord) {
        let what = restriction.isBanned ? "banned from" : "muted in"
        let end = restriction.until.map { "until \($0.timestamp)" } ?? "until that is lifted"
        let reason = restriction.reason.map { " (\($0))" } ?? ""
        self.init(
            .forbidden, "user '\(restriction.user)' is \(what) channel '\(restriction.channel)' \(end)\(reason)",
            slug: restriction.isBanned ? "banned" : "muted")
    }
}
