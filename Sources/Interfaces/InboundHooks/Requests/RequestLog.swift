import ChatModel
import Locking

/// The log of the latest requests of each source, in memory. It explains why an event does not arrive. Rejected posts
/// can be replayed; they are also stored, so they survive a restart.
///
/// The log is bounded, because anyone can post. Each source has its own limits. Unverified requests have separate,
/// lower limits, so that strangers cannot displace the posts of the real sender. All sources share a total limit; above
/// it the oldest request is dropped. Posts whose whole body is logged have separate limits, so that accepted posts
/// cannot displace them.
final class RequestLog: Sendable {
    struct Bounds {
        var requests = 100
        var unauthenticatedRequests = 20
        var bytesPerSource = 512 * 1024
        var bytesInAll = 32 * 1024 * 1024
        /// The maximum age of a request. Older requests of a source are dropped when its next request arrives.
        var age = Duration.seconds(30 * 24 * 3600)

        /// The bounds for requests whose whole body is logged.
        ///
        /// - Parameter bodyLimitBytes: the maximum size of a post in bytes. The byte limit of a source is at least four
        ///   times this size.
        static func whole(bodyLimitBytes: Int) -> Bounds {
            Bounds(
                requests: 500, unauthenticatedRequests: 0, bytesPerSource: max(4 * 1024 * 1024, 4 * bodyLimitBytes),
                bytesInAll: max(64 * 1024 * 1024, 16 * bodyLimitBytes))
        }
    }

    /// A logged request and the memory that it uses, in bytes.
    private struct Entry {
        let request: InboundRequest
        let bytes: Int
    }

    /// A queue of requests, the oldest first.
    private struct Shelf {
        /// The entries. Those before ``first`` have been removed and are nil.
        private var entries: [Entry?] = []
        private var first = 0
        private(set) var bytes = 0

        var count: Int { entries.count - first }
        var oldest: Timetoken? { first < entries.count ? entries[first]?.request.at : nil }
        var requests: [InboundRequest] { entries[first...].compactMap { $0?.request } }

        mutating func add(_ entry: Entry) {
            entries.append(entry)
            bytes += entry.bytes
        }

        /// Removes the oldest entry; returns nil when there is none. The space of removed entries is used again when
        /// they are half of the array, so an entry is moved once on average.
        mutating func dropOldest() -> Entry? {
            guard first < entries.count, let entry = entries[first] else { return nil }
            entries[first] = nil
            first += 1
            bytes -= entry.bytes
            if first >= 16, first * 2 >= entries.count {
                entries.removeFirst(first)
                first = 0
            }
            return entry
        }
    }

    private struct RequestQueues {
        var known = Shelf()
        var strange = Shelf()
        var bytes: Int { known.bytes + strange.bytes }
        var oldest: Timetoken? {
            guard let known = known.oldest else { return strange.oldest }
            return strange.oldest.map { min(known, $0) } ?? known
        }

        /// Adds a request. Returns the requests that exceed the bounds, after removing them.
        mutating func add(_ entry: Entry, _ bounds: Bounds) -> [Entry] {
            var gone: [Entry] = []
            if entry.request.identity == nil {
                strange.add(entry)
                while strange.count > bounds.unauthenticatedRequests, let old = strange.dropOldest() {
                    gone.append(old)
                }
            } else {
                known.add(entry)
                while known.count > bounds.requests, let old = known.dropOldest() { gone.append(old) }
            }
            while bytes > bounds.bytesPerSource, let old = dropOldest() { gone.append(old) }
            while let oldest, oldest.adding(bounds.age) < entry.request.at, let old = dropOldest() { gone.append(old) }
            return gone
        }

        mutating func dropOldest() -> Entry? {
            guard let strangest = strange.oldest else { return known.dropOldest() }
            if let first = known.oldest, first < strangest { return known.dropOldest() }
            return strange.dropOldest()
        }
    }

    /// The requests of all sources that have the same bounds.
    private struct RequestLogPartition {
        let bounds: Bounds
        var sources: [RecordKey: RequestQueues] = [:]
        var bytes = 0

        /// Adds a request. Removes the requests that exceed the bounds, and passes them and their sources to `drop`.
        mutating func add(
            _ request: InboundRequest, of source: RecordKey, _ drop: (InboundRequest, RecordKey) -> Void
        ) {
            // The queues are changed in place. A copy of them would copy all requests.
            let entry = Entry(request: request, bytes: request.cost)
            let gone = sources[source, default: RequestQueues()].add(entry, bounds)
            bytes += entry.bytes
            for old in gone {
                bytes -= old.bytes
                drop(old.request, source)
            }
            while bytes > bounds.bytesInAll, let (old, source) = dropOldest() { drop(old, source) }
        }

        func requests(of source: RecordKey) -> [InboundRequest] {
            sources[source].map { $0.known.requests + $0.strange.requests } ?? []
        }

        /// Removes the requests of the sources for which `isGone` is true.
        ///
        /// - Returns: the record keys of the removed verified requests.
        mutating func forget(where isGone: (RecordKey) -> Bool) -> [RecordKey] {
            var keys: [RecordKey] = []
            for (key, shelves) in sources where isGone(key) {
                keys += shelves.known.requests.map { $0.key(of: key) }
                bytes -= shelves.bytes
                sources[key] = nil
            }
            return keys
        }

        private mutating func dropOldest() -> (InboundRequest, RecordKey)? {
            let oldest = sources.min { left, right in
                (left.value.oldest ?? .distantFuture) < (right.value.oldest ?? .distantFuture)
            }
            guard let key = oldest?.key, var shelves = oldest?.value, let entry = shelves.dropOldest() else {
                return nil
            }
            bytes -= entry.bytes
            sources[key] = shelves.oldest == nil ? nil : shelves
            return (entry.request, key)
        }
    }

    private struct State {
        var latest: RequestLogPartition
        var whole: RequestLogPartition

        /// Adds a request whose whole body is logged. Returns the record keys of the requests that exceed the bounds,
        /// after removing them.
        mutating func addWhole(_ request: InboundRequest, of source: RecordKey) -> [RecordKey] {
            var keys: [RecordKey] = []
            whole.add(request, of: source) { keys.append($0.key(of: $1)) }
            return keys
        }
    }

    private let state: Lock<State>
    private let archive: RequestArchive

    init(_ latest: Bounds = Bounds(), whole: Bounds, archive: RequestArchive) {
        state = Lock(State(latest: RequestLogPartition(bounds: latest), whole: RequestLogPartition(bounds: whole)))
        self.archive = archive
    }

    /// Creates an id for a request. Its last part is random, because a counter would reveal the number of requests to
    /// other sources.
    static func id(at now: Timetoken) -> String {
        // The text is written from its end, and in one allocation.
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 36) { text in
            var start = text.count
            func put(_ byte: UInt8) {
                start -= 1
                text[start] = byte
            }
            func put(_ number: UInt64, radix: UInt64) {
                var rest = number
                repeat {
                    let digit = UInt8(truncatingIfNeeded: rest % radix)
                    put(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
                    rest /= radix
                } while rest > 0
            }
            put(.random(in: 0..<1 << 48), radix: 36)
            put(UInt8(ascii: "_"))
            put(now.rawValue, radix: 10)
            for byte in "_qer".utf8 { put(byte) }
            return String(decoding: text[start...], as: UTF8.self)
        }
    }

    func add(_ request: InboundRequest, of source: RecordKey) {
        state.withLock { state in
            guard request.isKeptWhole else { return state.latest.add(request, of: source) { _, _ in } }
            // Additions and removals are passed to the archive under the lock, so that their order is kept.
            archive.keep(request, of: source)
            archive.remove(state.addWhole(request, of: source))
        }
    }

    /// Adds a request that was stored before the start. Must be called with the oldest request first.
    func restore(_ request: InboundRequest, of source: RecordKey) {
        state.withLock { archive.remove($0.addWhole(request, of: source)) }
    }

    /// The requests of a source, the newest first.
    func requests(of source: RecordKey) -> [InboundRequest] {
        let requests = state.withLock { $0.latest.requests(of: source) + $0.whole.requests(of: source) }
        // The sort is stable, so requests with equal times keep their order.
        return requests.reversed().sorted { $0.at > $1.at }
    }

    /// The requests of a source that are in the memory of this process only.
    func unstoredRequests(of source: RecordKey) -> [InboundRequest] {
        state.withLock { $0.latest.requests(of: source) }
    }

    /// Removes the requests of deleted sources, so that a new source with the same id cannot read them.
    func forget(where isGone: (RecordKey) -> Bool) {
        state.withLock { state in
            _ = state.latest.forget(where: isGone)
            archive.remove(state.whole.forget(where: isGone))
        }
    }
}
