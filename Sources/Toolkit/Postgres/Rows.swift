/// The result of one statement: its rows, and the number of rows that it affected.
///
/// The rows stay in the memory of the client library until the last copy of this value is released. Rows and columns
/// are counted from 0. Reading a position that does not exist, or a value of another type than the function expects, is
/// a programming error and ends the program.
public struct Rows: Sendable {
    private let result: ResultHandle?
    /// The number of rows.
    public let count: Int
    /// The number of rows that the statement returned, inserted, updated or deleted; 0 for other statements.
    public let affected: Int
    /// The server's name of the command with its numbers, for instance `INSERT 0 5`. `COMMIT` of a failed transaction
    /// is not an error, but has the tag `ROLLBACK`.
    public let tag: String

    init(_ result: ResultHandle?) {
        self.result = result
        count = result?.rowCount ?? 0
        affected = result?.affectedRows ?? 0
        tag = result?.commandTag ?? ""
    }

    /// True when the value is NULL.
    public func isNull(_ row: Int, _ column: Int) -> Bool { handle(row, column).isNull(row, column) }

    /// The value of a `smallint`, `integer` or `bigint`; `nil` for NULL.
    public func integer(_ row: Int, _ column: Int) -> Int64? {
        read(row, column, "integer") { type in
            type == TypeID.bigint || type == TypeID.integer || type == TypeID.smallint
        } _: {
            $0.signedInteger ?? 0
        }
    }

    /// The value of a `text`, `varchar`, `json`, `jsonb` or another type whose binary form is its text; `nil` for NULL.
    public func text(_ row: Int, _ column: Int) -> String? {
        // The binary form of jsonb has a version number of one byte before the text.
        var prefix = 0
        return read(row, column, "text") { type in
            prefix = type == TypeID.jsonb ? 1 : 0
            return !TypeID.areNotText.contains(type)
        } _: {
            String(decoding: $0.dropFirst(prefix), as: UTF8.self)
        }
    }

    /// The value of a `bytea`; for other types, their binary form. `nil` for NULL.
    public func bytes(_ row: Int, _ column: Int) -> [UInt8]? { withBytes(row, column) { [UInt8]($0) } }

    /// The value of a `boolean`; `nil` for NULL.
    public func boolean(_ row: Int, _ column: Int) -> Bool? {
        read(row, column, "boolean", { $0 == TypeID.boolean }) { $0.first == 1 }
    }

    /// The value of a `real` or `double precision`; `nil` for NULL.
    public func double(_ row: Int, _ column: Int) -> Double? {
        read(row, column, "double", { $0 == TypeID.double || $0 == TypeID.real }) { bytes in
            bytes.count == 4
                ? Double(Float(bitPattern: bytes.bigEndian(UInt32.self)))
                : Double(bitPattern: bytes.bigEndian(UInt64.self))
        }
    }

    /// The elements of a `bigint[]` with one dimension; `nil` for NULL.
    public func integers(_ row: Int, _ column: Int) -> [Int64?]? {
        elements(row, column, "integers", TypeID.bigintArray) { $0.signedInteger }
    }

    /// The elements of a `text[]` with one dimension; `nil` for NULL.
    public func texts(_ row: Int, _ column: Int) -> [String?]? {
        elements(row, column, "texts", TypeID.textArray) { String(decoding: $0, as: UTF8.self) }
    }

    /// The elements of a `bytea[]` with one dimension; `nil` for NULL.
    public func byteStrings(_ row: Int, _ column: Int) -> [[UInt8]?]? {
        elements(row, column, "byteStrings", TypeID.bytesArray) { [UInt8]($0) }
    }

    /// Passes the binary form of a value to `body` without a copy. The bytes are valid only during the call. Returns
    /// `nil` for NULL, without a call of `body`.
    public func withBytes<Result>(_ row: Int, _ column: Int, _ body: (UnsafeRawBufferPointer) -> Result) -> Result? {
        let handle = handle(row, column)
        guard !handle.isNull(row, column) else { return nil }
        return handle.withValue(row, column, body)
    }

    private func elements<Element>(
        _ row: Int, _ column: Int, _ function: StaticString, _ type: UInt32,
        _ element: (UnsafeRawBufferPointer) -> Element?
    ) -> [Element?]? {
        read(row, column, function, { $0 == type }) { bytes in
            guard let elements = bytes.arrayElements(element) else {
                preconditionFailure("column \(column) has an array with more than one dimension")
            }
            return elements
        }
    }

    private func read<Result>(
        _ row: Int, _ column: Int, _ function: StaticString, _ isReadable: (UInt32) -> Bool,
        _ body: (UnsafeRawBufferPointer) -> Result
    ) -> Result? {
        let type = handle(row, column).columnType(column)
        precondition(isReadable(type), "\(function)() cannot read column \(column), whose type has the OID \(type)")
        return withBytes(row, column, body)
    }

    private func handle(_ row: Int, _ column: Int) -> ResultHandle {
        guard let result, row >= 0, row < count, column >= 0, column < result.columnCount else {
            preconditionFailure("there is no row \(row) with a column \(column)")
        }
        return result
    }
}
