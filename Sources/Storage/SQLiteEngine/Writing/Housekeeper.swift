import ChatModel
import Locking
import SQLite
import StorageCore

/// Removes expired data on the writer's thread, in batches. Each batch is one short transaction. Between two batches,
/// waiting requests run first, unless the next batch has been due for more than ``longestWait``.
final class Housekeeper {
    /// The kinds of removal, in the order in which a round performs them.
    private enum RemovalKind: CaseIterable { case outlived, expired, repeats, held, finished }

    /// The uptime in nanoseconds at which the next batch is due.
    private(set) var nextTurn: UInt64
    /// The maximum time that a due batch waits for other requests (1 s). After this time, the batch runs first, so that
    /// a store that is always busy also removes its expired data.
    let longestWait: UInt64 = 1_000_000_000

    private let interval: UInt64
    private let statements: HousekeepingStatements
    /// The time of the current round. It does not move with the clock, so that a round ends: otherwise each batch would
    /// find events that have outlived their retention since the batch before.
    private var roundTime: Timetoken = .zero
    /// The kinds of removal that the current round has not completed yet.
    private var left = RemovalKind.allCases[...]
    /// The callers that wait until a complete round has ended.
    private var waiting: [Completion<Void>] = []

    init(interval: Duration, statements: HousekeepingStatements) {
        self.interval = interval.nanoseconds
        nextTurn = MonotonicTime.now.nanoseconds + self.interval
        self.statements = statements
    }

    /// Starts a complete round as soon as possible, and resumes the caller when it has ended.
    func runSoon(_ completion: Completion<Void>) {
        waiting.append(completion)
        left = RemovalKind.allCases[...]
        roundTime = .zero
        nextTurn = 0
    }

    /// Removes one batch of one kind of data, and sets the time of the next batch.
    func turn(on writer: Writer) {
        guard let removalKind = left.first else { return rest(.success(())) }
        if left.count == RemovalKind.allCases.count, roundTime == .zero {
            roundTime = writer.engineState.now
            writer.engineState.allocator.sweepPassingEvents(now: writer.engineState.now)
            writer.engineState.tailIndex.sweep()
        }
        do throws(TurnFailure) {
            var isMoreLeft = false
            try writer.maintain { (writer) throws(SQLiteFailure) in isMoreLeft = try remove(removalKind, writer) }
            if !isMoreLeft { left = left.dropFirst() }
            nextTurn = MonotonicTime.now.nanoseconds
            if left.isEmpty { rest(.success(())) }
        } catch {
            // The store has failed. The next round tries the removal again.
            rest(.failure(error.answer))
        }
    }

    /// Removes one batch of one kind of data.
    ///
    /// - Returns: true when there may be more data of this kind to remove.
    private func remove(_ removalKind: RemovalKind, _ writer: Writer) throws(SQLiteFailure) -> Bool {
        switch removalKind {
        case .outlived: try statements.removeOutlived(writer, at: roundTime)
        case .expired: try statements.removeExpired(writer)
        case .repeats: try statements.forget(writer)
        case .held: try statements.markHeldDead(writer)
        case .finished: try statements.removeFinished(writer)
        }
    }

    private func rest(_ result: Result<Void, ChatError>) {
        left = RemovalKind.allCases[...]
        roundTime = .zero
        nextTurn = MonotonicTime.now.nanoseconds + interval
        for completion in waiting { completion.answer(result) }
        waiting = []
    }
}

/// The statements for removing data. Each removes at most ``Writer/turnRows`` rows.
struct HousekeepingStatements {
    private let strideEnd: Statement
    private let removeOutlived: Statement
    private let setSwept: Statement
    private let recordLoss: Statement
    private let recordNewestLoss: Statement
    private let removeExpired: Statement
    private let forgetting: [Statement]
    private let removeTombstones: Statement
    private let markClosedDead: Statement
    private let removeFinished: Statement

    init(_ database: Database) throws(SQLiteFailure) {
        func prepare(_ sql: String) throws(SQLiteFailure) -> Statement { try database.prepare(sql) }
        let rows = Writer.turnRows
        let ofApp = "tt > ?1 AND tt <= ?2 AND (SELECT app FROM channel WHERE id = event.ch) = ?3"
        strideEnd = try prepare(
            "SELECT tt FROM event WHERE tt > ?1 AND tt <= ?2 ORDER BY tt LIMIT 1 OFFSET \(rows - 1)")
        let removed = "RETURNING tt, ch, type, origin IS NOT ''"
        removeOutlived = try prepare("DELETE FROM event WHERE \(ofApp) \(removed)")
        setSwept = try prepare("UPDATE app SET swept=?1 WHERE id=?2")
        recordLoss = try prepare(
            """
            INSERT INTO loss(ch, type, app, tt) VALUES (?1, ?2, ?3, ?4)
            ON CONFLICT(ch, type) DO UPDATE SET tt = max(tt, excluded.tt)
            """)
        recordNewestLoss = try prepare("UPDATE app SET floor = max(floor, ?1) WHERE id=?2")
        removeExpired = try prepare(
            """
            DELETE FROM event WHERE tt IN (SELECT tt FROM event INDEXED BY event_expires
            WHERE expires IS NOT NULL AND expires <= ?1 LIMIT \(rows))
            \(removed) AND by_type IS NOT NULL
            """)
        removeTombstones = try prepare(
            """
            DELETE FROM removed WHERE (revision, app, kind, id) IN
            (SELECT revision, app, kind, id FROM removed WHERE at < ?1 ORDER BY revision LIMIT \(rows))
            """)
        markClosedDead = try prepare(
            """
            UPDATE delivery SET state=2, reason='\(DeadReason.webhookDeleted.rawValue)', touched=?1, chain=NULL WHERE (tt, ep) IN
            (SELECT tt, ep FROM delivery INDEXED BY delivery_due
            WHERE state = 0 AND ep IN (SELECT id FROM subscriber WHERE state = 2) LIMIT \(rows))
            """)
        // A delivery is never older than its event, so the statement scans only the beginning of the table.
        removeFinished = try prepare(
            """
            DELETE FROM delivery WHERE (tt, ep) IN
            (SELECT tt, ep FROM delivery WHERE tt < ?1 AND state <> 0 AND touched < ?1 LIMIT \(rows))
            """)
        forgetting = [
            try prepare(
                "DELETE FROM seen WHERE (ch, key) IN (SELECT ch, key FROM seen WHERE until <= ?1 LIMIT \(rows))"),
            try prepare(
                "DELETE FROM claim WHERE (app, key) IN (SELECT app, key FROM claim WHERE until <= ?1 LIMIT \(rows))"
            ),
        ]
    }

    /// Marks two kinds of waiting deliveries as dead: deliveries of a closed subscriber that are left because a crash
    /// has interrupted its closing, and deliveries that have waited too long because the subscriber is paused or its
    /// consumer has not pulled them.
    ///
    /// - Returns: true when there may be more deliveries to mark.
    func markHeldDead(_ writer: Writer) throws(SQLiteFailure) -> Bool {
        markClosedDead.bind(Int64(writer.now.rawValue), at: 1)
        try markClosedDead.run()
        guard writer.database.changes < Writer.turnRows else { return true }
        guard let scheduler = writer.engineState.scheduler.withLock({ $0 }) else { return false }
        let edge = writer.now.adding(.zero - writer.engineState.limits.deliveriesKept)
        for lane in scheduler.patientLanes where try writer.markAgedDead(lane, before: edge, scheduler: scheduler) {
            return true
        }
        return false
    }

    /// Removes finished deliveries and the tombstones of removed records when they are older than
    /// `Limits.deliveriesKept`.
    ///
    /// - Returns: true when there may be more finished deliveries to remove.
    func removeFinished(_ writer: Writer) throws(SQLiteFailure) -> Bool {
        let edge = Int64(writer.now.adding(.zero - writer.engineState.limits.deliveriesKept).rawValue)
        removeTombstones.bind(edge, at: 1)
        try removeTombstones.run()
        removeFinished.bind(edge, at: 1)
        try removeFinished.run()
        return writer.database.changes == Writer.turnRows
    }

    /// Removes the events that are older than their app's retention. Continues after the events that the last round has
    /// examined, so that no event is examined twice.
    ///
    /// - Parameter now: the time of the round.
    func removeOutlived(_ writer: Writer, at now: Timetoken) throws(SQLiteFailure) -> Bool {
        for app in writer.engineState.retention.limited {
            let cutoff = writer.engineState.retention.cutoff(of: app, now: now)
            let entry = writer.engineState.retention.entry(of: app)
            guard cutoff > entry.swept, let id = try writer.names.id(of: app) else { continue }
            let from = Int64(entry.swept.rawValue)
            strideEnd.bind(from, at: 1)
            strideEnd.bind(Int64(cutoff.rawValue), at: 2)
            let end = try strideEnd.firstInteger() ?? Int64(cutoff.rawValue)
            removeOutlived.bind(from, at: 1)
            removeOutlived.bind(end, at: 2)
            removeOutlived.bind(id, at: 3)
            _ = try remove(removeOutlived, writer)
            setSwept.bind(end, at: 1)
            setSwept.bind(id, at: 2)
            try setSwept.run()
            writer.effects.append { [retention = writer.engineState.retention] in
                retention.update(app) { $0.swept = Timetoken(UInt64(end)) }
            }
            return true
        }
        return false
    }

    /// Removes the events whose own expiry (`expires`) has passed.
    func removeExpired(_ writer: Writer) throws(SQLiteFailure) -> Bool {
        removeExpired.bind(Int64(writer.now.rawValue), at: 1)
        return try remove(removeExpired, writer) == Writer.turnRows
    }

    /// Runs a statement that removes events. Records, for each channel and type, the newest removed event that counts
    /// as a loss for readers. The fourth column of the statement's result states whether an event counts as a loss.
    ///
    /// - Returns: the number of events removed.
    private func remove(_ statement: Statement, _ writer: Writer) throws(SQLiteFailure) -> Int {
        struct Kind: Hashable { let channel, type: Int64 }
        var newest: [Kind: Int64] = [:]
        var count = 0
        try statement.forEachRow { row in
            count += 1
            let kind = Kind(channel: row.integer(1), type: row.integer(2))
            if row.integer(3) != 0 { newest[kind] = max(newest[kind] ?? 0, row.integer(0)) }
            return true
        }
        var newestOfApp: [AppID: Int64] = [:]
        for (kind, timetoken) in newest {
            let app = try writer.names.channel(kind.channel).app
            recordLoss.bind(kind.channel, at: 1)
            recordLoss.bind(kind.type, at: 2)
            recordLoss.bind(try writer.names.id(of: app), at: 3)
            recordLoss.bind(timetoken, at: 4)
            try recordLoss.run()
            newestOfApp[app] = max(newestOfApp[app] ?? 0, timetoken)
        }
        for (app, timetoken) in newestOfApp {
            recordNewestLoss.bind(timetoken, at: 1)
            recordNewestLoss.bind(try writer.names.id(of: app), at: 2)
            try recordNewestLoss.run()
            let loss = Timetoken(UInt64(timetoken))
            writer.effects.append { [retention = writer.engineState.retention] in
                retention.update(app) { $0.newestLoss = max($0.newestLoss, loss) }
            }
        }
        return count
    }

    /// Removes idempotency keys that are older than their time window.
    func forget(_ writer: Writer) throws(SQLiteFailure) -> Bool {
        var isMoreLeft = false
        for statement in forgetting {
            statement.bind(Int64(writer.now.rawValue), at: 1)
            try statement.run()
            if writer.database.changes == Writer.turnRows { isMoreLeft = true }
        }
        return isMoreLeft
    }
}

/// A request to remove all expired data now, in one complete round of housekeeping.
final class HousekeepingRequest: WriteRequest {
    let since: UInt64
    private let completion: Completion<Void>

    init(since: UInt64, completion: Completion<Void>) {
        self.since = since
        self.completion = completion
    }

    var draftCount: Int { 0 }
    var bytes: Int { 0 }
    var needsTransaction: Bool { false }

    func perform(on writer: Writer) throws(SQLiteFailure) {
        writer.effects.append { [completion] in writer.housekeeper.runSoon(completion) }
    }

    func fail(_ error: ChatError) { completion.answer(.failure(error)) }
}
