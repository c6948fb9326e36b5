import CSQLite

extension Database {
    /// Copies a snapshot of the whole database into `target`, whose content is overwritten.
    ///
    /// The copy does not contain later writes of other connections. Other connections do not wait for the copy, but the
    /// write-ahead log cannot restart from the beginning until the copy is complete.
    ///
    /// - Parameters:
    ///   - pagesAtOnce: the number of pages copied between two calls of `progress`.
    ///   - progress: called with the number of pages copied so far and the total number. If it throws an error, the
    ///     copying ends.
    /// - Throws: ``SQLiteFailure`` when a page cannot be read or written, and the error that `progress` throws.
    public func copy(
        to target: Database, pagesAtOnce: Int, progress: (_ copied: Int, _ total: Int) throws(SQLiteFailure) -> Void
    ) throws(SQLiteFailure) {
        // All steps run in one read transaction. Otherwise each step would see the latest commit and start the copy
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

    /// Checks the structure of the file. Returns at most `limit` messages of SQLite about faults; empty when there are
    /// none.
    ///
    /// - Parameter isThorough: true to also compare the indexes with their tables, which takes much longer.
    /// - Throws: ``SQLiteFailure`` when the file cannot be read. Faults are returned and not thrown.
    public func faults(isThorough: Bool, limit: Int = 10) throws(SQLiteFailure) -> [String] {
        let statement = try prepare("PRAGMA \(isThorough ? "integrity_check" : "quick_check")(\(limit))")
        var rows: [String] = []
        try statement.forEachRow { row throws(SQLiteFailure) in
            rows.append(row.text(0))
            return true
        }
        return rows == ["ok"] ? [] : rows
    }

    /// The version of the SQLite library in use, for instance `3.40.1`.
    public static var libraryVersion: String { String(cString: sqlite3_libversion()) }
}

extension Database {
    /// The schema version of the file (`PRAGMA user_version`); 0 for a new file.
    public var schemaVersion: Int {
        get throws(SQLiteFailure) { Int(try integer("PRAGMA user_version") ?? 0) }
    }

    /// Migrates the schema. `steps[n]` changes a file from version n to version n + 1. All necessary steps run in one
    /// transaction. After a failure or a crash, the file is unchanged, so the older program can still use it.
    ///
    /// - Throws: ``SQLiteFailure`` with the kind ``SQLiteFailure/Kind/newerSchema(found:known:)`` if a newer program
    ///   has written the file; with another kind if a step fails.
    public func migrate(_ steps: [String]) throws(SQLiteFailure) {
        let found = try schemaVersion
        guard found <= steps.count else {
            throw SQLiteFailure(
                kind: .newerSchema(found: found, known: steps.count), code: SQLITE_OK,
                message:
                    "the file has schema version \(found), but this version of Parley supports at most \(steps.count): start a newer version"
            )
        }
        guard found < steps.count else { return }
        try transaction { () throws(SQLiteFailure) in
            for step in steps.dropFirst(found) { try execute(step) }
            try execute("PRAGMA user_version = \(steps.count)")
        }
    }

    /// Runs `body` in a transaction, between `BEGIN IMMEDIATE` and `COMMIT`. If `body` throws an error, the transaction
    /// is rolled back.
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

    /// Rolls back the open transaction. Does nothing if no transaction is open.
    public func rollback() {
        // The result is ignored, because ROLLBACK fails only if SQLite has already rolled back the transaction.
        if isInTransaction { sqlite3_exec(connection, "ROLLBACK", nil, nil, nil) }
    }
}
