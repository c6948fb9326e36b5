import ChatModel

/// What a device's stream may hear as of one moment of the hub: for reading what it has missed, away from there.
///
/// The present stands in for the past: of the channels the user is in now, what has happened since the user came.
public struct AudienceSnapshot: Sendable {
    let channels: ChannelSet
    private let selection: Selection
    private let viewer: Viewer
    private let places: [ExactText: ChannelPosition]
    private let open: Set<ExactText>
    private let blocked: Set<ExactText>

    /// On the hub's executor.
    init(_ selection: Selection, _ viewer: Viewer) {
        let userMemberships = viewer.userMemberships
        self.selection = selection
        self.viewer = viewer
        places = userMemberships.places
        blocked = userMemberships.blocked
        open = selection.channels.names.filter { userMemberships.named[$0]?.isPrivate == false }
        var channels = ChannelSet(app: selection.channels.app)
        channels.names = Set(selection.heardNames)
        self.channels = channels
    }

    func admits(_ event: Event) -> Bool {
        let channel = ExactText(event.channel.name)
        var standing: MembershipFlags = []
        if channel == ExactText(viewer.user) {
            standing = [.joined, .inside]
        } else if let place = places[channel] {
            standing = event.timetoken < place.since ? place.standing.intersection(.banned) : place.standing
        }
        return AudienceCheck(
            viewer: viewer, standing: standing, isSubscribed: open.contains(channel), blocked: blocked
        ).admits(event)
    }
}

extension Selection {
    /// The channels in which the index finds a device's stream: those it has named, and of the user's those its patterns
    /// pick.
    var heardNames: [ExactText] {
        guard let viewer else { return [] }
        let picked = viewer.userMemberships.channels.filter { !channels.names.contains($0) && covers($0) }
        return picked + channels.names
    }
}
