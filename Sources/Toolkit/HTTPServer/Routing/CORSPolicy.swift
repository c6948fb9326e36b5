/// The pages of other origins that may call this server from a browser (Fetch standard, CORS protocol).
public struct CORSPolicy: Sendable {
    /// The origins that may call.
    public enum Origins: Sendable, Equatable {
        case none
        /// Exactly these origins, as a browser writes them: scheme, host, port, no trailing slash.
        case listed(Set<String>)
        /// Every origin on this machine, on any port. For development, where `any` would admit every page that the
        /// developer visits.
        case loopback
        /// Every origin (`*`). Use it only for resources that are public anyway.
        case any
    }

    /// The origins that may call.
    public var origins: Origins
    /// Request header fields that a page may set.
    public var allowedHeaders: [String]
    /// Response header fields that a page may read.
    public var exposedHeaders: [String]
    /// The time for which a browser may cache a preflight response.
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

    /// Returns the fields to add to every response for this request. `Vary` is added whenever the response depends on
    /// the origin, also when this origin is refused: a cache would otherwise serve the refusal to an allowed page.
    func headers(for request: Headers) -> [(name: String, value: String)] {
        switch origins {
        case .none:
            return []
        case .any:
            guard request.contains("Origin") else { return [] }
            return [("Access-Control-Allow-Origin", "*"), exposed]
        case .listed, .loopback:
            let vary = ("Vary", "Origin")
            guard let origin = request["Origin"], allows(origin) else { return [vary] }
            return [("Access-Control-Allow-Origin", origin), exposed, vary]
        }
    }

    /// True when pages of this origin may call.
    func allows(_ origin: String) -> Bool {
        switch origins {
        case .none: false
        case .any: true
        case .listed(let allowed): allowed.contains(origin)
        case .loopback: Self.isLoopback(origin)
        }
    }

    /// True for an origin on this machine. An origin is scheme, host and port (RFC 6454, 6.2): the host is followed by
    /// a colon and digits, or by nothing.
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
