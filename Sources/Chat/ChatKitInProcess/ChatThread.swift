import ChatModel
import Locking

/// The thread that hands out events of a chat in this process, as the streaming loop does in a gateway.
final class ChatThread: SerialExecutor {
    private struct Work {
        var jobs: [UnownedJob] = []
        var isOver = false
    }

    private let work = Monitor(Work())

    /// - Throws: when the system has no thread to give.
    init() throws(ChatError) {
        let work = work
        let executor = Unowned(executor: self)
        let isStarted = startThread(name: "chat-hub") {
            while let jobs = Self.next(work) {
                for job in jobs { executor.run(job) }
            }
        }
        guard isStarted else { throw ChatError(.unavailable, "the system has no thread to give") }
    }

    deinit {
        work.withLock { $0.isOver = true }
        work.wakeOne()
    }

    func enqueue(_ job: consuming ExecutorJob) {
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
        // Safe: jobs come only from tasks and actors that hold the executor.
        unowned let executor: ChatThread
        func run(_ job: UnownedJob) { job.runSynchronously(on: executor.asUnownedSerialExecutor()) }
    }
}
