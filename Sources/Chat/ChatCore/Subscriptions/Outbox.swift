public import ChatModel
import Locking

/// The events that wait for one listener inside the process (streams share byte logs instead).
///
/// Bounded: a reader that falls behind is notified and resumes from its last position. Without a bound, one stalled
/// reader could use up the memory of all others.
public final class Outbox: FeedSink {
    private struct State {
        var waiting: [Event] = []
        var isOver = false
        var hasOverflown = false

        var isReady: Bool { !waiting.isEmpty || isOver }
    }

    private let state = Lock(State())
    /// Sent when the outbox becomes ready.
    private let signal = AsyncSignal()
    private let capacity: Int

    /// - Parameter capacity: the maximum number of waiting events.
    public init(capacity: Int) { self.capacity = capacity }

    /// True when events were dropped because the reader did not fetch them. The events already handed out and waiting
    /// are complete; later ones are in the log.
    public var hasOverflown: Bool { state.withLock { $0.hasOverflown } }

    public func receive(_ events: [Event]) {
        state.withLock { state in
            guard !state.isOver else { return }
            if state.waiting.count + events.count > capacity {
                // No part of the batch is added either, so that the waiting events have no gap.
                state.isOver = true
                state.hasOverflown = true
            } else {
                state.waiting.append(contentsOf: events)
            }
        }
        signal.send()
    }

    /// Wakes the reader and accepts no further events. Waiting events can still be fetched.
    public func close() {
        state.withLock { $0.isOver = true }
        signal.send()
    }

    /// The waiting events, without waiting for more.
    func drain() -> [Event] {
        state.withLock { state in
            let events = state.waiting
            state.waiting = []
            return events
        }
    }

    /// Returns when events are waiting or none will follow. Cancelling the task closes the outbox. One reader at a
    /// time.
    func ready() async {
        while true {
            if Task.isCancelled { close() }
            if state.withLock({ $0.isReady }) { return }
            await signal.wait()
        }
    }

    /// The waiting events, at once if there are any, otherwise when the next arrive. Nil when the outbox is closed or
    /// has overflowed and everything was fetched. One reader at a time.
    public func batch() async -> [Event]? {
        await ready()
        let events = drain()
        return events.isEmpty ? nil : events
    }
}
