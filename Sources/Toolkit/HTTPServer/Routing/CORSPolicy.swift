/// A CORS policy: the rules for calls from browser pages of other origins (Fetch standard, CORS protocol).
public struct CORSPolicy: Sendable {
    /// The origins whose pages may call this server.
    public enum Origins: Sendable, Equatable {
        case none
        /// Exactly these origins, in the form that a browser sends: scheme, host and port, without a trailing slash.
        case listed(Set<String>)
        /// Every origin on this machine, on any port. Intended for development, because `any` would also allow every
        /// other page that the developer visits.
        case loopback
        /// Every origin (`*`). Use it only for resources that are public anyway.
        case any
    }

    /// The origins whose pages may call this server.
    public var origins: Origins
    /// Request header fields that a page may set.
    public var allowedHeaders: [String]
    /// Response header fields that a page may read.
    public var exposedHeaders: [String]
    /// The time for which a browser may cache the response to a preflight request.
    var maxAge: Duration

    /// Creates a policy.
    public init(
        origins: Origins = .none,
        allowedHeaders: [String] = [
            "Authorization", "Content-Type", "Idempotency-Key", "If-Match", "If-None-Match", "Last-Event-ID",
            "X-Device-Id", "X-Request-Id", "traceparent", "tracestate",
        ],
        exposedHeaders: [String] = [
            "ETag", "Gateway-Cursor", "Idempotency-Replayed", "Link", "Location", "RateLimit", "RateLimit-Policy",
            "Retry-After", "X-Request-Id",
        ],
        maxAge: Duration = .seconds(600)
    ) {
        self.origins = origins
        self.allowedHeaders = allowedHeaders
        self.exposedHeaders = exposedHeaders
        self.maxAge = maxAge
    }

    /// Returns the CORS fields to add to the response of a request with these header fields. `Vary` is included
    /// whenever the response depends on the origin, even if this origin is not allowed. Otherwise, a cache could send
    /// the response without CORS fields to an allowed page.
    func headers(for request: Headers) -> [(name: String, value: String)] {
        switch origins {
        case .none:
            return []
        case .any:
            guard request.contains("Origin") else { return [] }
            return [("Access-Control-Allow-Origin", "*"), exposed]
        case .listed, .loopback:
            guard let origin = request["Origin"], allows(origin) else { return Self.vary }
            return [("Access-Control-Allow-Origin", origin), exposed] + Self.vary
        }
    }

    private static let vary: [(name: String, value: String)] = [("Vary", "Origin")]

    /// Returns true when pages of this origin may call the server.
    func allows(_ origin: String) -> Bool {
        switch origins {
        case .none: false
        case .any: true
        case .listed(let allowed): allowed.contains(origin)
        case .loopback: Self.isLoopback(origin)
        }
    }

    /// Returns true for an origin on this machine: `http://localhost`, `http://127.0.0.1` or `http://[::1]`, with or
    /// without a port.
    static func isLoopback(_ origin: String) -> Bool {
        for host in ["http://127.0.0.1", "http://localhost", "http://[::1]"] where origin.hasPrefix(host) {
            let rest = origin.utf8.dropFirst(host.utf8.count)
            if rest.isEmpty { return true }
            return rest.first == UInt8(ascii: ":") && rest.dropFirst().allSatisfy { (0x30...0x39).contains($0) }
        }
        return false
    }

    private var exposed: (name: String, value: String) {
        ("Access-Control-Expose-Headers", exposedHeaders.joined(separator: ", "))
    }

    /// Returns the additional fields of a preflight response.
    func preflightHeaders(allowing methods: [HTTPMethod]) -> [(name: String, value: String)] {
        [
            ("Access-Control-Allow-Methods", methods.map(\.rawValue).joined(separator: ", ")),
            ("Access-Control-Allow-Headers", allowedHeaders.joined(separator: ", ")),
            ("Access-Control-Max-Age", String(maxAge.components.seconds)),
        ]
    }
}
