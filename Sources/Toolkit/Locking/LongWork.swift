import Glibc

/// Runs `work` on the threads of the global pool instead of the executor that the caller's task prefers, such as a
/// loop. The work should take at most a few milliseconds, because all other tasks share these threads. Use
/// ``asLongWork(_:)`` for longer work.
///
/// All of `work` runs on the pool. `withTaskExecutorPreference` alone would not be sufficient: it moves a task only
/// when the task suspends, so work that never suspends would stay on the caller's executor.
///
/// - Throws: the error that `work` throws.
public nonisolated(nonsending) func onThreadPool<Value: Sendable, Failure: Error>(
    _ work: nonisolated(nonsending) () async throws(Failure) -> Value
) async throws(Failure) -> Value {
    try await run(work, on: globalConcurrentExecutor)
}

/// Runs `work`, which may take longer than a few milliseconds, on dedicated threads. The operating system shares the
/// processors between these threads and all others, so that the event loops and the pool do not wait until the work
/// ends.
///
/// The number of these threads is the number of processors. Work runs in the order in which it was added. After a
/// suspension, the work continues at the end of the queue.
///
/// - Throws: the error that `work` throws.
public nonisolated(nonsending) func asLongWork<Value: Sendable, Failure: Error>(
    _ work: nonisolated(nonsending) () async throws(Failure) -> Value
) async throws(Failure) -> Value {
    guard let threads = WorkerThreads.ofProcess else { return try await onThreadPool(work) }
    return try await run(work, on: threads)
}

private nonisolated(nonsending) func run<Value: Sendable, Failure: Error>(
    _ work: nonisolated(nonsending) () async throws(Failure) -> Value, on executor: some TaskExecutor
) async throws(Failure) -> Value {
    try await withTaskExecutorPreference(executor) { () async throws(Failure) -> Value in
        await Task.yield()
        return try await work()
    }
}

/// A group of threads that run jobs of tasks. Each thread runs the next waiting job.
private final class WorkerThreads: TaskExecutor {
    /// The threads of this process, which are started at the first use; `nil` when the system cannot create them. Work
    /// then runs on the pool.
    static let ofProcess = WorkerThreads(count: max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))))

    private struct Queue {
        var jobs: [UnownedJob] = []
        /// The index of the next job to run.
        var next = 0

        mutating func popFirst() -> UnownedJob? {
            guard next < jobs.count else { return nil }
            defer {
                next += 1
                if next == jobs.count {
                    (jobs, next) = ([], 0)
                } else if next > 1024, next > jobs.count / 2 {
                    jobs.removeFirst(next)
                    next = 0
                }
            }
            return jobs[next]
        }
    }

    private let queue = Monitor(Queue())

    private init?(count: Int) {
        var started = 0
        for _ in 0..<count where startThread(name: "work", { [self] in work() }) { started += 1 }
        guard started > 0 else { return nil }
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.withLock { $0.jobs.append(job) }
        queue.wakeOne()
    }

    private func work() {
        while true {
            let job = queue.wait { queue in queue.popFirst().map { .done($0) } ?? .sleep }
            job.runSynchronously(on: asUnownedTaskExecutor())
        }
    }
}
