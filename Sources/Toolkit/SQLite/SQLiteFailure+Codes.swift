import CSQLite

extension SQLiteFailure {
    /// Reads the failure the connection has just had; SQLite's message is copied before the next call replaces it.
    init(code: Int32, connection: OpaquePointer?) {
        let text = connection.flatMap(sqlite3_errmsg) ?? sqlite3_errstr(code)
        self.init(kind: Kind(code: code), code: code, message: text.map { String(cString: $0) } ?? "no message")
    }
}

extension SQLiteFailure.Kind {
    /// Primary codes are the low byte of the extended ones.
    init(code: Int32) {
        self =
            switch code & 0xff {
            case SQLITE_BUSY, SQLITE_LOCKED: .busy
            case SQLITE_FULL: .full
            case SQLITE_IOERR, SQLITE_PROTOCOL: .io
            case SQLITE_CANTOPEN, SQLITE_READONLY, SQLITE_PERM, SQLITE_AUTH: .access
            case SQLITE_CORRUPT, SQLITE_NOTADB: .corrupt
            case SQLITE_CONSTRAINT: .constraint
            case SQLITE_INTERRUPT: .interrupted
            case SQLITE_TOOBIG, SQLITE_NOMEM: .tooLarge
            default: .other
            }
    }
}
