import ChatCore
import ChatModel
import Following
import JSON

/// What a subscriber names: channels, wildcards and groups, each for what is said there or for who is there, and a position.
struct SubscribeRequest: Sendable {
    let keyset: Keyset
    let user: String?
    /// For how long the user stays after this request.
    let lasting: Duration
    /// Channels where the user is present by it.
    let place: PresencePlace
    let states: [(channel: String, state: JSONText)]
    let match: SubscriptionMatch
    /// Nil without a group.
    let groups: FollowedGroups?
    let filter: Filter?
    /// Zero: a handshake.
    let cursor: Timetoken

    /// - Throws: `WireError.unreadable` for names, cursors and numbers of names that cannot be; `.malformed` for a filter.
    init(_ request: WireRequest, _ keyset: Keyset, _ chat: ChatAccess, _ polls: HeldPolls) async throws {
        self.keyset = keyset
        let names = try request.names(3)
        let groupNames = request.list("channel-group")
        guard (1...chat.limits.streamChannels).contains(names.count + groupNames.count) else {
            throw WireError.unreadable
        }
        cursor = try request.timetoken("tt") ?? .zero
        user = try request.user()
        lasting = request.heartbeat(chat.limits)
        filter = try request["filter-expr"].map { text throws(ChatError) in
            try Filter(text, dialect: .pubnub, limits: chat.limits)
        }
        var match = SubscriptionMatch()
        for name in names { try match.add(name) }
        let plainGroups = groupNames.map(\.withoutPresence).withoutRepeats
        // Before they are read: a change in between is one that the poll is told of.
        groups =
            plainGroups.isEmpty
            ? nil : FollowedGroups(names: plainGroups, channels: [], version: try await polls.groups.version())
        let held = try await GroupChannels(groupNames, chat)
        for group in groupNames {
            for channel in held[group] ?? [] { match.add(channel, of: group) }
        }
        self.match = match
        place = try PresencePlace(names, held, chat.limits)
        states = place.states(request["state"])
    }

    /// Everything that is said or that happens in those channels; what of it this subscriber gets is the match's to say.
    var selection: Selection { Selection(channels: match.channels(in: keyset.space)) }

    /// Whether the subscriber gets the event.
    func wants(_ event: Event, _ print: SubscribePrint) -> Bool {
        guard match.subscription(of: event) != nil else { return false }
        guard let filter else { return ShownPayload.showsAtOnce(event) || print.shown(event) != nil }
        guard let shown = print.shown(event) else { return false }
        return shown.isNeverFiltered
            || filter.accepts(FilterSubject(event, wireData: shown.payload, wireMeta: shown.meta))
    }
}

extension String {
    /// What is put behind the name of a channel or a group for who is in it.
    static let presenceSuffix = "-pnpres"

    var withoutPresence: String {
        hasSuffix(Self.presenceSuffix) ? String(dropLast(Self.presenceSuffix.count)) : self
    }
}
