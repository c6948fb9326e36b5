import Glibc
import Text

/// A tree of routes, indexed by path segment. The cost of a lookup does not depend on the number of routes.
///
/// For each segment, literal text takes precedence over `{name}`, and `{name}` takes precedence over `{name*}`. If one
/// choice leads to no route, the next choice is tried.
struct RouteTree: Sendable {
    /// The result of a lookup: the methods of the path, and the parts of the path that are parameter values.
    struct Match {
        var endpoint: RouteMethods
        var captures: [Range<Int>]
        fileprivate var node: Int
    }

    /// The methods that one path pattern supports, each with the plan for handling its requests. There is at least one
    /// method.
    struct RouteMethods: Sendable {
        private var entries: [(method: HTTPMethod, plan: RoutePlan)]

        init(_ method: HTTPMethod, _ plan: RoutePlan) { entries = [(method, plan)] }

        mutating func add(_ method: HTTPMethod, _ plan: RoutePlan) { entries.append((method, plan)) }

        func plan(for method: HTTPMethod) -> RoutePlan? { entries.first { $0.method == method }?.plan }

        var methods: [HTTPMethod] { entries.map(\.method) }

        /// The plan of the method that was added first.
        var first: RoutePlan { entries[0].plan }
    }

    private struct Node: Sendable {
        /// The literal segments, in a list that is searched linearly. Comparing the bytes of a few entries costs less
        /// than creating a string for a dictionary lookup.
        var literals: [(text: [UInt8], node: Int)] = []
        var parameter: Int?
        var rest: Int?
        var endpoint: RouteMethods?
    }

    private var nodes: [Node] = [Node()]

    /// - Parameter number: the index of the route in ``Router/routes``.
    mutating func insert(_ route: Router.Route, number: Int) {
        var node = 0
        for segment in route.pattern.segments {
            node = child(of: node, for: segment)
        }
        let plan = RoutePlan(route, number: number)
        guard let endpoint = nodes[node].endpoint else {
            nodes[node].endpoint = RouteMethods(route.method, plan)
            return
        }
        precondition(
            endpoint.plan(for: route.method) == nil,
            "the route \(route.method.rawValue) \(route.pattern) was added twice")
        nodes[node].endpoint?.add(route.method, plan)
    }

    private mutating func child(of node: Int, for segment: RoutePattern.Segment) -> Int {
        let existing =
            switch segment {
            case .literal(let text): Self.literal(text, among: nodes[node].literals)
            case .parameter: nodes[node].parameter
            case .rest: nodes[node].rest
            }
        if let existing { return existing }
        nodes.append(Node())
        let new = nodes.count - 1
        switch segment {
        case .literal(let text): nodes[node].literals.append((Array(text.utf8), new))
        case .parameter: nodes[node].parameter = new
        case .rest: nodes[node].rest = new
        }
        return new
    }

    /// Returns the methods and parameters for a path; `nil` when no route matches the path.
    ///
    /// - Parameter path: the raw, percent-encoded path. It is split before it is decoded, so that `%2F` never
    ///   separates segments.
    func match(_ path: UnsafeBufferPointer<UInt8>) -> Match? {
        guard path.first == 0x2F else { return nil }
        var captures: [Range<Int>] = []
        let found = nodes.withUnsafeBufferPointer { find(path, 1, from: 0, in: $0, &captures) }
        guard let found, let endpoint = nodes[found].endpoint else { return nil }
        return Match(endpoint: endpoint, captures: captures, node: found)
    }

    /// Returns the pattern that is one parameter segment longer than the matched pattern, if it supports PUT; `nil`
    /// otherwise.
    func put(below match: Match) -> RoutePattern? {
        nodes[match.node].parameter.flatMap { nodes[$0].endpoint?.plan(for: .put)?.pattern }
    }

    /// Finds the node that has methods and matches the rest of the path, which begins at `start`. Returns `nil` when
    /// there is none.
    private func find(
        _ path: UnsafeBufferPointer<UInt8>, _ start: Int, from index: Int, in nodes: UnsafeBufferPointer<Node>,
        _ captures: inout [Range<Int>]
    ) -> Int? {
        let end = path[start...].firstIndex(of: 0x2F) ?? path.endIndex
        let segment = UnsafeBufferPointer(rebasing: path[start..<end])
        func step(_ next: Int) -> Int? {
            guard end < path.endIndex else { return nodes[next].endpoint == nil ? nil : next }
            return find(path, end + 1, from: next, in: nodes, &captures)
        }
        if let next = Self.literal(of: segment, among: nodes[index].literals), let found = step(next) { return found }
        if let next = nodes[index].parameter, !segment.isEmpty {
            if captures.isEmpty { captures.reserveCapacity(4) }
            captures.append(start..<end)
            if let found = step(next) { return found }
            captures.removeLast()
        }
        guard let next = nodes[index].rest else { return nil }
        captures.append(start..<path.endIndex)
        return next
    }

    /// Returns the node of the literal that equals a segment; `nil` when there is none. An escaped letter is equivalent
    /// to the letter (RFC 3986, 6.2.2.2), so literals are also compared with the decoded segment.
    private static func literal(
        of segment: UnsafeBufferPointer<UInt8>, among literals: [(text: [UInt8], node: Int)]
    ) -> Int? {
        if let found = literal(segment, among: literals) { return found }
        // Decoding makes a text at most three times shorter.
        guard literals.contains(where: { segment.count <= 3 * $0.text.count }), segment.contains(0x25),
            let decoded = PercentEncoding.decodeSegment(segment)
        else { return nil }
        return literal(decoded, among: literals)
    }

    private static func literal(_ text: String, among literals: [(text: [UInt8], node: Int)]) -> Int? {
        var text = text
        return text.withUTF8 { literal($0, among: literals) }
    }

    private static func literal(
        _ text: UnsafeBufferPointer<UInt8>, among literals: [(text: [UInt8], node: Int)]
    ) -> Int? {
        guard let start = text.baseAddress else { return nil }
        return literals.first { $0.text.count == text.count && memcmp($0.text, start, text.count) == 0 }?.node
    }
}
