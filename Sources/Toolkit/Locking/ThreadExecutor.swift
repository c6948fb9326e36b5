/// A serial executor on a dedicated thread, which ends when the last reference to the executor is released.
///
/// Jobs run in the order in which they are enqueued.
public final class ThreadExecutor: SerialExecutor {
    private struct Work {
        var jobs: [UnownedJob] = []
        var isOver = false
    }

    private let work = Monitor(Work())

    /// Starts the thread; `nil` when the system has none left.
    ///
    /// - Parameter name: the thread's name, as for ``startThread(name:_:)``.
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
        // The job can finish on the other thread and release the last reference before this function returns; hold
        // `self` until then.
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

    /// A reference that does not keep the executor alive. With a strong reference the thread would never end.
    private struct UnownedReference: @unchecked Sendable {
        // Safe: a job runs only while a task or an actor holds the executor.
        unowned let executor: ThreadExecutor
        func run(_ job: UnownedJob) { job.runSynchronously(on: executor.asUnownedSerialExecutor()) }
    }
}
