/// Tasks that wait until something has reached a position. Confined to one actor, which knows the present position.
///
/// There is no suspension between a check of the position on that actor and the start of the wait, so none is missed:
///
/// ```swift
/// guard position < target else { return true }
/// return await waiters.wait(for: target)
/// ```
public final class PositionWaiters<Position: Comparable & Sendable> {
    private var waiting: [(position: Position, continuation: CheckedContinuation<Bool, Never>)] = []

    /// Creates an empty list.
    public init() {}

    /// The number of waiting tasks.
    public var count: Int { waiting.count }

    /// Waits for a position. Cancelling the task does not end the wait.
    ///
    /// - Returns: true when the position was reached; false when the wait was ended by ``endAll()``.
    public func wait(for position: Position, isolation: isolated (any Actor)? = #isolation) async -> Bool {
        await withCheckedContinuation(isolation: isolation) { waiting.append((position, $0)) }
    }

    /// Resumes the tasks that wait for this position or an earlier one. Call it after each advance.
    public func resume(through position: Position) {
        guard !waiting.isEmpty else { return }
        for waiter in waiting where waiter.position <= position { waiter.continuation.resume(returning: true) }
        waiting.removeAll { $0.position <= position }
    }

    /// Ends every wait, because the position will not advance any more.
    public func endAll() {
        for waiter in waiting { waiter.continuation.resume(returning: false) }
        waiting = []
    }
}
