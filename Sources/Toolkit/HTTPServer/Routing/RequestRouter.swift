import Locking
import Text

/// The work of a router for each request. A class, so that requests use the routes without copying them.
final class RequestRouter: Sendable {
    /// The routes and their settings.
    let table: Router

    init(_ table: Router) { self.table = table }
}

extension RequestRouter {
    /// Returns the matching route. If none matches, returns a route that responds with an error.
    ///
    /// - Parameter path: the raw, percent-encoded path.
    func match(method: HTTPMethod, path: UnsafeBufferPointer<UInt8>, headers: Headers) -> RouteMatch {
        guard table.hosts.allows(headers) else {
            return instead(of: nil) { _ in throw Problem.misdirectedRequest(host: headers["Host"] ?? "") }
        }
        let match = table.tree.match(path)
        if table.refusesCrossSite, headers.has("Sec-Fetch-Site", "cross-site"), !allowsPage(of: headers) {
            let isLink = headers["Sec-Fetch-Mode"] == "navigate" && headers["Sec-Fetch-Dest"] == "document"
            guard isLink, match?.endpoint.first.options.isPage ?? false else {
                return instead(of: nil) { _ in throw Problem.crossSiteRequest }
            }
        }
        guard let match else { return RouteMatch(plan: RoutePlan(insteadOf: nil, answering: table.notFound)) }
        let endpoint = match.endpoint
        // The handler of GET also handles HEAD. The server then omits the body.
        let own = endpoint.plan(for: method) ?? (method == .head ? endpoint.plan(for: .get) : nil)
        if let plan = own, method != .options || !Self.isPreflight(headers) {
            return match.captures.isEmpty || !plan.options.decodesPath
                ? RouteMatch(plan: plan) : filled(plan, path, match.captures)
        }
        let allowed = Self.methods(at: endpoint)
        guard method == .options else {
            let named = method == .post ? table.tree.put(below: match) : nil
            return instead(of: endpoint.first) { _ in
                throw Problem.methodNotAllowed(method, allowed: allowed, named: named)
            }
        }
        let answer = optionsHeaders(headers, allowed: allowed, endpoint.first.options.cors ?? table.cors)
        return instead(of: endpoint.first) { _ in .empty(headers: answer) }
    }

    private func filled(
        _ plan: RoutePlan, _ path: UnsafeBufferPointer<UInt8>, _ captures: [Range<Int>]
    ) -> RouteMatch {
        var parameters: [(name: String, value: String)] = []
        parameters.reserveCapacity(captures.count)
        for (name, capture) in zip(plan.pattern?.names ?? [], captures) {
            guard let value = PercentEncoding.decodeSegment(path[capture]) else {
                return instead(of: plan) { _ in
                    throw Problem.malformedRequest(
                        "The path segment for '\(name)' has an invalid percent-encoding or character")
                }
            }
            parameters.append((name, value))
        }
        return RouteMatch(plan: plan, parameters: PathParameters(parameters))
    }

    private func instead(
        of plan: RoutePlan?, _ answer: @escaping @Sendable (Request) throws -> Response
    ) -> RouteMatch {
        RouteMatch(plan: RoutePlan(insteadOf: plan, answer: answer))
    }

    private func optionsHeaders(
        _ request: Headers, allowed: [HTTPMethod], _ cors: CORSPolicy
    ) -> [(name: String, value: String)] {
        let allow = ("Allow", allowed.map(\.rawValue).joined(separator: ", "))
        let isAllowed = cors.headers(for: request).contains { $0.name == "Access-Control-Allow-Origin" }
        return Self.isPreflight(request) && isAllowed ? [allow] + cors.preflightHeaders(allowing: allowed) : [allow]
    }

    /// Returns true if ``Router/cors`` allows the origin of the page for which a browser sent a request. Requests for
    /// images and scripts have no `Origin`. Their `Referer` contains the origin of the page, unless the page hides it.
    private func allowsPage(of headers: Headers) -> Bool {
        let page = headers["Origin"] ?? headers["Referer"].map(Self.origin(of:))
        return page.map(table.cors.allows) ?? false
    }

    /// Returns the origin of an absolute URL: scheme, host and port, without the slash that follows.
    private static func origin(of url: String) -> String {
        let parts = url.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
        return parts.prefix(3).joined(separator: "/")
    }

    private static func isPreflight(_ headers: Headers) -> Bool {
        headers.contains("Origin") && headers.contains("Access-Control-Request-Method")
    }

    private static func methods(at endpoint: RouteTree.RouteMethods) -> [HTTPMethod] {
        var methods = endpoint.methods
        if methods.contains(.get), !methods.contains(.head) { methods.append(.head) }
        if !methods.contains(.options) { methods.append(.options) }
        return methods
    }

    /// The data about a request that is stored until its deferred response is complete.
    struct Context {
        let method: HTTPMethod
        let requestID: String
        let receivedAt: MonotonicTime
        let plan: RoutePlan
        /// The fields of CORS and `Strict-Transport-Security`, which are added to the response.
        let fields: [(name: String, value: String)]
    }

    func context(of head: Request.Head, plan: RoutePlan) -> Context {
        Context(
            method: head.method, requestID: head.id, receivedAt: head.receivedAt, plan: plan,
            fields: fields(plan, head.headers))
    }

    private func fields(_ plan: RoutePlan, _ headers: Headers) -> [(name: String, value: String)] {
        let fields = plan.options.cors.map { $0.headers(for: headers) } ?? table.cors.headers(for: headers)
        guard table.transportSecuritySeconds > 0 else { return fields }
        return fields + [("Strict-Transport-Security", "max-age=\(table.transportSecuritySeconds)")]
    }

    /// Adds the fields of CORS and `Strict-Transport-Security` to a response, and reports the outcome to the observer. The
    /// other fields that every response has are added when the response is formatted.
    func finish(_ response: inout Response, to head: Request.Head, plan: RoutePlan) {
        observe(response, of: plan, method: head.method, receivedAt: head.receivedAt)
        for field in fields(plan, head.headers) { response.headers.append(field) }
    }

    /// Returns the response for a problem, in the error format of the route.
    func answer(to problem: Problem, plan: RoutePlan?, requestID: String) -> Response {
        plan?.options.refusal?(problem) ?? problem.response(baseURL: table.problemBaseURL, requestID: requestID)
    }

    /// Reports a response to the observer.
    func observe(
        _ response: Response, of plan: RoutePlan, method: HTTPMethod, receivedAt: MonotonicTime
    ) {
        guard let observer = table.observer else { return }
        let bytes =
            switch response.body {
            case .bytes(let bytes): bytes.count
            case .fixed(let bytes): bytes.buffer.count
            case .empty, .pieces, .stream, .deferred: 0
            }
        observer(
            Router.Outcome(
                method: method, plan: plan, status: response.status,
                nanoseconds: MonotonicTime.now.nanoseconds(since: receivedAt), bodyBytes: bytes, route: plan.route))
    }
}
