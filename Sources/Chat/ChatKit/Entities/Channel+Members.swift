public import ChatModel

extension Channel {
    /// Becomes a member: of a public channel, or of one that the user was invited to. Once more changes nothing but what
    /// is given.
    @discardableResult
    public func join(
        custom: [String: any JSONCodable]? = nil, status: String? = nil, type: String? = nil
    ) async throws(ChatError) -> Membership {
        var fields = MembershipFields()
        fields.custom = custom?.object
        fields.status = status
        fields.type = type
        return Membership(chat: chat, try await chat.backend.join(id, fields))
    }

    /// Ends the user's membership; nothing happens when there is none.
    public func leave() async throws(ChatError) { try await chat.backend.leave(id) }

    /// Invites a user; one who is a member already is left alone.
    @discardableResult
    public func invite(_ user: User) async throws(ChatError) -> Membership {
        guard let membership = try await inviteMultiple([user]).first else {
            throw ChatError(.notFound, "the invitation is gone already")
        }
        return membership
    }

    /// Invites users, all or none.
    @discardableResult
    public func inviteMultiple(_ users: [User]) async throws(ChatError) -> [Membership] {
        try await chat.backend.invite(users.map(\.id), to: id).map { Membership(chat: chat, $0) }
    }

    /// Declines an invitation of the user.
    public func declineInvite() async throws(ChatError) { try await chat.backend.declineInvite(to: id) }

    /// The channel's members, invited ones too, a page at a time.
    public func getMembers(
        limit: Int = 50, page: String? = nil, filter: String? = nil, sort: [String] = []
    ) async throws(ChatError) -> (members: [Membership], page: String?) {
        let found = try await chat.backend.members(
            of: id, RecordList(filter: filter, sort: sort, limit: limit, page: page))
        return (found.items.map { Membership(chat: chat, $0) }, found.cursor)
    }

    /// A user's membership; nil when there is none.
    public func getMembership(userId: String) async throws(ChatError) -> Membership? {
        try await chat.backend.member(userId, of: id).map { Membership(chat: chat, $0) }
    }

    /// Takes the channel off the user's own list. The user stays a member.
    ///
    /// - Parameters:
    ///   - hidePreviousMessages: they are not shown again when the channel comes back.
    ///   - allowAutoUnhide: the next message brings it back.
    public func hide(
        hidePreviousMessages: Bool = false, allowAutoUnhide: Bool = true
    ) async throws(ChatError) {
        try await chat.backend.hide(id, hidesHistory: hidePreviousMessages, endsWithMessage: allowAutoUnhide)
    }

    /// Puts a hidden channel back on the list.
    public func unhide() async throws(ChatError) { try await chat.backend.unhide(id) }
}
