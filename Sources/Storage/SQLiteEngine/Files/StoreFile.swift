public import ChatModel
import Glibc
import SQLite

/// The file of a store, for tools that look at it or copy it beside an engine that may be writing to it.
///
/// Each call opens the file for reading and closes it again. Blocks its thread.
public struct StoreFile: Sendable {
    public let path: String

    /// The newest version of the tables this program knows.
    public static let knownVersion = Schema.migrations.count

    public init(at path: String) { self.path = path }

    public var exists: Bool { access(path, F_OK) == 0 }

    /// What is in it.
    public func summary() throws(SQLiteEngineFailure) -> StoreSummary {
        try reading { (database) throws(SQLiteFailure) in try StoreSummary(database) }
    }

    /// The version of its tables; 0 where there are none.
    public func schemaVersion() throws(SQLiteEngineFailure) -> Int {
        try reading { (database) throws(SQLiteFailure) in try database.schemaVersion }
    }

    /// What is wrong with its structure; empty when nothing is.
    public func faults(isThorough: Bool) throws(SQLiteEngineFailure) -> [String] {
        try reading { (database) throws(SQLiteFailure) in try database.faults(isThorough: isThorough) }
    }

    func reading<Result>(
        _ body: (Database) throws(SQLiteFailure) -> Result
    ) throws(SQLiteEngineFailure) -> Result {
        do throws(SQLiteFailure) {
            return try body(try Database(path: path, mode: .readOnly))
        } catch {
            throw SQLiteEngineFailure(error, path: path)
        }
    }
}

/// What is in a store: enough to tell whether a copy is one.
public struct StoreSummary: Sendable, Equatable {
    public var schemaVersion: Int
    public var events: Int
    public var records: Int
    public var deliveries: Int
    /// The place of the newest event that is kept; zero when there is none.
    public var newest: Timetoken

    public init(schemaVersion: Int, events: Int, records: Int, deliveries: Int, newest: Timetoken) {
        self.schemaVersion = schemaVersion
        self.events = events
        self.records = records
        self.deliveries = deliveries
        self.newest = newest
    }

    init(_ database: Database) throws(SQLiteFailure) {
        func count(_ table: String) throws(SQLiteFailure) -> Int {
            Int(try database.integer("SELECT count(*) FROM \(table)") ?? 0)
        }
        self.init(
            schemaVersion: try database.schemaVersion, events: try count("event"), records: try count("record"),
            deliveries: try count("delivery"),
            newest: Timetoken(UInt64(try database.integer("SELECT ifnull(max(tt), 0) FROM event") ?? 0)))
    }
}
