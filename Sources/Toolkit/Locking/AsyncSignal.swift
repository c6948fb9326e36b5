/// A signal that wakes one waiting task. If the signal is sent while no task waits, the next wait returns immediately.
/// This applies to one wait only, even if the signal was sent several times.
///
/// The signal contains no data. Protect the data with a lock, change the data first, and then call ``send()``. The
/// waiting task must check the data in a loop, because it may be woken without a change:
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
        /// The signal was sent, and no wait has returned since.
        case sent
        case awaited(CheckedContinuation<Void, Never>)
    }

    private let state = Lock(State.idle)

    /// Creates a signal that has not been sent.
    public init() {}

    /// Wakes the waiting task, or makes the next wait return immediately. May be called from any thread. Never blocks.
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

    /// Waits until the signal is sent or the task is cancelled. Returns immediately if the signal was sent while no
    /// task was waiting and no wait has returned since. Only one task may wait at a time.
    public func wait() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    switch state {
                    case .sent:
                        state = .idle
                        return true
                    case .idle:
                        // Cancellation is checked under the lock, so that a later cancellation finds the continuation.
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
