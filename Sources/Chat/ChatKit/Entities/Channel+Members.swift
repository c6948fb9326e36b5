public import ChatModel

extension Channel {
    /// Joins a public channel, or a channel that the user was invited to. For a member, it only changes the given
    /// fields.
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
    public func leave() async throws(ChatError) { try await chat.backend.leave(id) }

    /// Invites a user. Does nothing for a user who is already a member.
    @discardableResult
    public func invite(_ user: User) async throws(ChatError) -> Membership {
        guard let membership = try await inviteMultiple([user]).first else {
            throw ChatError(.notFound, "the invitation is gone already")
        }
        return membership
    }

    /// Invites several users: either all of them or none.
    @discardableResult
    public func inviteMultiple(_ users: [User]) async throws(ChatError) -> [Membership] {
        try await chat.backend.invite(users.map(\.id), to: id).map { Membership(chat: chat, $0) }
    }

    /// Declines the user's invitation.
    public func declineInvite() async throws(ChatError) { try await chat.backend.declineInvite(to: id) }

    /// Returns a page of the channel's members, including invited ones.
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
    public func getMembership(userId: String) async throws(ChatError) -> Membership? {
        try await chat.backend.member(userId, of: id).map { Membership(chat: chat, $0) }
    }

    /// Hides the channel from the user's own list. The user stays a member.
    ///
    /// - Parameters:
    ///   - hidePreviousMessages: true keeps the older messages hidden when the channel comes back.
    ///   - allowAutoUnhide: true shows the channel again at its next message.
    public func hide(
        hidePreviousMessages: Bool = false, allowAutoUnhide: Bool = true
    ) async throws(ChatError) {
        try await chat.backend.hide(id, hidesHistory: hidePreviousMessages, endsWithMessage: allowAutoUnhide)
    }

    /// Shows a hidden channel in the user's list again.
    public func unhide() async throws(ChatError) { try await chat.backend.unhide(id) }
}
