internal import CMicrohttpd
import Glibc

/// A response object of libmicrohttpd. This value owns one reference and releases it in its `deinit`. The library holds
/// another reference while it sends the response.
struct MHDResponse: ~Copyable {
    private let response: OpaquePointer
    private let status: UInt32
    private let connection: OpaquePointer
    private(set) var hasDroppedFields = false

    init?(_ answer: Response, isHead: Bool, exchange: Exchange) {
        let made: OpaquePointer?
        switch answer.body {
        case .empty:
            made =
                answer.status == 304
                ? Self.withoutLength() : MHD_create_response_from_buffer(0, nil, .RESPMEM_PERSISTENT)
        case .bytes(let bytes):
            made = bytes.withUnsafeBytes { shim_make_response($0.count, $0.baseAddress, 1) }
        case .fixed(let bytes):
            made = shim_make_response(bytes.buffer.count, bytes.buffer.baseAddress, 0)
        case .pieces(let pieces):
            made = isHead ? Self.withoutLength() : PieceSource(pieces, exchange: exchange).makeResponse()
        case .stream, .deferred:
            made = Self.withoutLength()
        }
        guard let made else { return nil }
        response = made
        status = UInt32(clamping: answer.status)
        connection = exchange.connection
        add(answer, exchange)
    }

    /// Creates the response for a stream that the library sends. Returns `nil` when the library cannot create the
    /// response.
    init?(_ answer: Response, outlet: MHDStreamOutlet, exchange: Exchange) {
        guard let made = outlet.makeResponse() else { return nil }
        response = made
        status = UInt32(clamping: answer.status)
        connection = exchange.connection
        add(answer, exchange)
    }

    deinit {
        MHD_destroy_response(response)
    }

    @discardableResult
    func add(_ name: String, _ value: String) -> Bool {
        name.withCString { cName in
            value.withCString { cValue in
                strlen(cName) == name.utf8.count && strlen(cValue) == value.utf8.count
                    && MHD_add_response_header(response, cName, cValue) == .YES
            }
        }
    }

    /// Adds the header fields of a response. Drops fields with line breaks, which the library rejects, and fields with
    /// a NUL, which would end the C string.
    private mutating func add(_ answer: Response, _ exchange: Exchange) {
        for header in answer.headers where !header.value.isEmpty && !add(header.name, header.value) {
            hasDroppedFields = true
        }
        add("Date", exchange.core.date.updated().text)
        if let id = exchange.head?.id { add("X-Request-Id", id) }
        add("X-Content-Type-Options", "nosniff")
    }

    func queue() -> MHD_Result {
        MHD_queue_response(connection, status, response)
    }

    /// Creates a response without a body and without a `Content-Length`, for a 304 response or the response to HEAD
    /// when the length is unknown. Returns nil when memory cannot be allocated.
    ///
    /// The connection is closed after the response. If the response were chunked instead, the library would send the
    /// marker of the last chunk after the header.
    private static func withoutLength() -> OpaquePointer? {
        let response = MHD_create_response_from_callback(.max, 1, { _, _, _, _ in -1 }, nil, nil)
        if let response { shim_set_http10_strict(response) }
        return response
    }
}
