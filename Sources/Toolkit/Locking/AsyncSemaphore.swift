/// A semaphore that admits a fixed number of tasks at a time. Waiting tasks are admitted in the order of their arrival.
/// Only one actor may use a semaphore.
public final class AsyncSemaphore {
    /// The maximum number of tasks that are admitted at the same time.
    let width: Int
    /// The number of tasks that are admitted now.
    public private(set) var inside = 0
    private var waiting: [CheckedContinuation<Void, Never>] = []
    private var next = 0

    /// Creates a semaphore that has not admitted any task.
    ///
    /// - Parameter width: the maximum number of tasks that are admitted at the same time; at least one.
    public init(width: Int) { self.width = width }

    /// The number of tasks that wait to be admitted.
    public var waitingCount: Int { waiting.count - next }

    /// Waits until the caller is admitted. Call ``leave()`` once after each return. Cancelling the task does not end
    /// the wait.
    public func enter(isolation: isolated (any Actor)? = #isolation) async {
        guard inside == width else {
            inside += 1
            return
        }
        await withCheckedContinuation(isolation: isolation) { waiter in
            // The runtime may run other code of the actor before this closure, for example `leave()`.
            guard inside == width else {
                inside += 1
                return waiter.resume()
            }
            waiting.append(waiter)
        }
    }

    /// Ends the admission of the caller and admits the task that has waited longest.
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
