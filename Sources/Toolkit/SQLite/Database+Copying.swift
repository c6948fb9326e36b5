import CSQLite

extension Database {
    /// Copies the whole database, as it is at this moment, into `target` and overwrites its content.
    ///
    /// Later writes of other connections are not in the copy, and no connection waits for it. Their write-ahead log
    /// cannot restart until the copy is complete.
    ///
    /// - Parameters:
    ///   - pagesAtOnce: the number of pages copied between two calls of `progress`.
    ///   - progress: called with the number of pages copied and the total number. An error that it throws ends the
    ///     copying.
    /// - Throws: ``SQLiteFailure``, and what `progress` throws.
    public func copy(
        to target: Database, pagesAtOnce: Int, progress: (_ copied: Int, _ total: Int) throws(SQLiteFailure) -> Void
    ) throws(SQLiteFailure) {
        // One read transaction for all steps. Without it each step would see the latest commit and start the copy
        // again.
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

    /// The faults in the file's structure, in SQLite's words; empty when there are none.
    ///
    /// - Parameter isThorough: also compares the indexes with their tables, which takes much longer.
    /// - Throws: ``SQLiteFailure`` when the file cannot be read. A fault that was found is not an error.
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

extension Database {
    /// The version of the schema in the file (`PRAGMA user_version`); 0 for a new file.
    public var schemaVersion: Int {
        get throws(SQLiteFailure) { Int(try integer("PRAGMA user_version") ?? 0) }
    }

    /// Migrates the schema: `steps[n]` leads from version n to n + 1. All due steps and the new version number are one
    /// transaction, so that after a failure or a crash the program that wrote the file can still use it.
    ///
    /// - Throws: ``SQLiteFailure/Kind/newerSchema(found:known:)`` for a file written by a newer program, which stays
    ///   unchanged: an older program would misread or damage it.
    public func migrate(_ steps: [String]) throws(SQLiteFailure) {
        let found = try schemaVersion
        guard found <= steps.count else {
            throw SQLiteFailure(
                kind: .newerSchema(found: found, known: steps.count), code: SQLITE_OK,
                message:
                    "the file has schema version \(found); this program supports at most \(steps.count): start the newer program"
            )
        }
        guard found < steps.count else { return }
        try transaction { () throws(SQLiteFailure) in
            for step in steps.dropFirst(found) { try execute(step) }
            try execute("PRAGMA user_version = \(steps.count)")
        }
    }

    /// Runs `body` between `BEGIN IMMEDIATE` and `COMMIT`. An error that `body` throws rolls back the transaction and
    /// is rethrown.
    ///
    /// - Throws: the error of `body`, or ``SQLiteFailure`` when the transaction cannot begin or commit.
    public func transaction<Result>(_ body: () throws(SQLiteFailure) -> Result) throws(SQLiteFailure) -> Result {
        try execute("BEGIN IMMEDIATE")
        do {
            let result = try body()
            try execute("COMMIT")
            return result
        } catch {
            rollback()
            throw error
        }
    }

    /// Rolls back an open transaction; does nothing without one.
    public func rollback() {
        // ROLLBACK fails only when SQLite has already rolled back by itself, which is the intended result.
        if isInTransaction { sqlite3_exec(connection, "ROLLBACK", nil, nil, nil) }
    }
}
