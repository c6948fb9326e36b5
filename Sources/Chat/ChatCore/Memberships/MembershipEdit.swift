public import ChatModel
public import JSON

/// What somebody wants changed of a membership.
public struct MembershipEdit: Sendable {
    public var type = FieldEdit<String>.keep
    public var status = FieldEdit<String>.keep
    public var custom = FieldEdit<JSONText>.keep
    /// For an operator of the channel to set.
    public var role: MemberRole?

    public init() {}

    func apply(to membership: inout MembershipRecord) {
        membership.type = type.applied(to: membership.type)
        membership.status = status.applied(to: membership.status)
        membership.custom = custom.applied(to: membership.custom)
        membership.role = role ?? membership.role
    }

    /// - Throws: `.malformed`, `.tooLarge` for what no membership can hold.
    public func check(_ limits: Limits) throws(ChatError) {
        try limits.check(type.applied(to: nil), "type")
        try limits.check(status.applied(to: nil), "status")
        try limits.check(object: custom.applied(to: nil), "custom")
    }
}
