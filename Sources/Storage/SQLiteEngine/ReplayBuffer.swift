import ChatModel
import Locking
import Synchronization

/// An entry with a position in an increasing order.
protocol ReplayEntry: Sendable {
    /// A follower that has received this entry has received everything up to this position.
    var position: UInt64 { get }
    /// The approximate memory it takes, in bytes.
    var weight: Int { get }
}

/// The newest entries of a sequence, in memory, for its followers. Bounded; a follower that is further behind reads the
/// file.
///
/// Each follower keeps its own position, so a slow one costs the others nothing.
final class ReplayBuffer<Entry: ReplayEntry>: Sendable {
    fileprivate struct State: Sendable {
        var entries: [Entry] = []
        /// The index of the oldest entry still held. The array is compacted when a quarter of it is unused.
        var first = 0
        /// Everything after this position is in `entries`.
        var start: UInt64
        /// The newest entry's position.
        var end: UInt64
        var bytes = 0
        var sleepers: [UInt64: CheckedContinuation<Void, Never>] = [:]
        var nextSleeper: UInt64 = 0
        var isClosed = false
    }

    private let state: Lock<State>
    private let capacity: Int
    private let reached: Atomic<UInt64>

    /// - Parameter capacity: the maximum weight in bytes; the newest entry is kept in any case.
    init(capacity: Int, start: UInt64) {
        self.capacity = capacity
        state = Lock(State(start: start, end: start))
        reached = Atomic(start)
    }

    /// The newest entry's position. Costs one atomic load.
    var end: UInt64 { reached.load(ordering: .acquiring) }

    var isClosed: Bool { state.withLock { $0.isClosed } }

    /// Adds an entry, moves the end, then wakes the waiting followers: in that order, so that a follower that has seen
    /// the end finds every entry below it.
    func publish(_ entry: Entry) {
        for sleeper in add(entry) { sleeper.resume() }
    }

    /// As ``publish(_:)``, but returns the followers to wake, for a caller that holds a lock of its own.
    func add(_ entry: Entry) -> [CheckedContinuation<Void, Never>] {
        let weight = entry.weight
        return state.withLock { state in
            state.entries.append(entry)
            state.bytes += weight
            state.end = entry.position
            while state.bytes > capacity, state.entries.count - state.first > 1 { state.dropOldest() }
            reached.store(entry.position, ordering: .releasing)
            return state.removeSleepers()
        }
    }

    /// Closes the buffer. Each follower ends once it has received the remaining entries.
    func close() {
        let sleepers = state.withLock { state in
            state.isClosed = true
            return state.removeSleepers()
        }
        for sleeper in sleepers { sleeper.resume() }
    }

    /// The entries after a position.
    enum Slice: Sendable {
        /// Entries, oldest first; the first may begin below the position.
        case entries([Entry])
        /// Memory does not reach back to the position.
        case behind
        /// No entry yet.
        case empty
        /// No entry, and none will follow.
        case closed
    }

    func slice(after position: UInt64, limit: Int) -> Slice {
        state.withLock { state in
            guard position < state.end else { return state.isClosed ? .closed : .empty }
            guard position >= state.start else { return .behind }
            let from = state.index(after: position)
            return .entries(Array(state.entries[from..<min(from + limit, state.entries.count)]))
        }
    }

    /// The first entry that reaches beyond `position`; nil when memory does not reach back so far, and when there is
    /// none.
    func entry(after position: UInt64) -> Entry? {
        state.withLock { state -> Entry? in
            guard position >= state.start, position < state.end else { return nil }
            return state.entries[state.index(after: position)]
        }
    }

    /// Replaces entries in place, for example to remove an event from them. `change` returns nil for entries that stay
    /// the same.
    func rewrite(_ change: (Entry) -> Entry?) {
        state.withLock { state in
            for index in state.first..<state.entries.count {
                guard let changed = change(state.entries[index]) else { continue }
                state.bytes += changed.weight - state.entries[index].weight
                state.entries[index] = changed
            }
        }
    }

    /// Returns when there is an entry after `position`, the buffer is closed, or the task is cancelled.
    ///
    /// - Parameter isolation: the caller's isolation. The operation below has to name it; otherwise it would run on the
    ///   process's pool, and every commit would move its followers there and back.
    func wait(after position: UInt64, isolation: isolated (any Actor)? = #isolation) async {
        let ticket = state.withLock { state in
            state.nextSleeper += 1
            return state.nextSleeper
        }
        await withTaskCancellationHandler {
            _ = isolation
            await withCheckedContinuation { continuation in
                let isDone = state.withLock { state in
                    // Cancelled before it was registered: the handler below found nothing to wake.
                    if state.end > position || state.isClosed || Task.isCancelled { return true }
                    state.sleepers[ticket] = continuation
                    return false
                }
                if isDone { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.sleepers.removeValue(forKey: ticket) }?.resume()
        }
    }
}

extension ReplayBuffer.State {
    fileprivate mutating func dropOldest() {
        bytes -= entries[first].weight
        start = entries[first].position
        first += 1
        if first > 64, first > entries.count / 4 {
            entries.removeFirst(first)
            first = 0
        }
    }

    fileprivate mutating func removeSleepers() -> [CheckedContinuation<Void, Never>] {
        guard !sleepers.isEmpty else { return [] }
        defer { sleepers.removeAll(keepingCapacity: true) }
        return Array(sleepers.values)
    }

    fileprivate func index(after position: UInt64) -> Int {
        entries.index(above: position, from: first) { $0.position }
    }
}

extension Array {
    /// The first index whose key is above `bound`, in an array ordered by the keys.
    func index(above bound: UInt64, from first: Int = 0, key: (Element) -> UInt64) -> Int {
        var low = first
        var high = count
        while low < high {
            let middle = (low + high) / 2
            if key(self[middle]) > bound { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
