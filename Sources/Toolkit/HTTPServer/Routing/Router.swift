import Glibc

/// The routing table: selects the handler for a method and path.
///
/// Add all routes first, then pass the router to a ``Server``. A router can also respond to requests without a socket
/// (``respond(to:)``).
public struct Router: Sendable {
    /// A function that wraps the handler of a route. The server calls the handler that the function returns.
    public typealias Middleware = @Sendable (RoutePattern, Handler) -> Handler

    /// One entry of the routing table.
    public struct Route: Sendable {
        /// The method of the route.
        public let method: HTTPMethod
        /// The path pattern of the route.
        public let pattern: RoutePattern
        /// The handling of request bodies on the route.
        public let body: BodyPolicy
        let options: RouteOptions
        let handler: Handler
    }

    /// The result of one request, for counting. It is reported on the loop when the response is known.
    public struct Outcome: Sendable {
        /// The method of the request.
        public let method: HTTPMethod
        let plan: RoutePlan
        /// The status of the response.
        public let status: Int
        /// The time from the end of the request's header until the response is known, in nanoseconds.
        public let nanoseconds: UInt64
        /// The number of bytes of the response's body; 0 if the number is not known before the body is sent.
        public let bodyBytes: Int

        /// The route's pattern; `nil` when no route was found.
        public var pattern: RoutePattern? { plan.pattern }
        /// The index of the route, or of the first route with its pattern, in ``Router/routes``; `nil` when no route
        /// was found.
        public let route: Int?
    }

    /// The prefix of the URL `/problems/<code>` in the `type` of a problem: the public address of the server, without a
    /// trailing slash.
    public var problemBaseURL: String
    /// The CORS policy of routes that have none of their own.
    public var cors: CORSPolicy
    /// The number of seconds for which browsers must use HTTPS only, sent with every response (RFC 6797). Zero sends
    /// nothing.
    public var transportSecuritySeconds = 0
    /// The host names that the server accepts. They are checked before the routes, for every path.
    public var hosts = HostPolicy.any
    /// True to reject requests that a browser sends for a page of another site, unless ``cors`` allows that site.
    /// Requests for images, links and forms of such a page are also rejected, although browsers send no preflight
    /// request for them. The only exception is a link to a route with ``RouteOptions/isPage``. Applies to every path,
    /// regardless of the ``CORSPolicy`` of a route. Browsers mark such requests with `Sec-Fetch-Site: cross-site`
    /// (Fetch Metadata), which no script can set or remove.
    public var refusesCrossSite = false
    /// The handler of requests whose path matches no route. The default handler responds with a 404 problem.
    public var notFound: Handler
    /// The function that wraps the handlers of all routes that are added after the function was set; `nil` if handlers
    /// are not wrapped.
    public var middleware: Middleware?
    /// The function that is called with the outcome of every request; `nil` if no function is called.
    public var observer: (@Sendable (Outcome) -> Void)?
    /// All routes in the order of addition.
    public private(set) var routes: [Route] = []

    private(set) var tree = RouteTree()

    /// Creates a router without routes.
    public init(problemBaseURL: String = "", cors: CORSPolicy = CORSPolicy()) {
        self.problemBaseURL = problemBaseURL
        self.cors = cors
        notFound = Handler(starting: { throw Problem.unknownRoute(path: $0.path) })
    }

    /// Adds a route. A `GET` route also handles `HEAD`, without the body. The router itself responds to every preflight
    /// request of a browser. It also responds to other `OPTIONS` requests, unless the path has an `OPTIONS` route.
    /// Adding a method and pattern twice is a programming error.
    public mutating func add(
        _ method: HTTPMethod, _ pattern: RoutePattern, body: BodyPolicy = .none,
        options: RouteOptions = RouteOptions(), handler: Handler
    ) {
        let handler = middleware?(pattern, handler) ?? handler
        let route = Route(method: method, pattern: pattern, body: body, options: options, handler: handler)
        tree.insert(route, number: routes.count)
        routes.append(route)
    }

    /// Adds a route whose handler runs in a task; see ``add(_:_:body:options:handler:)``.
    public mutating func add(
        _ method: HTTPMethod, _ pattern: RoutePattern, body: BodyPolicy = .none,
        options: RouteOptions = RouteOptions(),
        _ respond: @escaping Handler.Function
    ) {
        add(method, pattern, body: body, options: options, handler: Handler(respond))
    }
}

/// The way to handle the requests of a route, or of all requests with the same problem.
final class RoutePlan: Sendable {
    /// The index of the route in ``Router/routes``; `nil` when no route was found.
    let route: Int?
    let pattern: RoutePattern?
    let bodyPolicy: BodyPolicy
    let options: RouteOptions
    let handler: Handler

    init(_ route: Router.Route, number: Int) {
        self.route = number
        pattern = route.pattern
        bodyPolicy = route.body
        options = route.options
        handler = route.handler
    }

    /// Creates a plan that handles requests with `handler` and discards a short body.
    ///
    /// - Parameter plan: the plan of a route with the same pattern; `nil` when no route was found.
    init(insteadOf plan: RoutePlan?, answering handler: Handler) {
        route = plan?.route
        pattern = plan?.pattern
        options = plan?.options ?? RouteOptions()
        bodyPolicy = .collected(limit: Self.refusedBodyLimit)
        self.handler = handler
    }

    /// Creates a plan for requests that the router answers itself; see ``init(insteadOf:answering:)``.
    convenience init(insteadOf plan: RoutePlan?, answer: @escaping @Sendable (Request) throws -> Response) {
        self.init(insteadOf: plan, answering: Handler(starting: { .now(try answer($0)) }))
    }

    /// The maximum number of body bytes that are read and discarded when the response is sent before the body has
    /// arrived. Reading a small body to its end allows the client to use the connection again.
    static let refusedBodyLimit = 64 * 1024
}

/// The plan for a request and the values of the path's parameters. Determined when the header is complete.
struct RouteMatch {
    let plan: RoutePlan
    var parameters = PathParameters()

    /// Creates the request that the handler receives.
    func request(_ head: Request.Head, _ query: Query, _ body: RequestBody) -> Request {
        var request = Request(head: head, query: query, body: body)
        request.parameters = parameters
        request.takesBody = plan.bodyPolicy != .none
        return request
    }

    /// Reports a request whose body is larger than the route accepts to ``RouteOptions/recordTooLarge``, if that is
    /// set.
    func recordTooLarge(_ head: Request.Head, _ query: Query) {
        plan.options.recordTooLarge?(request(head, query, RequestBody(bytes: [])))
    }
}

/// The host names that this server accepts. A request for another host gets status 421 (RFC 9110, 15.5.20).
///
/// The policy protects against DNS rebinding: a browser loads a page from an attacker's server, and the attacker then
/// makes the page's host name resolve to 127.0.0.1. The browser then allows the page to send requests to a server at
/// that address as if the page came from it. Only the host name in `Host` reveals the attack.
public enum HostPolicy: Sendable, Equatable {
    case any
    /// The hosts for which ``isLoopback(_:)`` is true, and the listed hosts. A listed host consists of host and port in
    /// the form that a browser sends, in lower case.
    case loopback(orListed: Set<String>)

    func allows(_ headers: Headers) -> Bool {
        guard case .loopback(let listed) = self else { return true }
        return headers.withValue(of: "Host") { host in
            Self.isLoopback(host)
                || !listed.isEmpty && listed.contains(String(decoding: host, as: UTF8.self).lowercased())
        } ?? false
    }

    /// Returns true when a host, with or without a port, is a loopback name of this machine: `localhost` in any case
    /// (RFC 9110, 4.2.3), `[::1]`, or an address of 127.0.0.0/8.
    public static func isLoopback(_ authority: String) -> Bool {
        var authority = authority
        return authority.withUTF8(isLoopback)
    }

    private static func isLoopback(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        let isIPv6 = begins(text, with: "[::1]")
        let end = isIPv6 ? 5 : text.firstIndex(of: UInt8(ascii: ":")) ?? text.count
        guard end == text.count || text[end] == UInt8(ascii: ":") else { return false }
        for index in min(end + 1, text.count)..<text.count where !(0x30...0x39 ~= text[index]) { return false }
        // Most requests have one of the first two hosts.
        if end == 9, begins(text, with: "127.0.0.1") || begins(text, with: "localhost") { return true }
        let host = text[..<end]
        return isIPv6 || isIPv4Loopback(host)
            || host.elementsEqual("localhost".utf8) { ASCII.lowercased($0) == $1 }
    }

    private static func begins(_ text: UnsafeBufferPointer<UInt8>, with prefix: StaticString) -> Bool {
        guard let start = text.baseAddress, text.count >= prefix.utf8CodeUnitCount else { return false }
        return memcmp(start, prefix.utf8Start, prefix.utf8CodeUnitCount) == 0
    }

    /// Returns true for four decimal numbers of at most 255, the first of them `127`.
    private static func isIPv4Loopback(_ host: Slice<UnsafeBufferPointer<UInt8>>) -> Bool {
        var (dots, digits, number) = (0, 0, 0)
        for byte in host {
            switch byte {
            // Leading zeros would make the first number octal.
            case UInt8(ascii: ".") where dots == 0 ? number == 127 && digits == 3 : digits > 0:
                (dots, digits, number) = (dots + 1, 0, 0)
            case 0x30...0x39: (digits, number) = (digits + 1, number * 10 + Int(byte - 0x30))
            default: return false
            }
            guard number <= 255 else { return false }
        }
        return dots == 3 && digits > 0
    }
}

/// The options of a route. They allow routes with different wire formats in one server.
public struct RouteOptions: Sendable {
    /// The CORS policy of the route, which replaces the router's; `nil` uses the router's.
    public var cors: CORSPolicy?
    /// True to decode the segments of the path for the handler. Set it to false for a handler that decodes
    /// ``Request/path`` itself, in order to report errors in its own format or to split a list before decoding it.
    public var decodesPath = true
    /// True to reject every body that does not match its `Content-Encoding`. If this is false, a body that does not
    /// begin like compressed data is accepted as uncompressed.
    public var trustsContentEncoding = true
    /// True for an HTML page that is safe to open from a link on another site.
    public var isPage = false
    /// Formats the error responses that the handler has not created itself, for instance for a wrong method, a body
    /// that is too large or an unexpected error; `nil` formats them as `application/problem+json`.
    public var refusal: (@Sendable (Problem) -> Response)?
    /// Called for a request whose body is larger than the route accepts. The handler is not called for such a request.
    /// The `Request` has an empty body. Runs on the loop, so it must not block.
    public var recordTooLarge: (@Sendable (Request) -> Void)?

    /// Creates options; the defaults suit most routes.
    public init(
        cors: CORSPolicy? = nil, decodesPath: Bool = true, refusal: (@Sendable (Problem) -> Response)? = nil
    ) {
        self.cors = cors
        self.decodesPath = decodesPath
        self.refusal = refusal
    }
}

/// A path with parameters: `/v1/channels/{channel}/events`.
///
/// A segment of a pattern is literal text or `{name}`, which matches one non-empty segment. The last segment may be
/// `{name*}`, which matches the rest of the path, including slashes.
public struct RoutePattern: Sendable, Hashable, CustomStringConvertible, ExpressibleByStringLiteral {
    enum Segment: Sendable, Hashable {
        case literal(String)
        case parameter(String)
        case rest(String)
    }

    /// The pattern as it was written.
    public let description: String
    let segments: [Segment]
    /// The names of the parameters, in order.
    let names: [String]

    /// Creates a pattern from its text.
    ///
    /// - Parameter text: the pattern. A text that does not start with `/` is a programming error.
    public init(_ text: String) {
        precondition(text.hasPrefix("/"), "A route pattern must start with a slash: \(text)")
        description = text
        segments = text.dropFirst().split(separator: "/", omittingEmptySubsequences: false).map(Self.segment)
        let rests = segments.dropLast().contains { if case .rest = $0 { true } else { false } }
        names = segments.compactMap { segment in
            switch segment {
            case .literal: nil
            case .parameter(let name), .rest(let name): name
            }
        }
        precondition(!rests, "Only the last segment of a route pattern can match the rest of the path: \(text)")
    }

    /// Creates a pattern from a literal, which must start with `/`.
    public init(stringLiteral value: String) {
        self.init(value)
    }

    private static func segment(_ text: Substring) -> Segment {
        guard text.hasPrefix("{"), text.hasSuffix("}") else { return .literal(String(text)) }
        let name = text.dropFirst().dropLast()
        return name.hasSuffix("*") ? .rest(String(name.dropLast())) : .parameter(String(name))
    }
}
