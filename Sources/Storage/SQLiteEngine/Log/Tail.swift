import ChatModel
import Locking
import Synchronization

/// The newest commits, in memory: what `committed()` hands on, and what readers near the end are answered from without
/// touching the file. Bounded; who is further behind reads the file.
final class Tail: Sendable {
    fileprivate struct State: Sendable {
        var commits: [Commit] = []
        /// Index of the oldest commit still held; the array is cut when half of it is gone.
        var first = 0
        /// Everything after this position is in `commits`.
        var start: Timetoken
        /// The newest commit's watermark.
        var end: Timetoken
        var bytes = 0
        var sleepers: [UInt64: CheckedContinuation<Void, Never>] = [:]
        var nextSleeper: UInt64 = 0
        var isClosed = false
    }

    private let state: Lock<State>
    private let capacity: Int
    private let committedWatermark: Atomic<UInt64>

    init(capacity: Int, start: Timetoken) {
        self.capacity = capacity
        state = Lock(State(start: start, end: start))
        committedWatermark = Atomic(start.rawValue)
    }

    /// Everything at or below is visible. One load.
    var watermark: Timetoken { Timetoken(committedWatermark.load(ordering: .acquiring)) }

    /// Adds a commit, moves the watermark, then wakes who waits: in that order, so that nobody who has seen the watermark
    /// can miss an event below it.
    func publish(_ commit: Commit) {
        let weight = commit.weight
        let sleepers = state.withLock { state in
            state.commits.append(commit)
            state.bytes += weight
            state.end = commit.watermark
            while state.bytes > capacity, state.commits.count - state.first > 1 { state.dropOldest() }
            committedWatermark.store(commit.watermark.rawValue, ordering: .releasing)
            return state.takeSleepers()
        }
        for sleeper in sleepers { sleeper.resume() }
    }

    /// Ends every sequence once it has handed on what is here.
    func close() {
        let sleepers = state.withLock { state in
            state.isClosed = true
            return state.takeSleepers()
        }
        for sleeper in sleepers { sleeper.resume() }
    }

    var isClosed: Bool { state.withLock { $0.isClosed } }

    /// A run of commits after `position`, oldest first; the first may begin below it.
    enum Slice: Sendable {
        case commits([Commit], end: Timetoken)
        /// The memory does not reach back so far.
        case behind
        /// Nothing after `position` yet.
        case empty
        case closed
    }

    func slice(after position: Timetoken, limit: Int) -> Slice {
        state.withLock { state in
            guard position < state.end else { return state.isClosed ? .closed : .empty }
            guard position >= state.start else { return .behind }
            let from = state.index(after: position)
            return .commits(Array(state.commits[from..<min(from + limit, state.commits.count)]), end: state.end)
        }
    }

    /// The event at this position, if the memory holds it.
    func event(at timetoken: Timetoken) -> Event? {
        state.withLock { state -> Event? in
            guard timetoken > state.start, timetoken <= state.end else { return nil }
            let index = state.index(after: Timetoken(timetoken.rawValue - 1))
            return state.commits[index].events.event(at: timetoken)
        }
    }

    /// Takes deleted events out, so that no reader near the end is still shown them.
    func remove(_ isGone: (Event) -> Bool) {
        state.withLock { state in
            for index in state.first..<state.commits.count where state.commits[index].events.contains(where: isGone) {
                state.bytes -= state.commits[index].weight
                state.commits[index].events.removeAll(where: isGone)
                state.bytes += state.commits[index].weight
            }
        }
    }

    /// Returns when there is something after `position`, the tail is closed, or the task is cancelled.
    func wait(after position: Timetoken) async {
        let ticket = state.withLock { state in
            state.nextSleeper += 1
            return state.nextSleeper
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isDone = state.withLock { state in
                    // Cancelled first: `wake` found nobody, so nobody would wake this one.
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

extension Tail.State {
    fileprivate mutating func dropOldest() {
        bytes -= commits[first].weight
        start = commits[first].watermark
        commits[first].events = []
        first += 1
        if first > 256, first > commits.count / 2 {
            commits.removeFirst(first)
            first = 0
        }
    }

    fileprivate mutating func takeSleepers() -> [CheckedContinuation<Void, Never>] {
        guard !sleepers.isEmpty else { return [] }
        defer { sleepers.removeAll(keepingCapacity: true) }
        return Array(sleepers.values)
    }

    /// The first commit whose watermark lies above `position`.
    fileprivate func index(after position: Timetoken) -> Int {
        var low = first
        var high = commits.count
        while low < high {
            let middle = (low + high) / 2
            if commits[middle].watermark > position { high = middle } else { low = middle + 1 }
        }
        return low
    }
}

extension Commit {
    fileprivate var weight: Int { events.reduce(64) { $0 + $1.draft.weight } }
}

extension [Event] {
    /// Finds by binary search; the array is in timetoken order.
    func event(at timetoken: Timetoken) -> Event? {
        let index = self.index(after: timetoken)
        return index > 0 && self[index - 1].timetoken == timetoken ? self[index - 1] : nil
    }

    /// The first index whose event lies above `position`.
    func index(after position: Timetoken) -> Int {
        var low = 0
        var high = count
        while low < high {
            let middle = (low + high) / 2
            if self[middle].timetoken > position { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
