import ChatModel

/// Pages of the log that were read a moment ago, for other streams of the same feed: when many resume at once, each
/// stretch is read and printed once, whatever their number.
///
/// Bounded in bytes and in time. Belongs to `LiveStreams`.
struct PageCache {
    private static let mostBytes = 32 * 1024 * 1024
    /// How long a page is kept, in beats. Longer than a storm needs to come round once, short enough to be forgotten.
    private static let life: UInt64 = 2

    struct Entry {
        let page: CatchUpPage
        /// Where in the feed's log that begins which the page does not hold; for a last page.
        let mark: UInt64
        /// How many deletions there had been when it was read.
        let deletions: UInt64
        /// The feed's ``StreamFeed/losses`` at the read. A stream joins at the mark only if the feed has lost nothing since.
        let losses: Int
    }

    private struct Place {
        /// Held while the page is there, so that nobody else can have its identity.
        var feed: StreamFeed?
        let bytes: Int
        let beat: UInt64
    }

    private var entries: [ObjectIdentifier: [Entry]] = [:]
    /// In the order of reading, in all and within each feed.
    private var places: [Place] = []
    private var first = 0
    private var bytes = 0

    var isEmpty: Bool { entries.isEmpty }

    /// The newest page that holds what a stream wants to have next.
    func entry(of feed: StreamFeed, after position: Timetoken, deletions: UInt64, now: Timetoken) -> Entry? {
        entries[ObjectIdentifier(feed)]?.last { entry in
            entry.page.after <= position && position < entry.page.position && entry.deletions == deletions
                && entry.page.expires > now
        }
    }

    mutating func keep(_ entry: Entry, of feed: StreamFeed, beat: UInt64) {
        guard entry.page.position > entry.page.after else { return }
        entries[ObjectIdentifier(feed), default: []].append(entry)
        places.append(Place(feed: feed, bytes: entry.page.bytes.count, beat: beat))
        bytes += entry.page.bytes.count
        while bytes > Self.mostBytes { dropOldest() }
    }

    /// Lets go of what nobody is likely to ask for any more.
    mutating func tidy(at beat: UInt64) {
        while first < places.count, places[first].beat + Self.life <= beat { dropOldest() }
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
