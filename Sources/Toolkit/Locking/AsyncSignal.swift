/// A signal for one task that waits. Signals that are sent while it does not wait are remembered as one.
///
/// The data that the signal is about has a lock of its own. Change the data first, then send. The waiting task checks
/// the data in a loop, because it may be woken without a change:
///
/// ```swift
/// while !Task.isCancelled {
///     if let work = queue.withLock({ $0.popFirst() }) { return work }
///     await signal.wait()
/// }
/// ```
public final class AsyncSignal: Sendable {
    private enum State: Sendable {
        case idle
        /// Sent, and not awaited since.
        case sent
        case awaited(CheckedContinuation<Void, Never>)
    }

    private let state = Lock(State.idle)

    /// Creates a signal that has not been sent.
    public init() {}

    /// Wakes the waiting task, or lets the next wait return at once. May be called from any thread; never blocks.
    public func send() {
        let waiter = state.withLock { state -> CheckedContinuation<Void, Never>? in
            guard case .awaited(let waiter) = state else {
                state = .sent
                return nil
            }
            state = .idle
            return waiter
        }
        waiter?.resume()
    }

    /// Returns when the signal was sent since the last wait, or when the task is cancelled. Only one task may wait at a
    /// time.
    public func wait() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    switch state {
                    case .sent:
                        state = .idle
                        return true
                    case .idle:
                        // Checked under the lock: a later cancellation finds the continuation.
                        guard !Task.isCancelled else { return true }
                        state = .awaited(continuation)
                        return false
                    case .awaited: preconditionFailure("Only one task may wait for an AsyncSignal at a time")
                    }
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            send()
        }
    }
}
