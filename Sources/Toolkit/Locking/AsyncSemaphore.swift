/// A semaphore that admits a fixed number of tasks at a time and the waiting ones in order of arrival. Confined to one
/// actor.
public final class AsyncSemaphore {
    /// The number of tasks admitted at a time.
    let width: Int
    /// The number of tasks that are admitted now.
    public private(set) var inside = 0
    private var waiting: [CheckedContinuation<Void, Never>] = []
    private var next = 0

    /// - Parameter width: the number of tasks admitted at a time; at least one.
    public init(width: Int) { self.width = width }

    /// The number of tasks that wait to be admitted.
    public var waitingCount: Int { waiting.count - next }

    /// Returns when the caller is admitted. Every return must be followed by one call of ``leave()``. Cancelling the task
    /// does not end the wait.
    public func enter(isolation: isolated (any Actor)? = #isolation) async {
        guard inside == width else {
            inside += 1
            return
        }
        await withCheckedContinuation(isolation: isolation) { waiting.append($0) }
    }

    /// Gives the place to the task that has waited longest.
    public func leave() {
        guard next < waiting.count else {
            inside -= 1
            return
        }
        waiting[next].resume()
        next += 1
        if next == waiting.count || next >= 1024 {
            waiting.removeFirst(next)
            next = 0
        }
    }
}
