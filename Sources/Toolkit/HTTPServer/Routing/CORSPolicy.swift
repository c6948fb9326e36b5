/// Which pages of other origins may call this server from a browser (Fetch standard, CORS protocol).
public struct CORSPolicy: Sendable {
    /// Whose pages may.
    public enum Origins: Sendable, Equatable {
        case none
        /// Exactly these, as a browser writes them: scheme, host, port, no slash at the end.
        case listed(Set<String>)
        /// `*`: only for what is public anyway.
        case any
    }

    public var origins: Origins
    /// Request header fields a page may set.
    public var allowedHeaders: [String]
    /// Answer header fields a page may read.
    public var exposedHeaders: [String]
    /// How long a browser may remember a preflight.
    public var maxAge: Duration

    public init(
        origins: Origins = .none,
        allowedHeaders: [String] = [
            "Authorization", "Content-Type", "Idempotency-Key", "If-Match", "If-None-Match", "Last-Event-ID",
            "X-Request-Id",
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
        case .listed(let allowed):
            let vary = ("Vary", "Origin")
            guard let origin = request["Origin"], allowed.contains(origin) else { return [vary] }
            return [("Access-Control-Allow-Origin", origin), exposed, vary]
        }
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
