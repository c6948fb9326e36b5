import ChatModel
import Logging
import SQLite

/// The one connection that writes, on a thread of its own. Each turn takes all waiting requests into one transaction.
/// While a commit waits for the disk the next batch gathers, so a busy store waits for the disk once per batch (group
/// commit).
final class Writer {
    /// Timetokens are reserved this far ahead in the file, so that a timetoken is never assigned twice, not even after
    /// a crash when the clock has stepped back.
    private static let reservedAhead = Timetoken.ticksPerSecond

    let database: Database
    let names: NameTable
    let statements: WriterStatements
    let engineState: EngineState
    let logger: Logger
    let housekeeper: Housekeeper
    private let writeQueue: WriteQueue
    private let condition: StoreHealth

    /// The end of the log as this turn moves it; valid only while the allocator is held.
    var mark: TimetokenAllocator.Mark
    private var isAllocatorHeld = false
    /// True when this turn moves the watermark although no event was stored before it.
    private var showsEnd = false
    private let logPages: SQLiteEngineSettings.LogPages
    /// The length of the write-ahead log when readers last did not release it.
    private var pagesWhenBusy = 0
    /// The last directory revision, including uncommitted ones of this turn.
    var revision: Revision

    // MARK: State of one turn

    /// The clock, read once per turn.
    private(set) var now: Timetoken = .zero
    /// The events that got a timetoken in this turn, in order.
    private(set) var events: [Event] = []
    /// The record changes of this turn, in order. They are published after the commit, before its events become
    /// visible.
    var changed: [RecordChanges] = []
    /// Changes to memory after the commit, in order, before any caller is answered.
    var effects: [() -> Void] = []
    /// Answers to the callers, run last.
    var answers: [() -> Void] = []

    init(
        database: Database, engineState: EngineState, writeQueue: WriteQueue, condition: StoreHealth,
        settings: SQLiteEngineSettings
    ) throws(SQLiteFailure) {
        self.database = database
        self.engineState = engineState
        self.writeQueue = writeQueue
        self.condition = condition
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

    /// Works until the write queue is finished. Calls `drained` when all accepted requests are done.
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

    /// Runs the requests in one transaction, if any of them needs one, and makes their effects visible.
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
            // Events of callers that received "nothing was stored" must not appear later.
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

    /// Runs a transaction of the engine's own, between batches.
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
        condition.set(.works)
    }

    /// Rolls back the transaction and the state of this turn.
    private func abandon() {
        database.rollback()
        names.forget()
        revision = engineState.changes.end
    }

    private func publish() {
        for change in changed { engineState.publish(change) }
        // Before any caller is answered, so that a caller that emits again at once may find the allocator free.
        releaseAllocator(showing: events, evenNone: showsEnd)
        for effect in effects { effect() }
        for answer in answers { answer() }
        effects.removeAll(keepingCapacity: true)
        answers.removeAll(keepingCapacity: true)
        events = []
        changed = []
    }

    /// Handles a failed turn. A failure of the store fails all requests. A failure that a single request may have
    /// caused (a value too large, a constraint) makes each request run alone, so that only the faulty one fails.
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
        logger.error("commit failed", metadata: ["failure": "\(failure)"])
        condition.set(.failed(failure.answer))
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

    /// Takes a timetoken without an event and moves the watermark past it, so that imported events before it can be
    /// read. Only while the allocator is held.
    func endMovingOn() -> Timetoken {
        showsEnd = true
        return Timetoken(mark.next(now: now))
    }

    func add(_ event: Event) { events.append(event) }

    /// The timetoken of the next event. Only while the allocator is held.
    var nextPlace: Timetoken { Timetoken(max(mark.last + 1, now.rawValue)) }

    /// Reserves room for this many more timetokens, because the number that a decision takes is known only when it is
    /// made.
    func reserve(for drafts: Int) throws(SQLiteFailure) {
        let mayReach = nextPlace.rawValue + UInt64(drafts)
        if mayReach > mark.reserved { try reserve(upTo: mayReach + Self.reservedAhead) }
    }

    private func reserve(upTo bound: UInt64) throws(SQLiteFailure) {
        try setHead(of: .log, to: bound)
        mark.reserved = bound
    }

    /// Stores the last value of a numbering in the file.
    func setHead(of numbering: Numbering, to value: UInt64) throws(SQLiteFailure) {
        statements.setHead.bind(Int64(value), at: 1)
        statements.setHead.bind(numbering.rawValue, at: 2)
        try statements.setHead.run()
    }

    /// The numberings of one file.
    enum Numbering: Int { case log = 0, directory = -1 }

    /// Stores the exact head as the writer's last step, so that the next start continues from there and not from the
    /// reserve.
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

    /// Writes and rolls back as much as the largest event. Fails where appending that event would fail.
    func probe() throws(SQLiteFailure) {
        try database.execute("INSERT INTO probe VALUES (zeroblob(\(engineState.limits.dataBytes))); DELETE FROM probe")
    }

    // MARK: Checkpoints

    /// The time that a checkpoint waits for readers when the log is too long. All emitters wait with it.
    private static let readersWait: Duration = .milliseconds(100)

    /// Checkpoints run here and nowhere else: up to SQLite 3.51.2, two connections that write and copy at the same
    /// instant can lose a commit (<https://www.sqlite.org/wal.html>, "the WAL-reset bug").
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
            // A reader holds an old snapshot. One of the engine releases it within its deadline, a backup once it is
            // made. The next attempt is made when the log is twice as long; otherwise every batch would wait.
            if isTooLong { pagesWhenBusy = pages }
        } catch {
            report(TurnFailure(error))
        }
    }
}

/// The reason why a turn did not become durable.
struct TurnFailure: Error, CustomStringConvertible {
    /// The error that its callers receive.
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
        answer: .storeUnavailable, description: "the batch passed its deadline before it could be committed")
}
