import ChatCore
import ChatModel
import Locking

/// The channel list of a subscribe call, without the channels of groups. A client repeats its list in every call, and
/// polls with the same list share it while they wait.
final class ChannelList: Sendable {
    let names: [String]
    let match: SharedMatch
    /// The selection of all events in the channels.
    let selection: Selection
    /// The channels on which the call makes its user present.
    let place: PresenceTarget

    /// Parses the list in the path of a request.
    ///
    /// - Throws: `WireError.unreadable` for an invalid name, and for more names than `Limits.streamChannels`;
    ///   `.malformed` for an invalid channel name.
    init(_ request: WireRequest, _ app: AppID, _ limits: Limits) throws {
        names = try request.names(3)
        guard names.count <= limits.streamChannels else { throw WireError.unreadable }
        var match = SubscriptionMatch()
        for name in names { try match.add(name) }
        self.match = SharedMatch(match)
        selection = Selection(channels: match.channels(in: app), isWire: true)
        place = try PresenceTarget(names, GroupChannels(), limits)
    }
}

/// The channel lists that were used recently.
final class ChannelLists: Sendable {
    private struct Key: Hashable {
        let app: AppID
        let text: [UInt8]
    }

    /// The maximum length in bytes of a list that is kept.
    private static let longest = 256
    private let lists = Lock(GenerationCache<Key, ChannelList>(capacity: 2048))

    /// Returns the channel list of a request.
    ///
    /// - Throws: the errors of ``ChannelList``.
    func list(of request: WireRequest, _ app: AppID, _ limits: Limits) throws -> ChannelList {
        guard let text = request.rawSegment(3), text.count <= Self.longest else {
            return try ChannelList(request, app, limits)
        }
        let key = Key(app: app, text: Array(text))
        if let known = lists.withLock({ $0.value(of: key) }) { return known }
        let list = try ChannelList(request, app, limits)
        lists.withLock { $0.insert(list, for: key) }
        return list
    }
}
