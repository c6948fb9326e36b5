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
        var reader: CheckedContinuation<Void, Never>?
    }

    private let state = Lock(State())
    private let capacity: Int

    public init(capacity: Int) { self.capacity = capacity }

    public func take(_ events: [Event]) {
        let reader = state.withLock { state in
            if state.waiting.count + events.count > capacity { state.isOver = true }
            if !state.isOver { state.waiting.append(contentsOf: events) }
            defer { state.reader = nil }
            return state.reader
        }
        reader?.resume()
    }

    /// Wakes the reader for good: what is waiting can still be read.
    public func close() {
        let reader = state.withLock { state in
            state.isOver = true
            defer { state.reader = nil }
            return state.reader
        }
        reader?.resume()
    }

    /// What is waiting, at once if there is something, else as soon as there is; nil when closed or overflown.
    /// One reader at a time.
    public func batch() async -> [Event]? {
        while true {
            let (events, isOver) = state.withLock { state in
                defer { state.waiting.removeAll(keepingCapacity: true) }
                return (state.waiting, state.isOver)
            }
            if !events.isEmpty { return events }
            if isOver || Task.isCancelled { return nil }
            await withTaskCancellationHandler {
                await withCheckedContinuation { continuation in
                    let isReady = state.withLock { state in
                        if !state.waiting.isEmpty || state.isOver { return true }
                        state.reader = continuation
                        return false
                    }
                    if isReady { continuation.resume() }
                }
            } onCancel: {
                close()
            }
        }
    }
}
