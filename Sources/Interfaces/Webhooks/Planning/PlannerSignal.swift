import ChatModel
import Locking

/// The apps with new events for the planner. Marks accumulate while it works, so that a backlog is planned together.
final class PlannerSignal: Sendable {
    private struct State {
        /// The marked apps, each with the newest position reported for it.
        var apps: [AppID: Timetoken] = [:]
        var sleeper: CheckedContinuation<Void, Never>?
        var isOver = false

        mutating func removeSleeper() -> CheckedContinuation<Void, Never>? {
            defer { sleeper = nil }
            return sleeper
        }
    }

    private let state = Lock(State())

    func mark(_ app: AppID, at position: Timetoken) {
        state.withLock { state in
            state.apps[app] = max(state.apps[app] ?? .zero, position)
            return state.removeSleeper()
        }?.resume()
    }

    /// Ends the signal; no more marks follow.
    func finish() {
        state.withLock { state in
            state.isOver = true
            return state.removeSleeper()
        }?.resume()
    }

    /// The apps marked since the last call; waits for at least one. Nil when the signal has ended or the task was
    /// cancelled. Only one task may call it.
    func next() async -> [AppID: Timetoken]? {
        while !Task.isCancelled {
            let (apps, isOver) = state.withLock { state in
                defer { state.apps = [:] }
                return (state.apps, state.isOver)
            }
            if !apps.isEmpty { return apps }
            if isOver { return nil }
            await sleep()
        }
        return nil
    }

    private func sleep() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let mustWait = state.withLock { state in
                    guard state.apps.isEmpty, !state.isOver, !Task.isCancelled else { return false }
                    state.sleeper = continuation
                    return true
                }
                if !mustWait { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.removeSleeper() }?.resume()
        }
    }
}
