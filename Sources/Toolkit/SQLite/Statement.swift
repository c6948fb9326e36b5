import CSQLite

/// A compiled SQL statement. Parameters are numbered from 1 and columns from 0. After ``reset()``, the statement can be
/// run again.
///
/// The functions that bind values do not throw. If a value cannot be bound (for instance a text above SQLite's limit),
/// the next ``step()`` throws the error.
public final class Statement {
    private let handle: OpaquePointer
    /// A reference that keeps the connection open. SQLite reports no error if a connection is closed before its
    /// statements.
    private let database: Database
    private var bindFailure: Int32 = SQLITE_OK
    /// A bit for each of the first 64 parameters: 1 if a value was bound to the parameter after it was NULL. All
    /// parameters are NULL at first, and SQLite keeps their values when the statement is reset.
    private var nonNull: UInt64 = 0

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

    /// Binds an integer to the parameter at a position.
    public func bind(_ value: Int64, at position: Int32) {
        setResult(sqlite3_bind_int64(handle, position, value), at: position)
    }

    /// Binds an integer to the parameter at a position.
    public func bind(_ value: Int, at position: Int32) { bind(Int64(value), at: position) }

    /// Binds an integer to the parameter at a position; `nil` binds NULL.
    public func bind(_ value: Int64?, at position: Int32) {
        if let value { bind(value, at: position) } else { bindNull(at: position) }
    }

    /// Binds a floating point number to the parameter at a position.
    public func bind(_ value: Double, at position: Int32) {
        setResult(sqlite3_bind_double(handle, position, value), at: position)
    }

    /// Binds a text to the parameter at a position. SQLite copies the text.
    public func bind(_ value: String, at position: Int32) {
        var value = value
        value.withUTF8 {
            setResult(
                sqlite3_bind_text64(handle, position, $0.orEmpty, UInt64($0.count), transient, UInt8(SQLITE_UTF8)),
                at: position)
        }
    }

    /// Binds a text to the parameter at a position; `nil` binds NULL. SQLite copies the text.
    public func bind(_ value: String?, at position: Int32) {
        if let value { bind(value, at: position) } else { bindNull(at: position) }
    }

    /// Binds bytes as a blob to the parameter at a position. SQLite copies the bytes.
    public func bind(_ value: some Collection<UInt8>, at position: Int32) {
        let copied: Void? = value.withContiguousStorageIfAvailable { bindCopy($0, at: position) }
        if copied == nil { Array(value).withUnsafeBufferPointer { bindCopy($0, at: position) } }
    }

    /// Binds NULL to the parameter at a position.
    public func bindNull(at position: Int32) {
        let bit = Self.bit(of: position)
        guard bit == 0 || nonNull & bit != 0 else { return }
        setResult(sqlite3_bind_null(handle, position), at: position)
        nonNull &= ~bit
    }

    /// Binds a text without copying it. The memory must stay valid until ``reset()``.
    ///
    /// Use it for a large value. Call this function, and run and reset the statement, inside the closure that provides
    /// the buffer.
    public func bindInPlace(text: UnsafeBufferPointer<UInt8>, at position: Int32) {
        setResult(
            sqlite3_bind_text64(handle, position, text.orEmpty, UInt64(text.count), nil, UInt8(SQLITE_UTF8)),
            at: position)
    }

    /// Binds bytes as a blob without copying them. The memory must stay valid until ``reset()``.
    public func bindInPlace(bytes: UnsafeBufferPointer<UInt8>, at position: Int32) {
        setResult(sqlite3_bind_blob64(handle, position, bytes.orEmpty, UInt64(bytes.count), nil), at: position)
    }

    private func bindCopy(_ bytes: UnsafeBufferPointer<UInt8>, at position: Int32) {
        setResult(sqlite3_bind_blob64(handle, position, bytes.orEmpty, UInt64(bytes.count), transient), at: position)
    }

    private func setResult(_ code: Int32, at position: Int32) {
        nonNull |= Self.bit(of: position)
        if code != SQLITE_OK, bindFailure == SQLITE_OK { bindFailure = code }
    }

    /// The bit of a parameter in ``nonNull``; 0 for a parameter that has none.
    private static func bit(of position: Int32) -> UInt64 { 1 << UInt64(truncatingIfNeeded: position &- 1) }

    // MARK: Running

    /// Runs the statement up to the next row.
    ///
    /// - Returns: true when there is a row, false when no row is left. When no row is left, call ``reset()`` before
    ///   binding other values.
    /// - Throws: ``SQLiteFailure`` when a value could not be bound or SQLite cannot run the statement. The statement is
    ///   then reset.
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

    /// Resets the statement, so that it can be run again. The bound values are not changed.
    ///
    /// A statement that is not reset keeps a read transaction open, so call this function after every loop over rows.
    public func reset() {
        sqlite3_reset(handle)  // its code repeats the error that step() has already thrown
        bindFailure = SQLITE_OK
    }

    /// Runs a statement to its end, ignores its rows, and resets it.
    ///
    /// - Throws: the errors of ``step()``.
    public func run() throws(SQLiteFailure) {
        while try step() {}
        reset()
    }

    /// Calls `body` for each row until it returns false, and always resets the statement at the end.
    ///
    /// - Throws: the errors of ``step()``, and the error that `body` throws.
    public func forEachRow(_ body: (Statement) throws(SQLiteFailure) -> Bool) throws(SQLiteFailure) {
        defer { reset() }
        while try step() {
            if try !body(self) { return }
        }
    }

    // MARK: Columns

    /// Returns the value of a column as an integer; 0 for NULL.
    public func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(handle, column) }

    /// Returns the value of a column as a floating point number; 0 for NULL.
    public func double(_ column: Int32) -> Double { sqlite3_column_double(handle, column) }

    /// The kinds of values in a column.
    public enum ColumnKind: Sendable { case null, integer, double, text, bytes }

    /// Returns the kind of the value that is stored in a column of the current row.
    public func kind(_ column: Int32) -> ColumnKind {
        switch sqlite3_column_type(handle, column) {
        case SQLITE_INTEGER: .integer
        case SQLITE_FLOAT: .double
        case SQLITE_TEXT: .text
        case SQLITE_BLOB: .bytes
        default: .null
        }
    }

    /// Returns true if the value of a column is NULL.
    public func isNull(_ column: Int32) -> Bool { sqlite3_column_type(handle, column) == SQLITE_NULL }

    /// Returns the value of a column as an integer; `nil` for NULL.
    public func optionalInteger(_ column: Int32) -> Int64? { isNull(column) ? nil : integer(column) }

    /// Returns the value of a column as text; an empty text for NULL.
    public func text(_ column: Int32) -> String {
        withBytes(column) { String(decoding: $0, as: UTF8.self) }
    }

    /// Returns the value of a column as text; `nil` for NULL.
    public func optionalText(_ column: Int32) -> String? { isNull(column) ? nil : text(column) }

    /// Returns a copy of the bytes of a column; empty for NULL.
    public func bytes(_ column: Int32) -> [UInt8] { withBytes(column) { Array($0) } }

    /// Calls `body` with the bytes of a column, without copying them. The bytes are valid only while `body` runs.
    public func withBytes<Result>(_ column: Int32, _ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        // SQLite requires that the pointer is requested before the length (sqlite.org/c3ref/column_blob.html).
        let start = sqlite3_column_blob(handle, column)
        let count = Int(sqlite3_column_bytes(handle, column))
        return body(
            UnsafeBufferPointer(start: start?.assumingMemoryBound(to: UInt8.self), count: start == nil ? 0 : count))
    }
}

/// The C macro `SQLITE_TRANSIENT`, which Swift cannot import. It makes SQLite copy the value before the bind returns.
private let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

/// The address that is bound for empty values, because SQLite treats a null pointer as NULL.
nonisolated(unsafe) private let somewhere = UnsafeMutablePointer<UInt8>.allocate(capacity: 1)  // never read or written

extension UnsafeBufferPointer<UInt8> {
    fileprivate var orEmpty: UnsafePointer<UInt8> { baseAddress ?? UnsafePointer(somewhere) }
}
