/// Which pages of other origins may call this server from a browser (Fetch standard, CORS protocol).
public struct CORSPolicy: Sendable {
    /// Whose pages may.
    public enum Origins: Sendable, Equatable {
        case none
        /// Exactly these, as a browser writes them: scheme, host, port, no slash at the end.
        case listed(Set<String>)
        /// Whatever this machine serves, on any port: for development, where `any` would let every page that is looked at
        /// meanwhile in.
        case loopback
        /// `*`: only for what is public anyway.
        case any
    }

    public var origins: Origins
    /// Request header fields a page may set.
    public var allowedHeaders: [String]
    /// Answer header fields a page may read.
    public var exposedHeaders: [String]
    /// How long a browser may remember a preflight.
    var maxAge: Duration

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

    /// What to add to every answer for this request. `Vary` goes along whenever the answer depends on the origin, also
    /// when this one is refused: a cache would otherwise serve the refusal to an allowed page.
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

    /// Whether pages of an origin may call.
    func allows(_ origin: String) -> Bool {
        switch origins {
        case .none: false
        case .any: true
        case .listed(let allowed): allowed.contains(origin)
        case .loopback: Self.isLoopback(origin)
        }
    }

    /// An origin is scheme, host and port (RFC 6454, 6.2): behind the host there is a colon and digits, or nothing.
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

    /// The additional fields of an answer to a preflight.
    func preflightHeaders(allowing methods: [HTTPMethod]) -> [(name: String, value: String)] {
        [
            ("Access-Control-Allow-Methods", methods.map(\.rawValue).joined(separator: ", ")),
            ("Access-Control-Allow-Headers", allowedHeaders.joined(separator: ", ")),
            ("Access-Control-Max-Age", String(maxAge.components.seconds)),
        ]
    }
}
