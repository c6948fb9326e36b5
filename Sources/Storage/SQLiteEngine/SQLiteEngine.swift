public import ChatModel
import Locking
public import Logging
import SQLite

/// The storage engine: implements the protocols in `ChatModel/Contracts` on one SQLite file, or in memory.
///
/// One thread writes and several read. Callers wait in tasks and never block a thread of the cooperative pool. A file
/// belongs to one engine at a time. ``close()`` must be called: the threads keep the engine alive until then.
public final class SQLiteEngine: Engine {
    /// The event log. It is stored because every call reads it, and creating it allocates.
    public let log: any EventLog
    private let engineState: EngineState
    private let readers: Readers
    private let writerHandle: WriterHandle
    private let path: String
    private let scheduler: DeliveryScheduler
    private let condition: StoreHealth
    private let closing: Closing

    /// Opens a file with the default settings; see ``init(_:)``.
    ///
    /// - Parameter path: the database file, or `:memory:`.
    /// - Throws: ``SQLiteEngineFailure``.
    public convenience init(path: String) async throws(SQLiteEngineFailure) {
        try await self.init(SQLiteEngineSettings(path: path))
    }

    /// Opens the file, creates or migrates its tables, and starts the threads.
    ///
    /// - Throws: ``SQLiteEngineFailure`` with a sentence for the operator when the file is in use, was written by a
    ///   newer program, or is unusable.
    public init(_ settings: SQLiteEngineSettings) async throws(SQLiteEngineFailure) {
        path = settings.path
        let writeQueue = WriteQueue(limits: settings.limits)
        let condition = StoreHealth()
        let closing = Closing()
        let opened = await withCheckedContinuation { continuation in
            let isStarted = startThread(name: "parley-write") {
                Self.write(settings, writeQueue, condition, closing) { continuation.resume(returning: $0) }
                closing.writerIsDone()
            }
            if !isStarted {
                continuation.resume(returning: .failure(SQLiteEngineFailure(.noThread, path: settings.path)))
            }
        }
        let parts = try opened.get()
        engineState = parts.engineState
        readers = parts.readers
        self.condition = condition
        self.closing = closing
        let deadlineThread = DeadlineThread()
        let writerHandle = WriterHandle(writeQueue: writeQueue, deadlineThread: deadlineThread, uptime: settings.uptime)
        let scheduler = DeliveryScheduler(
            lanes: parts.lanes, life: parts.life, clock: settings.clock, writerHandle: writerHandle)
        self.writerHandle = writerHandle
        self.scheduler = scheduler
        engineState.scheduler.withLock { $0 = scheduler }
        log = SQLiteLog(engineState: engineState, readers: readers, writerHandle: writerHandle)
        let isWatching = deadlineThread.start {
            scheduler.serve()
            return writerHandle.expire(after: settings.limits.storeDeadline)
        }
        guard isWatching else {
            await close()
            throw SQLiteEngineFailure(.noThread, path: settings.path)
        }
        // Completes reorderings that a crash interrupted. When the disk is full, those subscribers wait until their
        // settings are next set.
        let queue = SQLiteDeliveries(
            engineState: engineState, scheduler: scheduler, readers: readers, writerHandle: writerHandle)
        for (lane, _) in parts.lanes where lane.reordering != .done { try? await queue.reorder(lane.number) }
    }

    private struct Parts: Sendable {
        let engineState: EngineState
        let readers: Readers
        let lanes: [(subscriber: StoredSubscriber, waiting: Int)]
        let life: UInt64
    }

    /// Runs on the writer's thread, from opening the file to closing it.
    private static func write(
        _ settings: SQLiteEngineSettings, _ writeQueue: WriteQueue, _ condition: StoreHealth, _ closing: Closing,
        opened: @Sendable (Result<Parts, SQLiteEngineFailure>) -> Void
    ) {
        do throws(SQLiteEngineFailure) {
            // Released last, after the connection is closed.
            let lock = try settings.lock()
            do throws(SQLiteFailure) {
                try open(settings, writeQueue, condition, closing, opened)
            } catch {
                throw SQLiteEngineFailure(error, path: settings.path)
            }
            _ = consume lock
        } catch {
            opened(.failure(error))
        }
    }

    /// Opens the file, calls `opened`, and runs the writer on this thread until it has finished.
    ///
    /// - Throws: only before `opened` was called.
    private static func open(
        _ settings: SQLiteEngineSettings, _ writeQueue: WriteQueue, _ condition: StoreHealth, _ closing: Closing,
        _ opened: @Sendable (Result<Parts, SQLiteEngineFailure>) -> Void
    ) throws(SQLiteFailure) {
        let database = try settings.openWriter()
        let engineState = EngineState(
            settings: settings, start: try Heads(database), retention: try RetentionTable(reading: database))
        let writer = try Writer(
            database: database, engineState: engineState, writeQueue: writeQueue, condition: condition,
            settings: settings)
        let readers =
            settings.isInMemory
            ? Readers(inMemory: writeQueue, settings: settings) : try Readers(settings: settings)
        let own = try Reader(database: database)
        let life = try database.countOpening()
        opened(.success(Parts(engineState: engineState, readers: readers, lanes: try database.lanes(), life: life)))
        writer.run(reader: own, drained: closing.writerIsDrained)
    }
}

extension SQLiteEngine {
    /// The delivery queue.
    public var deliveries: any DeliveryQueue {
        SQLiteDeliveries(engineState: engineState, scheduler: scheduler, readers: readers, writerHandle: writerHandle)
    }
    /// The directory of records.
    public var directory: any Directory {
        SQLiteDirectory(engineState: engineState, readers: readers, writerHandle: writerHandle)
    }

    /// The condition of the store. After a failure it writes a probe, because only a commit shows whether the store
    /// works again. Degraded when more than half of the allowed events wait for the store; unavailable once closing has
    /// begun.
    public func health() async -> EngineHealth {
        if closing.hasBegun { return .unavailable("the store is closed") }
        if case .failed(let error) = condition.current {
            // The store may have recovered; only a commit can show it.
            do throws(ChatError) {
                try await writerHandle.run { (writer) throws(SQLiteFailure) in .success(try writer.probe()) }
            } catch let latest {
                return .unavailable(latest.code == .storageFull ? latest.message : error.message)
            }
        }
        let waiting = writerHandle.writeQueue.waiting
        if waiting.drafts > engineState.limits.waitingDrafts / 2 {
            return .degraded("\(waiting.drafts) events wait for the store")
        }
        return .ready
    }

    /// Counts and sizes of the store.
    ///
    /// - Throws: `.overloaded` when too many reads wait, `.unavailable` when the store fails or is too slow.
    public func statistics() async throws(ChatError) -> EngineStatistics {
        var statistics = try await readers.run { (reader) throws(SQLiteFailure) in try reader.statistics() }
        statistics.waitingEvents = writerHandle.writeQueue.waiting.drafts
        statistics.measureFiles(path)
        return statistics
    }

    /// Removes expired data at once instead of in the next round. For operators and tests.
    func removeOutlived() async throws(ChatError) {
        let result = await withUnsafeContinuation { continuation in
            writerHandle.submit(HousekeepingRequest(since: writerHandle.uptime(), completion: Completion(continuation)))
        }
        try result.get()
    }

    /// Finishes all accepted work and answers it, ends every follower, and closes the file. Later calls wait for the
    /// first one to finish.
    public func close() async {
        guard closing.begin() else { return await closing.end() }
        // First the accepted work is done and answered, then the waiting reads, then the threads end.
        scheduler.flush()
        writerHandle.writeQueue.drain()
        await closing.drained()
        scheduler.close()
        engineState.tail.close()
        engineState.changes.close()
        await readers.close()
        await writerHandle.deadlineThread.stop()
        writerHandle.writeQueue.finish()
        await closing.end()
    }
}

/// The settings of the engine: where the file is, its limits, and the clocks that tests replace.
public struct SQLiteEngineSettings: Sendable {
    /// The database file, or `:memory:`. Beside it are `-wal` and `-shm` (SQLite's) and `.lock` (the engine's).
    public var path: String
    /// The limits that the store enforces.
    public var limits: Limits
    /// The time of day. It may jump forward or back; timetokens increase in any case.
    public var clock: WallClock
    /// Nanoseconds of a clock that never steps, for deadlines and leases.
    public var uptime: @Sendable () -> UInt64
    /// The logger of the engine's threads.
    public var logger: Logger
    /// The number of reading connections, each with a thread of its own. Unused in memory, where the writer reads.
    public var readers: Int
    /// The size of the newest events kept in memory for `committed()` and for readers near the end, in bytes of weight.
    /// A consumer further behind reads from the file.
    public var tailBytes = 16 * 1024 * 1024
    /// The interval between rounds of removal.
    var housekeepingInterval: Duration = .seconds(30)
    /// The maximum number of 4 KiB pages in the file, at which it counts as full; nil leaves the limit to the disk.
    public var pageLimit: Int?

    /// The checkpoint thresholds. Tests lower them.
    var logPages = LogPages()

    /// The pages of write-ahead log at which they are copied into the file, and at which readers are made to release
    /// it. Four times as many cost the same per event and delay the next batch four times as long (measured).
    struct LogPages: Sendable {
        var long = 4_000
        var tooLong = 64_000
    }

    /// - Parameter readers: at least two; with one, a long history read would delay every short read.
    public init(
        path: String, limits: Limits = Limits(), clock: WallClock = .system, readers: Int = 2,
        logger: Logger = Logger(label: "parley.store")
    ) {
        self.path = path
        self.limits = limits
        self.clock = clock
        self.uptime = { MonotonicTime.now.nanoseconds }
        self.readers = readers
        self.logger = logger
    }

    var isInMemory: Bool { path == ":memory:" }
}
