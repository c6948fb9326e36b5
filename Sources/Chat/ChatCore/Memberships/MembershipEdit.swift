public import ChatModel
public import JSON

/// What somebody wants changed of a membership.
public struct MembershipEdit: Sendable {
    public var type = FieldEdit<String>.keep
    public var status = FieldEdit<String>.keep
    public var custom = FieldEdit<JSONText>.keep
    /// For the member to set; cleared, it is ``PushPreference/all``.
    public var push = FieldEdit<PushPreference>.keep
    /// For an operator of the channel to set.
    public var role: MemberRole?
    /// Moves the read mark forward to this place; a mark beyond it stays.
    public var read: Timetoken?
    /// How ``ChatAccess/change(membersOf:setting:removing:by:)`` treats a user who has not joined.
    public var entry = Entry.join

    /// The state that a membership gets by an edit. A user who has joined stays so.
    public enum Entry: Sendable {
        /// Joined: a new member, or an accepted invitation.
        case join
        /// Invited, by a client that publishes the invitation to the wire's subscribers itself.
        case invite
        /// As it is; a new member joins.
        case keep
    }

    public init() {}

    func apply(to membership: inout MembershipRecord) {
        membership.type = type.applied(to: membership.type)
        membership.status = status.applied(to: membership.status)
        membership.custom = custom.applied(to: membership.custom)
        membership.push = push.applied(to: membership.push) ?? .all
        membership.role = role ?? membership.role
        if let read { ReceiptKind.read.set(read, on: &membership) }
    }

    /// - Throws: `.malformed`, `.tooLarge` for what no membership can hold.
    public func check(_ limits: Limits) throws(ChatError) {
        try limits.check(type.applied(to: nil), "type")
        try limits.check(status.applied(to: nil), "status")
        try limits.check(object: custom.applied(to: nil), "custom")
    }
}
