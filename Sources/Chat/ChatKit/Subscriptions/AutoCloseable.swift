public import ChatModel
import Locking

/// A listener that runs until it is closed or released.
///
/// It connects when it is created. Its closure is called for one event at a time, in order.
public final class AutoCloseable: Sendable {
    private struct State {
        /// The connection; nil for a listener that needs none.
        var listener: Listener?
        var isOver = false
    }

    private let state: Lock<State>
    private let task: Task<Void, Never>

    /// Starts `work` in a task. The listener is over when `work` returns; releasing this object cancels the task.
    ///
    /// - Parameter listener: the connection to close with it; nil if there is none.
    init(_ listener: Listener?, _ work: @escaping @Sendable () async -> Void) {
        let state = Lock(State(listener: listener))
        self.state = state
        task = Task {
            await work()
            state.withLock { $0.isOver = true }
        }
    }

    deinit { task.cancel() }

    /// True when the closure is no longer called.
    var isOver: Bool { state.withLock { $0.isOver } }

    /// Stops the listener. A running call of the closure may still complete; no further call follows. Idempotent.
    public func close() {
        task.cancel()
        // Released so that its connection ends.
        let listener = state.withLock { state in
            defer { state = State(listener: nil, isOver: true) }
            return state.listener
        }
        listener?.close()
    }

    /// Waits for the connection. The closure is called for everything that happens after this returns.
    ///
    /// - Parameter limit: the maximum wait. The listener continues to connect afterwards.
    /// - Throws: the error that prevents the connection; `.unavailable` when the limit passes; `.gone` when the
    ///   listener is closed or the task is cancelled.
    public func ready(within limit: Duration = .seconds(30)) async throws(ChatError) {
        let state = state.withLock { $0 }
        if let listener = state.listener { return try await listener.connected(within: limit) }
        if state.isOver { throw .closed }
    }
}
