public import ChatModel
import Locking

/// A queue of events for one listener inside this process. (Streams share byte logs instead.)
///
/// The queue is bounded. A reader that is too slow is notified, and continues from its last position in the event log.
/// Without a bound, one stalled reader could use up the memory of the process.
public final class Outbox: FeedSink {
    private struct State {
        var waiting: [Event] = []
        var isOver = false
        var hasOverflown = false

        var isReady: Bool { !waiting.isEmpty || isOver }
    }

    private let state = Lock(State())
    /// Wakes the reader when the outbox becomes ready.
    private let signal = AsyncSignal()
    private let capacity: Int
    public nonisolated(unsafe) var feedPlace: FeedPlace?  // Safe: only the hub uses it, on its executor.

    /// Creates an empty queue.
    ///
    /// - Parameter capacity: the maximum number of events in the queue.
    public init(capacity: Int) { self.capacity = capacity }

    /// True when events were dropped because the queue was full. The events already in the queue have no gap between
    /// them; later events must be read from the event log.
    public var hasOverflown: Bool { state.withLock { $0.hasOverflown } }

    public func receive(_ events: [Event]) {
        state.withLock { state in
            guard !state.isOver else { return }
            if state.waiting.count + events.count > capacity {
                // No event of the batch is added, so that the events in the queue have no gap.
                state.isOver = true
                state.hasOverflown = true
            } else {
                state.waiting.append(contentsOf: events)
            }
        }
        signal.send()
    }

    /// Closes the queue: wakes the reader and accepts no further events. Events in the queue can still be fetched.
    public func close() {
        state.withLock { $0.isOver = true }
        signal.send()
    }

    /// Removes and returns the events in the queue, without waiting for more.
    func drain() -> [Event] {
        state.withLock { state in
            let events = state.waiting
            state.waiting = []
            return events
        }
    }

    /// Waits until there are events in the queue, or until the queue is closed. Cancelling the task closes the queue.
    /// Only one task may read at a time.
    func ready() async {
        while true {
            if Task.isCancelled { close() }
            if state.withLock({ $0.isReady }) { return }
            await signal.wait()
        }
    }

    /// Removes and returns the events in the queue. If the queue is empty, waits for the next events. Returns nil when
    /// the queue is empty and is closed or has overflowed. Only one task may read at a time.
    public func batch() async -> [Event]? {
        await ready()
        let events = drain()
        return events.isEmpty ? nil : events
    }
}
