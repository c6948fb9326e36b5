import ChatModel
import SQLite
import StorageCore

/// Reads the deliveries of one subscriber in one state, ordered by event, from the index `delivery_state`. The cost of
/// a page depends only on the number of its rows.
struct DeliveryScan {
    private static let rows = "FROM delivery INDEXED BY delivery_state WHERE ep=?1 AND state=?2 AND tt > ?3 AND tt < ?4"
    /// The condition for `hasFailed`. Unlike the other conditions, it reads the row itself and not only the index.
    private static let failed = "AND (tries > 0 AND manual = 0) = ?6"

    private let up: Statement
    private let down: Statement
    private let upByFailure: Statement
    private let downByFailure: Statement
    private let count: Statement
    private let countByFailure: Statement

    init(_ database: Database) throws(SQLiteFailure) {
        func walk(_ condition: String, _ direction: String) throws(SQLiteFailure) -> Statement {
            try database.prepare("SELECT tt \(Self.rows) \(condition) ORDER BY tt \(direction) LIMIT ?5")
        }
        up = try walk("", "ASC")
        down = try walk("", "DESC")
        upByFailure = try walk(Self.failed, "ASC")
        downByFailure = try walk(Self.failed, "DESC")
        count = try database.prepare("SELECT count(*) FROM (SELECT 1 \(Self.rows) LIMIT ?5)")
        countByFailure = try database.prepare("SELECT count(*) FROM (SELECT 1 \(Self.rows) \(Self.failed) LIMIT ?5)")
    }

    /// Returns the timetokens of the events of the selected deliveries, at most `limit`.
    func events(
        _ part: DeliveryPart, _ order: DeliveryQuery.Order, limit: Int
    ) throws(SQLiteFailure) -> [UInt64] {
        let statement =
            switch (order, part.hasFailed) {
            case (.oldestFirst, nil): up
            case (.newestFirst, nil): down
            case (.oldestFirst, _): upByFailure
            case (.newestFirst, _): downByFailure
            }
        bind(statement, part, limit)
        var events: [UInt64] = []
        try statement.forEachRow { row in
            events.append(UInt64(row.integer(0)))
            return true
        }
        return events
    }

    func count(_ part: DeliveryPart, most: Int) throws(SQLiteFailure) -> Int {
        let statement = part.hasFailed == nil ? count : countByFailure
        bind(statement, part, most)
        return Int(try statement.firstInteger() ?? 0)
    }

    private func bind(_ statement: Statement, _ part: DeliveryPart, _ limit: Int) {
        statement.bind(part.subscriber, at: 1)
        statement.bind(part.state.rawValue, at: 2)
        statement.bind(Int64(clamping: part.after), at: 3)
        statement.bind(Int64(clamping: part.before), at: 4)
        statement.bind(limit, at: 5)
        if let hasFailed = part.hasFailed { statement.bind(hasFailed ? 1 : 0, at: 6) }
    }
}
