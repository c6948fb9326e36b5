import ChatModel
import SQLite

/// A connection that reads. It has its own thread, except for a store in memory, which uses the writer's connection and
/// thread. The fixed statements are compiled once. Statements for filters and sort orders are compiled when needed and
/// cached up to a limit.
final class Reader {
    let database: Database
    let names: NameTable
    let statements: ReaderStatements
    private var compiled = GenerationCache<String, Statement>(capacity: 64)

    init(database: Database) throws(SQLiteFailure) {
        self.database = database
        names = try NameTable(database)
        statements = try ReaderStatements(database)
    }

    /// Opens a read-only connection to a database file.
    convenience init(path: String) throws(SQLiteFailure) {
        let database = try Database(path: path, mode: .readOnly)
        try database.execute(Schema.connectionPragmas + Schema.readerPragmas)
        try self.init(database: database)
    }

    /// Runs `body` in a read transaction, so that all its statements read the same snapshot of the database.
    func inSnapshot<Value>(_ body: () throws(SQLiteFailure) -> Value) throws(SQLiteFailure) -> Value {
        // For a store in memory, this runs on the writer's thread between its transactions, so no data can change
        // during `body`.
        try statements.begin.run()
        let value = try body()
        try statements.commit.run()
        return value
    }

    /// Returns a compiled statement for this SQL text, from the cache if possible.
    func statement(_ sql: String) throws(SQLiteFailure) -> Statement {
        if let known = compiled.value(of: sql) { return known }
        let statement = try database.prepare(sql)
        compiled.insert(statement, for: sql)
        return statement
    }
}

/// A reader's compiled statements.
struct ReaderStatements {
    let begin: Statement
    let commit: Statement
    let eventsByTime: Statement
    let eventsByTimeDown: Statement
    let channelTimes: Statement
    let channelTimesDown: Statement
    let event: Statement
    let historyUp: Statement
    let historyDown: Statement
    let threadUp: Statement
    let threadDown: Statement
    let replies: Statement
    let count: Statement
    let countExpired: Statement
    let losses: LossStatements
    let channelsBelow: Statement
    let record: Statement
    let changes: Statement
    let leasedDelivery: Statement
    let followers: Statement
    let fullDelivery: Statement
    let deliveryAt: Statement
    let subscriberByName: Statement
    let subscribersOfApp: Statement
    let deliveryWalk: DeliveryScan

    init(_ database: Database) throws(SQLiteFailure) {
        func prepare(_ sql: String) throws(SQLiteFailure) -> Statement { try database.prepare(sql) }
        let columns = EventRow.columns
        begin = try prepare("BEGIN")
        commit = try prepare("COMMIT")
        eventsByTime = try prepare("SELECT \(columns) FROM event WHERE tt > ?1 AND tt <= ?2 ORDER BY tt")
        eventsByTimeDown = try prepare("SELECT \(columns) FROM event WHERE tt > ?1 AND tt <= ?2 ORDER BY tt DESC")
        // `INDEXED BY` is necessary, because SQLite might otherwise scan the rows of all channels for a short range of
        // time.
        let ofChannel = "FROM event INDEXED BY event_ch WHERE ch=?1 AND tt > ?2 AND tt < ?3"
        channelTimes = try prepare("SELECT tt \(ofChannel) ORDER BY tt LIMIT ?4")
        channelTimesDown = try prepare("SELECT tt \(ofChannel) ORDER BY tt DESC LIMIT ?4")
        event = try prepare("SELECT \(columns) FROM event WHERE tt=?")
        historyUp = try prepare("SELECT \(columns) \(ofChannel) ORDER BY tt")
        historyDown = try prepare("SELECT \(columns) \(ofChannel) ORDER BY tt DESC")
        let ofThread = "FROM event INDEXED BY event_thread WHERE ch=?1 AND tt > ?2 AND tt < ?3 AND thread=?4"
        threadUp = try prepare("SELECT \(columns) \(ofThread) ORDER BY tt")
        threadDown = try prepare("SELECT \(columns) \(ofThread) ORDER BY tt DESC")
        replies = try prepare(
            """
            SELECT \(columns) FROM event INDEXED BY event_reply
            WHERE thread IS NOT NULL AND ch=?1 AND tt > ?2 AND tt < ?3 ORDER BY tt
            """)
        count = try prepare("SELECT count(*) FROM (SELECT 1 \(ofChannel) AND (1 << kind) & ?4 LIMIT ?5)")
        countExpired = try prepare(
            """
            SELECT count(*) FROM event INDEXED BY event_expires
            WHERE expires IS NOT NULL AND expires <= ?5 AND ch=?1 AND tt > ?2 AND tt < ?3 AND (1 << kind) & ?4
            """)
        losses = try LossStatements(database)
        record = try prepare("SELECT \(Statement.recordColumns) FROM record WHERE app=? AND kind=? AND id=?")
        changes = try prepare(
            """
            SELECT revision, app, kind, id FROM record WHERE revision > ?1
            UNION ALL SELECT revision, app, kind, id FROM removed WHERE revision > ?1 ORDER BY revision
            """)
        let deliveries = "FROM delivery d JOIN subscriber e ON e.id = d.ep"
        leasedDelivery = try prepare(
            """
            SELECT id, tries, manual, due, type, channel, body FROM delivery WHERE tt=? AND ep=? AND state = 0
            """)
        fullDelivery = try prepare(
            """
            SELECT \(Statement.deliveryColumns), l.bytes \(deliveries) LEFT JOIN attempt_log l ON l.id = d.log
            WHERE d.id=? AND e.app=?
            """)
        followers = try prepare(
            """
            SELECT tt FROM delivery INDEXED BY delivery_chain WHERE ep=?2 AND tt > ?1
            AND chain = (SELECT chain FROM delivery WHERE tt=?1 AND ep=?2) ORDER BY tt LIMIT ?3
            """)
        deliveryAt = try prepare("SELECT \(Statement.deliveryColumns) \(deliveries) WHERE d.tt=? AND d.ep=?")
        subscriberByName = try prepare("SELECT id, state FROM subscriber WHERE app=? AND name=?")
        subscribersOfApp = try prepare("SELECT id, state FROM subscriber WHERE app=?")
        deliveryWalk = try DeliveryScan(database)
        channelsBelow = try prepare("SELECT id FROM channel WHERE app=?1 AND name >= ?2 AND name < ?3 LIMIT ?4")
    }
}
