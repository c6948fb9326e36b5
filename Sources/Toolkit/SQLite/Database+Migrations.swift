import CSQLite

extension Database {
    /// The version of the schema in the file (`PRAGMA user_version`); 0 for a new file.
    public var schemaVersion: Int {
        get throws(SQLiteFailure) { Int(try integer("PRAGMA user_version") ?? 0) }
    }

    /// Brings the schema up to date: `steps[n]` leads from version n to n + 1. All that are due and the new number are one
    /// transaction: after a failure or a crash in any of them, the program that wrote the file can still use it.
    ///
    /// A file written by a newer program is refused untouched (``SQLiteFailure/Kind/newerSchema(found:known:)``): an older
    /// one would read it wrongly or damage it.
    public func migrate(_ steps: [String]) throws(SQLiteFailure) {
        let found = try schemaVersion
        guard found <= steps.count else {
            throw SQLiteFailure(
                kind: .newerSchema(found: found, known: steps.count), code: SQLITE_OK,
                message:
                    "the file has schema version \(found), this program knows up to \(steps.count): start the newer program"
            )
        }
        guard found < steps.count else { return }
        try transaction { () throws(SQLiteFailure) in
            for step in steps.dropFirst(found) { try execute(step) }
            try execute("PRAGMA user_version = \(steps.count)")
        }
    }

    /// Runs `body` between `BEGIN IMMEDIATE` and `COMMIT`; whatever it throws rolls everything back and is thrown on.
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

    /// Takes back an open transaction; nothing happens without one.
    public func rollback() {
        // ROLLBACK fails only when SQLite has rolled back by itself, which is what was wanted.
        if isInTransaction { sqlite3_exec(connection, "ROLLBACK", nil, nil, nil) }
    }
}
