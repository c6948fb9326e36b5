internal import CPostgres

/// Owns one result of libpq.
final class ResultHandle: @unchecked Sendable {
    // `@unchecked Sendable` is safe, because libpq does not change a result after it has returned it, and `deinit`
    // runs after the last use.
    private let library: Library
    private let result: OpaquePointer

    init(_ library: Library, _ result: OpaquePointer) {
        self.library = library
        self.result = result
    }

    deinit { library.clear(result) }

    var status: ExecStatusType { library.resultStatus(result) }
    var rowCount: Int { Int(library.rowCount(result)) }
    var columnCount: Int { Int(library.columnCount(result)) }
    var commandTag: String { library.commandStatus(result).map { String(cString: $0) } ?? "" }
    var affectedRows: Int { library.affectedRows(result).map { Int(String(cString: $0)) ?? 0 } ?? 0 }

    func columnType(_ column: Int) -> UInt32 { library.columnType(result, Int32(column)) }

    func isNull(_ row: Int, _ column: Int) -> Bool { library.isNull(result, Int32(row), Int32(column)) != 0 }

    func withValue<Value>(_ row: Int, _ column: Int, _ body: (UnsafeRawBufferPointer) -> Value) -> Value {
        let start = library.value(result, Int32(row), Int32(column))
        let length = Int(library.length(result, Int32(row), Int32(column)))
        return body(UnsafeRawBufferPointer(start: start, count: length))
    }

    /// The server's error report.
    var sqlState: String? { field(Int32(PG_DIAG_SQLSTATE)) }
    var primaryMessage: String? { field(Int32(PG_DIAG_MESSAGE_PRIMARY)) }

    private func field(_ code: Int32) -> String? { library.resultErrorField(result, code).map { String(cString: $0) } }
}
