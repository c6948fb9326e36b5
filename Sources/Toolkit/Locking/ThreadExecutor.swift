/// A serial executor with a dedicated thread. The thread ends when the last reference to the executor is released.
///
/// Jobs run in the order in which they are enqueued.
public final class ThreadExecutor: SerialExecutor {
    private struct Work {
        var jobs: [UnownedJob] = []
        var isOver = false
    }

    private let work = Monitor(Work())

    /// Creates the executor and starts its thread. Returns `nil` when the system cannot create a thread.
    ///
    /// - Parameter name: the name of the thread; see ``startThread(name:_:)``.
    public init?(name: String) {
        let work = work
        let executor = UnownedReference(executor: self)
        let isStarted = startThread(name: name) {
            while let jobs = Self.next(work) {
                for job in jobs { executor.run(job) }
            }
        }
        guard isStarted else { return nil }
    }

    deinit {
        work.withLock { $0.isOver = true }
        work.wakeOne()
    }

    /// Adds a job to the end of the queue. May be called from any thread.
    public func enqueue(_ job: consuming ExecutorJob) {
        // The job may end on the other thread and release the last reference to the executor before this function
        // returns. Therefore the function retains `self`.
        let executor = Unmanaged.passRetained(self)
        defer { executor.release() }
        let job = UnownedJob(job)
        work.withLock { $0.jobs.append(job) }
        work.wakeOne()
    }

    private static func next(_ work: Monitor<Work>) -> [UnownedJob]? {
        work.wait { work in
            if work.jobs.isEmpty { return work.isOver ? .done(nil) : .sleep }
            defer { work.jobs = [] }
            return .done(work.jobs)
        }
    }

    /// A reference that does not retain the executor. With a strong reference, the thread would never end.
    private struct UnownedReference: @unchecked Sendable {
        // The reference is valid while a job runs, because a task or an actor then retains the executor.
        unowned let executor: ThreadExecutor
        func run(_ job: UnownedJob) { job.runSynchronously(on: executor.asUnownedSerialExecutor()) }
    }
}
