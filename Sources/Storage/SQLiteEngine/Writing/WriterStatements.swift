import SQLite

/// The writer's compiled statements.
struct WriterStatements {
    let begin: Statement
    let commit: Statement
    let setHead: Statement
    let insertApp: Statement
    let insertChannel: Statement
    let insertType: Statement
    let insertEvent: Statement
    let findEvent: Statement
    let see: Statement
    let findSeen: Statement
    let findClaim: Statement
    let insertClaim: Statement
    let findDoomed: Statement
    let findPlace: Statement
    let deleteEvent: Statement
    let dropBodies: Statement
    let setRetention: Statement
    let findRecord: Statement
    let findChange: Statement
    let putRecord: Statement
    let removeRecord: Statement
    let recordRemoval: Statement
    let deliveries: DeliveryStatements

    init(_ database: Database) throws(SQLiteFailure) {
        deliveries = try DeliveryStatements(database)
        begin = try database.prepare("BEGIN IMMEDIATE")
        commit = try database.prepare("COMMIT")
        setHead = try database.prepare("UPDATE head SET tt=? WHERE lane=?")
        insertApp = try database.prepare("INSERT INTO app(name) VALUES (?)")
        insertChannel = try database.prepare("INSERT INTO channel(app, name) VALUES (?,?)")
        insertType = try database.prepare("INSERT INTO type(name) VALUES (?)")
        insertEvent = try database.prepare(EventRow.insert)
        findEvent = try database.prepare("SELECT \(EventRow.columns) FROM event WHERE tt=?")
        // Changes no row if the key was already used within its time window. After that time, the key can be used
        // again.
        see = try database.prepare(
            """
            INSERT INTO seen(ch, key, tt, until) VALUES (?1,?2,?3,?4)
            ON CONFLICT(ch, key) DO UPDATE SET tt=?3, until=?4 WHERE until <= ?5
            """)
        findSeen = try database.prepare("SELECT tt FROM seen WHERE ch=? AND key=?")
        findClaim = try database.prepare("SELECT print, tts, note FROM claim WHERE app=? AND key=? AND until > ?")
        insertClaim = try database.prepare(
            "INSERT OR REPLACE INTO claim(app, key, print, tts, note, until) VALUES (?,?,?,?,?,?)")
        findDoomed = try database.prepare(
            "SELECT tt, expires FROM event INDEXED BY event_ch WHERE ch=? AND tt > ? AND tt < ? ORDER BY tt LIMIT ?")
        findPlace = try database.prepare("SELECT 1 FROM event WHERE tt=? AND ch=?")
        deleteEvent = try database.prepare("DELETE FROM event WHERE tt=?")
        dropBodies = try database.prepare("UPDATE delivery SET body=NULL WHERE tt=? AND body IS NOT NULL")
        setRetention = try database.prepare("UPDATE app SET retention=? WHERE id=?")
        findRecord = try database.prepare(
            "SELECT \(Statement.recordColumns) FROM record WHERE app=? AND kind=? AND id=?")
        findChange = try database.prepare(
            """
            SELECT 1 FROM record WHERE app=?1 AND kind=?2 AND id=?3 AND revision > ?4
            UNION ALL SELECT 1 FROM removed WHERE revision > ?4 AND app=?1 AND kind=?2 AND id=?3 LIMIT 1
            """)
        putRecord = try database.prepare(
            """
            INSERT OR REPLACE INTO record(app, kind, id, parent, revision, updated, body, tag)
            VALUES (?,?,?,?,?,?,?,?)
            """)
        removeRecord = try database.prepare("DELETE FROM record WHERE app=? AND kind=? AND id=?")
        recordRemoval = try database.prepare(
            "INSERT OR REPLACE INTO removed(app, kind, id, revision, at) VALUES (?,?,?,?,?)")
    }
}
