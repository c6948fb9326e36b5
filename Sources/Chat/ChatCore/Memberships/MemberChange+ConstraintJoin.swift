import ChatModel

extension MemberChange {
    /// Invites a user, makes the user a joined member, or only edits the membership. ``MembershipEdit/entry`` and the
    /// user's membership before the change determine which of the three happens.
    ///
    /// - Throws: `.forbidden` with the slug `banned` for a banned user who is not a member.
    mutating func set(_ user: String, _ edit: MembershipEdit) throws(ChatError) {
        let before = membership(of: user)
        switch (edit.entry, before?.state) {
        case (.invite, nil): try invite([user], edit)
        case (.invite, .invited), (.keep, .invited): if let before { change(before, edit) }
        default: try join([user], edit)
        }
    }

    private mutating func change(_ before: MembershipRecord, _ edit: MembershipEdit) {
        var membership = before
        edit.apply(to: &membership)
        guard membership != before else { return }
        put(membership)
        announceChanged(membership, from: before)
    }

    /// Makes users joined members. If a user has already joined, only the edit is applied.
    ///
    /// - Throws: `.forbidden` with the slug `banned` for a banned user.
    mutating func join(_ users: [String], _ edit: MembershipEdit = MembershipEdit()) throws(ChatError) {
        var joiners: [String] = []
        for user in users {
            let before = membership(of: user)
            var membership = before ?? fresh(user)
            edit.apply(to: &membership)
            if before?.state != .joined {
                try refuseBanned(user)
                enter(&membership)
                joiners.append(user)
            }
            put(membership)
            if let before, before.state == .joined, before != membership { announceChanged(membership, from: before) }
        }
        announceJoined(joiners)
    }

    /// Invites the users who are not members yet. Users who accept invitations automatically become members
    /// immediately.
    ///
    /// - Throws: `.forbidden` with the slug `banned` for a banned user.
    mutating func invite(_ users: [String], _ edit: MembershipEdit = MembershipEdit()) throws(ChatError) {
        var invitees: [MembershipRecord] = []
        for user in users where membership(of: user) == nil {
            try refuseBanned(user)
            var membership = fresh(user)
            edit.apply(to: &membership)
            membership.inviter = actor.user
            membership.invited = snapshot.now
            if self.user(user).autoAcceptsInvites { enter(&membership) }
            put(membership)
            invitees.append(membership)
        }
        announceInvited(invitees, onWire: edit.entry != .invite)
        announceJoined(invitees.filter { $0.state == .joined }.map(\.user))
    }

    /// Makes a user an operator of the channel, or removes the user from the operators, depending on `role`. If the
    /// user is a member, the role of the membership changes too.
    mutating func appoint(_ user: String, _ role: MemberRole) {
        guard let before = membership(of: user) else { return setOperator(user, role == .operator) }
        guard before.role != role else { return }
        var membership = before
        membership.role = role
        put(membership)
        announceUpdated(membership, from: before)
    }

    /// Ends a membership or an invitation. Does nothing when the user has neither.
    mutating func leave(_ user: String, reason: String) {
        guard let membership = membership(of: user) else { return }
        remove(user)
        announceLeft(membership, reason: reason)
    }

    private func fresh(_ user: String) -> MembershipRecord {
        var membership = MembershipRecord(user: user, channel: channel.id, state: .invited)
        if isOperator(user) { membership.role = .operator }
        return membership
    }

    private func enter(_ membership: inout MembershipRecord) {
        membership.state = .joined
        membership.joined = snapshot.now
    }
}
