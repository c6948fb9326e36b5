import GatewayClient
import Locking

extension Backoff {
    /// The maximum number of attempts of a request.
    static let attempts = 5
    /// The maximum wait between two attempts of a request. When the gateway requires a longer wait, the request is not
    /// retried and fails with the gateway's error.
    static let longestRetrying: Duration = .seconds(30)
    static let request = Backoff(first: .milliseconds(100), most: .seconds(5))
    static let catchingUp = Backoff(first: .milliseconds(20), most: .seconds(1))
}

/// Waits for retries. Closing the connection ends all waits early.
final class RetryDelays: Sendable {
    private struct State {
        var isOver = false
        var next = 0
        var waiting: [Int: Task<Void, any Error>] = [:]
    }

    private let state = Lock(State())

    /// Waits. Returns true when the time has passed; false when the wait was cancelled or ended early.
    func wait(_ time: Duration) async -> Bool {
        let sleep = Task { try await Task.sleep(for: time) }
        let number = state.withLock { state in
            guard !state.isOver else { return nil as Int? }
            state.next += 1
            state.waiting[state.next] = sleep
            return state.next
        }
        guard let number else {
            sleep.cancel()
            return false
        }
        let result = await withTaskCancellationHandler {
            await sleep.result
        } onCancel: {
            sleep.cancel()
        }
        return state.withLock { state in
            state.waiting[number] = nil
            if case .success = result { return !state.isOver }
            return false
        }
    }

    func end() {
        let waiting = state.withLock { state in
            state.isOver = true
            return Array(state.waiting.values)
        }
        for sleep in waiting { sleep.cancel() }
    }
}
