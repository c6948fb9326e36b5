import CSQLite

extension Database {
    /// Copies everything, as it is at this moment, into `target`, whose content is overwritten.
    ///
    /// What others write meanwhile is not in the copy, and nobody waits for it; but their write-ahead log cannot begin
    /// anew before the copy is made.
    ///
    /// - Parameters:
    ///   - pagesAtOnce: between two calls of `progress`.
    ///   - progress: told how many pages are copied, and how many there are. What it throws ends the copying.
    public func copy(
        to target: Database, pagesAtOnce: Int, progress: (_ copied: Int, _ total: Int) throws(SQLiteFailure) -> Void
    ) throws(SQLiteFailure) {
        // One read transaction for all steps: each would otherwise see what has been committed since the last one, and
        // begin again.
        try execute("BEGIN; SELECT count(*) FROM sqlite_schema")
        defer { rollback() }
        guard let copy = sqlite3_backup_init(target.connection, "main", connection, "main") else {
            throw SQLiteFailure(code: sqlite3_errcode(target.connection), connection: target.connection)
        }
        var failure: SQLiteFailure?
        var code = SQLITE_OK
        while code == SQLITE_OK, failure == nil {
            code = sqlite3_backup_step(copy, Int32(clamping: pagesAtOnce))
            guard code == SQLITE_OK || code == SQLITE_DONE else { break }
            let total = Int(sqlite3_backup_pagecount(copy))
            do throws(SQLiteFailure) { try progress(total - Int(sqlite3_backup_remaining(copy)), total) } catch {
                failure = error
            }
        }
        let end = sqlite3_backup_finish(copy)
        if let failure { throw failure }
        guard end == SQLITE_OK else { throw SQLiteFailure(code: end, connection: target.connection) }
    }

    /// What is wrong with the file's structure, in SQLite's words; empty when nothing is.
    ///
    /// - Parameter isThorough: compares the indexes with their tables too, which takes much longer.
    public func faults(isThorough: Bool, limit: Int = 10) throws(SQLiteFailure) -> [String] {
        let statement = try prepare("PRAGMA \(isThorough ? "integrity_check" : "quick_check")(\(limit))")
        var rows: [String] = []
        try statement.forEachRow { row throws(SQLiteFailure) in
            rows.append(row.text(0))
            return true
        }
        return rows == ["ok"] ? [] : rows
    }

    /// The version of the library in use, for instance `3.40.1`.
    public static var libraryVersion: String { String(cString: sqlite3_libversion()) }
}
