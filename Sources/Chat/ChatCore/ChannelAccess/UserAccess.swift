import ChatModel

/// The relations of a user to a channel, and the rules that follow from them.
///
/// For a request, the relations are derived from the user's records (``UserRights/access(at:)``). For streams, the hub
/// derives the relations from the records once, and then updates them with each event that reports a change
/// (``after(_:)``). During a change, a value of this type may contain both the old and the new relation.
struct UserAccess: OptionSet, Sendable {
    let rawValue: UInt8

    static let invited = UserAccess(rawValue: 1)
    static let joined = UserAccess(rawValue: 2)
    /// The user has entered an open channel.
    static let inside = UserAccess(rawValue: 4)
    static let banned = UserAccess(rawValue: 8)
    /// The user may not write. Used only for requests, in which a banned user is also muted. The hub ignores mutes.
    static let muted = UserAccess(rawValue: 16)
    /// The relations of a member: invited or joined.
    static let member: UserAccess = [.invited, .joined]
    /// The relations of a user to the channel with the user's own name, regardless of the channel's record. The user
    /// may in addition be banned from this channel.
    static let own: UserAccess = [.joined, .inside]

    /// Returns the relations after a transition.
    func after(_ step: MembershipTransition) -> UserAccess {
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

/// A change in the relation of a user to a channel. Only changes that affect which events the user receives are listed.
enum MembershipTransition: Sendable, Equatable {
    case invited, joined, left, entered, exited, banned, unbanned
}

// MARK: - Permissions

extension UserAccess {
    /// A reason why a user lacks a permission.
    enum Obstacle {
        case banned, muted, frozen, notMember
    }

    /// Returns the reason why the user lacks a permission; nil when the user has the permission.
    ///
    /// - Parameters:
    ///   - channel: the rules of the channel.
    ///   - user: the user's name, to find out whether the user is an operator of the channel.
    ///   - isOwnCredential: true for the user's own credential. Only users' own credentials need a membership of a
    ///     private channel: a service may act for a user who is not a member.
    func obstacle(
        to permission: ChannelPermission, in channel: ChannelRules, for user: String, isOwnCredential: Bool
    ) -> Obstacle? {
        if permission > .knowing, contains(.banned) { return .banned }
        if permission == .writing {
            if contains(.muted) { return .muted }
            if channel.isFrozen, !channel.isOperator(user) { return .frozen }
        }
        guard isOwnCredential else { return nil }
        let isAdmitted = permission == .knowing ? mayKnow(channel.kind) : mayReceive(channel.kind)
        return isAdmitted ? nil : .notMember
    }

    /// Returns true when the user may read the record and the members of a channel of this kind. A banned user may also
    /// read them.
    func mayKnow(_ kind: ChannelKind?) -> Bool { kind?.isPrivate != true || !isDisjoint(with: .member) }

    /// Returns true when the user may receive and read the events of a channel of this kind.
    func mayReceive(_ kind: ChannelKind?) -> Bool {
        !contains(.banned) && (kind?.isPrivate != true || contains(.joined))
    }
}

// MARK: - Audiences

extension UserAccess {
    /// Returns true when a stream of the user follows the channel. Such a stream receives the events for everyone in
    /// the channel, and the user may be listed as present there.
    ///
    /// - Parameter isSubscribed: true when the stream names the channel and the channel is not private.
    func follows(isSubscribed: Bool) -> Bool {
        !contains(.banned) && (isSubscribed || !isDisjoint(with: [.joined, .inside]))
    }

    /// Returns true when the audience rule includes the user's device.
    ///
    /// - Parameters:
    ///   - isSubject: true when the event names the user as one of its subjects.
    ///   - isAboutBan: true for an event that reports a ban or its end. A banned user receives only such events.
    ///   - isSubscribed: see ``follows(isSubscribed:)``.
    ///   - isOrigin: true for the device that caused the event.
    func isAmong(
        _ rule: AudienceRule, isSubject: Bool, isAboutBan: @autoclosure () -> Bool, isSubscribed: Bool,
        isOrigin: @autoclosure () -> Bool
    ) -> Bool {
        if contains(.banned), !(isSubject && isAboutBan()) { return false }
        return switch rule {
        case .participants: isInside
        case .participantsButOrigin: isInside && !isOrigin()
        case .participantsAndSubjects: isInside || isSubject
        case .joined: isJoined
        case .joinedButOrigin: isJoined && !isOrigin()
        case .joinedAndSubjects: isJoined || isSubject
        case .joinedButSubjects: isJoined && !isSubject
        case .joinedAndThreadButOrigin: (isJoined || isSubject) && !isOrigin()
        case .members: isMember
        case .membersButOrigin: isMember && !isOrigin()
        case .mentioned: isSubject && (isMember || isInside)
        case .mentionedButOrigin: isSubject && (isMember || isInside) && !isOrigin()
        case .user: isSubject
        case .device: isOrigin()
        case .channelList: isMember || isInside || isSubscribed || isSubject
        }
    }

    private var isJoined: Bool { contains(.joined) }
    private var isInside: Bool { contains(.inside) }
    private var isMember: Bool { !isDisjoint(with: .member) }
}
