import ChatModel

/// The question a device's stream asks of each event on a channel: is it for this device?
struct AudienceCheck {
    let viewer: Viewer
    /// What its user is to the channel.
    let standing: MembershipFlags
    /// Whether the stream has named the channel, and it is open to those who are no members.
    let isSubscribed: Bool
    /// Whose words its user does not want to hear.
    let blocked: Set<ExactText>

    /// The answer, by the event's audience (`sendbird.md` 1.2).
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

    /// Whether the user belongs there, or the stream may follow what goes on there: who does may be seen there as well.
    var isAmongThem: Bool { !isBanned && (isSubscribed || isThere) }

    private var isBanned: Bool { standing.contains(.banned) }
    private var isJoined: Bool { standing.contains(.joined) }
    private var isInside: Bool { standing.contains(.inside) }
    private var isMember: Bool { !standing.isDisjoint(with: .member) }
    private var isThere: Bool { isJoined || isInside }

    private func admits(_ rule: AudienceRule, isSubject: Bool, _ event: Event) -> Bool {
        // Who is banned hears of that alone.
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
    /// Whether a device's stream is to look at what happens on a channel: a name subscribes to the channel, a pattern
    /// picks among those in which the user has a place.
    func covers(_ channel: ExactText) -> Bool {
        channels.names.contains(channel) || channels.contains(ChannelID(channel.text, in: channels.app))
    }

    /// Whether the event is for the viewer of this selection; true without one.
    func isForViewer(_ event: Event) -> Bool {
        guard let viewer else { return true }
        let channel = ExactText(event.channel.name)
        return admission(viewer, viewer.userMemberships.place(in: channel)?.standing ?? [], channel).admits(event)
    }

    func admission(_ viewer: Viewer, _ standing: MembershipFlags, _ channel: ExactText) -> AudienceCheck {
        AudienceCheck(
            viewer: viewer, standing: standing,
            isSubscribed: channels.names.contains(channel) && viewer.userMemberships.named[channel]?.isPrivate == false,
            blocked: viewer.userMemberships.blocked)
    }
}
