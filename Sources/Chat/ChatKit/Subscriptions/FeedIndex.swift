import ChatModel

/// Finds the feeds of an event by its channel, without looking at the others: by exact name, by each prefix the name
/// lies under, and those that take everything.
struct FeedIndex {
    private struct Prefixed: Hashable {
        let space: SpaceID
        let prefix: ExactText
    }

    private var exact: [ChannelID: [Feed]] = [:]
    private var below: [Prefixed: [Feed]] = [:]
    private var all: [SpaceID: [Feed]] = [:]

    mutating func insert(_ feed: Feed) {
        let channels = feed.selection.channels
        for name in channels.names { exact[ChannelID(name.text, in: channels.space), default: []].append(feed) }
        for prefix in channels.prefixes {
            below[Prefixed(space: channels.space, prefix: prefix), default: []].append(feed)
        }
        if channels.isAll { all[channels.space, default: []].append(feed) }
    }

    mutating func remove(_ feed: Feed) {
        let channels = feed.selection.channels
        for name in channels.names { Self.drop(feed, &exact, ChannelID(name.text, in: channels.space)) }
        for prefix in channels.prefixes { Self.drop(feed, &below, Prefixed(space: channels.space, prefix: prefix)) }
        if channels.isAll { Self.drop(feed, &all, channels.space) }
    }

    /// Calls `visit` once with every feed whose channels contain `channel`: once, because a selection holds no channel
    /// that another part of it covers already.
    func visit(_ channel: ChannelID, _ visit: (Feed) -> Void) {
        exact[channel]?.forEach(visit)
        if !channel.isSystem { all[channel.space]?.forEach(visit) }
        guard !below.isEmpty else { return }
        // Bytes, as patterns are matched: a dot with a combining mark behind it is no `Character` of its own.
        let name = channel.name.utf8
        var end = name.startIndex
        while let dot = name[end...].firstIndex(of: UInt8(ascii: ".")) {
            end = name.index(after: dot)
            guard end < name.endIndex else { return }
            let prefix = ExactText(Substring(name[..<end]))
            below[Prefixed(space: channel.space, prefix: prefix)]?.forEach(visit)
        }
    }

    private static func drop<Key: Hashable>(_ feed: Feed, _ table: inout [Key: [Feed]], _ key: Key) {
        table[key]?.removeAll { $0 === feed }
        if table[key]?.isEmpty == true { table[key] = nil }
    }
}
