import ChatModel

extension MemberChange {
    /// Requires a channel of a kind that has members.
    ///
    /// - Throws: `.invalid` with the slug `no_members` for an open channel.
    func requireMembers() throws(ChatError) {
        guard !channel.kind.hasMembers else { return }
        throw ChatError(
            .invalid, "channel '\(channel.id)' is open and has no members; let users enter it as participants instead",
            slug: "no_members")
    }

    /// Requires the right to make a user a member. Users may join a public channel themselves. A group channel requires
    /// an invitation or an operator, and a direct channel accepts only its two users.
    ///
    /// - Throws: `.forbidden` with the slug `not_invited`, `not_operator` or `not_of_pair`.
    func requireJoining(_ user: String) throws(ChatError) {
        try requirePair(user)
        try actor.require(over: user, in: channel)
        guard channel.kind == .group, membership(of: user) == nil, !actor.isManager else { return }
        guard let actor = actor.user, isOperator(actor) else {
            throw ChatError(
                .forbidden,
                "channel '\(channel.id)' can be joined by invitation only; ask a member to invite '\(user)'",
                slug: "not_invited")
        }
    }

    /// Requires the right to invite users. Joined members and operators have it.
    ///
    /// - Throws: `.forbidden` with the slug `not_a_member` or `not_of_pair`.
    func requireInviting(_ users: [String]) throws(ChatError) {
        for user in users { try requirePair(user) }
        if actor.isManager { return }
        guard let user = actor.user, membership(of: user)?.state == .joined || isOperator(user) else {
            throw ChatError(
                .forbidden, "only members of channel '\(channel.id)' may invite users to it", slug: "not_a_member")
        }
    }

    /// Requires, in a direct channel, that the user is one of its two users.
    private func requirePair(_ user: String) throws(ChatError) {
        guard channel.kind == .direct, !channel.isOfPair(user) else { return }
        throw ChatError(
            .forbidden, "direct channel '\(channel.id)' has only its two users, and '\(user)' is not one of them",
            slug: "not_of_pair")
    }

    /// Requires that the actor is an operator of the channel if an edit changes the role of a user.
    ///
    /// - Throws: `.forbidden` with the slug `not_operator`.
    func requireRole(_ role: MemberRole?, of user: String) throws(ChatError) {
        guard let role, role != membership(of: user)?.role ?? .member else { return }
        try actor.requireOperator(of: channel)
    }

    /// Requires that the actor is the member if an edit changes the push preference.
    ///
    /// - Throws: `.forbidden` with the slug `not_self`.
    func requirePush(_ edit: MembershipEdit, of user: String) throws(ChatError) {
        let present = membership(of: user)?.push ?? .all
        if edit.push.applied(to: present) ?? .all != present { try actor.require(self: user) }
    }

    /// Returns the membership of a user, for a change that only this user may make.
    ///
    /// - Throws: `.forbidden` with the slug `not_self` for another actor; `.notFound` when the user is not a member.
    func ownMembership(of user: String) throws(ChatError) -> MembershipRecord {
        try actor.require(self: user)
        return try existing(user)
    }

    /// Returns the membership of a user.
    ///
    /// - Throws: `.notFound` with the slug `no_such_member` when the user is not a member.
    func existing(_ user: String) throws(ChatError) -> MembershipRecord {
        guard let membership = membership(of: user) else {
            throw ChatError(
                .notFound, "user '\(user)' is not a member of channel '\(channel.id)'", slug: "no_such_member")
        }
        return membership
    }
}

extension Actor {
    func isUser(_ name: String) -> Bool { user.map { ExactText($0) == ExactText(name) } ?? false }

    /// Requires that the actor is the given user, or a program with the scope `manage`.
    ///
    /// - Throws: `.forbidden` with the slug `not_self` for another actor.
    func require(self owner: String) throws(ChatError) {
        guard !isManager, user.map({ ExactText($0) != ExactText(owner) }) ?? true else { return }
        throw ChatError(
            .forbidden, "only user '\(owner)', or a credential with the scope 'manage', may make this request",
            slug: "not_self")
    }
}
