import ChatModel

/// What a device's stream may hear as of one moment of the hub: for reading what it has missed, away from there.
///
/// The present stands in for the past: of the channels the user is in now, what has happened since the user came.
public struct Hearing: Sendable {
    let channels: ChannelSet
    private let selection: Selection
    private let viewer: Viewer
    private let places: [ExactText: Whereabouts]
    private let open: Set<ExactText>
    private let blocked: Set<ExactText>

    /// On the hub's executor.
    init(_ selection: Selection, _ viewer: Viewer) {
        let attendance = viewer.attendance
        self.selection = selection
        self.viewer = viewer
        places = attendance.places
        blocked = attendance.blocked
        open = selection.channels.names.filter { attendance.named[$0]?.isPrivate == false }
        var channels = ChannelSet(app: selection.channels.app)
        channels.names = Set(selection.heardNames)
        self.channels = channels
    }

    func admits(_ event: Event) -> Bool {
        let channel = ExactText(event.channel.name)
        var standing: Standing = []
        if channel == ExactText(viewer.user) {
            standing = [.joined, .inside]
        } else if let place = places[channel] {
            standing = event.timetoken < place.since ? place.standing.intersection(.banned) : place.standing
        }
        return Admission(
            viewer: viewer, standing: standing, isSubscribed: open.contains(channel), blocked: blocked
        ).admits(event)
    }
}

extension Selection {
    /// The channels in which the index finds a device's stream: those it has named, and of the user's those its patterns
    /// pick.
    var heardNames: [ExactText] {
        guard let viewer else { return [] }
        let picked = viewer.attendance.channels.filter { !channels.names.contains($0) && covers($0) }
        return picked + channels.names
    }
}
