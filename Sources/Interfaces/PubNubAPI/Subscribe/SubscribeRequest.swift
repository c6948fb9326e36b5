import ChatCore
import ChatModel
import LongPolling
import JSON

/// The parameters of a subscribe call: channels, wildcards and groups, each for messages or for presence events, and
/// the position from which to continue. A class, because the parameters are passed on several times.
final class SubscribeParameters: Sendable {
    let request: WireRequest
    let keyset: Keyset
    /// The channels and wildcards of the request, without its groups.
    fileprivate let list: ChannelList
    let groupNames: [String]
    let user: String?
    /// The position from which to continue; zero for a handshake.
    let cursor: Timetoken
    fileprivate let filter: Filter?

    /// Parses a subscribe call.
    ///
    /// - Throws: `WireError.unreadable` for an invalid name or cursor, and unless there are 1 to
    ///   `Limits.streamChannels` names; `.malformed` for an invalid filter.
    init(_ request: WireRequest, _ keyset: Keyset, _ lists: ChannelLists, _ limits: Limits) throws {
        list = try lists.list(of: request, keyset.app, limits)
        groupNames = request.list("channel-group")
        guard (1...limits.streamChannels).contains(list.names.count + groupNames.count) else {
            throw WireError.unreadable
        }
        cursor = try request.timetoken("tt") ?? .zero
        user = try request.user()
        filter = try request["filter-expr"].map { text throws(ChatError) in
            try Filter(text, dialect: .pubnub, limits: limits)
        }
        self.request = request
        self.keyset = keyset
    }
}

/// A subscribe call whose channels are known.
final class SubscribeRequest: Sendable {
    let subscriber: Subscriber
    /// The selection of all events in the channels of the subscriber. ``Subscriber/wants(_:_:)`` then selects the events
    /// that the subscriber receives.
    let selection: Selection
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

    /// Looks up the channels of the request's groups and the bans of its user.
    ///
    /// - Throws: the errors of the lookups; `WireError` for too many channels.
    nonisolated(nonsending) static func lookedUp(
        _ parameters: SubscribeParameters, _ chat: ChatAccess, _ polls: LongPollTable, _ timeouts: PresenceTimeouts
    ) async throws -> SubscribeRequest {
        let groupNames = parameters.groupNames
        let plainGroups = groupNames.map(\.withoutPresence).withoutRepeats
        // The version of the groups is read before the groups. If a group changes in between, the poll ends.
        let groups =
            plainGroups.isEmpty
            ? nil : GroupSelection(names: plainGroups, channels: [], version: try await polls.groups.version())
        let held = try await GroupChannels(groupNames, chat)
        // A user who is banned from a channel does not receive the channel's events, as in every API.
        let audienceChanges = try await polls.audienceChanges(in: chat)
        let bans = if let user = parameters.user { try await chat.bans(of: user) } else { [RestrictionRecord]() }
        return try SubscribeRequest(parameters, held, groups, bans, audienceChanges, chat.limits, timeouts)
    }

    /// Completes a subscribe call that needs no lookup, if this is possible without waiting; returns nil for any other.
    ///
    /// - Parameter watermark: the end of the app's log.
    /// - Throws: `WireError` for too many channels.
    static func lookedUpAtOnce(
        _ parameters: SubscribeParameters, _ chat: ChatAccess, _ polls: LongPollTable, _ timeouts: PresenceTimeouts,
        upTo watermark: Timetoken
    ) throws -> SubscribeRequest? {
        guard parameters.groupNames.isEmpty, parameters.user == nil || !chat.mayHaveBans,
            let audienceChanges = polls.audienceChangesAtOnce(upTo: watermark)
        else { return nil }
        return try SubscribeRequest(parameters, GroupChannels(), nil, [], audienceChanges, chat.limits, timeouts)
    }

    private init(
        _ parameters: SubscribeParameters, _ held: GroupChannels, _ groups: GroupSelection?,
        _ bans: [RestrictionRecord], _ audienceChanges: UInt64, _ limits: Limits, _ timeouts: PresenceTimeouts
    ) throws {
        let app = parameters.keyset.app
        let hasGroups = !parameters.groupNames.isEmpty
        var selection = parameters.list.selection
        var match = parameters.list.match
        if hasGroups || !bans.isEmpty {
            var names = match.names
            for group in parameters.groupNames {
                for channel in held[group] ?? [] { names.add(channel, of: group) }
            }
            if hasGroups { selection = Selection(channels: names.channels(in: app), isWire: true) }
            for ban in bans { names.withhold(ban.channel, until: ban.until ?? .distantFuture) }
            match = SharedMatch(names)
        }
        self.selection = selection
        self.groups = groups
        self.audienceChanges = audienceChanges
        cursor = parameters.cursor
        user = parameters.user
        subscriber = Subscriber(
            app: app, subscribeKey: parameters.keyset.record.subscribeKey, match: match, filter: parameters.filter)
        place = hasGroups ? try PresenceTarget(parameters.list.names, held, limits) : parameters.list.place
        states = place.states(parameters.request["state"], limits)
        // This is the last step, so that an invalid request does not change the timeout of its user.
        duration =
            user.map { timeouts.duration(parameters.request.heartbeat, of: UserID($0, in: app), limits) }
            ?? limits.presenceAge
    }
}

extension String {
    /// The suffix of a channel or group name that selects its presence events.
    static let presenceSuffix = "-pnpres"

    /// True when the name contains the presence suffix at any position. One SDK checks for the suffix in the same way.
    var readsLikePresence: Bool {
        // Searches for hyphens first. Most names have none, and every name is checked for every event of every
        // subscriber.
        var text = self
        return text.withUTF8 { bytes in
            bytes.indices.contains { index in
                bytes[index] == UInt8(ascii: "-") && bytes[index...].starts(with: Self.presenceSuffix.utf8)
            }
        }
    }

    var withoutPresence: String {
        hasSuffix(Self.presenceSuffix) ? String(dropLast(Self.presenceSuffix.count)) : self
    }
}
