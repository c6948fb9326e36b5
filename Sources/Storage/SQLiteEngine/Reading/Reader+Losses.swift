import ChatModel
import Glibc
import SQLite

/// A query for a reader that resumes from an old position. The query determines whether retention has removed events
/// that the reader has not received.
struct LossQuery: Sendable {
    let channels: ChannelSet
    let types: [NamePattern]
    let after: Timetoken
    /// The position up to which the events hidden by retention have been removed from the database.
    let swept: Timetoken
    /// The position up to which all events are hidden by retention.
    let hidden: Timetoken
    let now: Timetoken
}

struct LossStatements {
    let ofChannel: Statement
    let ofApp: Statement
    let expired: Statement

    init(_ database: Database) throws(SQLiteFailure) {
        ofChannel = try database.prepare("SELECT tt, type FROM loss WHERE ch=?1 AND tt > ?2")
        ofApp = try database.prepare("SELECT tt, type, ch FROM loss WHERE app=?1 AND tt > ?2 ORDER BY tt DESC")
        expired = try database.prepare(
            """
            SELECT tt, type, ch FROM event INDEXED BY event_expires
            WHERE expires IS NOT NULL AND expires <= ?1 AND tt > ?2 AND by_type IS NOT NULL AND origin IS NOT ''
            """)
    }
}

extension Reader {
    /// The maximum number of rows that a query scans. If more rows would have to be scanned, the query reports that
    /// events may have been lost.
    private static let lookedAt = 20_000

    /// Returns the timetoken of the newest event of these channels and types, after the position, that retention has
    /// removed or hidden; nil when there is none.
    func newestLoss(_ question: LossQuery) throws(SQLiteFailure) -> Timetoken? {
        let found = try [removed(question), expired(question), hidden(question)]
        return found.compactMap(\.self).max()
    }

    private func removed(_ question: LossQuery) throws(SQLiteFailure) -> Timetoken? {
        let channels = question.channels
        if !channels.isAll, channels.prefixes.isEmpty {
            var newest: Timetoken?
            for name in channels.names {
                guard let id = try names.id(of: ChannelID(name.text, in: channels.app)) else { continue }
                let find = statements.losses.ofChannel
                find.bind(id, at: 1)
                find.bind(Int64(question.after.rawValue), at: 2)
                try find.forEachRow { (row) throws(SQLiteFailure) in
                    if try isOfType(row, question) { newest = max(newest ?? .zero, Timetoken(UInt64(row.integer(0)))) }
                    return true
                }
            }
            return newest
        }
        guard let app = try names.id(of: channels.app) else { return nil }
        let find = statements.losses.ofApp
        find.bind(app, at: 1)
        find.bind(Int64(question.after.rawValue), at: 2)
        return try newest(find, question, isNewestFirst: true)
    }

    /// Returns the timetoken of the newest event that has exceeded the retention of its type but is not removed yet;
    /// nil when there is none.
    private func expired(_ question: LossQuery) throws(SQLiteFailure) -> Timetoken? {
        let find = statements.losses.expired
        find.bind(Int64(question.now.rawValue), at: 1)
        find.bind(Int64(question.after.rawValue), at: 2)
        return try newest(find, question, isNewestFirst: false)
    }

    private func newest(
        _ find: Statement, _ question: LossQuery, isNewestFirst: Bool
    ) throws(SQLiteFailure) -> Timetoken? {
        var newest: Timetoken?
        var seen = 0
        try find.forEachRow { (row) throws(SQLiteFailure) in
            let timetoken = Timetoken(UInt64(row.integer(0)))
            let isOfType = try isOfType(row, question)
            let channel = try names.channel(row.integer(2))
            let isLost = isOfType && question.channels.contains(channel)
            seen += 1
            if isLost || seen == Self.lookedAt { newest = max(newest ?? .zero, timetoken) }
            return seen < Self.lookedAt && !(isNewestFirst && isLost)
        }
        return newest
    }

    /// Returns the end of the range that the app's retention hides, if the range contains an event of these channels
    /// and types that is not removed yet; nil otherwise.
    private func hidden(_ question: LossQuery) throws(SQLiteFailure) -> Timetoken? {
        let start = max(question.after, question.swept)
        guard question.hidden > start else { return nil }
        let page = try events(
            EventsQuery(channels: question.channels, after: start, upTo: question.hidden, limit: 250, now: .zero))
        let isLost = page.hasMore || page.items.contains { event in question.types.contains { $0.matches(event.type) } }
        return isLost ? question.hidden : nil
    }

    private func isOfType(_ row: Statement, _ question: LossQuery) throws(SQLiteFailure) -> Bool {
        let type = try names.type(row.integer(1))
        return question.types.contains { $0.matches(type) }
    }
}

extension Reader {
    /// The queries that count deliveries by state. Each uses an index that contains only rows of its state, so the
    /// number of delivered rows does not affect the cost.
    private static let queues = [
        ("waiting", "state = 0 AND ep IN (SELECT id FROM subscriber WHERE state = 0)"),
        ("held", "state = 0 AND ep IN (SELECT id FROM subscriber WHERE state = 1)"),
        ("dead", "state = 2 AND ep IN (SELECT id FROM subscriber)"),
    ]

    func statistics() throws(SQLiteFailure) -> EngineStatistics {
        var statistics = EngineStatistics()
        let ends = try statement("SELECT (SELECT min(tt) FROM event), (SELECT max(tt) FROM event)")
        try ends.forEachRow { row in
            statistics.oldestEvent = row.optionalInteger(0).map { Timetoken(UInt64($0)) }
            statistics.newestEvent = row.optionalInteger(1).map { Timetoken(UInt64($0)) }
            return true
        }
        for (state, condition) in Self.queues {
            let count = try statement("SELECT count(*), min(tt) FROM delivery WHERE \(condition)")
            try count.forEachRow { row in
                let oldest = row.optionalInteger(1).map { Timetoken(UInt64($0)) }
                let queue = EngineStatistics.Queue(count: Int(row.integer(0)), oldest: oldest)
                statistics.deliveries.append((state, queue))
                return true
            }
        }
        let pages = try statement("PRAGMA page_count").firstInteger() ?? 0
        statistics.bytes = Int(pages * (try statement("PRAGMA page_size").firstInteger() ?? 0))
        return statistics
    }
}

extension EngineStatistics {
    /// Sets `walBytes` to the size of the write-ahead log of the database at `path`, and adds it to `bytes`: the
    /// content of that log is copied into the database file only at a checkpoint. Does nothing for a store in memory.
    mutating func measureFiles(_ path: String) {
        var status = stat()
        guard path != ":memory:", stat(path + "-wal", &status) == 0 else { return }
        walBytes = Int(status.st_size)
        bytes = (bytes ?? 0) + Int(status.st_size)
    }
}
