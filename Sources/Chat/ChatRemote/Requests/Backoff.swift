import Locking

/// How long to wait before asking again: twice as long each time, within bounds, and never in step with others.
struct Backoff: Sendable {
    var first: Duration
    var most: Duration

    /// How often a request is sent in all.
    static let attempts = 5
    /// The longest wait between two attempts of a request. A gateway that asks for a longer one is not asked again: its
    /// answer is the result.
    static let patience: Duration = .seconds(30)
    static let request = Backoff(first: .milliseconds(100), most: .seconds(5))
    static let catchingUp = Backoff(first: .milliseconds(20), most: .seconds(1))
    static let stream = Backoff(first: .milliseconds(200), most: .seconds(30))

    /// Half of the delay is fixed, the other half drawn.
    func delay(after failures: Int) -> Duration {
        min(most, first * (1 << min(max(failures - 1, 0), 20))) * Double.random(in: 0.5..<1)
    }
}

/// Waits that end when the connection is closed.
final class RetryDelays: Sendable {
    private struct State {
        var isOver = false
        var next = 0
        var waiting: [Int: Task<Void, any Error>] = [:]
    }

    private let state = Lock(State())

    /// True when the time is over; false when cancelled or ended before.
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
