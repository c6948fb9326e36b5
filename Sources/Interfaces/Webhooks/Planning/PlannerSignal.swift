import ChatModel
import Locking

/// The apps with new events for the planner. Apps are collected while the planner works, so that it plans all new
/// events of an app together.
final class PlannerSignal: Sendable {
    private struct State {
        /// The marked apps, each with the newest position reported for it.
        var apps: [AppID: Timetoken] = [:]
        var isOver = false
    }

    private let state = Lock(State())
    private let signal = AsyncSignal()

    func mark(_ app: AppID, at position: Timetoken) {
        state.withLock { $0.apps[app] = max($0.apps[app] ?? .zero, position) }
        signal.send()
    }

    /// Ends the signal. Must be called after the last mark.
    func finish() {
        state.withLock { $0.isOver = true }
        signal.send()
    }

    /// Returns the apps marked since the last call, and waits until an app is marked. Nil when the signal has ended or
    /// the task was cancelled. Only one task may call it.
    func next() async -> [AppID: Timetoken]? {
        while !Task.isCancelled {
            let (apps, isOver) = state.withLock { state in
                defer { state.apps = [:] }
                return (state.apps, state.isOver)
            }
            if !apps.isEmpty { return apps }
            if isOver { return nil }
            await signal.wait()
        }
        return nil
    }
}
