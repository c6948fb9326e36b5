public import ChatModel
import Locking

/// A listener that runs until it is closed or released.
///
/// The listener connects when it is created. Its closure is called for one event at a time, in order.
public final class AutoCloseable: Sendable {
    private struct State {
        /// The connection; nil for a listener without one.
        var listener: Listener?
        var isOver = false
    }

    private let state: Lock<State>
    private let task: Task<Void, Never>

    /// Starts `work` in a task. The listener ends when `work` returns. Releasing this object cancels the task.
    ///
    /// - Parameter listener: the connection that closes when the listener ends; nil for none.
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
        // Releases the listener, which closes its connection.
        let listener = state.withLock { state in
            defer { state = State(listener: nil, isOver: true) }
            return state.listener
        }
        listener?.close()
    }

    /// Waits for the connection. After this call has returned, the closure is called for every new event.
    ///
    /// - Parameter limit: the maximum time to wait. After that, the listener still continues to connect.
    /// - Throws: the error that prevents the connection; `.unavailable` when `limit` has passed; `.gone` when the
    ///   listener is closed or the task is cancelled.
    public func ready(within limit: Duration = .seconds(30)) async throws(ChatError) {
        let state = state.withLock { $0 }
        if let listener = state.listener { return try await listener.connected(within: limit) }
        if state.isOver { throw .closed }
    }
}
