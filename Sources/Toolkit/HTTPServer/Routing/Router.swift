/// From method and path to handler.
///
/// Filled once at assembly, then handed to a ``Server``; it can also be called without a socket (``respond(to:)``).
public struct Router: Sendable {
    /// Answers one request. It runs on the server's loop until its first real wait, so it must not block; work that
    /// takes longer than about a millisecond belongs elsewhere. Cancelled when the client goes.
    public typealias Handler = @Sendable (Request) async throws -> Response

    /// One entry of the routing table.
    public struct Route: Sendable {
        public let method: HTTPMethod
        public let pattern: RoutePattern
        public let body: BodyPolicy
        let handler: Handler
    }

    /// What happened to one request, for counting; called on the loop once the answer is decided.
    public struct Outcome: Sendable {
        public let method: HTTPMethod
        /// The route's pattern; `nil` when no route was found.
        public let pattern: RoutePattern?
        public let status: Int
        /// From the end of the request's header to the decision.
        public let duration: Duration
        /// Bytes of the body where they are known beforehand.
        public let bodyBytes: Int
        public let requestID: String
    }

    /// Comes before `/problems/<code>` in the type of a problem: the address the world sees, without a final slash.
    public var problemBaseURL: String
    public var cors: CORSPolicy
    /// Answers paths that no route knows; the default is a 404 problem.
    public var notFound: Handler
    /// Told about every answer.
    public var observer: (@Sendable (Outcome) -> Void)?
    /// Every route in the order of addition.
    public private(set) var routes: [Route] = []

    private var tree = RouteTree()

    public init(problemBaseURL: String = "", cors: CORSPolicy = CORSPolicy()) {
        self.problemBaseURL = problemBaseURL
        self.cors = cors
        notFound = { throw Problem.notFound(path: $0.path) }
    }

    /// Adds a route. `GET` answers `HEAD` as well, without the body; `OPTIONS` is answered by the router itself unless
    /// the path has a route for it. Adding a method and pattern twice is a programmer's error.
    public mutating func add(
        _ method: HTTPMethod, _ pattern: RoutePattern, body: BodyPolicy = .none, handler: @escaping Handler
    ) {
        let route = Route(method: method, pattern: pattern, body: body, handler: handler)
        routes.append(route)
        tree.insert(route)
    }

    /// Answers a request as a server would, except for what belongs to the wire: decompression and `HEAD`'s missing
    /// body. A streamed route sees the request's body as a sequence of one piece.
    public func respond(to request: Request) async -> Response {
        let plan = plan(method: request.method, path: request.path, headers: request.headers)
        var request = request
        request.parameters = plan.parameters
        guard request.body.bytes.count <= plan.bodyPolicy.limit else {
            let refusal = Problem.contentTooLarge(limit: plan.bodyPolicy.limit)
            return finished(rendered(refusal, for: request.head), for: request.head, plan: plan)
        }
        do {
            return finished(try await plan.handler(request), for: request.head, plan: plan)
        } catch {
            let problem = error as? Problem ?? .internalError
            return finished(rendered(problem, for: request.head), for: request.head, plan: plan)
        }
    }
}

extension Router {
    /// What is to be done with a request, known as soon as its header is.
    struct Plan: Sendable {
        var pattern: RoutePattern?
        var parameters = PathParameters()
        var bodyPolicy: BodyPolicy
        var handler: Handler
    }

    /// The most of a body that is read for a request whose answer is a refusal anyway, so that small ones keep their
    /// connection.
    static let refusedBodyLimit = 64 * 1024

    func plan(method: HTTPMethod, path: String, headers: Headers) -> Plan {
        guard let match = tree.match(path) else {
            return Plan(bodyPolicy: .collected(limit: Self.refusedBodyLimit), handler: notFound)
        }
        if let route = match.endpoint.route(for: method) ?? implied(method, at: match.endpoint) {
            return plan(route, captures: match.captures)
        }
        let allowed = Self.methods(at: match.endpoint)
        let pattern = match.endpoint.routes.first?.pattern
        if method == .options {
            let headers = optionsHeaders(headers, allowed: allowed)
            return Plan(pattern: pattern, bodyPolicy: .collected(limit: Self.refusedBodyLimit)) { _ in
                .empty(headers: headers)
            }
        }
        return Plan(pattern: pattern, bodyPolicy: .collected(limit: Self.refusedBodyLimit)) { _ in
            throw Problem.methodNotAllowed(method, allowed: allowed)
        }
    }

    private func plan(_ route: Route, captures: [Substring.UTF8View]) -> Plan {
        var parameters: [(name: String, value: String)] = []
        var next = captures.startIndex
        for segment in route.pattern.segments {
            guard case .parameter(let name) = segment.asParameter else { continue }
            guard let value = PercentEncoding.decodeSegment(captures[next]) else {
                return Plan(pattern: route.pattern, bodyPolicy: .collected(limit: Self.refusedBodyLimit)) { _ in
                    throw Problem.malformedRequest("The path segment for '\(name)' cannot be decoded")
                }
            }
            parameters.append((name, value))
            next += 1
        }
        return Plan(
            pattern: route.pattern, parameters: PathParameters(parameters), bodyPolicy: route.body,
            handler: route.handler)
    }

    private func implied(_ method: HTTPMethod, at endpoint: RouteTree.Endpoint) -> Route? {
        method == .head ? endpoint.route(for: .get) : nil
    }

    private func optionsHeaders(_ request: Headers, allowed: [HTTPMethod]) -> [(name: String, value: String)] {
        let allow = ("Allow", allowed.map(\.rawValue).joined(separator: ", "))
        let isPreflight = request.contains("Origin") && request.contains("Access-Control-Request-Method")
        let isAllowed = cors.headers(for: request).contains { $0.name == "Access-Control-Allow-Origin" }
        return isPreflight && isAllowed ? [allow] + cors.preflightHeaders(allowing: allowed) : [allow]
    }

    private static func methods(at endpoint: RouteTree.Endpoint) -> [HTTPMethod] {
        var methods = endpoint.routes.map(\.method)
        if methods.contains(.get), !methods.contains(.head) { methods.append(.head) }
        if !methods.contains(.options) { methods.append(.options) }
        return methods
    }

    /// The answer with what every answer carries, and the observer told.
    func finished(_ response: Response, for head: Request.Head, plan: Plan) -> Response {
        var response = response
        response.headers += cors.headers(for: head.headers)
        response.headers.append(("X-Request-Id", head.id))
        response.headers.append(("X-Content-Type-Options", "nosniff"))
        observe(response, for: head, plan: plan)
        return response
    }

    private func observe(_ response: Response, for head: Request.Head, plan: Plan) {
        guard let observer else { return }
        let bytes =
            switch response.body {
            case .bytes(let bytes): bytes.count
            case .fixed(let text): text.utf8CodeUnitCount
            case .empty, .pieces, .stream: 0
            }
        observer(
            Outcome(
                method: head.method, pattern: plan.pattern, status: response.status,
                duration: .now - head.receivedAt, bodyBytes: bytes, requestID: head.id))
    }

    func rendered(_ problem: Problem, for head: Request.Head) -> Response {
        problem.response(baseURL: problemBaseURL, requestID: head.id)
    }
}

extension RoutePattern.Segment {
    /// A hole of either kind.
    fileprivate var asParameter: RoutePattern.Segment? {
        switch self {
        case .literal: nil
        case .parameter(let name), .rest(let name): .parameter(name)
        }
    }
}
