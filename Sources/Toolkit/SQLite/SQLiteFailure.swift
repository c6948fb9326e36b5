/// What SQLite refused, as a value: the kind to decide on, and SQLite's own words for the log.
///
/// The words may quote SQL and file names, so they go to the log and never to a client.
public struct SQLiteFailure: Error, Sendable, Equatable {
    /// What went wrong, coarse enough to decide on.
    public enum Kind: Sendable, Equatable {
        /// Another connection holds the lock for longer than the busy timeout (`SQLITE_BUSY`, `SQLITE_LOCKED`).
        case busy
        /// No room on the disk, or the database has reached its page limit (`SQLITE_FULL`).
        case full
        /// The file system failed (`SQLITE_IOERR` and its kin, `SQLITE_PROTOCOL`).
        case io
        /// The file cannot be opened or may not be written (`SQLITE_CANTOPEN`, `SQLITE_READONLY`, `SQLITE_PERM`, `SQLITE_AUTH`).
        case access
        /// The file is no database, or a damaged one (`SQLITE_CORRUPT`, `SQLITE_NOTADB`).
        case corrupt
        /// A uniqueness or check constraint refused the row (`SQLITE_CONSTRAINT`).
        case constraint
        /// The statement ran past its deadline (`SQLITE_INTERRUPT`).
        case interrupted
        /// A value or the memory needed for it is too large (`SQLITE_TOOBIG`, `SQLITE_NOMEM`).
        case tooLarge
        /// The file was written by a newer program than this one: its version and the newest one known here.
        case newerSchema(found: Int, known: Int)
        /// Anything else; most of these are mistakes in the calling code.
        case other
    }

    /// What went wrong.
    public let kind: Kind
    /// SQLite's extended result code (<https://www.sqlite.org/rescode.html>); 0 where SQLite itself was content.
    public let code: Int32
    /// SQLite's words, for the log.
    public let message: String

    /// - Parameter code: 0 for failures that callers of this module add, e.g. on opening.
    public init(kind: Kind, code: Int32 = 0, message: String) {
        self.kind = kind
        self.code = code
        self.message = message
    }
}

extension SQLiteFailure: CustomStringConvertible {
    public var description: String { "SQLite \(kind) (\(code)): \(message)" }
}
