internal import CPostgres
internal import Glibc

/// The functions of libpq, PostgreSQL's client library, which is loaded at run time.
///
/// A program that opens no connection needs no libpq. The library is never unloaded, because results hold its memory.
final class Library: @unchecked Sendable {
    // `@unchecked Sendable` is safe, because the properties are constants: addresses of functions.

    /// The file of the library, which the dynamic linker finds in its usual folders.
    static let fileName = "libpq.so.5"

    let parseInfo:
        @convention(c) (
            UnsafePointer<CChar>?, UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
        ) -> UnsafeMutablePointer<PQconninfoOption>?
    let freeInfo: @convention(c) (UnsafeMutablePointer<PQconninfoOption>?) -> Void
    let freeMemory: @convention(c) (UnsafeMutableRawPointer?) -> Void

    let connectStart:
        @convention(c) (
            UnsafePointer<UnsafePointer<CChar>?>?, UnsafePointer<UnsafePointer<CChar>?>?, Int32
        ) -> OpaquePointer?
    let connectPoll: @convention(c) (OpaquePointer?) -> PostgresPollingStatusType
    let finish: @convention(c) (OpaquePointer?) -> Void
    let status: @convention(c) (OpaquePointer?) -> ConnStatusType
    let socket: @convention(c) (OpaquePointer?) -> Int32
    let errorMessage: @convention(c) (OpaquePointer?) -> UnsafeMutablePointer<CChar>?
    let needsPassword: @convention(c) (OpaquePointer?) -> Int32
    let setVerbosity: @convention(c) (OpaquePointer?, PGVerbosity) -> PGVerbosity
    let setNoticeReceiver:
        @convention(c) (OpaquePointer?, NoticeReceiver?, UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer?
    let setNonBlocking: @convention(c) (OpaquePointer?, Int32) -> Int32
    let enterPipelineMode: @convention(c) (OpaquePointer?) -> Int32

    let sendPrepare:
        @convention(c) (
            OpaquePointer?, UnsafePointer<CChar>?, UnsafePointer<CChar>?, Int32, UnsafePointer<UInt32>?
        ) -> Int32
    let sendPrepared:
        @convention(c) (
            OpaquePointer?, UnsafePointer<CChar>?, Int32, UnsafePointer<UnsafePointer<CChar>?>?,
            UnsafePointer<Int32>?, UnsafePointer<Int32>?, Int32
        ) -> Int32
    let sendUnnamed:
        @convention(c) (
            OpaquePointer?, UnsafePointer<CChar>?, Int32, UnsafePointer<UInt32>?,
            UnsafePointer<UnsafePointer<CChar>?>?, UnsafePointer<Int32>?, UnsafePointer<Int32>?, Int32
        ) -> Int32
    let pipelineSync: @convention(c) (OpaquePointer?) -> Int32
    let flush: @convention(c) (OpaquePointer?) -> Int32
    let consumeInput: @convention(c) (OpaquePointer?) -> Int32
    let isBusy: @convention(c) (OpaquePointer?) -> Int32
    let nextResult: @convention(c) (OpaquePointer?) -> OpaquePointer?

    let resultStatus: @convention(c) (OpaquePointer?) -> ExecStatusType
    let resultErrorField: @convention(c) (OpaquePointer?, Int32) -> UnsafeMutablePointer<CChar>?
    let rowCount: @convention(c) (OpaquePointer?) -> Int32
    let columnCount: @convention(c) (OpaquePointer?) -> Int32
    let columnType: @convention(c) (OpaquePointer?, Int32) -> UInt32
    let value: @convention(c) (OpaquePointer?, Int32, Int32) -> UnsafeMutablePointer<CChar>?
    let length: @convention(c) (OpaquePointer?, Int32, Int32) -> Int32
    let isNull: @convention(c) (OpaquePointer?, Int32, Int32) -> Int32
    let commandStatus: @convention(c) (OpaquePointer?) -> UnsafeMutablePointer<CChar>?
    let affectedRows: @convention(c) (OpaquePointer?) -> UnsafeMutablePointer<CChar>?
    let clear: @convention(c) (OpaquePointer?) -> Void

    typealias NoticeReceiver = @convention(c) (UnsafeMutableRawPointer?, OpaquePointer?) -> Void

    /// Loads the library.
    ///
    /// - Throws: ``PostgresFailure`` of the kind ``PostgresFailure/Kind/libraryMissing`` if the file does not exist or
    ///   is older than PostgreSQL 14.
    init(_ fileName: String) throws(PostgresFailure) {
        guard let handle = dlopen(fileName, RTLD_NOW | RTLD_LOCAL) else {
            throw PostgresFailure(
                kind: .libraryMissing,
                message: "PostgreSQL's client library \(fileName) is missing: install the Debian package libpq5")
        }
        let symbols = Symbols(handle: handle, fileName: fileName)
        parseInfo = try symbols.find("PQconninfoParse")
        freeInfo = try symbols.find("PQconninfoFree")
        freeMemory = try symbols.find("PQfreemem")
        connectStart = try symbols.find("PQconnectStartParams")
        connectPoll = try symbols.find("PQconnectPoll")
        finish = try symbols.find("PQfinish")
        status = try symbols.find("PQstatus")
        socket = try symbols.find("PQsocket")
        errorMessage = try symbols.find("PQerrorMessage")
        needsPassword = try symbols.find("PQconnectionNeedsPassword")
        setVerbosity = try symbols.find("PQsetErrorVerbosity")
        setNoticeReceiver = try symbols.find("PQsetNoticeReceiver")
        setNonBlocking = try symbols.find("PQsetnonblocking")
        enterPipelineMode = try symbols.find("PQenterPipelineMode")
        sendPrepare = try symbols.find("PQsendPrepare")
        sendPrepared = try symbols.find("PQsendQueryPrepared")
        sendUnnamed = try symbols.find("PQsendQueryParams")
        pipelineSync = try symbols.find("PQpipelineSync")
        flush = try symbols.find("PQflush")
        consumeInput = try symbols.find("PQconsumeInput")
        isBusy = try symbols.find("PQisBusy")
        nextResult = try symbols.find("PQgetResult")
        resultStatus = try symbols.find("PQresultStatus")
        resultErrorField = try symbols.find("PQresultErrorField")
        rowCount = try symbols.find("PQntuples")
        columnCount = try symbols.find("PQnfields")
        columnType = try symbols.find("PQftype")
        value = try symbols.find("PQgetvalue")
        length = try symbols.find("PQgetlength")
        isNull = try symbols.find("PQgetisnull")
        commandStatus = try symbols.find("PQcmdStatus")
        affectedRows = try symbols.find("PQcmdTuples")
        clear = try symbols.find("PQclear")
    }

    private struct Symbols {
        let handle: UnsafeMutableRawPointer
        let fileName: String

        func find<Function>(_ name: String) throws(PostgresFailure) -> Function {
            guard let address = dlsym(handle, name) else {
                throw PostgresFailure(
                    kind: .libraryMissing,
                    message: "\(fileName) has no function \(name): install libpq5 of PostgreSQL 14 or later")
            }
            return unsafeBitCast(address, to: Function.self)
        }
    }
}
