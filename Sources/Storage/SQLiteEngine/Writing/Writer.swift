import ChatModel
import Logging
import SQLite
import StorageCore

/// The only connection that writes, on its own thread. The waiting requests form a batch, within the limits of
/// ``WriteQueue``, and a batch runs in one transaction. While a commit waits for the disk, the requests of the next
/// batch accumulate. A busy store therefore waits for the disk once per batch (group commit).
final class Writer {
    /// The range of timetokens that is reserved in the database in advance (one second). The reservation ensures that
    /// no timetoken is assigned twice, even if the gateway crashes and the clock is set back.
    private static let reservedAhead = Timetoken.ticksPerSecond

    let database: Database
    let names: NameTable
    let statements: WriterStatements
    let engineState: EngineState
    let logger: Logger
    let housekeeper: Housekeeper
    private let writeQueue: WriteQueue
    private let health: StoreHealth

    /// The last assigned and the last reserved timetoken. The values are current only while the writer holds the
    /// allocator. At other times, they are the values at the end of the last batch that held the allocator.
    var mark: TimetokenAllocator.Mark
    private var isAllocatorHeld = false
    /// True when this batch must move the watermark (the position up to which events are visible) even without a new
    /// event.
    private var showsEnd = false
    private let logPages: SQLiteEngineSettings.LogPages
    /// The length of the write-ahead log in pages when a checkpoint last failed because of readers; zero when none has
    /// failed.
    private var pagesWhenBusy = 0
    /// The last revision of the directory of records, including the uncommitted revisions of this batch.
    var revision: Revision

    // MARK: State of one batch

    /// The time of this batch. The clock is read once per batch.
    private(set) var now: Timetoken = .zero
    /// The new events of this batch, in the order of their timetokens.
    private(set) var events: [Event] = []
    /// The record changes of this batch, in order. They are published after the commit, before the batch's events
    /// become visible.
    var changed: [RecordChanges] = []
    /// The closures that change the state in memory. They run in order after the commit, before any caller receives its
    /// result.
    var effects: [() -> Void] = []
    /// The closures that return the results to the callers. They run last, after the commit.
    var answers: [() -> Void] = []

    init(
        database: Database, engineState: EngineState, writeQueue: WriteQueue, health: StoreHealth,
        settings: SQLiteEngineSettings
    ) throws(SQLiteFailure) {
        self.database = database
        self.engineState = engineState
        self.writeQueue = writeQueue
        self.health = health
        logger = settings.logger
        logPages = settings.logPages
        housekeeper = Housekeeper(
            interval: settings.housekeepingInterval, statements: try HousekeepingStatements(database))
        names = try NameTable(database)
        statements = try WriterStatements(database)
        mark = engineState.allocator.hold()
        engineState.allocator.release(mark, showing: [], now: .zero)
        revision = engineState.changes.end
    }

    /// The main loop of the writer's thread. Returns after ``WriteQueue/finish()``. Calls `drained` when all accepted
    /// requests are completed.
    func run(reader: Reader, drained: () -> Void) {
        while true {
            switch writeQueue.next(housekeepingAt: housekeeper.nextTurn, patience: housekeeper.longestWait) {
            case .batch(let requests): process(requests)
            case .reads(let jobs): for job in jobs { job.run(reader) }
            case .housekeeping: housekeeper.turn(on: self)
            case .drained:
                storeExactHead()
                drained()
            case .finish: return
            }
        }
    }

    // MARK: Batches

    private func process(_ requests: [any WriteRequest]) {
        do throws(TurnFailure) {
            try turn(requests)
        } catch {
            recover(from: error, requests)
        }
        writeQueue.endBatch()
        checkpointIfLong()
    }

    /// Runs the requests of one batch, and then makes their events and record changes visible to readers. Uses one
    /// transaction if any of the requests needs one, or if timetokens must be reserved.
    func turn(_ requests: [any WriteRequest]) throws(TurnFailure) {
        begin()
        let drafts = requests.reduce(0) { $0 + $1.draftCount }
        if drafts > 0 { holdAllocator() }
        defer { releaseAllocator(showing: []) }
        let mayReach = max(mark.last, now.rawValue) + UInt64(drafts) + 1
        let mustReserve = drafts > 0 && mayReach > mark.reserved
        let isDurable = mustReserve || requests.contains { $0.needsTransaction }
        guard isDurable else {
            do throws(SQLiteFailure) {
                for request in requests { try request.perform(on: self) }
            } catch {
                throw TurnFailure(error)
            }
            // If the callers were already informed that nothing was stored, their events must not become visible.
            guard writeQueue.beginCommit() else { throw TurnFailure.givenUp }
            writeQueue.countCallers()
            publish()
            return
        }
        let before = mark.reserved
        do throws(TurnFailure) {
            try inTransaction { () throws(SQLiteFailure) in
                if mustReserve { try reserve(upTo: mayReach + Self.reservedAhead) }
                for request in requests { try request.perform(on: self) }
            }
        } catch {
            mark.reserved = before
            throw error
        }
        writeQueue.countCallers()
        publish()
    }

    /// Runs `body` in an internal transaction of the engine, between batches.
    func maintain(_ body: (Writer) throws(SQLiteFailure) -> Void) throws(TurnFailure) {
        begin()
        do throws(TurnFailure) {
            try inTransaction { () throws(SQLiteFailure) in try body(self) }
        } catch {
            report(error)
            throw error
        }
        publish()
        checkpointIfLong()
    }

    private func begin() {
        now = max(engineState.now, Timetoken(mark.last))
        events = []
        changed = []
        showsEnd = false
        effects.removeAll(keepingCapacity: true)
        answers.removeAll(keepingCapacity: true)
    }

    private func inTransaction(_ body: () throws(SQLiteFailure) -> Void) throws(TurnFailure) {
        do throws(SQLiteFailure) {
            try statements.begin.run()
            try body()
        } catch {
            abandon()
            throw TurnFailure(error)
        }
        guard writeQueue.beginCommit() else {
            abandon()
            throw TurnFailure.givenUp
        }
        do throws(SQLiteFailure) {
            try statements.commit.run()
        } catch {
            abandon()
            throw TurnFailure(error, inCommit: true)
        }
        health.set(.works)
    }

    /// Rolls back the transaction and the changes of this object's state in this batch.
    private func abandon() {
        database.rollback()
        names.forget()
        revision = engineState.changes.end
    }

    private func publish() {
        for change in changed { engineState.changes.publish(change) }
        // The allocator is released before any caller receives its result, so that a caller that immediately emits
        // again can use the allocator.
        releaseAllocator(showing: events, evenNone: showsEnd)
        for effect in effects { effect() }
        for answer in answers { answer() }
        effects.removeAll(keepingCapacity: true)
        answers.removeAll(keepingCapacity: true)
        events = []
        changed = []
    }

    /// Handles a failed batch. If the store has failed, all requests fail. If a single request may have caused the
    /// failure (for instance with a value that is too large), each request runs again alone, so that only the faulty
    /// one fails.
    private func recover(from failure: TurnFailure, _ requests: [any WriteRequest]) {
        guard failure.isCausedByRequest, requests.count > 1 else {
            report(failure)
            for request in requests { request.fail(failure.answer) }
            return
        }
        for request in requests {
            do throws(TurnFailure) {
                try turn([request])
            } catch {
                report(error)
                request.fail(error.answer)
            }
        }
    }

    private func report(_ failure: TurnFailure) {
        logger.error("commit failed; the requests in this commit receive an error", metadata: ["failure": "\(failure)"])
        health.set(.failed(failure.answer))
    }

    // MARK: Timetokens

    private func holdAllocator() {
        mark = engineState.allocator.hold()
        now = max(now, Timetoken(mark.last))
        isAllocatorHeld = true
    }

    private func releaseAllocator(showing events: [Event], evenNone: Bool = false) {
        guard isAllocatorHeld else { return }
        isAllocatorHeld = false
        engineState.allocator.release(mark, showing: events, evenNone: evenNone, now: now)
    }

    /// Assigns a timetoken without an event and makes this batch move the watermark to that timetoken, so that imported
    /// events before it become visible. Call it only while the writer holds the allocator. Returns the
    /// timetoken.
    func endMovingOn() -> Timetoken {
        showsEnd = true
        return Timetoken(mark.next(now: now))
    }

    func add(_ event: Event) { events.append(event) }

    /// The timetoken of the next event. Valid only while the writer holds the allocator.
    var nextPlace: Timetoken { Timetoken(max(mark.last + 1, now.rawValue)) }

    /// Reserves this number of further timetokens in the database. Needed for requests that determine the number of
    /// their events only when they run.
    func reserve(for drafts: Int) throws(SQLiteFailure) {
        let mayReach = nextPlace.rawValue + UInt64(drafts)
        if mayReach > mark.reserved { try reserve(upTo: mayReach + Self.reservedAhead) }
    }

    private func reserve(upTo bound: UInt64) throws(SQLiteFailure) {
        try setHead(of: .log, to: bound)
        mark.reserved = bound
    }

    /// Stores the last used or reserved value of a numbering in the database.
    func setHead(of numbering: Numbering, to value: UInt64) throws(SQLiteFailure) {
        statements.setHead.bind(Int64(value), at: 1)
        statements.setHead.bind(numbering.rawValue, at: 2)
        try statements.setHead.run()
    }

    /// The numberings in the database: timetokens of the event log, and revisions of the directory of records.
    enum Numbering: Int { case log = 0, directory = -1 }

    /// Stores the last assigned timetoken as the writer's final step, so that the next start continues after it and not
    /// after the reserved range.
    private func storeExactHead() {
        engineState.allocator.close()
        do throws(TurnFailure) {
            begin()
            holdAllocator()
            defer { releaseAllocator(showing: []) }
            try inTransaction { () throws(SQLiteFailure) in try reserve(upTo: mark.last) }
        } catch {
            report(error)
        }
    }

    /// Writes as many bytes as the largest event and deletes them in the same transaction. Fails if appending the
    /// largest event would fail.
    func probe() throws(SQLiteFailure) {
        try database.execute("INSERT INTO probe VALUES (zeroblob(\(engineState.limits.dataBytes))); DELETE FROM probe")
    }

    // MARK: Checkpoints

    /// The time that a checkpoint waits for readers when the write-ahead log is too long. All write requests wait
    /// during this time.
    private static let readersWait: Duration = .milliseconds(100)

    /// Runs a checkpoint if the write-ahead log is long. No other connection runs checkpoints, because up to SQLite
    /// 3.51.2 a commit can be lost when one connection writes and another runs a checkpoint at the same time
    /// (<https://www.sqlite.org/wal.html>, "the WAL-reset bug").
    private func checkpointIfLong() {
        let pages = database.walPages
        guard pages >= logPages.long else { return }
        let isTooLong = pages >= max(logPages.tooLong, 2 * pagesWhenBusy)
        do throws(SQLiteFailure) {
            if pages < logPages.tooLong { pagesWhenBusy = 0 }
            if isTooLong { database.busyTimeout = Self.readersWait }
            defer { if isTooLong { database.busyTimeout = engineState.limits.storeDeadline } }
            try database.checkpoint(isTooLong ? .restart : .passive)
        } catch  where error.kind == .busy {
            // Another connection still uses an old snapshot: a read of the engine, which ends within its deadline, or a
            // backup, which may take longer. The next attempt is made when the log is twice as long, so that not every
            // batch waits.
            if isTooLong { pagesWhenBusy = pages }
        } catch {
            report(TurnFailure(error))
        }
    }
}

/// The error of a batch whose changes were not stored.
struct TurnFailure: Error, CustomStringConvertible {
    /// The error that the callers of the batch receive.
    let answer: ChatError
    let isCausedByRequest: Bool
    let description: String

    init(_ failure: SQLiteFailure, inCommit isCommitting: Bool = false) {
        answer = ChatError(failure, inCommit: isCommitting)
        isCausedByRequest = !isCommitting && [.tooLarge, .constraint, .other].contains(failure.kind)
        description = failure.description
    }

    private init(answer: ChatError, description: String) {
        self.answer = answer
        isCausedByRequest = false
        self.description = description
    }

    static let givenUp = TurnFailure(
        answer: .storeUnavailable, description: "the events could not be committed within their time limit")
}
