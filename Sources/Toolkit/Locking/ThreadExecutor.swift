import Glibc

/// A serial executor that also runs closures. A closure needs no task, so it costs less than a job of an actor.
public protocol ClosureExecutor: SerialExecutor {
    /// Runs `closure` after the jobs and closures that were added before it. May be called from any thread.
    func post(_ closure: @escaping @Sendable () -> Void)
}

/// A serial executor with a dedicated thread. The thread ends when the last reference to the executor is released.
///
/// Jobs and closures run in the order in which they are added.
public final class ThreadExecutor: ClosureExecutor {
    private enum Job {
        case job(UnownedJob)
        case closure(@Sendable () -> Void)
    }

    private struct Work {
        var jobs: [Job] = []
        /// The thread of the executor, after its start.
        var thread: UInt?
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
            work.withLock { $0.thread = UInt(pthread_self()) }
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
    public func enqueue(_ job: consuming ExecutorJob) { add(.job(UnownedJob(job))) }

    public func post(_ closure: @escaping @Sendable () -> Void) { add(.closure(closure)) }

    /// Returns true when the calling code runs on the thread of this executor; never `nil`.
    public func isIsolatingCurrentContext() -> Bool? { work.withLock { $0.thread } == UInt(pthread_self()) }

    private func add(_ job: Job) {
        // The job may end on the other thread and release the last reference to the executor before this function
        // returns. Therefore the function retains `self`.
        let executor = Unmanaged.passRetained(self)
        defer { executor.release() }
        work.withLock { $0.jobs.append(job) }
        work.wakeOne()
    }

    private static func next(_ work: Monitor<Work>) -> [Job]? {
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

        func run(_ job: Job) {
            switch job {
            case .job(let job): job.runSynchronously(on: executor.asUnownedSerialExecutor())
            case .closure(let closure): closure()
            }
        }
    }
}
