import ChatCore
import ChatModel
import Following
import JSON

/// What a subscriber names: channels, wildcards and groups, each for what is said there or for who is there, and a position.
struct SubscribeRequest: Sendable {
    let subscriber: Subscriber
    let user: String?
    /// For how long the user stays after this request.
    let lasting: Duration
    /// Channels where the user is present by it.
    let place: PresenceTarget
    let states: [(channel: String, state: JSONText)]
    /// Nil without a group.
    let groups: GroupSelection?
    /// How many changes of who may hear there had been before its bans were read; see ``PollRequest``.
    let audienceChanges: UInt64
    /// Zero: a handshake.
    let cursor: Timetoken

    /// - Throws: `WireError.unreadable` for names, cursors and numbers of names that cannot be; `.malformed` for a filter.
    init(_ request: WireRequest, _ keyset: Keyset, _ chat: ChatAccess, _ polls: LongPollTable) async throws {
        let names = try request.names(3)
        let groupNames = request.list("channel-group")
        guard (1...chat.limits.streamChannels).contains(names.count + groupNames.count) else {
            throw WireError.unreadable
        }
        cursor = try request.timetoken("tt") ?? .zero
        user = try request.user()
        lasting = request.heartbeat(chat.limits)
        let filter = try request["filter-expr"].map { text throws(ChatError) in
            try Filter(text, dialect: .pubnub, limits: chat.limits)
        }
        var match = SubscriptionMatch()
        for name in names { try match.add(name) }
        let plainGroups = groupNames.map(\.withoutPresence).withoutRepeats
        // Before they are read: a change in between is one that the poll is told of.
        groups =
            plainGroups.isEmpty
            ? nil : GroupSelection(names: plainGroups, channels: [], version: try await polls.groups.version())
        let held = try await GroupChannels(groupNames, chat)
        for group in groupNames {
            for channel in held[group] ?? [] { match.add(channel, of: group) }
        }
        // As in every interface, a ban holds for whoever is named.
        audienceChanges = try await polls.audienceChanges(in: chat)
        if let user {
            for ban in try await chat.bans(of: user) { match.withhold(ban.channel, until: ban.until ?? .distantFuture) }
        }
        subscriber = Subscriber(
            app: keyset.app, subscribeKey: keyset.record.subscribeKey, match: match, filter: filter)
        place = try PresenceTarget(names, held, chat.limits)
        states = place.states(request["state"], chat.limits)
    }
}

extension String {
    /// What is put behind the name of a channel or a group for who is in it.
    static let presenceSuffix = "-pnpres"

    /// Whether the suffix of presence stands in it anywhere: one SDK asks for no more.
    var readsLikePresence: Bool {
        // Most names have no hyphen, and are looked at for every item of every subscriber.
        var rest = utf8[...]
        while let hyphen = rest.firstIndex(of: UInt8(ascii: "-")) {
            rest = rest[hyphen...]
            if rest.starts(with: Self.presenceSuffix.utf8) { return true }
            rest = rest.dropFirst()
        }
        return false
    }

    var withoutPresence: String {
        hasSuffix(Self.presenceSuffix) ? String(dropLast(Self.presenceSuffix.count)) : self
    }
}
