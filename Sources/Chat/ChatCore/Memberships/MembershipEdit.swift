public import ChatModel
public import JSON

/// An edit of a membership.
public struct MembershipEdit: Sendable {
    /// A type, as free text of the app, at most `Limits.recordTextLength` characters.
    public var type = FieldEdit<String>.keep
    /// A state, as free text of the app, at most `Limits.recordTextLength` characters.
    public var status = FieldEdit<String>.keep
    /// An object of the app, at most `Limits.recordValueBytes` bytes of JSON.
    public var custom = FieldEdit<JSONText>.keep
    /// The push preference, which only the member may set; clearing it means ``PushPreference/all``.
    public var push = FieldEdit<PushPreference>.keep
    /// The role, which only an operator of the channel may change.
    public var role: MemberRole?
    /// Moves the read mark forward to this position. A mark after it stays.
    public var read: Timetoken?
    /// The treatment of a user who has not joined, in ``ChatAccess/change(membersOf:setting:removing:by:)``.
    public var entry = Entry.join

    /// The state that an edit gives to a membership. A user who has joined stays joined.
    public enum Entry: Sendable {
        /// Joined: a new member, or an accepted invitation.
        case join
        /// Invited, by a client that publishes the invitation to PubNub's subscribers itself.
        case invite
        /// Unchanged; a new member joins.
        case keep
    }

    /// An edit that leaves every field unchanged.
    public init() {}

    func apply(to membership: inout MembershipRecord) {
        membership.type = type.applied(to: membership.type)
        membership.status = status.applied(to: membership.status)
        membership.custom = custom.applied(to: membership.custom)
        membership.push = push.applied(to: membership.push) ?? .all
        membership.role = role ?? membership.role
        if let read { ReceiptKind.read.set(read, on: &membership) }
    }

    /// Checks the fields against the limits.
    ///
    /// - Throws: `.malformed` or `.tooLarge` for values that a membership cannot have.
    public func check(_ limits: Limits) throws(ChatError) {
        try limits.check(type.applied(to: nil), "type")
        try limits.check(status.applied(to: nil), "status")
        try limits.check(object: custom.applied(to: nil), "custom")
    }
}

extension ChatAccess {
    /// Makes a user a joined member: a user who joins a public channel, accepts an invitation, or is added by an
    /// operator. For a user who has joined already, it only applies `edit`. An edit by another user that clears the
    /// push preference leaves it unchanged.
    ///
    /// - Parameter named: the acting user, when the credential may name one.
    /// - Throws: `.notFound` for a channel without a record; `.forbidden` with a slug for the reason; `.invalid`, slug
    ///   `no_members`, for an open channel.
    public func join(
        _ user: String, to channel: String, _ edit: MembershipEdit = MembershipEdit(),
        precondition: RecordChange.Precondition = .none, by named: String? = nil
    ) async throws(ChatError) -> Written<MembershipRecord> {
        try edit.check(limits)
        return try await changeMember(user, of: channel, by: named) { change throws(ChatError) in
            try change.requireJoining(user)
            try precondition.check(change.membership(of: user)?.etag)
            try change.requireRole(edit.role, of: user)
            var edit = edit
            if case .clear = edit.push, !change.actor.isManager, !change.actor.isUser(user) { edit.push = .keep }
            try change.requirePush(edit, of: user)
            try change.join([user], edit)
            try change.checkOperators()
        }
    }

    /// Accepts an invitation. Repeating it changes nothing.
    ///
    /// - Throws: as `join`; `.notFound`, slug `no_such_member`, without an invitation.
    public func acceptInvite(
        of user: String, to channel: String, by named: String? = nil
    ) async throws(ChatError) -> MembershipRecord {
        try await changeMember(user, of: channel, by: named) { change throws(ChatError) in
            _ = try change.ownMembership(of: user)
            try change.join([user])
        }.record
    }

    /// Declines an invitation.
    ///
    /// - Throws: `.notFound`, slug `no_such_member`, without an invitation; `.conflict`, slug `already_joined`.
    public func declineInvite(of user: String, to channel: String, by named: String? = nil) async throws(ChatError) {
        try await withMembers([user], of: channel, by: named) { change throws(ChatError) in
            let membership = try change.ownMembership(of: user)
            guard membership.state == .invited else {
                throw ChatError(
                    .conflict, "user '\(user)' has already joined channel '\(channel)'; leave it instead",
                    slug: "already_joined")
            }
            change.remove(user)
            change.announceDeclined(membership)
        }
    }

    /// Changes fields of a membership: the app's own fields by the member or an operator, the role by an operator, the
    /// push preference by the member.
    ///
    /// - Parameter demand: the required version, if any.
    /// - Throws: `.notFound` when the user is not a member or the channel has no record; `.stale` for another version;
    ///   `.forbidden` without the right to a field; `.malformed` or `.tooLarge` for a value.
    public func update(
        memberOf channel: String, _ user: String, _ edit: MembershipEdit, precondition etag: String? = nil,
        by named: String? = nil
    ) async throws(ChatError) -> MembershipRecord {
        try edit.check(limits)
        return try await changeMember(user, of: channel, by: named) { change throws(ChatError) in
            let before = try change.existing(user)
            try change.actor.require(over: user, in: change.channel)
            try change.requireRole(edit.role, of: user)
            try change.requirePush(edit, of: user)
            if let etag { try RecordChange.Precondition.etag(etag).check(before.etag) }
            var membership = before
            edit.apply(to: &membership)
            try limits.check(value: membership.custom, "custom")
            guard membership != before else { return }
            change.put(membership)
            change.announceUpdated(membership, from: before)
            try change.checkOperators()
        }.record
    }

    /// Ends a membership: the user leaves or declines the invitation, or an operator removes the user.
    ///
    /// - Parameter reason: the operator's reason, as free text.
    /// - Returns: true when there was a membership.
    /// - Throws: `.stale` when `precondition` names a version and the membership has another or does not exist.
    @discardableResult
    public func leave(
        _ user: String, from channel: String, reason: String? = nil, precondition: RecordChange.Precondition = .none,
        by named: String? = nil
    ) async throws(ChatError) -> Bool {
        try limits.check(reason, "reason")
        return try await !withMembers([user], of: channel, by: named) { change throws(ChatError) in
            try change.actor.require(over: user, in: change.channel)
            try precondition.check(change.membership(of: user)?.etag)
            change.end(user, reason: reason)
        }.wasAbsent
    }

    /// Adds or invites users, edits existing memberships, and ends the memberships of other users, in one step. A read
    /// mark after the app's newest event is set to that event's timetoken.
    ///
    /// - Throws: as `join`, `invite` and `leave`; `.invalid` over `Limits.membersPerCall`.
    public func change(
        membersOf channel: String, setting: [(user: String, edit: MembershipEdit)], removing: [String],
        by named: String? = nil
    ) async throws(ChatError) {
        for (_, edit) in setting { try edit.check(limits) }
        let users = try distinct(setting.map(\.user) + removing)
        let newest = setting.contains { $0.edit.read != nil } ? try await log.watermark(of: app) : .zero
        try await withMembers(users, of: channel, by: named) { change throws(ChatError) in
            for (user, edit) in setting {
                var edit = edit
                edit.read = edit.read.map { min($0, newest) }
                if edit.entry == .invite {
                    try change.requireInviting([user])
                } else {
                    try change.requireJoining(user)
                }
                try change.requireRole(edit.role, of: user)
                try change.set(user, edit)
            }
            for user in removing {
                try change.actor.require(over: user, in: change.channel)
                change.end(user)
            }
            try change.checkOperators()
        }
        for (user, edit) in setting where edit.read != nil { await service.unread.notify(UserID(user, in: app)) }
    }

    /// Invites users to a channel. Users who are members or invited already are left unchanged.
    ///
    /// - Returns: the memberships in the order of `users`, without duplicates.
    /// - Throws: `.invalid` over `Limits.membersPerCall`; `.forbidden` with a slug for the reason; then no user is
    ///   invited.
    public func invite(
        _ users: [String], to channel: String, by named: String? = nil
    ) async throws(ChatError) -> [MembershipRecord] {
        let users = try distinct(users)
        let decided = try await withMembers(users, of: channel, by: named) { change throws(ChatError) in
            try change.requireInviting(users)
            try change.invite(users)
        }
        return users.compactMap { user in decided.value[ExactText(user)] }
    }
}

extension MemberChange {
    /// Ends a membership: its user declines the invitation or leaves, and any other actor removes the user. Without a
    /// membership, nothing happens.
    fileprivate mutating func end(_ user: String, reason: String? = nil) {
        guard let membership = membership(of: user) else { return }
        let isOwn = actor.user.map { ExactText($0) == ExactText(user) } ?? false
        if isOwn, membership.state == .invited {
            remove(user)
            return announceDeclined(membership)
        }
        leave(user, reason: reason ?? actor.reason(isOwn: isOwn))
    }
}

extension Actor {
    /// The default reason for the end of a membership.
    fileprivate func reason(isOwn: Bool) -> String {
        if isOwn { return "LEFT_BY_OWN_CHOICE" }
        return isManager ? "ADMIN_REMOVED" : "CHANNEL_OPERATOR_REMOVED"
    }
}
