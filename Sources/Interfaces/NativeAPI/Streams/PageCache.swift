import ChatModel

/// A cache of log pages that were read recently, for other streams of the same feed. When many streams resume at once,
/// each range is read and printed once.
///
/// Bounded in bytes and in time. Confined to `LiveStreams`.
struct PageCache {
    private static let mostBytes = 32 * 1024 * 1024
    /// The time for which a page is kept, in beats: long enough for a wave of reconnecting clients, short enough to
    /// free the memory soon.
    private static let life: UInt64 = 2

    struct Entry {
        let page: CatchUpPage
        /// For a last page, the offset in the feed's log at which the events after the page begin.
        let mark: UInt64
        /// The number of deletions at the time of the read.
        let deletions: UInt64
        /// The feed's ``StreamFeed/losses`` at the time of the read. A stream joins at the mark only if the feed has
        /// lost nothing since.
        let losses: Int
    }

    private struct Place {
        /// Held while the page is cached, so that no other feed can get the same identity.
        var feed: StreamFeed?
        let bytes: Int
        let tick: UInt64
    }

    private var entries: [ObjectIdentifier: [Entry]] = [:]
    /// In the order of reading, over all feeds and within each feed.
    private var places: [Place] = []
    private var first = 0
    private var bytes = 0

    var isEmpty: Bool { entries.isEmpty }

    /// The newest cached page that holds the events after a stream's position.
    func entry(of feed: StreamFeed, after position: Timetoken, deletions: UInt64, now: Timetoken) -> Entry? {
        entries[ObjectIdentifier(feed)]?.last { entry in
            entry.page.after <= position && position < entry.page.position && entry.deletions == deletions
                && entry.page.expires > now
        }
    }

    mutating func keep(_ entry: Entry, of feed: StreamFeed, tick: UInt64) {
        guard entry.page.position > entry.page.after else { return }
        entries[ObjectIdentifier(feed), default: []].append(entry)
        places.append(Place(feed: feed, bytes: entry.page.bytes.count, tick: tick))
        bytes += entry.page.bytes.count
        while bytes > Self.mostBytes { dropOldest() }
    }

    /// Removes pages that are no longer likely to be needed.
    mutating func compact(at tick: UInt64) {
        while first < places.count, places[first].tick + Self.life <= tick { dropOldest() }
    }

    private mutating func dropOldest() {
        if let id = places[first].feed.map({ ObjectIdentifier($0) }) {
            entries[id]?.removeFirst()
            if entries[id]?.isEmpty == true { entries[id] = nil }
        }
        bytes -= places[first].bytes
        places[first].feed = nil
        first += 1
        if first == places.count || first >= 1024 {
            places.removeFirst(first)
            first = 0
        }
    }
}
