public import ChatModel

extension Channel {
    /// Bans or mutes a user in the channel, in the place of what was upon the user before; neither of them lifts it. For
    /// those who moderate the channel.
    ///
    /// - Parameters:
    ///   - reason: in the moderator's words; the user hears them.
    ///   - until: when it ends by itself; nil: when it is lifted.
    public func setRestrictions(
        user: User, ban: Bool = false, mute: Bool = false, reason: String? = nil, until: Timetoken? = nil
    ) async throws(ChatError) {
        try await chat.backend.restrict(user.id, in: id, ban: ban, mute: mute, reason: reason, until: until)
    }

    /// What is upon a user in the channel; nil when nothing is.
    public func getUserRestrictions(user: User) async throws(ChatError) -> Restriction? {
        try await chat.backend.restriction(of: user.id, in: id).map { Restriction($0) }
    }

    /// Everybody upon whom something is in the channel, a page at a time.
    public func getUsersRestrictions(
        limit: Int = 50, page: String? = nil
    ) async throws(ChatError) -> (restrictions: [Restriction], page: String?) {
        let found = try await chat.backend.restrictions(in: id, limit: limit, cursor: page)
        return (found.items.map { Restriction($0) }, found.cursor)
    }

    /// Lets only those who moderate the channel write.
    public func freeze() async throws(ChatError) { try await chat.backend.freeze(id, true) }

    /// Lets everybody write again.
    public func unfreeze() async throws(ChatError) { try await chat.backend.freeze(id, false) }

    /// Has a user moderate the channel; for those who do already.
    public func addOperator(_ user: User) async throws(ChatError) {
        try await chat.backend.appoint(user.id, in: id, .operator)
    }

    /// Ends that. The user stays a member.
    public func removeOperator(_ user: User) async throws(ChatError) {
        try await chat.backend.appoint(user.id, in: id, .member)
    }
}

extension User {
    /// Bans or mutes the user in a channel; see ``Channel/setRestrictions(user:ban:mute:reason:until:)``.
    public func setRestrictions(
        channel: Channel, ban: Bool = false, mute: Bool = false, reason: String? = nil, until: Timetoken? = nil
    ) async throws(ChatError) {
        try await channel.setRestrictions(user: self, ban: ban, mute: mute, reason: reason, until: until)
    }

    /// What is upon the user in a channel; nil when nothing is.
    public func getChannelRestrictions(channel: Channel) async throws(ChatError) -> Restriction? {
        try await channel.getUserRestrictions(user: self)
    }

    /// What is upon the user in all channels, a page at a time.
    public func getChannelsRestrictions(
        limit: Int = 50, page: String? = nil
    ) async throws(ChatError) -> (restrictions: [Restriction], page: String?) {
        let found = try await chat.backend.restrictions(of: id, limit: limit, cursor: page)
        return (found.items.map { Restriction($0) }, found.cursor)
    }
}

extension Restriction {
    fileprivate init(_ record: RestrictionRecord) {
        userId = record.user
        channelId = record.channel
        ban = record.isBanned
        mute = record.isMuted
        reason = record.reason
    }
}
