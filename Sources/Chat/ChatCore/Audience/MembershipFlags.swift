import ChatModel

/// What a user is to a channel. A set, because a change counts as both what it was before and what it is after.
struct MembershipFlags: OptionSet, Sendable {
    let rawValue: UInt8

    static let invited = MembershipFlags(rawValue: 1)
    static let joined = MembershipFlags(rawValue: 2)
    /// Has entered an open channel.
    static let inside = MembershipFlags(rawValue: 4)
    static let banned = MembershipFlags(rawValue: 8)
    /// A member in either state.
    static let member: MembershipFlags = [.invited, .joined]

    /// What it becomes by a step.
    func after(_ step: MembershipTransition) -> MembershipFlags {
        switch step {
        case .invited: contains(.joined) ? self : union(.invited)
        case .joined: subtracting(.invited).union(.joined)
        case .left: subtracting(.member)
        case .entered: union(.inside)
        case .exited: subtracting(.inside)
        case .banned: union(.banned)
        case .unbanned: subtracting(.banned)
        }
    }
}

/// What can happen between a user and a channel, as far as it changes what the user hears.
enum MembershipTransition: Sendable, Equatable {
    case invited, joined, left, entered, exited, banned, unbanned
}

/// Where a user stands in one channel, and since when.
struct ChannelPosition: Sendable {
    var standing: MembershipFlags
    /// When the user came, in whatever way: what is older was not for the user.
    var since: Timetoken
}
