import SQLite

/// The writer's compiled statements about deliveries.
struct DeliveryStatements {
    let moveCursor: Statement
    let beginCursor: Statement
    let insert: Statement
    let putEndpoint: Statement
    let bury: Statement
    let findDue: Statement
    let finish: Statement
    let attempts: Statement
    let findByID: Statement
    let findRange: Statement
    let revive: Statement

    init(_ database: Database) throws(SQLiteFailure) {
        func prepare(_ sql: String) throws(SQLiteFailure) -> Statement { try database.prepare(sql) }
        moveCursor = try prepare("UPDATE cursor SET tt=?3 WHERE name=?1 AND tt=?2")
        beginCursor = try prepare("INSERT OR IGNORE INTO cursor(name, tt) VALUES (?,?)")
        insert = try prepare(
            """
            INSERT OR IGNORE INTO delivery(tt, ep, id, type, channel, state, due, touched, reason, body)
            VALUES (?1,?2,?3,?4,?5,?6,?7,?7,?8,?9)
            """)
        putEndpoint = try prepare(
            """
            INSERT INTO endpoint(space, name, state, concurrency) VALUES (?1,?2,ifnull(?3,0),?4)
            ON CONFLICT(space, name) DO UPDATE SET state=ifnull(?3,state), concurrency=?4 RETURNING id, state
            """)
        bury = try prepare(
            """
            UPDATE delivery SET state=2, reason=?2, touched=?3 WHERE (tt, ep) IN
            (SELECT tt, ep FROM delivery INDEXED BY delivery_due WHERE state=0 AND ep=?1 LIMIT \(Writer.turnRows))
            """)
        findDue = try prepare(
            "SELECT tt, due FROM delivery INDEXED BY delivery_due WHERE state=0 AND ep=? ORDER BY due, tt LIMIT ?")
        finish = try prepare(
            """
            UPDATE delivery SET state=?3, due=?4, tries=tries+1, manual=0, touched=?5, reason=?6, attempts=?7,
            body=ifnull(?8, body) WHERE tt=?1 AND ep=?2
            """)
        attempts = try prepare("SELECT attempts FROM delivery WHERE tt=? AND ep=?")
        findByID = try prepare(
            "SELECT tt, ep, state FROM delivery WHERE id=?1 AND (SELECT space FROM endpoint WHERE id = ep) = ?2")
        findRange = try prepare(
            """
            SELECT tt, ep, state FROM delivery WHERE ep=?1 AND tt > ?2 AND tt < ?3 AND (?4 = 0 OR state <> 1)
            ORDER BY tt LIMIT ?5
            """)
        revive = try prepare(
            "UPDATE delivery SET state=0, due=?3, manual=1, touched=?3, reason=NULL WHERE tt=?1 AND ep=?2")
    }
}
