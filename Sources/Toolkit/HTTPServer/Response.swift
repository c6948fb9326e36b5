/// A response: status, header fields in order, body.
///
/// The server adds `Date`, `Content-Length`, `X-Request-Id`, `X-Content-Type-Options: nosniff` and the CORS fields. A
/// field whose name or value contains CR, LF or NUL is dropped and logged, because it would split the header.
public struct Response: Sendable {
    /// The status, 200...599. A 304 response may contain the body of the corresponding 200 response. The server then
    /// sends the length of that body, but not the body. After a 304 response without a body, the server closes the
    /// connection, because it does not know the length that it would have to send (RFC 9110, 8.6).
    public var status: Int
    /// The header fields, in the order in which they are sent.
    public var headers: [(name: String, value: String)]
    /// The body.
    public var body: ResponseBody

    /// Creates a response.
    public init(status: Int, headers: [(name: String, value: String)] = [], body: ResponseBody = .empty) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// Creates a response with a body of this media type.
    public init(status: Int = 200, contentType: String, body: [UInt8]) {
        self.init(status: status, contentType: contentType, body: .bytes(body))
    }

    private init(status: Int, contentType: String, body: ResponseBody) {
        self.init(status: status, body: body)
        // Most responses get a few more fields later.
        headers.reserveCapacity(4)
        headers.append(("Content-Type", contentType))
    }

    /// Creates a response whose body is this JSON text.
    public static func json(
        _ body: [UInt8], status: Int = 200, headers: [(name: String, value: String)] = []
    ) -> Response {
        json(.bytes(body), status: status, headers: headers)
    }

    /// Creates a response whose body is this JSON text.
    public static func json(
        _ body: ResponseBody, status: Int = 200, headers: [(name: String, value: String)] = []
    ) -> Response {
        var response = Response(status: status, contentType: "application/json", body: body)
        for header in headers { response.headers.append(header) }
        return response
    }

    /// Creates a response of plain UTF-8 text.
    public static func text(_ text: String, status: Int = 200) -> Response {
        Response(status: status, contentType: "text/plain; charset=utf-8", body: Array(text.utf8))
    }

    /// Creates a response without a body.
    public static func empty(status: Int = 204, headers: [(name: String, value: String)] = []) -> Response {
        Response(status: status, headers: headers, body: .empty)
    }

    /// Creates a live stream. The server takes the connection from libmicrohttpd and passes the stream to the `onOpen`
    /// closure of `opening`, on the loop.
    public static func stream(_ opening: StreamOpening) -> Response {
        Response(status: 200, headers: [], body: .stream(opening))
    }

    /// Creates a deferred response, which other code completes later.
    public static func deferred(_ opening: DeferredStart) -> Response {
        Response(status: 200, headers: [], body: .deferred(opening))
    }
}
