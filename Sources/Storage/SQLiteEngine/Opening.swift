import ChatModel
import SQLite
import StorageCore

extension SQLiteEngineSettings {
    /// Locks the database file for this engine. Returns nil for a store in memory, which needs no lock.
    ///
    /// - Throws: ``SQLiteEngineFailure`` when another engine holds the lock or the lock file cannot be used.
    func lock() throws(SQLiteEngineFailure) -> FileLock? {
        isInMemory ? nil : try FileLock(of: path)
    }

    /// Opens the writing connection and creates or migrates the tables.
    func openWriter() throws(SQLiteFailure) -> Database {
        let database = try Database(path: path, mode: .readWrite, busyTimeout: limits.storeDeadline)
        try database.execute(Schema.writerPragmas + Schema.connectionPragmas)
        try upgrade(database)
        if let pageLimit { try database.execute("PRAGMA max_page_count=\(pageLimit)") }
        return database
    }
}

extension FileLock {
    /// Locks a database file.
    ///
    /// - Throws: ``SQLiteEngineFailure`` when another engine holds the lock or the lock file cannot be used.
    init(of path: String) throws(SQLiteEngineFailure) {
        do throws(LockError) {
            try self.init(path: path + ".lock")
        } catch {
            switch error {
            case .held: throw .inUse(path)
            case .system(let number):
                throw SQLiteEngineFailure(reason: .unusable, description: "cannot lock \(path).lock: errno \(number)")
            }
        }
    }
}

/// The last timetoken of the event log and the last revision of the directory of records, as stored in the database.
/// Numbering continues after them when the database is opened.
struct Heads: Sendable {
    /// The highest reserved timetoken. No higher timetoken has been assigned.
    let timetoken: Timetoken
    /// The last revision of the directory of records.
    let revision: Revision

    init(_ database: Database) throws(SQLiteFailure) {
        timetoken = Timetoken(
            UInt64(
                try database.integer(
                    "SELECT max(tt, ifnull((SELECT max(tt) FROM event), 0)) FROM head WHERE lane = 0") ?? 0))
        revision = Revision(try database.integer("SELECT tt FROM head WHERE lane = -1") ?? 0)
    }
}

extension RetentionTable {
    convenience init(reading database: Database) throws(SQLiteFailure) {
        self.init(
            restored: Timetoken(UInt64(try database.integer("SELECT ifnull(max(upto), 0) FROM restore") ?? 0)))
        let apps = try database.prepare("SELECT name, retention, floor, swept FROM app")
        try apps.forEachRow { row in
            let age = row.optionalInteger(1).map { Duration(ticks: $0) }
            let loss = Timetoken(UInt64(row.integer(2)))
            let swept = Timetoken(UInt64(row.integer(3)))
            // The cutoff is at least the position of the last removal, so that events that were hidden stay hidden even
            // if the clock was set back.
            update(AppID(row.text(0))) { $0 = Entry(age: age, newestLoss: loss, swept: swept, cutoff: swept) }
            return true
        }
        let cursors = try database.prepare("SELECT name, tt FROM cursor")
        try cursors.forEachRow { row in
            move(CursorName(row.text(0)), to: Timetoken(UInt64(row.integer(1))))
            return true
        }
    }
}

extension Duration {
    /// Creates a duration from timetoken ticks of 100 ns.
    init(ticks: Int64) {
        let second = Int64(Timetoken.ticksPerSecond)
        self = .seconds(ticks / second) + .nanoseconds(ticks % second * 100)
    }
}

extension Database {
    /// Increments the number of times that this file was opened, and returns the new number.
    func countOpening() throws(SQLiteFailure) -> UInt64 {
        try execute("UPDATE head SET tt = tt + 1 WHERE lane = -2")
        return try openings()
    }

    /// Returns the number of times that this file was opened.
    func openings() throws(SQLiteFailure) -> UInt64 {
        UInt64(try integer("SELECT tt FROM head WHERE lane = -2") ?? 0)
    }

    /// Returns all webhooks and subscriptions, each with the number of its waiting deliveries. The deliveries
    /// themselves are read later, when they are needed.
    func lanes() throws(SQLiteFailure) -> [(subscriber: StoredSubscriber, waiting: Int)] {
        var waiting: [Int64: Int] = [:]
        let counts = try prepare(
            "SELECT ep, count(*) FROM delivery INDEXED BY delivery_due WHERE state = 0 GROUP BY ep")
        try counts.forEachRow { row in
            waiting[row.integer(0)] = Int(row.integer(1))
            return true
        }
        var lanes: [(subscriber: StoredSubscriber, waiting: Int)] = []
        let subscribers = try prepare("SELECT \(Statement.subscriberColumns) FROM subscriber")
        try subscribers.forEachRow { row in
            let subscriber = row.storedSubscriber
            lanes.append((subscriber, waiting[subscriber.number] ?? 0))
            return true
        }
        return lanes
    }
}
