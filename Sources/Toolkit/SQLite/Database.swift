import CSQLite
import Glibc

/// One connection to a SQLite file, used by one thread at a time.
///
/// Opened without SQLite's own mutexes (`SQLITE_OPEN_NOMUTEX`): the type is not `Sendable`, so the compiler holds the
/// connection and its statements to one owner, and nothing is locked twice. The write-ahead log is copied back only by
/// ``checkpoint(_:)``: the hook that counts its pages takes the place of SQLite's automatic one, so a writer decides itself
/// when to pay for it (`PRAGMA wal_autocheckpoint` would put the automatic one back).
public final class Database {
    /// What a connection may do.
    public enum Mode: Sendable {
        /// Reads and writes; makes the file if it is missing.
        case readWrite
        /// Reads only; the file must exist.
        case readOnly
    }

    /// SQLite would take a lock of the whole process with each allocation to count them, and nobody reads the counts.
    private static let preparation: Int32 = shim_keep_no_memory_statistics()

    let connection: OpaquePointer
    /// Lives on the heap because SQLite's callbacks keep its address.
    private let watch: UnsafeMutablePointer<Watch>

    /// How long a statement waits for a lock another connection holds before it fails with ``SQLiteFailure/Kind/busy``.
    public var busyTimeout: Duration {
        didSet { sqlite3_busy_timeout(connection, Int32(clamping: busyTimeout.milliseconds)) }
    }

    /// Opens `path` (`:memory:` for a database that lives and dies with the connection).
    ///
    /// A file that has to be made gets mode 0600, whatever the process's mask; SQLite gives the files beside it the same mode.
    /// ``Mode/readOnly`` makes none, and the mode of a file that exists stays.
    ///
    /// - Parameter busyTimeout: how long a statement waits for a lock another connection holds before it fails with
    ///   ``SQLiteFailure/Kind/busy``.
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
            sqlite3_close_v2(handle)  // SQLite hands out a handle even for most failed opens
            throw failure
        }
        connection = handle
        self.busyTimeout = busyTimeout
        watch = .allocate(capacity: 1)
        watch.initialize(to: Watch())
        sqlite3_busy_timeout(handle, Int32(clamping: busyTimeout.milliseconds))
        sqlite3_wal_hook(handle, countFrames, watch)
        // A look at the clock every 20,000 steps of SQLite's machine (a few ms): too rare to cost, often enough for a deadline.
        sqlite3_progress_handler(handle, 20_000, isOverdue, watch)
    }

    /// Makes an empty file, which SQLite takes for an empty database. SQLite reports whatever prevents that when it opens the
    /// file. One that exists is not opened: closing it would drop the locks that this process has on it.
    private static func makeFile(at path: String) {
        let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        if descriptor >= 0 { close(descriptor) }
    }

    deinit {
        sqlite3_close_v2(connection)  // waits for statements that are still held elsewhere
        watch.deinitialize(count: 1)
        watch.deallocate()
    }

    /// Runs one or several statements that take no values and whose rows, if any, nobody wants.
    public func execute(_ sql: String) throws(SQLiteFailure) {
        let code = sqlite3_exec(connection, sql, nil, nil, nil)
        guard code == SQLITE_OK else { throw SQLiteFailure(code: code, connection: connection) }
    }

    /// Compiles one statement, to be kept and run many times.
    public func prepare(_ sql: String) throws(SQLiteFailure) -> Statement {
        try Statement(sql, on: self)
    }

    /// The first column of the first row as an integer; `nil` when there is no row. For pragmas and single counts.
    public func integer(_ sql: String) throws(SQLiteFailure) -> Int64? {
        let statement = try prepare(sql)
        return try statement.step() ? statement.integer(0) : nil
    }

    /// The first column of the first row as text; `nil` when there is no row.
    public func text(_ sql: String) throws(SQLiteFailure) -> String? {
        let statement = try prepare(sql)
        return try statement.step() ? statement.text(0) : nil
    }

    /// Rows the last `INSERT`, `UPDATE` or `DELETE` touched.
    public var changes: Int { Int(sqlite3_changes64(connection)) }

    /// The rowid the last successful `INSERT` gave.
    public var lastInsertedRow: Int64 { sqlite3_last_insert_rowid(connection) }

    /// True between `BEGIN` and `COMMIT` or `ROLLBACK`; some failures roll back by themselves.
    public var isInTransaction: Bool { sqlite3_get_autocommit(connection) == 0 }

    /// Pages in the write-ahead log as of this connection's last commit.
    public var walPages: Int { watch.pointee.walPages }

    /// Statements still running at this moment of the monotonic clock fail with ``SQLiteFailure/Kind/interrupted``;
    /// `nil` lets them run.
    public var deadline: UInt64? {
        get { watch.pointee.deadline == .max ? nil : watch.pointee.deadline }
        set { watch.pointee.deadline = newValue ?? .max }
    }

    /// How far a checkpoint goes (<https://www.sqlite.org/c3ref/wal_checkpoint_v2.html>).
    public enum Checkpoint: Sendable {
        /// As many pages as possible without waiting for anyone.
        case passive
        /// Waits for readers, so that the next commit begins the log anew.
        case restart
        /// As ``restart``, and cuts the log file to nothing.
        case truncate
    }

    /// Copies pages of the write-ahead log into the database file.
    ///
    /// - Returns: true if the whole log was copied.
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

/// What SQLite's callbacks leave behind or look at; touched only on the connection's thread.
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
