public import ChatModel
import Locking

/// Something that goes on until it is closed or released: a listener.
///
/// It connects when it is made. Its closure is called for one event at a time, in their order.
public final class AutoCloseable: Sendable {
    private struct State {
        /// Nil for what needs no connection.
        var listener: Listener?
        var isOver = false
    }

    private let state: Lock<State>
    private let task: Task<Void, Never>

    /// - Parameter work: runs until it is cancelled.
    init(_ listener: Listener?, _ work: @escaping @Sendable () async -> Void) {
        let state = Lock(State(listener: listener))
        self.state = state
        task = Task {
            await work()
            state.withLock { $0.isOver = true }
        }
    }

    deinit { task.cancel() }

    /// Whether its closure is called no more.
    var isOver: Bool { state.withLock { $0.isOver } }

    /// Stops it. The closure may be running at this moment; it is not called again. Idempotent.
    public func close() {
        task.cancel()
        // Let go of, so that its connection ends.
        let listener = state.withLock { state in
            defer { state = State(listener: nil, isOver: true) }
            return state.listener
        }
        listener?.close()
    }

    /// Returns when it is connected: its closure is called for everything that happens from then on.
    ///
    /// - Parameter limit: how long to wait at most; the listener goes on connecting afterwards.
    /// - Throws: why it cannot be connected; `.unavailable` when it is not in time; `.gone` when it is closed or the task
    ///   cancelled.
    public func ready(within limit: Duration = .seconds(30)) async throws(ChatError) {
        let state = state.withLock { $0 }
        if let listener = state.listener { return try await listener.connected(within: limit) }
        if state.isOver { throw .closed }
    }
}
