public import ChatModel
public import JSON

/// An edit of a membership. A field with the value `keep` is not changed.
public struct MembershipEdit: Sendable {
    /// A type, defined by the app: a text of at most `Limits.recordTextLength` characters.
    public var type = FieldEdit<String>.keep
    /// A status, defined by the app: a text of at most `Limits.recordTextLength` characters.
    public var status = FieldEdit<String>.keep
    /// A JSON object, defined by the app: at most `Limits.recordValueBytes` bytes.
    public var custom = FieldEdit<JSONText>.keep
    /// The push preference. Only the member may change it. Clearing it sets ``PushPreference/all``.
    public var push = FieldEdit<PushPreference>.keep
    /// The role; nil leaves it unchanged. Only an operator of the channel may change it.
    public var role: MemberRole?
    /// The timetoken to which the read mark moves forward; nil leaves it unchanged. A mark after this timetoken does
    /// not move.
    public var read: Timetoken?
    /// The state to give to a user who has not joined, in ``ChatAccess/change(membersOf:setting:removing:by:)``.
    public var entry = Entry.join

    /// The state that an edit gives to a membership. A user who has already joined stays joined.
    public enum Entry: Sendable {
        /// The user joins: as a new member, or by accepting the invitation.
        case join
        /// The user is invited. The inviting client publishes the invitation to PubNub clients itself.
        case invite
        /// An invited user stays invited; any other user joins.
        case keep
    }

    /// Creates an edit that changes no field.
    public init() {}

    func apply(to membership: inout MembershipRecord) {
        membership.type = type.applied(to: membership.type)
        membership.status = status.applied(to: membership.status)
        membership.custom = custom.applied(to: membership.custom)
        membership.push = push.applied(to: membership.push) ?? .all
        membership.role = role ?? membership.role
        if let read { ReceiptKind.read.set(read, on: &membership) }
    }

    /// Checks the fields of the app against the limits.
    ///
    /// - Throws: `.malformed` for a text that is too long or a `custom` that is no object; `.tooLarge` for a `custom`
    ///   above the size limit.
    public func check(_ limits: Limits) throws(ChatError) {
        try limits.check(type.applied(to: nil), "type")
        try limits.check(status.applied(to: nil), "status")
        try limits.check(object: custom.applied(to: nil), "custom")
    }
}

extension ChatAccess {
    /// Makes a user a joined member: the user joins a public channel, accepts an invitation, or is added by an
    /// operator. If the user has already joined, only `edit` is applied. If another user's edit clears the push
    /// preference, the preference stays unchanged.
    ///
    /// - Parameter named: the acting user that the request names; nil when it names none.
    /// - Throws: `.notFound` for a channel without a record; `.forbidden`, with the reason as the slug; `.invalid` with
    ///   the slug `no_members` for an open channel.
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

    /// Accepts an invitation. Repeating the call has no further effect.
    ///
    /// - Throws: the errors of `join`; `.notFound` with the slug `no_such_member` when the user is neither invited nor
    ///   a member.
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
    /// - Throws: `.notFound` with the slug `no_such_member` when the user is not invited; `.conflict` with the slug
    ///   `already_joined` for a member who has joined.
    public func declineInvite(of user: String, to channel: String, by named: String? = nil) async throws(ChatError) {
        try await withMembers([user], of: channel, by: named) { change throws(ChatError) in
            let membership = try change.ownMembership(of: user)
            guard membership.state == .invited else {
                throw ChatError(
                    .conflict,
                    "user '\(user)' has already joined channel '\(channel)' and can no longer decline; leave the channel instead",
                    slug: "already_joined")
            }
            change.remove(user)
            change.announceDeclined(membership)
        }
    }

    /// Changes fields of a membership. The member or an operator may change the app's own fields, only an operator may
    /// change the role, and only the member may change the push preference.
    ///
    /// - Parameter etag: the required version of the membership; nil accepts any version.
    /// - Throws: `.notFound` when the user is not a member or the channel has no record; `.stale` for another version;
    ///   `.forbidden` without the right to change a field; `.malformed` or `.tooLarge` for an invalid value.
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

    /// Ends a membership or an invitation: the user leaves or declines, or an operator removes the user.
    ///
    /// - Parameter reason: a text that the event contains as the reason; nil for a default.
    /// - Returns: true when there was a membership.
    /// - Throws: `.stale` when `precondition` names a version that the membership does not have, or when there is no
    ///   membership.
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

    /// Adds or invites users, edits existing memberships, and ends the memberships of other users, in one commit. If a
    /// requested read mark is after the app's newest event, the mark moves to the timetoken of that event.
    ///
    /// - Throws: the errors of `join`, `invite` and `leave`; `.invalid` for more than `Limits.membersPerCall` users.
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

    /// Invites users to a channel. Users who are already members or invited are not changed.
    ///
    /// - Returns: the memberships in the order of `users`, without duplicates.
    /// - Throws: `.invalid` for more than `Limits.membersPerCall` users; `.forbidden`, with the reason as the slug.
    ///   After an error, no user is invited.
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
    /// Ends a membership. If the actor is the user, the user declines an invitation or leaves the channel; otherwise,
    /// the actor removes the user. Does nothing when the user has no membership.
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
    /// Returns the default reason for the end of a membership.
    fileprivate func reason(isOwn: Bool) -> String {
        if isOwn { return "LEFT_BY_OWN_CHOICE" }
        return isManager ? "ADMIN_REMOVED" : "CHANNEL_OPERATOR_REMOVED"
    }
}
