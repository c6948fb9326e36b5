import ChatModel
import Locking

/// The latest requests of each source, in memory: for finding out why something does not arrive, not for keeping.
///
/// Bounded three ways, because anyone can post: each source has its own room; what was not verified has a smaller one
/// apart, so that strangers cannot push the sender's posts out; and all sources together share a limit, where the oldest
/// request gives way.
final class RequestLog: Sendable {
    struct Bounds {
        var requests = 100
        var strangers = 20
        var bytesPerSource = 512 * 1024
        var bytesInAll = 32 * 1024 * 1024
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

    private struct State {
        var sources: [RecordKey: Shelves] = [:]
        var bytes = 0
        var count: UInt64 = 0
    }

    private let state = Lock(State())
    private let bounds: Bounds

    init(_ bounds: Bounds = Bounds()) { self.bounds = bounds }

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
            var shelves = state.sources[source] ?? Shelves()
            state.bytes += request.cost
            if request.identity == nil {
                shelves.strange.add(request)
                while shelves.strange.requests.count > bounds.strangers { state.bytes -= shelves.strange.dropOldest() }
            } else {
                shelves.known.add(request)
                while shelves.known.requests.count > bounds.requests { state.bytes -= shelves.known.dropOldest() }
            }
            while shelves.bytes > bounds.bytesPerSource { state.bytes -= shelves.dropOldest() }
            state.sources[source] = shelves
            while state.bytes > bounds.bytesInAll { dropOldest(&state) }
        }
    }

    /// The newest first.
    func requests(of source: RecordKey) -> [InboundRequest] {
        let shelves = state.withLock { $0.sources[source] } ?? Shelves()
        // Sorting keeps the order of those that came in one instant.
        return (shelves.known.requests + shelves.strange.requests).reversed().sorted { $0.at > $1.at }
    }

    func request(_ id: String, of source: RecordKey) -> InboundRequest? {
        requests(of: source).first { $0.id == id }
    }

    /// The source is gone: who takes its id next must not read its posts.
    func forget(where isGone: (RecordKey) -> Bool) {
        state.withLock { state in
            for (key, shelves) in state.sources where isGone(key) {
                state.bytes -= shelves.bytes
                state.sources[key] = nil
            }
        }
    }

    private func dropOldest(_ state: inout State) {
        let oldest = state.sources.min { left, right in
            (left.value.oldest ?? .distantFuture) < (right.value.oldest ?? .distantFuture)
        }
        guard let key = oldest?.key, var shelves = oldest?.value else { return }
        state.bytes -= shelves.dropOldest()
        state.sources[key] = shelves.oldest == nil ? nil : shelves
    }
}
