import ChatModel
import Locking
import Synchronization

/// Something with a place in a growing order.
protocol ReplayEntry: Sendable {
    /// Everything up to here is told once this entry is.
    var position: UInt64 { get }
    /// What it weighs in memory, roughly, in bytes.
    var weight: Int { get }
}

/// The newest entries of a sequence, in memory, for those who follow it. Bounded; who is further behind reads the file.
///
/// Each follower keeps its own position, so a slow one costs nobody anything.
final class ReplayBuffer<Entry: ReplayEntry>: Sendable {
    fileprivate struct State: Sendable {
        var entries: [Entry] = []
        /// Index of the oldest entry still held; the array is cut when a quarter of it is gone.
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

    /// - Parameter capacity: in bytes of weight; the newest entry stays in any case.
    init(capacity: Int, start: UInt64) {
        self.capacity = capacity
        state = Lock(State(start: start, end: start))
        reached = Atomic(start)
    }

    /// The newest entry's position. One load.
    var end: UInt64 { reached.load(ordering: .acquiring) }

    var isClosed: Bool { state.withLock { $0.isClosed } }

    /// Adds an entry, moves the end, then wakes who waits: in that order, so that nobody who has seen the end can miss an
    /// entry below it.
    func publish(_ entry: Entry) {
        for sleeper in add(entry) { sleeper.resume() }
    }

    /// The same, but for the waking: that is left to a caller who holds a lock of its own.
    func add(_ entry: Entry) -> [CheckedContinuation<Void, Never>] {
        let weight = entry.weight
        return state.withLock { state in
            state.entries.append(entry)
            state.bytes += weight
            state.end = entry.position
            while state.bytes > capacity, state.entries.count - state.first > 1 { state.dropOldest() }
            reached.store(entry.position, ordering: .releasing)
            return state.takeSleepers()
        }
    }

    /// Ends every follower once it has what is here.
    func close() {
        let sleepers = state.withLock { state in
            state.isClosed = true
            return state.takeSleepers()
        }
        for sleeper in sleepers { sleeper.resume() }
    }

    /// What there is after a position.
    enum Slice: Sendable {
        /// Entries, oldest first; the first may begin below the position.
        case entries([Entry])
        /// The memory does not reach back so far.
        case behind
        /// Nothing yet.
        case empty
        /// Nothing, and nothing will come.
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

    /// The first entry that reaches beyond `position`, if the memory reaches back so far.
    func entry(after position: UInt64) -> Entry? {
        state.withLock { state -> Entry? in
            guard position >= state.start, position < state.end else { return nil }
            return state.entries[state.index(after: position)]
        }
    }

    /// Rewrites entries in place, e.g. to take something out of them; `change` gives nil for those that stay as they are.
    func rewrite(_ change: (Entry) -> Entry?) {
        state.withLock { state in
            for index in state.first..<state.entries.count {
                guard let changed = change(state.entries[index]) else { continue }
                state.bytes += changed.weight - state.entries[index].weight
                state.entries[index] = changed
            }
        }
    }

    /// Returns when there is something after `position`, the backlog is closed, or the task is cancelled.
    ///
    /// - Parameter isolation: the caller's, which the operation below has to name: it would run on the pool of the process
    ///   otherwise, and every commit would send its followers there and back.
    func wait(after position: UInt64, isolation: isolated (any Actor)? = #isolation) async {
        let ticket = state.withLock { state in
            state.nextSleeper += 1
            return state.nextSleeper
        }
        await withTaskCancellationHandler {
            _ = isolation
            await withCheckedContinuation { continuation in
                let isDone = state.withLock { state in
                    // Cancelled before it lay down: the handler below found nobody to wake.
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

    fileprivate mutating func takeSleepers() -> [CheckedContinuation<Void, Never>] {
        guard !sleepers.isEmpty else { return [] }
        defer { sleepers.removeAll(keepingCapacity: true) }
        return Array(sleepers.values)
    }

    fileprivate func index(after position: UInt64) -> Int {
        entries.index(above: position, from: first) { $0.position }
    }
}

extension Array {
    /// The first index whose key lies above `bound`, in an array that is in order of its keys.
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

/// How the store did last, for `health()`.
final class StoreHealth: Sendable {
    enum State: Sendable {
        case works
        case failed(ChatError)
    }

    private let state = Lock(State.works)

    func note(_ new: State) { state.withLock { $0 = new } }

    var current: State { state.withLock { $0 } }
}
