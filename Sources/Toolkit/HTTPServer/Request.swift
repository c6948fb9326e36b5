import Glibc
public import Locking

/// One HTTP request. All of it has been received, except a body that is streamed.
///
/// A request is cheap to copy, because all copies share one immutable object with the received data. The strings of
/// header fields are created when they are read.
public struct Request: Sendable {
    /// The content of the request line and the header fields, shared by all copies of a request. Visible to other modules
    /// only so that the compiler can inline ``headers``, which otherwise copies the header fields.
    @usableFromInline
    final class Head: Sendable {
        let id: String
        let method: HTTPMethod
        /// Path and query as they were sent, without the question mark if the query is empty.
        let target: String
        /// The length of the path at the beginning of ``target``, in bytes of UTF-8.
        let pathSize: Int
        @usableFromInline let headers: Headers
        let remoteAddress: RemoteAddress
        let isSecure: Bool
        let receivedAt: MonotonicTime

        init(
            id: String, method: HTTPMethod, target: String, pathSize: Int, headers: Headers,
            remoteAddress: RemoteAddress, isSecure: Bool, receivedAt: MonotonicTime
        ) {
            self.id = id
            self.method = method
            self.target = target
            self.pathSize = pathSize
            self.headers = headers
            self.remoteAddress = remoteAddress
            self.isSecure = isSecure
            self.receivedAt = receivedAt
        }

        var path: String {
            pathSize == target.utf8.count ? target : withPath { String(decoding: $0, as: UTF8.self) }
        }

        /// Calls `body` with the bytes of the path.
        @inline(__always)
        func withPath<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
            // On Linux, all strings are stored as UTF-8. `withUTF8` would need a copy of the string.
            target.utf8.withContiguousStorageIfAvailable { body(UnsafeBufferPointer(rebasing: $0[..<pathSize])) }!
        }
    }

    @usableFromInline let head: Head

    /// The values of the route's `{name}` segments. Each segment is percent-decoded separately, so an encoded slash
    /// does not separate segments.
    public internal(set) var parameters = PathParameters()

    /// True when the route takes a body, whether or not this request has one.
    public internal(set) var takesBody = false

    /// The parameters after the `?`.
    public internal(set) var query: Query

    /// The body. The route's ``BodyPolicy`` determines whether the body has been received completely or is still
    /// arriving.
    public var body: RequestBody

    /// Information about the request for logging and counting; `nil` when no code needs it.
    public var annotations: RequestAnnotations?

    /// Creates a request for calling a ``Router`` without a socket.
    ///
    /// - Parameter target: a path with an optional `?query`, as in a request line. If the query cannot be decoded, the
    ///   request has no query parameters. A request that arrives over a socket is rejected with status 400 in this
    ///   case.
    public init(
        _ method: HTTPMethod, _ target: String, headers: Headers = Headers(), body: [UInt8] = [],
        remoteAddress: RemoteAddress = .loopback, isSecure: Bool = false
    ) {
        let mark = target.utf8.firstIndex(of: 0x3F) ?? target.utf8.endIndex
        let path = target[..<mark]
        let queryText = target[mark...].dropFirst()
        let head = Head(
            id: RequestID.accepted(headers["X-Request-Id"]) ?? RequestID.random(), method: method,
            target: queryText.isEmpty ? String(path) : target, pathSize: path.utf8.count, headers: headers,
            remoteAddress: remoteAddress, isSecure: isSecure, receivedAt: .now)
        self.init(head: head, query: Query(parsing: queryText.utf8) ?? Query(), body: RequestBody(bytes: body))
    }

    init(head: Head, query: Query, body: RequestBody) {
        self.head = head
        self.query = query
        self.body = body
    }

    /// The id of this request in responses, problems and logs. The id is the client's `X-Request-Id` if that field has
    /// 1 to 128 characters of `[A-Za-z0-9._-]`; otherwise the server generates an id. Every response contains the id in
    /// `X-Request-Id`.
    public var id: String { head.id }

    /// The method of the request line.
    public var method: HTTPMethod { head.method }

    /// The path as it was sent: percent-encoded, without the query.
    public var path: String { head.path }

    /// The bytes of ``path``.
    public var pathBytes: [UInt8] { head.withPath { Array($0) } }

    /// This request without its query parameters.
    public var withoutQuery: Request {
        var request = self
        request.query = Query()
        return request
    }

    /// Returns this request with one more header field.
    public func adding(header name: String, _ value: String) -> Request {
        var headers = head.headers
        headers.append(name: name, value: value)
        let head = Head(
            id: head.id, method: head.method, target: head.target, pathSize: head.pathSize, headers: headers,
            remoteAddress: head.remoteAddress, isSecure: head.isSecure, receivedAt: head.receivedAt)
        var request = Request(head: head, query: query, body: body)
        request.parameters = parameters
        request.takesBody = takesBody
        request.annotations = annotations
        return request
    }

    /// Path and query as they were sent.
    public var target: String { head.target }

    /// True when the target is longer than 1 KiB, for instance because of a long list of names, or the body is
    /// longer than 16 KiB. Parsing such a request may take half a millisecond or more. It is handled as long work
    /// outside the loop, because all other requests wait while the loop is busy.
    public var isLarge: Bool { head.target.utf8.count > 1024 || body.bytes.count > 16 * 1024 }

    /// The header fields.
    @inlinable public var headers: Headers { head.headers }

    /// The address at the other end of the connection. Behind a proxy this is the proxy's address.
    public var remoteAddress: RemoteAddress { head.remoteAddress }

    /// True when this process encrypts the connection.
    public var isSecure: Bool { head.isSecure }

    /// True when the other end of the connection is on this machine. Behind a proxy on this machine, this is true for
    /// every request.
    public var isLoopback: Bool { head.remoteAddress.isLoopback }

    /// The time at which the complete header had been received, on a monotonic clock.
    public var receivedAt: MonotonicTime { head.receivedAt }
}

/// The values of a route's `{name}` segments in one request.
public struct PathParameters: Sendable {
    private var items: [(name: String, value: String)] = []

    init(_ items: [(name: String, value: String)] = []) {
        self.items = items
    }

    /// The decoded segment; `nil` when the route has no such name.
    public subscript(name: String) -> String? {
        items.first { $0.name == name }?.value
    }
}

/// Validation and generation of request ids.
enum RequestID {
    /// Returns the client's id if it is safe to repeat in headers and logs; `nil` otherwise.
    static func accepted(_ text: String?) -> String? {
        guard let text, 1...128 ~= text.utf8.count, text.utf8.allSatisfy(isAllowed) else { return nil }
        return text
    }

    /// Returns `req_` and 11 letters and digits (65 bits): short enough to be stored without a heap allocation.
    static func made(from number: UInt64) -> String {
        var number = number
        return String(unsafeUninitializedCapacity: 15) { buffer in
            buffer[0] = 0x72
            buffer[1] = 0x65
            buffer[2] = 0x71
            buffer[3] = 0x5F
            for index in 4..<15 {
                buffer[index] = alphabet.utf8Start[Int(number % 62)]
                number /= 62
            }
            return 15
        }
    }

    static func random() -> String {
        made(from: UInt64.random(in: .min ... .max))
    }

    private static var alphabet: StaticString { "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz" }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F: true
        default: false
        }
    }
}

/// A request method, compared case-sensitively (RFC 9110, 9.1).
///
/// The type stores the method's text, so it can also represent methods that this server does not know. Such requests
/// are rejected with status 405.
public struct HTTPMethod: RawRepresentable, Hashable, Sendable, CustomStringConvertible, ExpressibleByStringLiteral {
    /// The method as it appears in the request line.
    public let rawValue: String

    /// Creates a method from its text.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// Creates a method from a literal.
    public init(stringLiteral value: String) {
        rawValue = value
    }

    /// Creates a method from a C string. Decodes only the text of rare methods.
    init(_ text: UnsafePointer<CChar>) {
        switch (text[0], text[1]) {
        case (0x47, 0x45) where strcmp(text, "GET") == 0: self = .get
        case (0x50, 0x4F) where strcmp(text, "POST") == 0: self = .post
        default: rawValue = String(cString: text)
        }
    }

    /// The method as it appears in the request line.
    public var description: String { rawValue }

    /// The method GET (RFC 9110, 9.3.1).
    public static let get = HTTPMethod(rawValue: "GET")
    /// The method HEAD (RFC 9110, 9.3.2). The server handles it like GET, without the body.
    public static let head = HTTPMethod(rawValue: "HEAD")
    /// The method POST (RFC 9110, 9.3.3).
    public static let post = HTTPMethod(rawValue: "POST")
    /// The method PUT (RFC 9110, 9.3.4).
    public static let put = HTTPMethod(rawValue: "PUT")
    /// The method PATCH (RFC 5789).
    public static let patch = HTTPMethod(rawValue: "PATCH")
    /// The method DELETE (RFC 9110, 9.3.5).
    public static let delete = HTTPMethod(rawValue: "DELETE")
    /// The method OPTIONS (RFC 9110, 9.3.7).
    public static let options = HTTPMethod(rawValue: "OPTIONS")
}

/// Information about a request that is collected while it is processed, for logging and counting afterwards. Created
/// only when it will be used.
public final class RequestAnnotations: Sendable {
    private let name = Lock<String?>(nil)

    /// Creates annotations without any information.
    public init() {}

    /// The name of the caller, in a form that is safe to log; `nil` until it is set.
    public var credential: String? {
        get { name.withLock { $0 } }
        set { name.withLock { $0 = newValue } }
    }
}
