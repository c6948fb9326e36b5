import ChatCore
import ChatModel
import LongPolling
import JSON

/// The parameters of a subscribe call: channels, wildcards and groups, each for messages or for presence events, and
/// the position from which to continue.
struct SubscribeRequest: Sendable {
    let subscriber: Subscriber
    let user: String?
    /// The duration for which the user stays present after this request; see ``PresenceTimeouts``.
    let duration: Duration
    /// The channels on which this request makes the user present.
    let place: PresenceTarget
    let states: [(channel: String, state: JSONText)]
    /// The channel groups that the subscriber follows; nil if the request names none.
    let groups: GroupSelection?
    /// The hub's count of audience changes, read before the user's bans; see ``PollRequest``.
    let audienceChanges: UInt64
    /// The position from which to continue; zero for a handshake.
    let cursor: Timetoken

    /// Parses a subscribe call, and reads the channels of its groups and the bans of its user.
    ///
    /// - Throws: `WireError.unreadable` for an invalid name or cursor, and unless there are 1 to
    ///   `Limits.streamChannels` names; `.malformed` for an invalid filter.
    nonisolated(nonsending) init(
        _ request: WireRequest, _ keyset: Keyset, _ chat: ChatAccess, _ polls: LongPollTable,
        _ timeouts: PresenceTimeouts
    ) async throws {
        let names = try request.names(3)
        let groupNames = request.list("channel-group")
        guard (1...chat.limits.streamChannels).contains(names.count + groupNames.count) else {
            throw WireError.unreadable
        }
        cursor = try request.timetoken("tt") ?? .zero
        user = try request.user()
        let filter = try request["filter-expr"].map { text throws(ChatError) in
            try Filter(text, dialect: .pubnub, limits: chat.limits)
        }
        var match = SubscriptionMatch()
        for name in names { try match.add(name) }
        let plainGroups = groupNames.map(\.withoutPresence).withoutRepeats
        // The version of the groups is read before the groups. If a group changes in between, the poll ends.
        groups =
            plainGroups.isEmpty
            ? nil : GroupSelection(names: plainGroups, channels: [], version: try await polls.groups.version())
        let held = try await GroupChannels(groupNames, chat)
        for group in groupNames {
            for channel in held[group] ?? [] { match.add(channel, of: group) }
        }
        // A user who is banned from a channel does not receive the channel's events, as in every API.
        audienceChanges = try await polls.audienceChanges(in: chat)
        if let user {
            for ban in try await chat.bans(of: user) { match.withhold(ban.channel, until: ban.until ?? .distantFuture) }
        }
        subscriber = Subscriber(
            app: keyset.app, subscribeKey: keyset.record.subscribeKey, match: match, filter: filter)
        place = try PresenceTarget(names, held, chat.limits)
        states = place.states(request["state"], chat.limits)
        // This is the last step, so that an invalid request does not change the timeout of its user.
        duration =
            user.map { timeouts.duration(request.heartbeat, of: UserID($0, in: chat.app), chat.limits) }
            ?? chat.limits.presenceAge
    }
}

extension String {
    /// The suffix of a channel or group name that selects its presence events.
    static let presenceSuffix = "-pnpres"

    /// True when the name contains the presence suffix at any position. One SDK checks for the suffix in the same way.
    var readsLikePresence: Bool {
        // Searches for hyphens first. Most names have none, and every name is checked for every event of every
        // subscriber.
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
