import ChatModel

/// Checks whether an event on a channel is for the stream of a given device.
struct AudienceCheck {
    let viewer: Viewer
    /// The relations of the stream's user to the channel.
    let access: UserAccess
    /// True when the stream names the channel and the channel is open to non-members.
    let isSubscribed: Bool
    /// The users whose messages, mentions and channel activity the stream's user has blocked.
    let blocked: Set<ExactText>

    /// Returns true when the event's audience includes this device. Returns false for a message, message update,
    /// mention or channel activity by a user whom the stream's user has blocked.
    func admits(_ event: Event) -> Bool {
        if !blocked.isEmpty, Self.words.contains(event.type), let author = event.user,
            blocked.contains(ExactText(author))
        {
            return false
        }
        return switch event.audience {
        case .webhooks, .wire: false
        case .subscribers, .insiders: isFollowed
        case .rule(let rule, let subjects):
            access.isAmong(
                rule, isSubject: subjects.contains { ExactText($0) == ExactText(viewer.user) },
                isAboutBan: Self.ofBans.contains(event.type), isSubscribed: isSubscribed,
                isOrigin: viewer.isOrigin(of: event))
        }
    }

    /// True when the stream follows the channel; see ``UserAccess/follows(isSubscribed:)``.
    var isFollowed: Bool { access.follows(isSubscribed: isSubscribed) }

    private static let words: Set<String> = [
        BuiltInTypes.messageCreated, "message.updated", "user.mentioned", BuiltInTypes.channelActivity,
    ]
    private static let ofBans: Set<String> = ["user.banned", "user.unbanned"]
}

extension Selection {
    /// Returns true when the selection names the channel, or when one of its patterns matches the channel's name. Does
    /// not check whether the user has a relation to the channel.
    func covers(_ channel: ExactText) -> Bool {
        channels.names.contains(channel) || channels.contains(ChannelID(channel.text, in: channels.app))
    }

    /// Returns true when the selection has no viewer, or when the event is for its viewer.
    func isForViewer(_ event: Event) -> Bool {
        guard let viewer else { return true }
        let channel = ExactText(event.channel.name)
        return audienceCheck(viewer, channel).admits(event)
    }

    /// Returns the check for a viewer and a channel. The check uses the viewer's relations to channels as of the last
    /// event that the hub has distributed.
    func audienceCheck(_ viewer: Viewer, _ channel: ExactText) -> AudienceCheck {
        AudienceCheck(
            viewer: viewer, access: viewer.userMemberships.place(in: channel)?.access ?? [],
            isSubscribed: channels.names.contains(channel) && viewer.userMemberships.isOpen(channel),
            blocked: viewer.userMemberships.blocked)
    }
}
