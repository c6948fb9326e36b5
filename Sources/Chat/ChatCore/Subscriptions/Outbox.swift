public import ChatModel
import Locking

/// Events waiting for one listener inside the process (streams share byte logs instead).
///
/// Bounded: a reader that falls behind is told so and comes back with its last position. Holding more would let one
/// stalled reader spend the memory of everyone else.
public final class Outbox: FeedSink {
    private struct State {
        var waiting: [Event] = []
        var isOver = false
        var hasOverflown = false
        var reader: CheckedContinuation<Void, Never>?

        var isReady: Bool { !waiting.isEmpty || isOver }
    }

    private let state = Lock(State())
    private let capacity: Int

    /// - Parameter capacity: in events.
    public init(capacity: Int) { self.capacity = capacity }

    /// Whether events were dropped because nobody fetched what was waiting: those up to the last one handed out are
    /// complete, the rest is in the log.
    public var hasOverflown: Bool { state.withLock { $0.hasOverflown } }

    public func take(_ events: [Event]) {
        let reader = state.withLock { state in
            guard !state.isOver else { return nil as CheckedContinuation<Void, Never>? }
            if state.waiting.count + events.count > capacity {
                // Not a part of them either: what is waiting must stay without a hole.
                state.isOver = true
                state.hasOverflown = true
            } else {
                state.waiting.append(contentsOf: events)
            }
            defer { state.reader = nil }
            return state.reader
        }
        reader?.resume()
    }

    /// Wakes the reader for good: what is waiting can still be fetched.
    public func close() {
        let reader = state.withLock { state in
            state.isOver = true
            defer { state.reader = nil }
            return state.reader
        }
        reader?.resume()
    }

    /// What is waiting, without waiting for more.
    public func drain() -> [Event] {
        state.withLock { state in
            let events = state.waiting
            state.waiting = []
            return events
        }
    }

    /// Returns when something is waiting, or nothing will come any more. Cancelling the task closes the outbox. One
    /// reader at a time.
    public func ready() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isReady = state.withLock { state in
                    guard !state.isReady else { return true }
                    precondition(state.reader == nil, "An outbox has one reader at a time")
                    state.reader = continuation
                    return false
                }
                if isReady { continuation.resume() }
            }
        } onCancel: {
            close()
        }
    }

    /// What is waiting, at once if there is something, else as soon as there is; nil when closed or overflown and
    /// everything has been fetched. One reader at a time.
    public func batch() async -> [Event]? {
        await ready()
        let events = drain()
        return events.isEmpty ? nil : events
    }
}
