import ChatModel
import SQLite
package import StorageCore

/// The content of a database file, for a copy into a store of another kind. While the object exists, no engine can open
/// the file.
package final class SQLiteContents: StoreContents {
    private let path: String
    private let database: Database
    /// Keeps engines out.
    private let lock: FileLock
    /// The table that ``next(_:)`` reads; without a statement after the last row.
    private var reading: (table: ContentTable, statement: Statement?)?

    /// The maximum number of rows of a batch, and the size of values with which a batch ends.
    private static let batchRows = 2000
    private static let batchBytes = 2 * 1024 * 1024

    /// Opens a file for reading.
    ///
    /// - Throws: `MigrationFailure` when the file does not exist, when an engine has it open, when a program of another
    ///   version wrote it, or when it cannot be read.
    package init(path: String) throws(MigrationFailure) {
        guard StoreFile(at: path).exists else {
            throw MigrationFailure("no database exists at '\(path)': pass the data directory of a gateway")
        }
        do throws(SQLiteEngineFailure) {
            lock = try FileLock(of: path)
        } catch {
            throw MigrationFailure(error.description)
        }
        let (found, known): (Int, Int)
        do throws(SQLiteFailure) {
            database = try Database(path: path, mode: .readOnly)
            (found, known) = (try database.schemaVersion, Schema.migrations.count)
        } catch {
            throw MigrationFailure(SQLiteEngineFailure(error, path: path).description)
        }
        self.path = path
        guard found == known else {
            throw MigrationFailure(
                "\(path) has schema version \(found), but this version of Parley migrates version \(known): "
                    + (found > known ? "use a newer version" : "start this version with the data once, and stop it"))
        }
    }

    package func head() throws(MigrationFailure) -> ContentHead {
        try translating { () throws(SQLiteFailure) in
            let heads = try Heads(database)
            return ContentHead(
                timetoken: heads.timetoken, revision: heads.revision,
                restored: try RetentionTable(reading: database).restored, life: try database.openings())
        }
    }

    package func count(_ table: ContentTable) throws(MigrationFailure) -> Int {
        try translating { () throws(SQLiteFailure) in
            Int(try database.integer("SELECT count(*) FROM \(table.source)") ?? 0)
        }
    }

    package func next(_ table: ContentTable) throws(MigrationFailure) -> ContentRows? {
        try translating { () throws(SQLiteFailure) in
            if reading?.table != table { reading = (table, try database.prepare(table.selection)) }
            guard let statement = reading?.statement else { return nil }
            let columns = table.columns
            var rows = ContentRows(of: table)
            while rows.count < Self.batchRows, rows.bytes < Self.batchBytes {
                guard try statement.step() else {
                    // Another step would begin with the first row.
                    reading = (table, nil)
                    break
                }
                rows.append(statement, columns)
            }
            return rows.count == 0 ? nil : rows
        }
    }

    private func translating<Value>(
        _ body: () throws(SQLiteFailure) -> Value
    ) throws(MigrationFailure) -> Value {
        do throws(SQLiteFailure) {
            return try body()
        } catch {
            throw MigrationFailure(SQLiteEngineFailure(error, path: path).description)
        }
    }
}

extension ContentRows {
    fileprivate mutating func append(_ row: Statement, _ columns: [ContentColumn]) {
        append(columns) {
            row.optionalInteger(Int32($0))
        } double: {
            row.isNull(Int32($0)) ? nil : row.double(Int32($0))
        } text: {
            guard columns[$0].kind == .timetokens else { return row.optionalText(Int32($0)) }
            let timetokens = [Timetoken](packed: row.bytes(Int32($0)))
            return "{\(timetokens.map { "\($0.rawValue)" }.joined(separator: ","))}"
        } byteString: {
            row.isNull(Int32($0)) ? nil : row.bytes(Int32($0))
        }
    }
}

extension ContentTable {
    /// The rows of the file that have the table's content.
    fileprivate var source: String {
        switch self {
        case .attempts: "delivery JOIN attempt_log ON attempt_log.id = delivery.log"
        default: rawValue
        }
    }

    /// The query of the table's columns.
    fileprivate var selection: String {
        "SELECT \(columns.map { expression($0.name) }.joined(separator: ", ")) FROM \(source)"
    }

    /// The expression of a column, where it is not the column of the file with the same name.
    private func expression(_ column: String) -> String {
        switch (self, column) {
        case (.event, "type"), (.loss, "type"), (.delivery, "type"):
            "(SELECT name FROM type WHERE id = \(rawValue).type)"
        case (.event, "schema_type"): "(SELECT name FROM type WHERE id = schema_type)"
        case (.event, "by_type"): "by_type IS NOT NULL"
        case (.channel, "app"), (.loss, "app"), (.claim, "app"): "(SELECT name FROM app WHERE id = \(rawValue).app)"
        case (.subscriber, "waiting"):
            """
            (SELECT count(*) FROM delivery INDEXED BY delivery_due WHERE state = 0 AND ep = subscriber.id)
            """
        default: column
        }
    }
}
