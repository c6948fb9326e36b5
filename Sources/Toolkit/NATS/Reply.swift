internal import Locking

/// The result of one operation. Either the thread that runs the operation sets it, or the expiry of the deadline.
final class Reply<Value: Sendable>: Sendable {
    private typealias Outcome = Result<Value, NATSFailure>

    private enum State: Sendable {
        case pending
        case awaited(CheckedContinuation<Result<Value, NATSFailure>, Never>)
        case finished(Result<Value, NATSFailure>)
    }

    private let state = Lock(State.pending)

    /// Sets the result, unless there is one.
    ///
    /// - Returns: false if there was a result, for instance because the deadline had passed.
    @discardableResult
    func finish(_ result: Result<Value, NATSFailure>) -> Bool {
        let (isFirst, waiter) = state.withLock {
            state -> (Bool, CheckedContinuation<Result<Value, NATSFailure>, Never>?) in
            switch state {
            case .finished:
                return (false, nil)
            case .pending:
                state = .finished(result)
                return (true, nil)
            case .awaited(let waiter):
                state = .finished(result)
                return (true, waiter)
            }
        }
        waiter?.resume(returning: result)
        return isFirst
    }

    /// True as long as the operation has no result.
    var isPending: Bool {
        state.withLock { state in
            if case .finished = state { return false }
            return true
        }
    }

    /// Waits for the result. Only one task may wait. Cancelling the task does not end the wait.
    ///
    /// - Throws: the failure of the operation, or ``NATSFailure/Kind/timeout`` when the time limit has passed.
    func wait(within limit: Duration, for operation: String) async throws(NATSFailure) -> Value {
        let deadline = Task {
            do { try await Task.sleep(for: limit) } catch { return }
            finish(.failure(NATSFailure(.timeout, "\(operation) took longer than \(limit)")))
        }
        defer { deadline.cancel() }
        let result = await withCheckedContinuation { continuation in
            let result = state.withLock { state -> Result<Value, NATSFailure>? in
                if case .finished(let result) = state { return result }
                state = .awaited(continuation)
                return nil
            }
            if let result { continuation.resume(returning: result) }
        }
        return try result.get()
    }
}
