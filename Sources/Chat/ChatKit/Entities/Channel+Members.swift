public import ChatModel

extension Channel {
    /// Joins a public channel, or a channel that the user was invited to. When the user is already a member, only the
    /// given fields are changed.
    ///
    /// - Throws: `.forbidden` when the channel requires an invitation that the user does not have, or the user is
    ///   banned; `.notFound` when the channel has no record; `.malformed` or `.tooLarge` for an invalid field; the
    ///   errors common to all calls (see ``Chat``).
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

    /// Ends the membership of the chat's user. Does nothing when the user is not a member.
    ///
    /// - Throws: the errors common to all calls (see ``Chat``).
    public func leave() async throws(ChatError) { try await chat.backend.leave(id) }

    /// Invites a user. Does nothing for a user who is already a member.
    ///
    /// - Throws: `.forbidden` when the chat's user may not invite; `.notFound` when the channel has no record or the
    ///   invitation has already ended; the errors common to all calls (see ``Chat``).
    @discardableResult
    public func invite(_ user: User) async throws(ChatError) -> Membership {
        guard let membership = try await inviteMultiple([user]).first else {
            throw ChatError(.notFound, "the invitation no longer exists; it was accepted, declined or withdrawn")
        }
        return membership
    }

    /// Invites several users in one step: either all of them or, after an error, none.
    ///
    /// - Throws: `.forbidden` when the chat's user may not invite; `.notFound` when the channel has no record;
    ///   `.invalid` for more users than one call may name (100 by default); the errors common to all calls (see
    ///   ``Chat``).
    @discardableResult
    public func inviteMultiple(_ users: [User]) async throws(ChatError) -> [Membership] {
        try await chat.backend.invite(users.map(\.id), to: id).map { Membership(chat: chat, $0) }
    }

    /// Declines the invitation of the chat's user.
    ///
    /// - Throws: `.notFound` when there is no invitation; `.conflict` when the user has already joined; the errors
    ///   common to all calls (see ``Chat``).
    public func declineInvite() async throws(ChatError) { try await chat.backend.declineInvite(to: id) }

    /// Returns a page of the channel's members, including invited ones.
    ///
    /// - Throws: `.forbidden` when the user may not see the channel; `.malformed` for an invalid filter, order or page;
    ///   the errors common to all calls (see ``Chat``).
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

    /// Returns a user's membership, or nil when the user is not a member.
    ///
    /// - Throws: `.forbidden` when the user may not see the channel; the errors common to all calls (see ``Chat``).
    public func getMembership(userId: String) async throws(ChatError) -> Membership? {
        try await chat.backend.member(userId, of: id).map { Membership(chat: chat, $0) }
    }

    /// Hides the channel from the user's list of channels. The user stays a member.
    ///
    /// - Parameters:
    ///   - hidePreviousMessages: true keeps the previous messages hidden after the channel is shown again.
    ///   - allowAutoUnhide: true shows the channel again when it gets a new message.
    /// - Throws: `.notFound` when the user is not a member; the errors common to all calls (see ``Chat``).
    public func hide(
        hidePreviousMessages: Bool = false, allowAutoUnhide: Bool = true
    ) async throws(ChatError) {
        try await chat.backend.hide(id, hidesHistory: hidePreviousMessages, endsWithMessage: allowAutoUnhide)
    }

    /// Shows a hidden channel in the user's list again.
    ///
    /// - Throws: `.notFound` when the user is not a member; the errors common to all calls (see ``Chat``).
    public func unhide() async throws(ChatError) { try await chat.backend.unhide(id) }
}
