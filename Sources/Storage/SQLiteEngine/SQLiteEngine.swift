public import ChatModel
import Locking
public import Logging
import SQLite
import Synchronization

/// Every promise of `ChatModel/Contracts` kept in one SQLite file, or in memory (`engine.md` part II).
///
/// One thread writes, several read; callers wait in tasks and never block a thread of the cooperative pool. A file belongs
/// to one engine at a time. ``close()`` must be called: the threads hold on to the engine until then.
public final class SQLiteEngine: Engine {
    /// Kept: it is asked for with every call, and making one means an allocation.
    public let log: any EventLog
    private let engineState: EngineState
    private let readers: Readers
    private let writerHandle: WriterHandle
    private let path: String
    private let scheduler: DeliveryScheduler
    private let condition: StoreHealth
    private let closing: Closing

    /// Opens a file with the usual settings; see ``init(_:)``.
    ///
    /// - Parameter path: the database file, or `:engineState:`.
    public convenience init(path: String) async throws(SQLiteEngineFailure) {
        try await self.init(SQLiteEngineSettings(path: path))
    }

    /// Opens the file, makes or migrates its tables, and starts the threads.
    ///
    /// - Throws: ``SQLiteEngineFailure`` with a sentence for the operator: the file is in use, of a newer program, or unusable.
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
        // What a crash left half put into order. If the disk is full, those endpoints wait for their next settings.
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

    /// The writer's thread, from opening the file to closing it.
    private static func write(
        _ settings: SQLiteEngineSettings, _ writeQueue: WriteQueue, _ condition: StoreHealth, _ closing: Closing,
        opened: @Sendable (Result<Parts, SQLiteEngineFailure>) -> Void
    ) {
        do throws(SQLiteEngineFailure) {
            // Let go of last of all: after the connection is closed.
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

    /// Returns when the writer has finished; throws only before `opened` was called.
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
        let life = try database.beginLife()
        opened(.success(Parts(engineState: engineState, readers: readers, lanes: try database.lanes(), life: life)))
        writer.run(reader: own, drained: closing.writerIsDrained)
    }
}

extension SQLiteEngine {
    public var deliveries: any DeliveryQueue {
        SQLiteDeliveries(engineState: engineState, scheduler: scheduler, readers: readers, writerHandle: writerHandle)
    }
    public var directory: any Directory {
        SQLiteDirectory(engineState: engineState, readers: readers, writerHandle: writerHandle)
    }

    public func health() async -> EngineHealth {
        if closing.hasBegun { return .unavailable("the store is closed") }
        if case .failed(let error) = condition.current {
            // What failed may work again: only a commit can tell.
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

    public func figures() async throws(ChatError) -> EngineStatistics {
        var figures = try await readers.run { (reader) throws(SQLiteFailure) in try reader.figures() }
        figures.waitingEvents = writerHandle.writeQueue.waiting.drafts
        figures.measureFiles(path)
        return figures
    }

    /// Removes at once what is too old, instead of when its turn comes. For operators and tests.
    func removeOutlived() async throws(ChatError) {
        let result = await withUnsafeContinuation { continuation in
            writerHandle.submit(HousekeepingRequest(since: writerHandle.uptime(), completion: Completion(continuation)))
        }
        try result.get()
    }

    public func close() async {
        guard closing.begin() else { return await closing.end() }
        // Accepted work is done and answered, then the reads that wait, then nothing is left to ask.
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

extension WriterHandle {
    /// Answers what has waited too long; says when to look again.
    func expire(after deadline: Duration) -> UInt64? {
        let now = uptime()
        let (unstored, unknown, isBusy) = writeQueue.overdue(since: now - min(now, deadline.nanoseconds))
        for wish in unstored { wish.fail(.storeUnavailable) }
        for wish in unknown { wish.fail(.outcomeUnknown) }
        return isBusy ? DeadlineThread.nextTick : nil
    }
}

/// The one answer somebody awaits. The writer and the clerk's deadline may both want to give it: the first one does.
///
/// So the continuation need not be a checked one, which would allocate a watchman of its own for each append.
final class Completion<Value: Sendable>: Sendable {
    private let continuation: UnsafeContinuation<Result<Value, ChatError>, Never>
    private let isAnswered = Atomic(false)

    init(_ continuation: UnsafeContinuation<Result<Value, ChatError>, Never>) {
        self.continuation = continuation
    }

    func answer(_ result: Result<Value, ChatError>) {
        guard !isAnswered.exchange(true, ordering: .acquiringAndReleasing) else { return }
        continuation.resume(returning: result)
    }
}

/// Where the engine keeps its file, what it may hold, and the doors to the world that tests take over.
public struct SQLiteEngineSettings: Sendable {
    /// The database file, or `:engineState:`. Beside it lie `-wal` and `-shm` (SQLite's) and `.lock` (ours).
    public var path: String
    public var limits: Limits
    /// The time of day. May step either way: timetokens grow all the same.
    public var clock: WallClock
    /// Nanoseconds of a clock that never steps, for deadlines and leases.
    public var uptime: @Sendable () -> UInt64
    public var logger: Logger
    /// Connections that read, each with a thread of its own. Of no meaning in memory, where the writer reads.
    public var readers: Int
    /// The newest events kept in memory for `committed()` and for readers near the end, in bytes of weight. A consumer
    /// further behind is fed from the file.
    public var tailBytes = 16 * 1024 * 1024
    /// How often what is too old is removed.
    var housekeepingInterval: Duration = .seconds(30)
    /// Pages of 4 KiB the file may have, at which it counts as full; nil leaves it to the disk.
    public var pageLimit: Int?

    /// Tests make it short.
    var logPages = LogPages()

    /// Pages of write-ahead log at which they are copied into the file, and at which readers are made to let go of it. Four
    /// times as many cost as much per event and hold up the batch behind four times as long (measured).
    struct LogPages: Sendable {
        var long = 4_000
        var tooLong = 64_000
    }

    /// - Parameter readers: two at least, else one long history read would hold up everybody's short ones.
    public init(
        path: String, limits: Limits = Limits(), clock: WallClock = .system, readers: Int = 2,
        logger: Logger = Logger(label: "parley.store")
    ) {
        self.path = path
        self.limits = limits
        self.clock = clock
        self.uptime = { uptimeNanoseconds() }
        self.readers = readers
        self.logger = logger
    }

    var isInMemory: Bool { path == ":memory:" }
}
