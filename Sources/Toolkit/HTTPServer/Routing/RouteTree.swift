/// Routes by path segment: a lookup walks the path once, however many routes there are.
///
/// Literal text goes before `{name}`, which goes before `{name*}`; where the first choice leads nowhere, the next is
/// tried.
struct RouteTree: Sendable {
    /// What was found at the end of a path: the methods there, and the raw segments that filled the holes.
    struct Match {
        var endpoint: Endpoint
        var captures: [Substring.UTF8View]
    }

    /// The methods of one pattern.
    struct Endpoint: Sendable {
        private(set) var methods: [HTTPMethod] = []
        private var plans: [RoutePlan] = []

        mutating func add(_ method: HTTPMethod, _ plan: RoutePlan) {
            methods.append(method)
            plans.append(plan)
        }

        func plan(for method: HTTPMethod) -> RoutePlan? {
            methods.firstIndex(of: method).map { plans[$0] }
        }

        var pattern: RoutePattern? { plans.first?.pattern }
        var manners: RouteManners { plans.first?.manners ?? RouteManners() }
    }

    private struct Node: Sendable {
        var literals: [String: Int] = [:]
        var parameter: Int?
        var rest: Int?
        var endpoint: Endpoint?
    }

    private var nodes: [Node] = [Node()]

    mutating func insert(_ route: Router.Route) {
        var node = 0
        for segment in route.pattern.segments {
            node = child(of: node, for: segment)
        }
        var endpoint = nodes[node].endpoint ?? Endpoint()
        precondition(
            endpoint.plan(for: route.method) == nil, "\(route.method.rawValue) \(route.pattern) was added twice")
        endpoint.add(
            route.method,
            RoutePlan(
                pattern: route.pattern, bodyPolicy: route.body, manners: route.manners, handler: route.handler))
        nodes[node].endpoint = endpoint
    }

    private mutating func child(of node: Int, for segment: RoutePattern.Segment) -> Int {
        let existing =
            switch segment {
            case .literal(let text): nodes[node].literals[text]
            case .parameter: nodes[node].parameter
            case .rest: nodes[node].rest
            }
        if let existing { return existing }
        nodes.append(Node())
        let new = nodes.count - 1
        switch segment {
        case .literal(let text): nodes[node].literals[text] = new
        case .parameter: nodes[node].parameter = new
        case .rest: nodes[node].rest = new
        }
        return new
    }

    /// - Parameter path: raw, still percent-encoded: splitting comes first, so that `%2F` never makes a segment.
    func match(_ path: String) -> Match? {
        guard path.utf8.first == 0x2F else { return nil }
        var captures: [Substring.UTF8View] = []
        guard let endpoint = find(path.utf8.dropFirst(), from: 0, captures: &captures) else { return nil }
        return Match(endpoint: endpoint, captures: captures)
    }

    private func find(
        _ rest: Substring.UTF8View, from index: Int, captures: inout [Substring.UTF8View]
    ) -> Endpoint? {
        let node = nodes[index]
        let end = rest.firstIndex(of: 0x2F)
        let segment = rest[..<(end ?? rest.endIndex)]
        if let next = literal(segment, of: node), let found = step(next, rest, end, &captures) {
            return found
        }
        if let next = node.parameter, !segment.isEmpty {
            captures.append(segment)
            if let found = step(next, rest, end, &captures) { return found }
            captures.removeLast()
        }
        if let next = node.rest {
            captures.append(rest)
            return nodes[next].endpoint
        }
        return nil
    }

    private func step(
        _ next: Int, _ rest: Substring.UTF8View, _ end: Substring.UTF8View.Index?,
        _ captures: inout [Substring.UTF8View]
    ) -> Endpoint? {
        guard let end else { return nodes[next].endpoint }
        return find(rest[rest.index(after: end)...], from: next, captures: &captures)
    }

    /// An escaped letter is the letter (RFC 3986, 6.2.2.2), so literals are also compared decoded.
    private func literal(_ segment: Substring.UTF8View, of node: Node) -> Int? {
        guard !node.literals.isEmpty else { return nil }
        if let found = node.literals[String(Substring(segment))] { return found }
        guard segment.contains(0x25), let decoded = PercentEncoding.decodeSegment(segment) else { return nil }
        return node.literals[decoded]
    }
}
