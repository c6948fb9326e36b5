import ChatModel

/// Decides for each event on a channel whether it is for a given device's stream.
struct AudienceCheck {
    let viewer: Viewer
    /// The user's relation to the channel.
    let flags: MembershipFlags
    /// True when the stream names the channel and the channel is open to non-members.
    let isSubscribed: Bool
    /// The users whose messages this user has blocked.
    let blocked: Set<ExactText>

    /// True when the event's audience includes this device and its author is not blocked.
    func admits(_ event: Event) -> Bool {
        if !blocked.isEmpty, Self.words.contains(event.type), let author = event.user,
            blocked.contains(ExactText(author))
        {
            return false
        }
        return switch event.audience {
        case .webhooks, .wire: false
        case .subscribers, .insiders: isAmongThem
        case .rule(let rule, let subjects):
            admits(rule, isSubject: subjects.contains { ExactText($0) == ExactText(viewer.user) }, event)
        }
    }

    /// True when the user belongs to the channel, or the stream may follow it. A user for whom this is true may also be
    /// seen as present there.
    var isAmongThem: Bool { !isBanned && (isSubscribed || isThere) }

    private var isBanned: Bool { flags.contains(.banned) }
    private var isJoined: Bool { flags.contains(.joined) }
    private var isInside: Bool { flags.contains(.inside) }
    private var isMember: Bool { !flags.isDisjoint(with: .member) }
    private var isThere: Bool { isJoined || isInside }

    private func admits(_ rule: AudienceRule, isSubject: Bool, _ event: Event) -> Bool {
        // A banned user receives only the events about the ban itself.
        if isBanned, !(isSubject && Self.ofBans.contains(event.type)) { return false }
        return switch rule {
        case .participants: isInside
        case .participantsButOrigin: isInside && !viewer.isOrigin(of: event)
        case .participantsAndSubjects: isInside || isSubject
        case .joined: isJoined
        case .joinedButOrigin: isJoined && !viewer.isOrigin(of: event)
        case .joinedAndSubjects: isJoined || isSubject
        case .joinedButSubjects: isJoined && !isSubject
        case .joinedAndThreadButOrigin: (isJoined || isSubject) && !viewer.isOrigin(of: event)
        case .members: isMember
        case .membersButOrigin: isMember && !viewer.isOrigin(of: event)
        case .mentioned: isSubject && (isMember || isInside)
        case .mentionedButOrigin: isSubject && (isMember || isInside) && !viewer.isOrigin(of: event)
        case .user: isSubject
        case .device: viewer.isOrigin(of: event)
        case .channelList: isMember || isInside || isSubscribed || isSubject
        }
    }

    private static let words: Set<String> = [
        BuiltInTypes.messageCreated, "message.updated", "user.mentioned", BuiltInTypes.channelActivity,
    ]
    private static let ofBans: Set<String> = ["user.banned", "user.unbanned"]
}

extension Selection {
    /// True when a device's stream considers events of a channel: a name subscribes to the channel; a pattern selects
    /// among the channels in which the user has a position.
    func covers(_ channel: ExactText) -> Bool {
        channels.names.contains(channel) || channels.contains(ChannelID(channel.text, in: channels.app))
    }

    /// True when the event is for the viewer of this selection, and when the selection has no viewer.
    func isForViewer(_ event: Event) -> Bool {
        guard let viewer else { return true }
        let channel = ExactText(event.channel.name)
        return admission(viewer, viewer.userMemberships.place(in: channel)?.flags ?? [], channel).admits(event)
    }

    func admission(_ viewer: Viewer, _ standing: MembershipFlags, _ channel: ExactText) -> AudienceCheck {
        AudienceCheck(
            viewer: viewer, flags: standing,
            isSubscribed: channels.names.contains(channel) && viewer.userMemberships.named[channel]?.isPrivate == false,
            blocked: viewer.userMemberships.blocked)
    }
}
