import ChatCore
import ChatModel

/// What a subscriber names: channels, wildcards, and a position.
///
/// Names that end in `-pnpres`, and channel groups, are accepted and match nothing.
struct SubscribeRequest: Sendable {
    let keyset: Keyset
    /// Of the channels named, those that are wildcards: the text before the star, the longest first.
    let prefixes: [String]
    let selection: Selection
    /// Zero: a handshake.
    let cursor: Timetoken

    /// - Throws: `WireError.unreadable` for names, cursors and numbers of names that cannot be; `.malformed` for a filter.
    init(_ request: WireRequest, _ keyset: Keyset, _ limits: Limits) throws {
        self.keyset = keyset
        let names = try request.names(3)
        let groups = request.list("channel-group")
        guard (1...limits.streamChannels).contains(names.count + groups.count) else { throw WireError.unreadable }
        let patterns = try names.map(Self.pattern)
        for group in groups { try Names.check(group: group.withoutPresence) }
        prefixes = patterns.compactMap { if case .below(let prefix) = $0 { prefix } else { nil } }
            .sorted { $0.utf8.count > $1.utf8.count }
        let filter = try request["filter-expr"].map { text throws(ChatError) in
            try Filter(text, dialect: .pubnub, limits: limits)
        }
        let followed = zip(names, patterns).filter { !$0.0.hasSuffix(String.presenceSuffix) }.map(\.1)
        selection = Selection(channels: ChannelSet(space: keyset.space, patterns: followed), filter: filter)
        cursor = try request.timetoken("tt") ?? .zero
    }

    /// A name, or a wildcard: `a.*` is everything below `a.`.
    private static func pattern(_ text: String) throws -> NamePattern {
        guard let pattern = NamePattern(text.withoutPresence) else { throw WireError.unreadable }
        switch pattern {
        case .exact(let name):
            try Names.check(channel: name)
            guard name != ChannelID.systemName else { throw WireError.unreadable }
        case .below(let prefix): try Names.check(channel: prefix)
        case .all: throw WireError.unreadable
        }
        return pattern
    }

    /// The subscription that an item of a channel is said to have come by: the longest wildcard; nil for the channel itself.
    func wildcard(of channel: String) -> String? {
        prefixes.first { NamePattern.below($0).matches(channel) }.map { $0 + "*" }
    }
}

extension String {
    /// What is put behind the name of a channel or a group for what goes on in it.
    static let presenceSuffix = "-pnpres"

    var withoutPresence: String {
        hasSuffix(Self.presenceSuffix) ? String(dropLast(Self.presenceSuffix.count)) : self
    }
}
