/// An answer: status, header fields in order, body.
///
/// The server adds `Date`, `Content-Length`, `X-Request-Id`, `X-Content-Type-Options: nosniff` and what CORS asks for.
/// A field whose name or value holds CR, LF or NUL is dropped and logged: it would split the header.
public struct Response: Sendable {
    /// 200...599. A 304 that carries the body its 200 would have is sent without it, but with its length; without one
    /// the connection is closed, because only a wrong length could be said (RFC 9110, 8.6).
    public var status: Int
    /// Header fields in the order they are sent.
    public var headers: [(name: String, value: String)]
    public var body: ResponseBody

    public init(status: Int, headers: [(name: String, value: String)] = [], body: ResponseBody = .empty) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// Bytes of a media type.
    public init(status: Int = 200, contentType: String, body: [UInt8]) {
        self.init(status: status, headers: [("Content-Type", contentType)], body: .bytes(body))
    }

    /// JSON that is printed already.
    public static func json(
        _ body: [UInt8], status: Int = 200, headers: [(name: String, value: String)] = []
    ) -> Response {
        var response = Response(status: status, contentType: "application/json", body: body)
        if !headers.isEmpty { response.headers += headers }
        return response
    }

    /// Plain UTF-8 text.
    public static func text(_ text: String, status: Int = 200) -> Response {
        Response(status: status, contentType: "text/plain; charset=utf-8", body: Array(text.utf8))
    }

    /// A status without a body.
    public static func empty(status: Int = 204, headers: [(name: String, value: String)] = []) -> Response {
        Response(status: status, headers: headers, body: .empty)
    }

    /// A live stream: the connection leaves libmicrohttpd and is handed to `onOpen` on the loop.
    public static func stream(_ opening: StreamOpening) -> Response {
        Response(status: 200, headers: [], body: .stream(opening))
    }

    /// An answer that somebody else gives, later.
    public static func late(_ opening: DeferredStart) -> Response {
        Response(status: 200, headers: [], body: .late(opening))
    }
}
