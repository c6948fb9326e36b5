public import ChatModel
import Locking
import Logging
import SQLite

/// Every promise of `ChatModel/Contracts` kept in one SQLite file, or in memory (`engine.md` part II).
///
/// One thread writes, several read; callers wait in tasks and never block a thread of the cooperative pool. A file belongs
/// to one engine at a time. ``close()`` must be called: the threads hold on to the engine until then.
public final class SQLiteEngine: Engine {
    /// Kept: it is asked for with every call, and making one means an allocation.
    public let log: any EventLog
    private let memory: Memory
    private let readers: Readers
    private let writing: Writing
    private let path: String
    private let board: Board
    private let condition: StoreCondition
    private let closing: Closing

    /// Opens a file with the usual settings; see ``init(_:)``.
    ///
    /// - Parameter path: the database file, or `:memory:`.
    public convenience init(path: String) async throws(SQLiteEngineFailure) {
        try await self.init(SQLiteEngineSettings(path: path))
    }

    /// Opens the file, makes or migrates its tables, and starts the threads.
    ///
    /// - Throws: ``SQLiteEngineFailure`` with a sentence for the operator: the file is in use, of a newer program, or unusable.
    public init(_ settings: SQLiteEngineSettings) async throws(SQLiteEngineFailure) {
        path = settings.path
        let intake = Intake(limits: settings.limits)
        let condition = StoreCondition()
        let closing = Closing()
        let opened = await withCheckedContinuation { continuation in
            let isStarted = startThread(name: "parley-write") {
                Self.write(settings, intake, condition, closing) { continuation.resume(returning: $0) }
                closing.writerIsDone()
            }
            if !isStarted {
                continuation.resume(returning: .failure(SQLiteEngineFailure(.noThread, path: settings.path)))
            }
        }
        let parts = try opened.get()
        memory = parts.memory
        readers = parts.readers
        self.condition = condition
        self.closing = closing
        let clerk = Clerk()
        let writing = Writing(intake: intake, clerk: clerk, uptime: settings.uptime)
        let board = Board(
            lanes: parts.lanes, life: parts.life, clock: settings.clock, writing: writing)
        self.writing = writing
        self.board = board
        memory.board.withLock { $0 = board }
        log = SQLiteLog(memory: memory, readers: readers, writing: writing)
        let isWatching = clerk.start {
            board.serve()
            return writing.expire(after: settings.limits.storeDeadline)
        }
        guard isWatching else {
            await close()
            throw SQLiteEngineFailure(.noThread, path: settings.path)
        }
        // What a crash left half put into order. If the disk is full, those endpoints wait for their next settings.
        let queue = SQLiteDeliveries(memory: memory, board: board, readers: readers, writing: writing)
        for (lane, _) in parts.lanes where lane.reordering != .done { try? await queue.reorder(lane.number) }
    }

    private struct Parts: Sendable {
        let memory: Memory
        let readers: Readers
        let lanes: [(subscriber: StoredSubscriber, waiting: Int)]
        let life: UInt64
    }

    /// The writer's thread, from opening the file to closing it.
    private static func write(
        _ settings: SQLiteEngineSettings, _ intake: Intake, _ condition: StoreCondition, _ closing: Closing,
        opened: @Sendable (Result<Parts, SQLiteEngineFailure>) -> Void
    ) {
        do throws(SQLiteEngineFailure) {
            // Let go of last of all: after the connection is closed.
            let lock = try settings.lock()
            do throws(SQLiteFailure) {
                try open(settings, intake, condition, closing, opened)
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
        _ settings: SQLiteEngineSettings, _ intake: Intake, _ condition: StoreCondition, _ closing: Closing,
        _ opened: @Sendable (Result<Parts, SQLiteEngineFailure>) -> Void
    ) throws(SQLiteFailure) {
        let database = try settings.openWriter()
        let memory = Memory(
            settings: settings, start: try Heads(database), retention: try RetentionTable(reading: database))
        let writer = try Writer(
            database: database, memory: memory, intake: intake, condition: condition, settings: settings)
        let readers =
            settings.isInMemory
            ? Readers(inMemory: intake, settings: settings) : try Readers(settings: settings)
        let own = try Reader(database: database)
        let life = try database.beginLife()
        opened(.success(Parts(memory: memory, readers: readers, lanes: try database.lanes(), life: life)))
        writer.run(reader: own, drained: closing.writerIsDrained)
    }
}

extension SQLiteEngine {
    public var deliveries: any DeliveryQueue {
        SQLiteDeliveries(memory: memory, board: board, readers: readers, writing: writing)
    }
    public var directory: any Directory { SQLiteDirectory(memory: memory, readers: readers, writing: writing) }

    public func health() async -> EngineHealth {
        if closing.hasBegun { return .unavailable("the store is closed") }
        if case .failed(let error) = condition.current {
            // What failed may work again: only a commit can tell.
            do throws(ChatError) {
                try await writing.run { (writer) throws(SQLiteFailure) in .success(try writer.probe()) }
            } catch let latest {
                return .unavailable(latest.code == .storageFull ? latest.message : error.message)
            }
        }
        let waiting = writing.intake.waiting
        if waiting.drafts > memory.limits.waitingDrafts / 2 {
            return .degraded("\(waiting.drafts) events wait for the store")
        }
        return .ready
    }

    public func figures() async throws(ChatError) -> EngineFigures {
        var figures = try await readers.run { (reader) throws(SQLiteFailure) in try reader.figures() }
        figures.waitingEvents = writing.intake.waiting.drafts
        figures.measureFiles(path)
        return figures
    }

    /// Removes at once what is too old, instead of when its turn comes. For operators and tests.
    func removeOutlived() async throws(ChatError) {
        let result = await withUnsafeContinuation { continuation in
            writing.submit(HousekeepingWish(since: writing.uptime(), promise: Promise(continuation)))
        }
        try result.get()
    }

    public func close() async {
        guard closing.begin() else { return await closing.end() }
        // Accepted work is done and answered, then the reads that wait, then nothing is left to ask.
        board.flush()
        writing.intake.drain()
        await closing.drained()
        board.close()
        memory.tail.close()
        memory.changes.close()
        await readers.close()
        await writing.clerk.stop()
        writing.intake.finish()
        await closing.end()
    }
}

extension Writing {
    /// Answers what has waited too long; says when to look again.
    func expire(after deadline: Duration) -> UInt64? {
        let now = uptime()
        let (unstored, unknown, isBusy) = intake.overdue(since: now - min(now, deadline.nanoseconds))
        for wish in unstored { wish.fail(.storeUnavailable) }
        for wish in unknown { wish.fail(.outcomeUnknown) }
        return isBusy ? Clerk.nextTick : nil
    }
}
