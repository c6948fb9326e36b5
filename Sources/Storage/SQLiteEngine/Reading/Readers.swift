import ChatModel
import Locking
import Logging
import SQLite
import StorageCore

/// The threads that read the database, so that no read blocks the cooperative pool. Each thread has its own connection.
final class Readers: Sendable {
    /// The threads on which reads run.
    private enum Place: Sendable {
        case pool(Monitor<Pool>)
        /// The reads use the writer's connection and thread, because a store in memory has only one connection.
        case writer(WriteQueue)
    }

    fileprivate struct Pool: Sendable {
        var jobs: [ReadJob] = []
        var first = 0
        var threads = 0
        var isClosed = false
        var closer: CheckedContinuation<Void, Never>?
    }

    /// The maximum number of reads that wait for a connection. Further reads are rejected immediately.
    private static let waitingMost = 20_000

    private let place: Place
    private let deadline: Duration
    private let logger: Logger

    /// Creates the readers of a store in memory. Their reads run on the writer's thread between its batches.
    init(inMemory writeQueue: WriteQueue, settings: SQLiteEngineSettings) {
        place = .writer(writeQueue)
        deadline = settings.limits.storeDeadline
        logger = settings.logger
    }

    /// Starts the threads, each with its own connection. Blocks until all connections are open.
    init(settings: SQLiteEngineSettings) throws(SQLiteFailure) {
        let monitor = Monitor(Pool())
        place = .pool(monitor)
        deadline = settings.limits.storeDeadline
        logger = settings.logger
        for number in 1...max(1, settings.readers) {
            try start(number, settings.path, monitor)
        }
    }

    private func start(_ number: Int, _ path: String, _ monitor: Monitor<Pool>) throws(SQLiteFailure) {
        let opened = Monitor(Result<Void, SQLiteFailure>?.none)
        let isStarted = startThread(name: "parley-read-\(number)") {
            do throws(SQLiteFailure) {
                let reader = try Reader(path: path)
                monitor.withLock { $0.threads += 1 }
                opened.withLock { $0 = .success(()) }
                opened.wakeOne()
                Self.work(reader, monitor)
            } catch {
                opened.withLock { $0 = .failure(error) }
                opened.wakeOne()
                return
            }
            // The connection is already closed here. The last thread to end resumes the caller of ``close()``.
            let closer = monitor.withLock { pool in
                pool.threads -= 1
                return pool.threads == 0 ? pool.closer : nil
            }
            closer?.resume()
        }
        guard isStarted else { throw .noThread }
        try opened.wait { result in result.map { .done($0) } ?? .sleep }.get()
    }

    private static func work(_ reader: Reader, _ monitor: Monitor<Pool>) {
        while let job = monitor.wait(for: { $0.next() }) { job.run(reader) }
    }

    /// Runs `body` with a connection on a reading thread and returns its result.
    ///
    /// - Throws: `.overloaded` when too many reads wait, `.unavailable` when the store fails or takes longer than the
    ///   deadline.
    func run<Value: Sendable>(
        _ body: @escaping @Sendable (Reader) throws(SQLiteFailure) -> Value
    ) async throws(ChatError) -> Value {
        let result = await withCheckedContinuation { continuation in
            let job = ReadJob(
                run: { [deadline, logger] reader in
                    continuation.resume(returning: Self.perform(body, reader, deadline, logger))
                },
                fail: { continuation.resume(returning: .failure($0)) })
            if let refusal = offer(job) { job.fail(refusal) }
        }
        return try result.get()
    }

    private static func perform<Value>(
        _ body: (Reader) throws(SQLiteFailure) -> Value, _ reader: Reader, _ deadline: Duration, _ logger: Logger
    ) -> Result<Value, ChatError> {
        reader.database.deadline = MonotonicTime.now.nanoseconds + deadline.nanoseconds
        defer { reader.database.deadline = nil }
        do throws(SQLiteFailure) {
            return .success(try body(reader))
        } catch {
            reader.database.rollback()
            logger.error("read failed; the request receives an error", metadata: ["failure": "\(error)"])
            return .failure(ChatError(error))
        }
    }

    private func offer(_ job: ReadJob) -> ChatError? {
        switch place {
        case .writer(let writeQueue): return writeQueue.offer(job)
        case .pool(let monitor):
            let refusal: ChatError? = monitor.withLock { pool in
                guard !pool.isClosed else { return .closing }
                guard pool.jobs.count - pool.first < Self.waitingMost else { return .overloaded }
                pool.jobs.append(job)
                return nil
            }
            if refusal == nil { monitor.wakeOne() }
            return refusal
        }
    }

    /// Completes the waiting reads and closes all connections. Returns when all connections are closed.
    func close() async {
        guard case .pool(let monitor) = place else { return }
        await withCheckedContinuation { continuation in
            let isDone = monitor.withLock { pool in
                pool.isClosed = true
                if pool.threads > 0 { pool.closer = continuation }
                return pool.threads == 0
            }
            monitor.wakeAll()
            if isDone { continuation.resume() }
        }
    }
}

extension Readers.Pool {
    fileprivate mutating func next() -> WaitResult<ReadJob?> {
        if first < jobs.count {
            let job = jobs[first]
            first += 1
            if first > 64, first > jobs.count / 2 {
                jobs.removeFirst(first)
                first = 0
            }
            return .done(job)
        }
        jobs.removeAll(keepingCapacity: true)
        first = 0
        return isClosed ? .done(nil) : .sleep
    }
}

/// A read that waits for a connection and its thread.
struct ReadJob: Sendable {
    let run: @Sendable (Reader) -> Void
    let fail: @Sendable (ChatError) -> Void
}
