import Locking
import Synchronization

/// An entry with a position in an increasing order.
protocol ReplayEntry: Sendable {
    /// The position at the end of this entry. A consumer that has received the entry has received everything up to this
    /// position.
    var position: UInt64 { get }
    /// The approximate memory that the entry uses, in bytes.
    var weight: Int { get }
}

/// The newest entries of a sequence, in memory, for its consumers. The memory is bounded. A consumer that needs older
/// entries must read them from the store.
///
/// Each consumer stores its own position, so a slow consumer does not delay the others.
///
/// ``Tail`` and ``RecordChangeBuffer`` contain the only two buffers. Other modules use these classes, because the
/// compiler does not specialize a generic type for another module.
struct ReplayBuffer<Entry: ReplayEntry>: ~Copyable, Sendable {
    fileprivate struct State: Sendable {
        var entries: [Entry] = []
        /// The index of the oldest entry in `entries`; the elements before it are unused. The array is compacted when a
        /// quarter of it is unused.
        var first = 0
        /// All entries after this position are in `entries`.
        var start: UInt64
        /// The position of the newest entry.
        var end: UInt64
        var bytes = 0
        var consumers: [WaitingConsumer] = []
        var nextTicket: UInt64 = 0
        var isClosed = false
    }

    private let state: Lock<State>
    private let capacity: Int
    private let reached: Atomic<UInt64>

    /// Creates an empty buffer, whose entries follow the position `start`.
    ///
    /// - Parameter capacity: the maximum sum of the entries' weights in bytes. The newest entry is stored even if it is
    ///   larger.
    init(capacity: Int, start: UInt64) {
        self.capacity = capacity
        state = Lock(State(start: start, end: start))
        reached = Atomic(start)
    }

    /// The position of the newest entry. Reading it takes only one atomic load.
    var end: UInt64 { reached.load(ordering: .acquiring) }

    var isClosed: Bool { state.withLock { $0.isClosed } }

    /// Adds an entry, then moves ``end``, then wakes the waiting consumers. Because of this order, a consumer that
    /// has read ``end`` finds all entries up to that position.
    func publish(_ entry: Entry) {
        for consumer in add(entry) { consumer.wake() }
    }

    /// Adds an entry like ``publish(_:)``, but returns the waiting consumers instead of waking them. The caller must
    /// wake them after it has released its own lock.
    func add(_ entry: Entry) -> [WaitingConsumer] {
        let weight = entry.weight
        return state.withLock { state in
            state.entries.append(entry)
            state.bytes += weight
            state.end = entry.position
            while state.bytes > capacity, state.entries.count - state.first > 1 { state.dropOldest() }
            reached.store(entry.position, ordering: .releasing)
            return state.removeConsumers()
        }
    }

    /// Closes the buffer. Each consumer still receives the remaining entries and then ends.
    func close() {
        let consumers = state.withLock { state in
            state.isClosed = true
            return state.removeConsumers()
        }
        for consumer in consumers { consumer.wake() }
    }

    /// Removes all entries from memory.
    func forget() { state.withLock { $0.dropAll() } }

    /// The result of a request for the entries after a position.
    enum Slice: Sendable {
        /// Entries, oldest first. The first entry may begin before the requested position.
        case entries([Entry])
        /// Entries after the position are no longer in memory.
        case behind
        /// There is no entry after the position yet.
        case empty
        /// There is no entry after the position, and the buffer is closed.
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

    /// Returns the first entry whose position is above `position`; nil when there is none or it is no longer in memory.
    func entry(after position: UInt64) -> Entry? {
        state.withLock { state -> Entry? in
            guard position >= state.start, position < state.end else { return nil }
            return state.entries[state.index(after: position)]
        }
    }

    /// Replaces entries, for example to remove an event from them. `change` returns the new entry, or nil if the entry
    /// does not change.
    func rewrite(_ change: (Entry) -> Entry?) {
        state.withLock { state in
            for index in state.first..<state.entries.count {
                guard let changed = change(state.entries[index]) else { continue }
                state.bytes += changed.weight - state.entries[index].weight
                state.entries[index] = changed
            }
        }
    }

    /// Waits until there is an entry after `position`, the buffer is closed, or the task is cancelled.
    ///
    /// - Parameter isolation: the caller's isolation. Without it, the function would run on the cooperative pool, and
    ///   each commit would move every consumer to that pool and back.
    func wait(after position: UInt64, isolation: isolated (any Actor)? = #isolation) async {
        let ticket = state.withLock { state in
            state.nextTicket += 1
            return state.nextTicket
        }
        await withTaskCancellationHandler {
            _ = isolation
            await withCheckedContinuation { continuation in
                let isDone = state.withLock { state in
                    // If the task was cancelled before this registration, the cancellation handler below has found no
                    // continuation to resume.
                    if state.end > position || state.isClosed || Task.isCancelled { return true }
                    state.consumers.append(.task(continuation, ticket: ticket))
                    return false
                }
                if isDone { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.removeConsumer(ticket) }?.wake()
        }
    }

    /// Calls `callback` once, when there is an entry after `position` or the buffer is closed. If that is already true,
    /// returns false and never calls it.
    func notify(after position: UInt64, _ callback: @escaping @Sendable () -> Void) -> Bool {
        state.withLock { state in
            guard state.end <= position, !state.isClosed else { return false }
            state.consumers.append(.callback(callback))
            return true
        }
    }
}

/// A consumer that waits for the next entry of a ``ReplayBuffer``.
package enum WaitingConsumer: Sendable {
    /// A task. The ticket identifies it when it is cancelled.
    case task(CheckedContinuation<Void, Never>, ticket: UInt64)
    case callback(@Sendable () -> Void)

    /// Resumes the task, or calls the callback. Must be called once.
    package func wake() {
        switch self {
        case .task(let continuation, _): continuation.resume()
        case .callback(let callback): callback()
        }
    }
}

extension ReplayBuffer.State {
    fileprivate mutating func dropAll() {
        entries = []
        first = 0
        start = end
        bytes = 0
    }

    fileprivate mutating func dropOldest() {
        bytes -= entries[first].weight
        start = entries[first].position
        first += 1
        if first > 64, first > entries.count / 4 {
            entries.removeFirst(first)
            first = 0
        }
    }

    fileprivate mutating func removeConsumers() -> [WaitingConsumer] {
        defer { consumers = [] }
        return consumers
    }

    /// Removes the task with this ticket; nil if it no longer waits.
    fileprivate mutating func removeConsumer(_ ticket: UInt64) -> WaitingConsumer? {
        let index = consumers.firstIndex { consumer in
            if case .task(_, ticket) = consumer { true } else { false }
        }
        return index.map { consumers.remove(at: $0) }
    }

    fileprivate func index(after position: UInt64) -> Int {
        entries.index(above: position, from: first) { $0.position }
    }
}

extension Array {
    /// Returns the index of the first element whose key is above `bound`; `count` when there is none. The array must be
    /// ordered by the keys.
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
