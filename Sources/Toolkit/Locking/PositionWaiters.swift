/// A list of tasks that wait until an increasing position has reached a certain value. Only one actor, which knows the
/// current position, may use the list.
///
/// The list stores the position of the last ``resume(through:)``. A wait for a position that was already reached
/// returns immediately, even if the position was reached between the caller's check and the wait.
public final class PositionWaiters<Position: Comparable & Sendable> {
    @usableFromInline
    internal var waiting: [(position: Position, continuation: CheckedContinuation<Bool, Never>)] = []
    @usableFromInline
    internal var reached: Position?
    @usableFromInline
    internal var isEnded = false

    /// Creates an empty list.
    public init() {}

    /// The number of waiting tasks.
    public var count: Int { waiting.count }

    /// Waits until the position is reached. Cancelling the task does not end the wait.
    ///
    /// - Returns: true when the position was reached; false when the wait was ended by ``endAll()``.
    public func wait(for position: Position, isolation: isolated (any Actor)? = #isolation) async -> Bool {
        await withCheckedContinuation(isolation: isolation) { continuation in
            if let reached, position <= reached {
                continuation.resume(returning: true)
            } else if isEnded {
                continuation.resume(returning: false)
            } else {
                waiting.append((position, continuation))
            }
        }
    }

    /// Resumes the tasks that wait for this position or an earlier position. Call it whenever the position increases.
    @inlinable
    public func resume(through position: Position) {
        reached = reached.map { max($0, position) } ?? position
        isEnded = false
        guard !waiting.isEmpty else { return }
        for waiter in waiting where waiter.position <= position { waiter.continuation.resume(returning: true) }
        waiting.removeAll { $0.position <= position }
    }

    /// Ends all waits. Later waits end immediately until the next ``resume(through:)``. Call it when the position will
    /// no longer increase.
    public func endAll() {
        isEnded = true
        for waiter in waiting { waiter.continuation.resume(returning: false) }
        waiting = []
    }
}
