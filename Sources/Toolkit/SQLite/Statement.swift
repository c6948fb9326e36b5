import CSQLite

/// A compiled statement. Values are bound by position (from 1) and columns are read by index (from 0). After
/// ``reset()`` it can be used again.
///
/// A bind that fails (a text above SQLite's limit, no memory) is reported by the next ``step()``, so that call sites
/// stay one line per value.
public final class Statement {
    private let handle: OpaquePointer
    /// Keeps the connection open. SQLite allows the connection to close before its statements, and would report no
    /// error.
    private let database: Database
    private var bindFailure: Int32 = SQLITE_OK

    init(_ sql: String, on database: Database) throws(SQLiteFailure) {
        var sql = sql
        var compiled: OpaquePointer?
        let code = sql.withUTF8 { text in
            text.withMemoryRebound(to: CChar.self) {
                sqlite3_prepare_v3(
                    database.connection, $0.baseAddress, Int32($0.count), UInt32(SQLITE_PREPARE_PERSISTENT), &compiled,
                    nil)
            }
        }
        guard code == SQLITE_OK else { throw SQLiteFailure(code: code, connection: database.connection) }
        guard let compiled else {
            throw SQLiteFailure(kind: .other, code: SQLITE_MISUSE, message: "the statement is empty")
        }
        handle = compiled
        self.database = database
    }

    deinit { sqlite3_finalize(handle) }

    // MARK: Binding

    /// Binds an integer.
    public func bind(_ value: Int64, at position: Int32) { setResult(sqlite3_bind_int64(handle, position, value)) }

    /// Binds an integer.
    public func bind(_ value: Int, at position: Int32) { bind(Int64(value), at: position) }

    /// Binds an integer, or NULL.
    public func bind(_ value: Int64?, at position: Int32) {
        if let value { bind(value, at: position) } else { bindNull(at: position) }
    }

    /// Binds a floating point number.
    public func bind(_ value: Double, at position: Int32) { setResult(sqlite3_bind_double(handle, position, value)) }

    /// Binds a copy of the text.
    public func bind(_ value: String, at position: Int32) {
        var value = value
        value.withUTF8 {
            setResult(
                sqlite3_bind_text64(handle, position, $0.orEmpty, UInt64($0.count), transient, UInt8(SQLITE_UTF8)))
        }
    }

    /// Binds a copy of the text, or NULL.
    public func bind(_ value: String?, at position: Int32) {
        if let value { bind(value, at: position) } else { bindNull(at: position) }
    }

    /// Binds a copy of the bytes as a blob.
    public func bind(_ value: some Collection<UInt8>, at position: Int32) {
        let copied: Void? = value.withContiguousStorageIfAvailable { bindCopy($0, at: position) }
        if copied == nil { Array(value).withUnsafeBufferPointer { bindCopy($0, at: position) } }
    }

    /// Binds NULL.
    public func bindNull(at position: Int32) { setResult(sqlite3_bind_null(handle, position)) }

    /// Binds text that SQLite reads in place. Nothing is copied, and the memory must stay valid until ``reset()``.
    ///
    /// For the one large value of a row; call it, and everything up to the reset, inside the closure that provides the
    /// buffer.
    public func bindInPlace(text: UnsafeBufferPointer<UInt8>, at position: Int32) {
        setResult(sqlite3_bind_text64(handle, position, text.orEmpty, UInt64(text.count), nil, UInt8(SQLITE_UTF8)))
    }

    /// As ``bindInPlace(text:at:)``, for a blob.
    public func bindInPlace(bytes: UnsafeBufferPointer<UInt8>, at position: Int32) {
        setResult(sqlite3_bind_blob64(handle, position, bytes.orEmpty, UInt64(bytes.count), nil))
    }

    private func bindCopy(_ bytes: UnsafeBufferPointer<UInt8>, at position: Int32) {
        setResult(sqlite3_bind_blob64(handle, position, bytes.orEmpty, UInt64(bytes.count), transient))
    }

    private func setResult(_ code: Int32) {
        if code != SQLITE_OK, bindFailure == SQLITE_OK { bindFailure = code }
    }

    // MARK: Running

    /// Advances to the next row.
    ///
    /// - Returns: false when no row is left; the statement must then be reset before it is bound again.
    /// - Throws: ``SQLiteFailure`` when a value could not be bound or SQLite cannot run the step. The statement is then
    ///   reset.
    public func step() throws(SQLiteFailure) -> Bool {
        if bindFailure != SQLITE_OK {
            let code = bindFailure
            reset()
            throw SQLiteFailure(code: code, connection: nil)
        }
        switch sqlite3_step(handle) {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        case let code:
            let failure = SQLiteFailure(code: code, connection: database.connection)
            reset()
            throw failure
        }
    }

    /// Makes the statement ready to be bound again and releases its snapshot. Bound values stay.
    ///
    /// A statement left between two rows keeps a read transaction open, so every loop over rows must end with a reset.
    public func reset() {
        sqlite3_reset(handle)  // its code repeats the error that step() has already thrown
        bindFailure = SQLITE_OK
    }

    /// Runs a statement that returns no rows, and resets it.
    ///
    /// - Throws: as ``step()``.
    public func run() throws(SQLiteFailure) {
        while try step() {}
        reset()
    }

    /// Calls `body` for each row and always resets the statement at the end. `body` returns false to stop early.
    ///
    /// - Throws: as ``step()``, and the error that `body` throws.
    public func forEachRow(_ body: (Statement) throws(SQLiteFailure) -> Bool) throws(SQLiteFailure) {
        defer { reset() }
        while try step() {
            if try !body(self) { return }
        }
    }

    // MARK: Columns

    /// The column as an integer; NULL reads as 0.
    public func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(handle, column) }

    /// The column as a floating point number; NULL reads as 0.
    public func double(_ column: Int32) -> Double { sqlite3_column_double(handle, column) }

    /// The kind of value in a column of the current row.
    public enum ColumnKind: Sendable { case null, integer, double, text, bytes }

    /// The kind of the column's value, as stored.
    public func kind(_ column: Int32) -> ColumnKind {
        switch sqlite3_column_type(handle, column) {
        case SQLITE_INTEGER: .integer
        case SQLITE_FLOAT: .double
        case SQLITE_TEXT: .text
        case SQLITE_BLOB: .bytes
        default: .null
        }
    }

    /// True if the column is NULL.
    public func isNull(_ column: Int32) -> Bool { sqlite3_column_type(handle, column) == SQLITE_NULL }

    /// The column as an integer, `nil` for NULL.
    public func optionalInteger(_ column: Int32) -> Int64? { isNull(column) ? nil : integer(column) }

    /// The column as text; NULL reads as "".
    public func text(_ column: Int32) -> String {
        withBytes(column) { String(decoding: $0, as: UTF8.self) }
    }

    /// The column as text, `nil` for NULL.
    public func optionalText(_ column: Int32) -> String? { isNull(column) ? nil : text(column) }

    /// A copy of the column's bytes.
    public func bytes(_ column: Int32) -> [UInt8] { withBytes(column) { Array($0) } }

    /// Passes the column's bytes, in place in SQLite's page, to `body`. They are valid only while `body` runs.
    public func withBytes<Result>(_ column: Int32, _ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        // Pointer first, length second: the order that SQLite requires (sqlite.org/c3ref/column_blob.html).
        let start = sqlite3_column_blob(handle, column)
        let count = Int(sqlite3_column_bytes(handle, column))
        return body(
            UnsafeBufferPointer(start: start?.assumingMemoryBound(to: UInt8.self), count: start == nil ? 0 : count))
    }
}

/// SQLite copies the value before the bind returns (the C macro `SQLITE_TRANSIENT`, which Swift cannot import).
private let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

/// SQLite treats a null pointer as NULL, so an empty value needs an address that is not null.
nonisolated(unsafe) private let somewhere = UnsafeMutablePointer<UInt8>.allocate(capacity: 1)  // never read or written

extension UnsafeBufferPointer<UInt8> {
    fileprivate var orEmpty: UnsafePointer<UInt8> { baseAddress ?? UnsafePointer(somewhere) }
}
