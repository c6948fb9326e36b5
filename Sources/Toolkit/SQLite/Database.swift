import CSQLite
import Glibc

/// One connection to an SQLite database. Only one thread at a time may use it.
///
/// The connection is opened without SQLite's own mutexes (`SQLITE_OPEN_NOMUTEX`). The mutexes are not needed, because
/// the type is not `Sendable`, so the compiler ensures that one owner uses the connection and its statements. There are
/// no automatic checkpoints: only ``checkpoint(_:)`` copies the write-ahead log into the database, so that the writer
/// decides when the copy happens. Do not execute `PRAGMA wal_autocheckpoint`, because it would restore automatic
/// checkpoints.
public final class Database {
    /// The access mode of a connection.
    public enum Mode: Sendable {
        /// Allows reading and writing. Creates the file if it does not exist.
        case readWrite
        /// Allows only reading. The file must exist.
        case readOnly
    }

    /// Turns off SQLite's memory statistics at the first access. The statistics are not used. To update them, SQLite
    /// would take a lock of the whole process at each allocation.
    private static let preparation: Int32 = shim_keep_no_memory_statistics()

    let connection: OpaquePointer
    /// The state that SQLite's callbacks read and write. It is on the heap, because the callbacks use its address.
    private let watch: UnsafeMutablePointer<Watch>

    /// The maximum time that a statement waits for a lock of another connection. After this time, the statement fails
    /// with ``SQLiteFailure/Kind/busy``.
    public var busyTimeout: Duration {
        didSet { sqlite3_busy_timeout(connection, Int32(clamping: busyTimeout.milliseconds)) }
    }

    /// Opens the file at `path`. The path `:memory:` creates a database in memory that exists as long as the
    /// connection.
    ///
    /// A new file has the permissions 0600, regardless of the umask. SQLite uses the same permissions for its
    /// additional files (`-wal`, `-shm`). ``Mode/readOnly`` creates no file. The permissions of an existing file are
    /// not changed.
    ///
    /// - Parameter busyTimeout: the maximum time that a statement waits for a lock of another connection; see
    ///   ``busyTimeout``.
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
        // SQLite calls the handler every 20,000 steps of its virtual machine (a few ms) to check the deadline. This is
        // frequent enough for a deadline and costs almost nothing.
        sqlite3_progress_handler(handle, 20_000, isOverdue, watch)
    }

    /// Creates an empty file, which SQLite treats as an empty database. Errors are ignored, because SQLite reports them
    /// when it opens the file. An existing file is not opened, because closing it would release this process's locks on
    /// the file.
    private static func makeFile(at path: String) {
        let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        if descriptor >= 0 { close(descriptor) }
    }

    deinit {
        sqlite3_close_v2(connection)  // waits for statements that are still referenced elsewhere
        watch.deinitialize(count: 1)
        watch.deallocate()
    }

    /// Runs one or more statements without parameters. The rows that they return are discarded.
    ///
    /// - Throws: the ``SQLiteFailure`` of the first statement that fails. The statements after it do not run.
    public func execute(_ sql: String) throws(SQLiteFailure) {
        let code = sqlite3_exec(connection, sql, nil, nil, nil)
        guard code == SQLITE_OK else { throw SQLiteFailure(code: code, connection: connection) }
    }

    /// Compiles one statement, which can be run many times.
    ///
    /// - Throws: ``SQLiteFailure`` when SQLite cannot compile the statement.
    public func prepare(_ sql: String) throws(SQLiteFailure) -> Statement {
        try Statement(sql, on: self)
    }

    /// Runs a statement and returns the first column of its first row as an integer; `nil` when there is no row. Use it
    /// for pragmas and counts.
    ///
    /// - Throws: ``SQLiteFailure`` when SQLite cannot compile or run the statement.
    public func integer(_ sql: String) throws(SQLiteFailure) -> Int64? {
        let statement = try prepare(sql)
        return try statement.step() ? statement.integer(0) : nil
    }

    /// Runs a statement and returns the first column of its first row as text; `nil` when there is no row.
    ///
    /// - Throws: ``SQLiteFailure`` when SQLite cannot compile or run the statement.
    public func text(_ sql: String) throws(SQLiteFailure) -> String? {
        let statement = try prepare(sql)
        return try statement.step() ? statement.text(0) : nil
    }

    /// The number of rows changed by the last `INSERT`, `UPDATE` or `DELETE`.
    public var changes: Int { Int(sqlite3_changes64(connection)) }

    /// The rowid of the last successful `INSERT`.
    public var lastInsertedRow: Int64 { sqlite3_last_insert_rowid(connection) }

    /// True when a transaction is open. After some failures, SQLite rolls back the transaction automatically.
    public var isInTransaction: Bool { sqlite3_get_autocommit(connection) == 0 }

    /// The number of pages in the write-ahead log after this connection's last commit.
    public var walPages: Int { watch.pointee.walPages }

    /// The time, in nanoseconds of the monotonic clock, after which a running statement fails with
    /// ``SQLiteFailure/Kind/interrupted``; `nil` means no deadline.
    public var deadline: UInt64? {
        get { watch.pointee.deadline == .max ? nil : watch.pointee.deadline }
        set { watch.pointee.deadline = newValue ?? .max }
    }

    /// The mode of a checkpoint (<https://www.sqlite.org/c3ref/wal_checkpoint_v2.html>).
    public enum Checkpoint: Sendable {
        /// Copies as many pages as possible without waiting for other connections.
        case passive
        /// Copies all pages and waits for readers, so that the next commit writes to the beginning of the log.
        case restart
        /// Does the same as ``restart``, and also truncates the log file to zero bytes.
        case truncate
    }

    /// Copies pages of the write-ahead log into the database file.
    ///
    /// - Returns: true if the whole log was copied.
    /// - Throws: ``SQLiteFailure`` when another connection prevents a checkpoint of this mode, or when the file system
    ///   fails.
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

/// The state of a connection that SQLite's callbacks read and write. Used only on the thread that uses the connection.
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
    /// Creates the failure from the connection's latest error. Copies SQLite's message, because the next call replaces
    /// it.
    init(code: Int32, connection: OpaquePointer?) {
        let text = connection.flatMap(sqlite3_errmsg) ?? sqlite3_errstr(code)
        self.init(kind: Kind(code: code), code: code, message: text.map { String(cString: $0) } ?? "no message")
    }
}

extension SQLiteFailure.Kind {
    /// Creates the kind of an extended result code, whose low byte is the primary code.
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

/// A failure of SQLite, with its kind and with SQLite's message.
///
/// The message may contain SQL and file names, so write it only to the log and never send it to a client.
public struct SQLiteFailure: Error, Sendable, Equatable {
    /// The category of the failure.
    public enum Kind: Sendable, Equatable {
        /// Another connection has held a lock for longer than the busy timeout (`SQLITE_BUSY`, `SQLITE_LOCKED`).
        case busy
        /// The disk is full, or the database has reached its page limit (`SQLITE_FULL`).
        case full
        /// The file system failed (`SQLITE_IOERR` and related codes, `SQLITE_PROTOCOL`).
        case io
        /// The file cannot be opened or written (`SQLITE_CANTOPEN`, `SQLITE_READONLY`, `SQLITE_PERM`, `SQLITE_AUTH`).
        case access
        /// The file is not a database, or is damaged (`SQLITE_CORRUPT`, `SQLITE_NOTADB`).
        case corrupt
        /// A constraint, for instance a uniqueness constraint, has rejected a row (`SQLITE_CONSTRAINT`).
        case constraint
        /// The statement did not end before its deadline (`SQLITE_INTERRUPT`).
        case interrupted
        /// A value is too large, or memory cannot be allocated (`SQLITE_TOOBIG`, `SQLITE_NOMEM`).
        case tooLarge
        /// A newer program has written the file. `found` is the schema version of the file, and `known` the newest
        /// version that this program knows.
        case newerSchema(found: Int, known: Int)
        /// Any other failure, usually a mistake in the calling code.
        case other
    }

    /// The category of the failure.
    public let kind: Kind
    /// SQLite's extended result code (<https://www.sqlite.org/rescode.html>); 0 when SQLite itself reported no error.
    public let code: Int32
    /// The message of SQLite, for the log.
    public let message: String

    /// Creates a failure.
    ///
    /// - Parameter code: SQLite's result code; 0 for failures that do not come from SQLite, for instance on opening a
    ///   file.
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
