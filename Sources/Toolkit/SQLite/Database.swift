import CSQLite
import Glibc

/// One connection to a SQLite file, used by one thread at a time.
///
/// Opened without SQLite's own mutexes (`SQLITE_OPEN_NOMUTEX`): the type is not `Sendable`, so the compiler limits the
/// connection and its statements to one owner, and nothing is locked twice. Only ``checkpoint(_:)`` copies the
/// write-ahead log into the database: the hook that counts its pages replaces SQLite's automatic checkpoint, so a
/// writer decides when to pay for one (`PRAGMA wal_autocheckpoint` would restore the automatic one).
public final class Database {
    /// The access mode of a connection.
    public enum Mode: Sendable {
        /// Reads and writes; creates the file when it is missing.
        case readWrite
        /// Reads only; the file must exist.
        case readOnly
    }

    /// Turns off SQLite's memory statistics: to update them, SQLite would take a process-wide lock with each
    /// allocation, and nothing reads them.
    private static let preparation: Int32 = shim_keep_no_memory_statistics()

    let connection: OpaquePointer
    /// On the heap because SQLite's callbacks keep its address.
    private let watch: UnsafeMutablePointer<Watch>

    /// The time that a statement waits for another connection's lock before it fails with
    /// ``SQLiteFailure/Kind/busy``.
    public var busyTimeout: Duration {
        didSet { sqlite3_busy_timeout(connection, Int32(clamping: busyTimeout.milliseconds)) }
    }

    /// Opens `path`, or with `:memory:` a database that exists as long as the connection.
    ///
    /// A new file gets mode 0600, whatever the process's umask; SQLite gives the files beside it the same mode.
    /// ``Mode/readOnly`` creates no file, and the mode of an existing file stays.
    ///
    /// - Parameter busyTimeout: how long a statement waits for a lock that another connection holds before it fails
    ///   with ``SQLiteFailure/Kind/busy``.
    /// - Throws: ``SQLiteFailure`` when the file cannot be opened.
    public init(path: String, mode: Mode, busyTimeout: Duration = .seconds(5)) throws(SQLiteFailure) {
        _ = Self.preparation
        if mode == .readWrite, path != ":memory:" { Self.makeFile(at: path) }
        let flags =
            SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
            | (mode == .readOnly ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE)
        var handle: OpaquePointer?
        let code = sqlite3_open_v2(path, &handle, flags, nil)
        guard code == SQLITE_OK, let handle else {
            let failure = SQLiteFailure(code: code, connection: handle)
            sqlite3_close_v2(handle)  // SQLite returns a handle even for most failed opens
            throw failure
        }
        connection = handle
        self.busyTimeout = busyTimeout
        watch = .allocate(capacity: 1)
        watch.initialize(to: Watch())
        sqlite3_busy_timeout(handle, Int32(clamping: busyTimeout.milliseconds))
        sqlite3_wal_hook(handle, countFrames, watch)
        // Checks the clock every 20,000 steps of SQLite's virtual machine (a few ms): rare enough to cost nothing,
        // often enough for a deadline.
        sqlite3_progress_handler(handle, 20_000, isOverdue, watch)
    }

    /// Creates an empty file, which SQLite treats as an empty database. SQLite reports any error when it opens the
    /// file. An existing file is not opened: closing it would drop this process's locks on it.
    private static func makeFile(at path: String) {
        let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        if descriptor >= 0 { close(descriptor) }
    }

    deinit {
        sqlite3_close_v2(connection)  // waits for statements that are still referenced elsewhere
        watch.deinitialize(count: 1)
        watch.deallocate()
    }

    /// Runs one or more statements that take no values. Rows, if any, are discarded.
    ///
    /// - Throws: ``SQLiteFailure`` of the first statement that fails; later ones do not run.
    public func execute(_ sql: String) throws(SQLiteFailure) {
        let code = sqlite3_exec(connection, sql, nil, nil, nil)
        guard code == SQLITE_OK else { throw SQLiteFailure(code: code, connection: connection) }
    }

    /// Compiles one statement, which can be kept and run many times.
    ///
    /// - Throws: ``SQLiteFailure`` when SQLite cannot compile it.
    public func prepare(_ sql: String) throws(SQLiteFailure) -> Statement {
        try Statement(sql, on: self)
    }

    /// The first column of the first row as an integer; `nil` when there is no row. For pragmas and single counts.
    ///
    /// - Throws: ``SQLiteFailure`` when SQLite cannot compile or run it.
    public func integer(_ sql: String) throws(SQLiteFailure) -> Int64? {
        let statement = try prepare(sql)
        return try statement.step() ? statement.integer(0) : nil
    }

    /// The first column of the first row as text; `nil` when there is no row.
    ///
    /// - Throws: ``SQLiteFailure`` when SQLite cannot compile or run it.
    public func text(_ sql: String) throws(SQLiteFailure) -> String? {
        let statement = try prepare(sql)
        return try statement.step() ? statement.text(0) : nil
    }

    /// The number of rows changed by the last `INSERT`, `UPDATE` or `DELETE`.
    public var changes: Int { Int(sqlite3_changes64(connection)) }

    /// The rowid of the last successful `INSERT`.
    public var lastInsertedRow: Int64 { sqlite3_last_insert_rowid(connection) }

    /// True between `BEGIN` and `COMMIT` or `ROLLBACK`. Some failures roll back automatically.
    public var isInTransaction: Bool { sqlite3_get_autocommit(connection) == 0 }

    /// The number of pages in the write-ahead log after this connection's last commit.
    public var walPages: Int { watch.pointee.walPages }

    /// The moment of the monotonic clock, in nanoseconds, at which a running statement fails with
    /// ``SQLiteFailure/Kind/interrupted``; `nil` sets no deadline.
    public var deadline: UInt64? {
        get { watch.pointee.deadline == .max ? nil : watch.pointee.deadline }
        set { watch.pointee.deadline = newValue ?? .max }
    }

    /// The extent of a checkpoint (<https://www.sqlite.org/c3ref/wal_checkpoint_v2.html>).
    public enum Checkpoint: Sendable {
        /// Copies as many pages as possible without waiting for other connections.
        case passive
        /// Waits for readers, so that the next commit restarts the log from the beginning.
        case restart
        /// As ``restart``, and truncates the log file to zero bytes.
        case truncate
    }

    /// Copies pages of the write-ahead log into the database file.
    ///
    /// - Returns: true if the whole log was copied.
    /// - Throws: ``SQLiteFailure`` when another connection is in the way of a mode that does not tolerate it, or for a
    ///   fault of the file system.
    @discardableResult
    public func checkpoint(_ checkpoint: Checkpoint) throws(SQLiteFailure) -> Bool {
        let mode =
            switch checkpoint {
            case .passive: SQLITE_CHECKPOINT_PASSIVE
            case .restart: SQLITE_CHECKPOINT_RESTART
            case .truncate: SQLITE_CHECKPOINT_TRUNCATE
            }
        var logged: Int32 = 0
        var copied: Int32 = 0
        let code = sqlite3_wal_checkpoint_v2(connection, nil, mode, &logged, &copied)
        guard code == SQLITE_OK else { throw SQLiteFailure(code: code, connection: connection) }
        return logged == copied
    }
}

/// The state that SQLite's callbacks read and write; used only on the connection's thread.
private struct Watch {
    var walPages = 0
    var deadline = UInt64.max
}

private func countFrames(
    _ context: UnsafeMutableRawPointer?, _: OpaquePointer?, _: UnsafePointer<CChar>?, _ pages: Int32
) -> Int32 {
    context?.assumingMemoryBound(to: Watch.self).pointee.walPages = Int(pages)
    return SQLITE_OK
}

private func isOverdue(_ context: UnsafeMutableRawPointer?) -> Int32 {
    guard let deadline = context?.assumingMemoryBound(to: Watch.self).pointee.deadline, deadline != .max else {
        return 0
    }
    var now = timespec()
    clock_gettime(CLOCK_MONOTONIC, &now)
    return UInt64(now.tv_sec) * 1_000_000_000 + UInt64(now.tv_nsec) > deadline ? 1 : 0
}

extension Duration {
    fileprivate var milliseconds: Int64 { components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000 }
}

extension SQLiteFailure {
    /// Reads the connection's latest failure. Copies SQLite's message before the next call replaces it.
    init(code: Int32, connection: OpaquePointer?) {
        let text = connection.flatMap(sqlite3_errmsg) ?? sqlite3_errstr(code)
        self.init(kind: Kind(code: code), code: code, message: text.map { String(cString: $0) } ?? "no message")
    }
}

extension SQLiteFailure.Kind {
    /// The primary code is the low byte of the extended one.
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

/// A failure of SQLite: the kind, for code that decides, and SQLite's own message, for the log.
///
/// The message may contain SQL and file names, so it goes to the log and never to a client.
public struct SQLiteFailure: Error, Sendable, Equatable {
    /// The category of the failure.
    public enum Kind: Sendable, Equatable {
        /// Another connection held the lock for longer than the busy timeout (`SQLITE_BUSY`, `SQLITE_LOCKED`).
        case busy
        /// The disk is full, or the database has reached its page limit (`SQLITE_FULL`).
        case full
        /// The file system failed (`SQLITE_IOERR` and related codes, `SQLITE_PROTOCOL`).
        case io
        /// The file cannot be opened or written (`SQLITE_CANTOPEN`, `SQLITE_READONLY`, `SQLITE_PERM`, `SQLITE_AUTH`).
        case access
        /// The file is not a database, or is damaged (`SQLITE_CORRUPT`, `SQLITE_NOTADB`).
        case corrupt
        /// A uniqueness or check constraint rejected the row (`SQLITE_CONSTRAINT`).
        case constraint
        /// The statement ran past its deadline (`SQLITE_INTERRUPT`).
        case interrupted
        /// A value or the memory needed for it is too large (`SQLITE_TOOBIG`, `SQLITE_NOMEM`).
        case tooLarge
        /// The file was written by a newer program: the version found and the newest one known here.
        case newerSchema(found: Int, known: Int)
        /// Any other failure; most are mistakes in the calling code.
        case other
    }

    /// The category of the failure.
    public let kind: Kind
    /// SQLite's extended result code (<https://www.sqlite.org/rescode.html>); 0 when SQLite itself reported no error.
    public let code: Int32
    /// SQLite's message, for the log.
    public let message: String

    /// - Parameter code: 0 for failures that callers of this module add, for example on opening.
    public init(kind: Kind, code: Int32 = 0, message: String) {
        self.kind = kind
        self.code = code
        self.message = message
    }
}

extension SQLiteFailure: CustomStringConvertible {
    /// The kind, code and message, for the log.
    public var description: String { "SQLite \(kind) (\(code)): \(message)" }
}
