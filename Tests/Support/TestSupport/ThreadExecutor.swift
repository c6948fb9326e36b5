import Locking

/// An executor with a thread of its own, which ends with it. Runs the hub of a chat service, as the event loop does in a
/// gateway.
public final class ThreadExecutor: SerialExecutor {
    private struct Work {
        var jobs: [UnownedJob] = []
        var isOver = false
    }

    private let work = Monitor(Work())

    public init() {
        let work = work
        let executor = Unowned(self)
        let hasStarted = startThread(name: "executor") {
            while let jobs = Self.next(work) {
                for job in jobs { executor.run(job) }
            }
        }
        precondition(hasStarted, "the system has no thread to give")
    }

    deinit {
        work.withLock { $0.isOver = true }
        work.wakeOne()
    }

    public func enqueue(_ job: consuming ExecutorJob) {
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

    /// The thread must not keep the executor alive, or it would never end.
    private struct Unowned: @unchecked Sendable {
        // Safe: jobs come only from tasks that hold the executor.
        private unowned let executor: ThreadExecutor
        init(_ executor: ThreadExecutor) { self.executor = executor }
        func run(_ job: UnownedJob) { job.runSynchronously(on: executor.asUnownedSerialExecutor()) }
    }
}
