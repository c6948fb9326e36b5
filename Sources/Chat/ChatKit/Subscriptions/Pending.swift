package import ChatModel
import Locking

/// A result that is set once and that several tasks can wait for.
package final class Pending<Value: Sendable>: Sendable {
    package typealias Outcome = Result<Value, ChatError>

    private struct Waiter {
        let continuation: CheckedContinuation<Outcome, Never>
        var alarm: Task<Void, Never>?
    }

    private struct State {
        var outcome: Outcome?
        var last = 0
        var waiters: [Int: Waiter] = [:]
    }

    private let state: Lock<State>

    package init(_ outcome: Outcome? = nil) { state = Lock(State(outcome: outcome)) }

    package var isDecided: Bool { state.withLock { $0.outcome != nil } }

    /// Sets the result. Only the first call has an effect.
    package func decide(_ outcome: Outcome) {
        let waiters = state.withLock { state in
            guard state.outcome == nil else { return [Waiter]() }
            state.outcome = outcome
            defer { state.waiters = [:] }
            return Array(state.waiters.values)
        }
        for waiter in waiters { Self.resume(waiter, outcome) }
    }

    /// Waits for the result.
    ///
    /// - Parameters:
    ///   - limit: the maximum time to wait; nil for no limit.
    ///   - late: returns the error to throw when `limit` has passed.
    /// - Throws: the error that was set as the result; the error of `late`; `.gone` when the task is cancelled.
    package func value(
        within limit: Duration?, late: @escaping @Sendable () -> ChatError = { .cancelled }
    ) async throws(ChatError) -> Value {
        let number = state.withLock { state in
            state.last += 1
            return state.last
        }
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let known: Outcome? = state.withLock { state in
                    if let outcome = state.outcome { return outcome }
                    // The task was cancelled before it was added to the waiters, so the cancellation handler has not
                    // resumed it.
                    if Task.isCancelled { return .failure(.cancelled) }
                    let alarm = limit.map { limit in
                        Task { [weak self] in
                            guard (try? await Task.sleep(for: limit)) != nil else { return }
                            self?.fail(number, late())
                        }
                    }
                    state.waiters[number] = Waiter(continuation: continuation, alarm: alarm)
                    return nil
                }
                if let known { continuation.resume(returning: known) }
            }
        } onCancel: {
            fail(number, .cancelled)
        }
        return try outcome.get()
    }

    private func fail(_ number: Int, _ error: ChatError) {
        guard let waiter = state.withLock({ $0.waiters.removeValue(forKey: number) }) else { return }
        Self.resume(waiter, .failure(error))
    }

    private static func resume(_ waiter: Waiter, _ outcome: Outcome) {
        waiter.alarm?.cancel()
        waiter.continuation.resume(returning: outcome)
    }
}

extension ChatError {
    /// The error of a waiting task that was cancelled.
    package static var cancelled: ChatError {
        ChatError(.gone, "the calling task was cancelled", slug: "cancelled")
    }
}
