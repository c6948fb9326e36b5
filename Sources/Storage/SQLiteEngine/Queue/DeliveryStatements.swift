import SQLite
import StorageCore

/// The writer's compiled statements about deliveries.
struct DeliveryStatements {
    let moveCursor: Statement
    let beginCursor: Statement
    let insert: Statement
    let makeSubscriber: Statement
    let putSubscriber: Statement
    let subscriber: Statement
    let setReordering: Statement
    let release: Statement
    let findUnchained: Statement
    let putInLine: Statement
    let nextChain: Statement
    let head: Statement
    let leader: Statement
    let lead: Statement
    let purge: Statement
    let abandon: Statement
    let findAged: Statement
    let markDead: Statement
    let findDue: Statement
    let finish: Statement
    let keep: Statement
    let findBody: Statement
    let history: Statement
    let insertLog: Statement
    let updateLog: Statement
    let removeLog: Statement
    let findByID: Statement
    let findRow: Statement
    let walk: DeliveryScan
    let revive: Statement

    init(_ database: Database) throws(SQLiteFailure) {
        func prepare(_ sql: String) throws(SQLiteFailure) -> Statement { try database.prepare(sql) }
        moveCursor = try prepare("UPDATE cursor SET tt=?3 WHERE name=?1 AND tt=?2")
        beginCursor = try prepare("INSERT OR IGNORE INTO cursor(name, tt) VALUES (?,?)")
        insert = try prepare(
            """
            INSERT OR IGNORE INTO delivery(
            tt, ep, id, type, channel, state, due, created, touched, reason, body, chain, manual)
            VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?8,?9,?10,?11,?12)
            """)
        let columns = Statement.subscriberColumns
        // An existing subscriber keeps its settings and is returned unchanged.
        makeSubscriber = try prepare(
            """
            INSERT INTO subscriber(app, name, state, concurrency) VALUES (?1,?2,0,?3)
            ON CONFLICT(app, name) DO UPDATE SET state=state RETURNING \(columns)
            """)
        // A change of the ordering first dissolves the chains of the old ordering. Reordering also runs when the
        // subscriber was not open, because the first delivery of a chain may have become dead because of its age.
        putSubscriber = try prepare(
            """
            INSERT INTO subscriber(app, name, state, concurrency, ordering, rate, batch, pulled, attempts)
            VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9)
            ON CONFLICT(app, name) DO UPDATE SET
            reordering = CASE WHEN ordering <> ?5 THEN 1 WHEN reordering = 0 AND state <> 0 AND ?5 <> 0 THEN 3
            ELSE reordering END,
            state=?3, concurrency=?4, ordering=?5, rate=?6, batch=?7, pulled=?8, attempts=?9 RETURNING \(columns)
            """)
        subscriber = try prepare("SELECT \(columns) FROM subscriber WHERE id=?")
        setReordering = try prepare("UPDATE subscriber SET reordering=?2 WHERE id=?1 RETURNING \(columns)")
        markDead = try prepare(
            """
            UPDATE delivery SET state=2, reason=?2, touched=?3, chain=NULL WHERE (tt, ep) IN
            (SELECT tt, ep FROM delivery INDEXED BY delivery_due WHERE state=0 AND ep=?1 LIMIT \(Writer.turnRows))
            """)
        release = try prepare(
            """
            UPDATE delivery SET chain=NULL, due=min(due, ?2) WHERE (tt, ep) IN (SELECT tt, ep FROM delivery
            INDEXED BY delivery_chain WHERE chain IS NOT NULL AND ep=?1 LIMIT \(Writer.turnRows))
            """)
        findUnchained = try prepare(
            """
            SELECT tt, channel FROM delivery INDEXED BY delivery_due
            WHERE state=0 AND ep=?1 AND due < \(Chain.inLine) LIMIT \(Writer.turnRows)
            """)
        putInLine = try prepare("UPDATE delivery SET chain=?3, due=\(Chain.inLine) WHERE tt=?1 AND ep=?2")
        nextChain = try prepare(
            "SELECT chain FROM delivery INDEXED BY delivery_chain WHERE ep=? AND chain > ? ORDER BY chain LIMIT 1")
        head = try prepare(
            "SELECT tt, due FROM delivery INDEXED BY delivery_chain WHERE ep=? AND chain=? ORDER BY tt LIMIT 1")
        leader = try prepare(
            """
            SELECT tt FROM delivery INDEXED BY delivery_leader WHERE ep=? AND chain=? AND due < \(Chain.inLine) LIMIT 1
            """)
        lead = try prepare("UPDATE delivery SET due=?3 WHERE tt=?1 AND ep=?2")
        abandon = try prepare("UPDATE delivery SET state=2, reason=?3, touched=?4, chain=NULL WHERE tt=?1 AND ep=?2")
        // The condition also compares the time of the last change, because an old event may have been requested again
        // and a retry may be due far in the future.
        findAged = try prepare(
            """
            SELECT tt FROM delivery INDEXED BY delivery_state WHERE ep=?1 AND state=0 AND tt < ?2 AND touched < ?2
            AND (due < ?2 OR due = \(Chain.inLine)) ORDER BY tt LIMIT \(Writer.turnRows)
            """)
        purge = try prepare("DELETE FROM delivery WHERE tt=?1 AND ep=?2 AND state=2")
        findDue = try prepare(
            """
            SELECT tt, due FROM delivery INDEXED BY delivery_due WHERE state=0 AND ep=? AND due < \(Chain.inLine)
            ORDER BY due, tt LIMIT ?
            """)
        // If the event was deleted during the attempt, its body was deleted too. The delivery of an ephemeral event
        // contains the body from the beginning.
        finish = try prepare(
            """
            UPDATE delivery SET state=?3, due=?4, tries=tries+1, manual=0, touched=?5, reason=?6, log=?7,
            body=CASE WHEN ?8 IS NOT NULL AND (body IS NOT NULL OR EXISTS (SELECT 1 FROM event WHERE tt=?1)) THEN ?8
            ELSE body END, chain=?9 WHERE tt=?1 AND ep=?2 AND log IS ?10
            """)
        // The event may have been deleted after it was read. The delivery of an ephemeral event contains the body from
        // the beginning.
        keep = try prepare(
            """
            UPDATE delivery SET body=?3 WHERE tt=?1 AND ep=?2 AND body IS ?4
            AND (body IS NOT NULL OR EXISTS (SELECT 1 FROM event WHERE tt=?1))
            """)
        findBody = try prepare("SELECT body FROM delivery WHERE tt=?1 AND ep=?2")
        history = try prepare(
            """
            SELECT l.bytes, d.log, d.tries, d.channel FROM delivery d LEFT JOIN attempt_log l ON l.id = d.log
            WHERE d.tt=? AND d.ep=?
            """)
        insertLog = try prepare("INSERT INTO attempt_log(bytes) VALUES (?1)")
        updateLog = try prepare("UPDATE attempt_log SET bytes=?1 WHERE id=?2")
        removeLog = try prepare("DELETE FROM attempt_log WHERE id=?1")
        findByID = try prepare(
            "SELECT tt, ep, state, channel FROM delivery WHERE id=?1 AND (SELECT app FROM subscriber WHERE id = ep) = ?2"
        )
        findRow = try prepare("SELECT tt, ep, state, channel FROM delivery WHERE tt=?1 AND ep=?2")
        walk = try DeliveryScan(database)
        revive = try prepare(
            """
            UPDATE delivery SET state=0, due=?3, manual=1, touched=?4, reason=NULL, chain=?5 WHERE tt=?1 AND ep=?2
            """)
    }
}
