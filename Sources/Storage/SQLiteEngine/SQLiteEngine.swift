public import ChatModel
import Locking
public import Logging
import SQLite
import StorageCore

/// The storage engine. It implements the protocols in `ChatModel/Contracts` with one SQLite database, in a file or in
/// memory.
///
/// One thread writes and several threads read. Callers wait asynchronously and never block a thread of the cooperative
/// pool. Only one engine at a time can open a database file. Call ``close()`` when the engine is no longer needed,
/// because its threads keep it alive until then.
public final class SQLiteEngine: Engine {
    // The parts are stored properties, because they are read often, and creating one allocates memory.
    /// The event log.
    public let log: any EventLog
    /// The delivery queue.
    public let deliveries: any DeliveryQueue
    /// The directory of records.
    public let directory: any Directory
    private let engineState: EngineState
    private let readers: Readers
    private let writerHandle: WriterHandle
    private let path: String
    private let scheduler: DeliveryScheduler
    private let storeHealth: StoreHealth
    private let closing: Closing

    /// Opens a database with the default settings. See ``init(_:)``.
    ///
    /// - Parameter path: the database file, or `:memory:`.
    /// - Throws: ``SQLiteEngineFailure``.
    public convenience init(path: String) async throws(SQLiteEngineFailure) {
        try await self.init(SQLiteEngineSettings(path: path))
    }

    /// Opens the database, creates or migrates its tables, and starts the threads.
    ///
    /// - Throws: ``SQLiteEngineFailure`` when the database file is in use, was written by a newer program, or cannot be
    ///   used.
    public init(_ settings: SQLiteEngineSettings) async throws(SQLiteEngineFailure) {
        path = settings.path
        let writeQueue = WriteQueue(limits: settings.limits)
        let storeHealth = StoreHealth()
        let closing = Closing()
        let opened = await withCheckedContinuation { continuation in
            let isStarted = startThread(name: "parley-write") {
                Self.write(settings, writeQueue, storeHealth, closing) { continuation.resume(returning: $0) }
                closing.writerIsDone()
            }
            if !isStarted {
                continuation.resume(returning: .failure(SQLiteEngineFailure(.noThread, path: settings.path)))
            }
        }
        let parts = try opened.get()
        engineState = parts.engineState
        readers = parts.readers
        self.storeHealth = storeHealth
        self.closing = closing
        let deadlineThread = DeadlineThread()
        let writerHandle = WriterHandle(writeQueue: writeQueue, deadlineThread: deadlineThread, uptime: settings.uptime)
        let scheduler = DeliveryScheduler(
            lanes: parts.lanes, life: parts.life, clock: settings.clock,
            storage: SQLiteQueueStorage(readers: parts.readers, writerHandle: writerHandle))
        self.writerHandle = writerHandle
        self.scheduler = scheduler
        engineState.scheduler.withLock { $0 = scheduler }
        log = SQLiteLog(engineState: engineState, readers: readers, writerHandle: writerHandle)
        let queue = SQLiteDeliveries(
            engineState: engineState, scheduler: scheduler, readers: readers, writerHandle: writerHandle)
        deliveries = queue
        directory = SQLiteDirectory(engineState: engineState, readers: readers, writerHandle: writerHandle)
        let isWatching = deadlineThread.start {
            scheduler.serve()
            return writerHandle.expire(after: settings.limits.storeDeadline)
        }
        guard isWatching else {
            await close()
            throw SQLiteEngineFailure(.noThread, path: settings.path)
        }
        // Completes reorderings of deliveries that a crash has interrupted. If that fails because the disk is full, the
        // subscribers receive no deliveries until their settings are set again.
        for (lane, _) in parts.lanes where lane.reordering != .done { try? await queue.reorder(lane.number) }
    }

    private struct Parts: Sendable {
        let engineState: EngineState
        let readers: Readers
        let lanes: [(subscriber: StoredSubscriber, waiting: Int)]
        let life: UInt64
    }

    /// The main function of the writer's thread, from opening the database to closing it.
    private static func write(
        _ settings: SQLiteEngineSettings, _ writeQueue: WriteQueue, _ storeHealth: StoreHealth, _ closing: Closing,
        opened: @Sendable (Result<Parts, SQLiteEngineFailure>) -> Void
    ) {
        do throws(SQLiteEngineFailure) {
            // The lock is released last, after the connection is closed.
            let lock = try settings.lock()
            do throws(SQLiteFailure) {
                try open(settings, writeQueue, storeHealth, closing, opened)
            } catch {
                throw SQLiteEngineFailure(error, path: settings.path)
            }
            _ = consume lock
        } catch {
            opened(.failure(error))
        }
    }

    /// Opens the database, calls `opened`, and runs the writer on this thread until the writer has finished.
    ///
    /// - Throws: the failure to open the database. Throws nothing after `opened` was called.
    private static func open(
        _ settings: SQLiteEngineSettings, _ writeQueue: WriteQueue, _ storeHealth: StoreHealth, _ closing: Closing,
        _ opened: @Sendable (Result<Parts, SQLiteEngineFailure>) -> Void
    ) throws(SQLiteFailure) {
        let database = try settings.openWriter()
        let engineState = EngineState(
            settings: settings, start: try Heads(database), retention: try RetentionTable(reading: database))
        let writer = try Writer(
            database: database, engineState: engineState, writeQueue: writeQueue, health: storeHealth,
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
    /// Returns the condition of the store. After a failure, first makes a test commit, because only a commit shows
    /// whether the store works again. The store is degraded when more than half of the allowed number of events wait to
    /// be written. It is unavailable when closing has begun.
    public func health() async -> EngineHealth {
        if closing.hasBegun { return .unavailable("the store is closed") }
        if case .failed(let error) = storeHealth.current {
            // Only a commit can show whether the store works again.
            do throws(ChatError) {
                try await writerHandle.run { (writer) throws(SQLiteFailure) in .success(try writer.probe()) }
            } catch let latest {
                return .unavailable(latest.code == .storageFull ? latest.message : error.message)
            }
        }
        let waiting = writerHandle.writeQueue.waiting
        if waiting.drafts > engineState.limits.waitingDrafts / 2 {
            return .degraded("\(waiting.drafts) events wait to be stored")
        }
        return .ready
    }

    /// Returns the counts and sizes of the store's content.
    ///
    /// - Throws: `.overloaded` when too many reads wait, `.unavailable` when the store fails or is too slow.
    public func statistics() async throws(ChatError) -> EngineStatistics {
        var statistics = try await readers.run { (reader) throws(SQLiteFailure) in try reader.statistics() }
        statistics.waitingEvents = writerHandle.writeQueue.waiting.drafts
        statistics.measureFiles(path)
        return statistics
    }

    /// Removes expired data now instead of in the next scheduled round. Used by operators and tests.
    func removeOutlived() async throws(ChatError) {
        let result = await withUnsafeContinuation { continuation in
            writerHandle.submit(HousekeepingRequest(since: writerHandle.uptime(), completion: Completion(continuation)))
        }
        try result.get()
    }

    /// Completes all accepted requests, ends all consumers of the log and of record changes, and closes the database.
    /// Later calls wait until the first call has finished.
    public func close() async {
        guard closing.begin() else { return await closing.end() }
        // The order is: complete the accepted writes, complete the waiting reads, end the threads.
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

/// The settings of the engine: the path of the database file, the limits, and the clocks, which tests replace.
public struct SQLiteEngineSettings: Sendable {
    /// The path of the database file, or `:memory:`. In the same directory, SQLite creates files that end in `-wal` and
    /// `-shm`, and the engine creates one that ends in `.lock`.
    public var path: String
    /// The limits that the store enforces.
    public var limits: Limits
    /// The clock for the time of day. It may jump forward or back; timetokens always increase.
    public var clock: WallClock
    /// Returns the nanoseconds of a monotonic clock, for deadlines and leases.
    public var uptime: @Sendable () -> UInt64
    /// The logger of the engine's threads.
    public var logger: Logger
    /// The number of connections that read, each with its own thread. Not used for a store in memory, where the
    /// writer's connection also reads.
    public var readers: Int
    /// The maximum memory for the newest events, in bytes (`weight`). `committed()` and reads of recent events use this
    /// memory. A consumer that needs older events reads them from the database.
    public var tailBytes = 16 * 1024 * 1024
    /// The interval between the rounds that remove expired data.
    var housekeepingInterval: Duration = .seconds(30)
    /// The maximum number of 4 KiB pages in the database file. A store of this size counts as full; nil means that only
    /// the disk limits the size.
    public var pageLimit: Int?

    /// The thresholds for checkpoints. Tests set lower values.
    var logPages = LogPages()

    /// The thresholds for checkpoints, in pages of the write-ahead log. At `long` pages, the pages are copied into the
    /// database file. At `tooLong` pages, the checkpoint also waits for readers. With four times as many pages, a
    /// checkpoint would cost the same per event, but would delay the next batch four times as long (measured).
    struct LogPages: Sendable {
        var long = 4_000
        var tooLong = 64_000
    }

    /// Creates settings. Everything that is not a parameter has its default value.
    ///
    /// - Parameter readers: the number of connections that read; at least two. With only one connection, a long read of
    ///   history would delay every short read.
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
