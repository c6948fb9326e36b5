public import ChatModel

extension Channel {
    /// Joins a public channel, or a channel that the user was invited to. For a member, it only changes the given
    /// fields.
    ///
    /// - Throws: `.forbidden` when the user was not invited to a channel that requires it, or is banned; `.notFound`
    ///   when the channel has no record; `.malformed` or `.tooLarge` for a field; the errors of every call (``Chat``).
    @discardableResult
    public func join(
        custom: [String: any JSONCodable]? = nil, status: String? = nil, type: String? = nil
    ) async throws(ChatError) -> Membership {
        var fields = MembershipFields()
        fields.custom = try custom?.encodedObject()
        fields.status = status
        fields.type = type
        return Membership(chat: chat, try await chat.backend.join(id, fields))
    }

    /// Ends the user's membership. Does nothing when the user is no member.
    ///
    /// - Throws: the errors of every call (``Chat``).
    public func leave() async throws(ChatError) { try await chat.backend.leave(id) }

    /// Invites a user. Does nothing for a user who is already a member.
    ///
    /// - Throws: `.forbidden` when the chat's user may not invite; `.notFound` when the channel has no record or the
    ///   invitation has ended already; the errors of every call (``Chat``).
    @discardableResult
    public func invite(_ user: User) async throws(ChatError) -> Membership {
        guard let membership = try await inviteMultiple([user]).first else {
            throw ChatError(.notFound, "the invitation is gone already")
        }
        return membership
    }

    /// Invites several users: either all of them or none.
    ///
    /// - Throws: `.forbidden` when the chat's user may not invite; `.notFound` when the channel has no record;
    ///   `.invalid` for more users than one call may name (100 by default); the errors of every call (``Chat``).
    @discardableResult
    public func inviteMultiple(_ users: [User]) async throws(ChatError) -> [Membership] {
        try await chat.backend.invite(users.map(\.id), to: id).map { Membership(chat: chat, $0) }
    }

    /// Declines the user's invitation.
    ///
    /// - Throws: `.notFound` when there is no invitation; `.conflict` when the user has joined already; the errors of
    ///   every call (``Chat``).
    public func declineInvite() async throws(ChatError) { try await chat.backend.declineInvite(to: id) }

    /// Returns a page of the channel's members, including invited ones.
    ///
    /// - Throws: `.forbidden` when the user may not see the channel; `.malformed` for a bad filter, order or page; the
    ///   errors of every call (``Chat``).
    public func getMembers(
        limit: Int = 50, page: String? = nil, filter: String? = nil, sort: [String] = [], order: ListOrder? = nil,
        after: Timetoken? = nil, before: Timetoken? = nil
    ) async throws(ChatError) -> (members: [Membership], page: String?) {
        let found = try await chat.backend.members(
            of: id,
            RecordList(
                filter: filter, sort: sort, order: order, after: after, before: before, limit: limit, page: page))
        return (found.items.map { Membership(chat: chat, $0) }, found.cursor)
    }

    /// Returns a user's membership, or nil when there is none.
    ///
    /// - Throws: `.forbidden` when the user may not see the channel; the errors of every call (``Chat``).
    public func getMembership(userId: String) async throws(ChatError) -> Membership? {
        try await chat.backend.member(userId, of: id).map { Membership(chat: chat, $0) }
    }

    /// Hides the channel from the user's own list. The user stays a member.
    ///
    /// - Parameters:
    ///   - hidePreviousMessages: true keeps the older messages hidden when the channel comes back.
    ///   - allowAutoUnhide: true shows the channel again at its next message.
    /// - Throws: `.notFound` when the user is not a member; the errors of every call (``Chat``).
    public func hide(
        hidePreviousMessages: Bool = false, allowAutoUnhide: Bool = true
    ) async throws(ChatError) {
        try await chat.backend.hide(id, hidesHistory: hidePreviousMessages, endsWithMessage: allowAutoUnhide)
    }

    /// Shows a hidden channel in the user's list again.
    ///
    /// - Throws: `.notFound` when the user is not a member; the errors of every call (``Chat``).
    public func unhide() async throws(ChatError) { try await chat.backend.unhide(id) }
}
