import ChatModel

/// A cache of recently read log pages for the streams of the same feed. When many streams resume at the same time, each
/// range of the log is read and printed once.
///
/// Bounded in bytes and in time. Confined to `LiveStreams`.
struct PageCache {
    private static let mostBytes = 32 * 1024 * 1024
    /// The number of seconds for which a page is cached. It suffices for many clients that reconnect at the same time.
    private static let life: UInt64 = 2

    struct Entry {
        let page: CatchUpPage
        /// The offset in the feed's byte log at which the events after this page begin. Used only if the page is the
        /// last page of a catch-up: the stream then continues from this offset.
        let mark: UInt64
        /// The service's count of event deletions when the page was read.
        let deletions: UInt64
        /// The feed's ``StreamFeed/losses`` at the time of the read. If the feed has discarded events since then, its
        /// byte log lacks them, so a stream cannot continue from `mark`.
        let losses: Int
    }

    private struct Place {
        /// Retained while the page is cached, so that no other feed can have the same `ObjectIdentifier`.
        var feed: StreamFeed?
        let bytes: Int
        let tick: UInt64
    }

    private var entries: [ObjectIdentifier: [Entry]] = [:]
    /// The cached pages of all feeds, in the order in which they were read.
    private var places: [Place] = []
    private var first = 0
    private var bytes = 0

    var isEmpty: Bool { entries.isEmpty }

    /// Returns the newest usable page of the feed; nil when there is none. A page is usable if it begins at or before
    /// `position` and ends after `position`, no event was deleted since the page was read, and the page has not
    /// expired.
    ///
    /// - Parameter deletions: the service's current count of event deletions.
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

    /// Removes the pages that were cached for longer than `life`.
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
