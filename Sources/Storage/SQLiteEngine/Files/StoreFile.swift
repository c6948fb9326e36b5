public import ChatModel
import Glibc
import SQLite

/// The file of a store, for tools that inspect or copy it. An engine may write to the file at the same time.
///
/// Each method that reads the file opens and closes it, and blocks the calling thread.
public struct StoreFile: Sendable {
    /// The path of the database file.
    public let path: String

    /// The newest schema version that this program knows.
    public static let knownVersion = Schema.migrations.count

    /// Creates a reference to the file at `path`. Does not open the file.
    public init(at path: String) { self.path = path }

    /// True when a file exists at the path.
    public var exists: Bool { access(path, F_OK) == 0 }

    /// Returns counts of the store's content.
    ///
    /// - Throws: ``SQLiteEngineFailure`` when the file cannot be read.
    public func summary() throws(SQLiteEngineFailure) -> StoreSummary {
        try reading { (database) throws(SQLiteFailure) in try StoreSummary(database) }
    }

    /// Returns the schema version of the file; 0 when it has no tables.
    ///
    /// - Throws: ``SQLiteEngineFailure`` when the file cannot be read.
    public func schemaVersion() throws(SQLiteEngineFailure) -> Int {
        try reading { (database) throws(SQLiteFailure) in try database.schemaVersion }
    }

    /// Checks the file's structure. Returns SQLite's messages about faults; empty when there are none.
    ///
    /// - Parameter isThorough: true to also compare the indexes with their tables, which takes much longer.
    /// - Throws: ``SQLiteEngineFailure`` when the file cannot be read.
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

/// Counts of a store's content, for instance to check that a copy is complete.
public struct StoreSummary: Sendable, Equatable {
    /// The schema version of the file.
    public var schemaVersion: Int
    /// The number of stored events.
    public var events: Int
    /// The number of records.
    public var records: Int
    /// The number of deliveries in any state.
    public var deliveries: Int
    /// The timetoken of the newest stored event; zero when there is none.
    public var newest: Timetoken

    /// Creates a summary from its values.
    init(schemaVersion: Int, events: Int, records: Int, deliveries: Int, newest: Timetoken) {
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
