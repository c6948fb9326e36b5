import ChatModel
import Locking

/// Collects the apps that have new events while the planner works. The planner then plans all new events of an app
/// together.
final class PlannerSignal: Sendable {
    private struct State {
        /// The apps with new events. The value is the newest position in the event log that was reported for the app.
        var apps: [AppID: Timetoken] = [:]
        var isOver = false
    }

    private let state = Lock(State())
    private let signal = AsyncSignal()

    func mark(_ app: AppID, at position: Timetoken) {
        state.withLock { $0.apps[app] = max($0.apps[app] ?? .zero, position) }
        signal.send()
    }

    /// Ends the signal. ``next()`` still returns the apps that are marked already, and then returns nil. No app may be
    /// marked after this call.
    func finish() {
        state.withLock { $0.isOver = true }
        signal.send()
    }

    /// Waits until at least one app is marked, and returns the apps that were marked since the last call, each with its
    /// newest position. Returns nil when the signal has ended or the task was cancelled. Only one task may call this
    /// function.
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
