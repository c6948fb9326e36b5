import ChatModel
import Locking

/// The latest requests of each source, in memory: for finding out why something does not arrive, and for taking in again
/// what was turned away.
///
/// Bounded, because anyone can post: each source has its own room; what was not verified has a smaller one apart, so that
/// strangers cannot push the sender's posts out; and all sources together share a limit, where the oldest request gives
/// way. Posts that are kept whole have rooms of their own, so that what was taken cannot push them out.
final class RequestLog: Sendable {
    struct Bounds {
        var requests = 100
        var strangers = 20
        var bytesPerSource = 512 * 1024
        var bytesInAll = 32 * 1024 * 1024

        /// Of requests that are kept whole.
        /// - Parameter bodyLimitBytes: the most a post may have. There is room for some of those.
        static func whole(bodyLimitBytes: Int) -> Bounds {
            Bounds(
                requests: 500, strangers: 0, bytesPerSource: max(4 * 1024 * 1024, 4 * bodyLimitBytes),
                bytesInAll: max(64 * 1024 * 1024, 16 * bodyLimitBytes))
        }
    }

    /// A queue with its oldest request first. Removing from its head moves at most a hundred others.
    private struct Shelf {
        var requests: [InboundRequest] = []
        var bytes = 0

        mutating func add(_ request: InboundRequest) {
            requests.append(request)
            bytes += request.cost
        }

        mutating func dropOldest() -> Int {
            let cost = requests.removeFirst().cost
            bytes -= cost
            return cost
        }
    }

    private struct Shelves {
        var known = Shelf()
        var strange = Shelf()
        var bytes: Int { known.bytes + strange.bytes }
        var oldest: Timetoken? { [known, strange].compactMap { $0.requests.first?.at }.min() }

        mutating func dropOldest() -> Int {
            guard let strangest = strange.requests.first?.at else { return known.dropOldest() }
            if let first = known.requests.first?.at, first < strangest { return known.dropOldest() }
            return strange.dropOldest()
        }
    }

    /// The requests of all sources under the same bounds.
    private struct Rack {
        let bounds: Bounds
        var sources: [RecordKey: Shelves] = [:]
        var bytes = 0

        mutating func add(_ request: InboundRequest, of source: RecordKey) {
            var shelves = sources[source] ?? Shelves()
            bytes += request.cost
            if request.identity == nil {
                shelves.strange.add(request)
                while shelves.strange.requests.count > bounds.strangers { bytes -= shelves.strange.dropOldest() }
            } else {
                shelves.known.add(request)
                while shelves.known.requests.count > bounds.requests { bytes -= shelves.known.dropOldest() }
            }
            while shelves.bytes > bounds.bytesPerSource { bytes -= shelves.dropOldest() }
            sources[source] = shelves
            while bytes > bounds.bytesInAll { dropOldest() }
        }

        func requests(of source: RecordKey) -> [InboundRequest] {
            sources[source].map { $0.known.requests + $0.strange.requests } ?? []
        }

        mutating func forget(where isGone: (RecordKey) -> Bool) {
            for (key, shelves) in sources where isGone(key) {
                bytes -= shelves.bytes
                sources[key] = nil
            }
        }

        private mutating func dropOldest() {
            let oldest = sources.min { left, right in
                (left.value.oldest ?? .distantFuture) < (right.value.oldest ?? .distantFuture)
            }
            guard let key = oldest?.key, var shelves = oldest?.value else { return }
            bytes -= shelves.dropOldest()
            sources[key] = shelves.oldest == nil ? nil : shelves
        }
    }

    private struct State {
        var latest: Rack
        var whole: Rack
        var count: UInt64 = 0
    }

    private let state: Lock<State>

    init(_ latest: Bounds = Bounds(), whole: Bounds) {
        state = Lock(State(latest: Rack(bounds: latest), whole: Rack(bounds: whole)))
    }

    /// An id no other request has had since the start.
    func nextID(at now: Timetoken) -> String {
        let number = state.withLock { state in
            state.count += 1
            return state.count
        }
        return "req_\(now.rawValue)_\(number)"
    }

    func add(_ request: InboundRequest, of source: RecordKey) {
        state.withLock { state in
            if request.isKeptWhole {
                state.whole.add(request, of: source)
            } else {
                state.latest.add(request, of: source)
            }
        }
    }

    /// The newest first.
    func requests(of source: RecordKey) -> [InboundRequest] {
        let requests = state.withLock { $0.latest.requests(of: source) + $0.whole.requests(of: source) }
        // Sorting keeps the order of those that came in one instant.
        return requests.reversed().sorted { $0.at > $1.at }
    }

    func request(_ id: String, of source: RecordKey) -> InboundRequest? {
        requests(of: source).first { $0.id == id }
    }

    /// The source is gone: who takes its id next must not read its posts.
    func forget(where isGone: (RecordKey) -> Bool) {
        state.withLock { state in
            state.latest.forget(where: isGone)
            state.whole.forget(where: isGone)
        }
    }
}
