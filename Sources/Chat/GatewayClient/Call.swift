package import HTTPClient
package import JSON
import Text

/// A request to the native API.
package struct Call: Sendable {
    package var method = "GET"
    package var path: RequestPath
    package var body: JSONText?
    /// The idempotency key of a request that emits events; nil for none. A repeated request with the same key receives
    /// the response to the first request.
    package var idempotencyKey: String?
    /// The id of the device that sends the request; nil for none. The device's own streams do not receive the resulting
    /// events.
    package var device: String?
    /// True when the request must fail if the record already exists.
    package var mustBeNew = false
    /// The version that the record must have; nil for any version.
    package var version: String?
    /// True when a second execution of the request has no effect.
    package var isHarmless = false
    /// The maximum time for one attempt, greater than zero; nil selects the client's default.
    package var timeout: Duration?
    /// The maximum number of retries; nil selects the sender's default.
    package var retries: Int?
    /// True to compress the body when that makes it smaller.
    package var isCompressed = false
    /// The statuses outside 200 to 299 whose responses are returned instead of thrown as errors. The document of such a
    /// response is its problem document.
    package var accepted: Set<Int> = []

    package init(
        _ method: String = "GET", _ path: RequestPath, body: JSONText? = nil, idempotencyKey: String? = nil,
        mustBeNew: Bool = false, isHarmless: Bool = false, accepting accepted: Set<Int> = []
    ) {
        self.method = method
        self.path = path
        self.body = body
        self.idempotencyKey = idempotencyKey
        self.mustBeNew = mustBeNew
        self.isHarmless = isHarmless
        self.accepted = accepted
    }

    /// True when sending the request twice has the same effect as sending it once. A request that must create a record
    /// is not repeatable: the record of the first request would make the second one fail.
    package var isRepeatable: Bool {
        isHarmless || idempotencyKey != nil || (["GET", "PUT", "DELETE"].contains(method) && !mustBeNew)
    }
}

/// A successful response, or a response with one of the call's `accepted` statuses.
package struct GatewayResponse: Sendable {
    package let status: Int
    /// The JSON body; nil when the response had no body.
    package let document: JSONDocument?

    /// The reason why a response cannot be used.
    package enum Fault: Error {
        /// The body is longer than the client's limit.
        case tooLarge
        /// The body is not JSON, so the server is not a gateway.
        case notJSON
    }

    package init(_ result: OutboundResult) throws(Fault) {
        status = result.status ?? 0
        guard !result.truncated else { throw .tooLarge }
        guard !result.body.isEmpty else {
            document = nil
            return
        }
        guard let document = try? JSONDocument(result.body, limits: JSONLimits(depth: 2048), numbers: .any) else {
            throw .notJSON
        }
        self.document = document
    }
}

/// A request path and query, built from texts with any characters.
package struct RequestPath: Equatable, Sendable {
    package private(set) var text: String
    private var hasQuery = false

    package var withoutQuery: String { String(text.prefix { $0 != "?" }) }

    /// Creates a path from unescaped segments.
    ///
    /// - Parameters:
    ///   - segments: the path segments after the root. A `/` inside a segment is escaped, because channel names may
    ///     contain it.
    ///   - root: the path before the segments, already escaped; by default the root of the native API.
    package init(_ segments: String..., root: String = "/v1") { self.init(segments, root: root) }

    package init(_ segments: [String], root: String = "/v1") {
        text = segments.reduce(into: root) { $0 += "/" + Self.escaped($1) }
    }

    /// Returns the path with one more segment that is already escaped.
    package func appending(escaped segment: String) -> RequestPath {
        var path = self
        path.text += "/" + segment
        return path
    }

    package mutating func add(_ name: String, _ value: String?) {
        guard let value else { return }
        text += (hasQuery ? "&" : "?") + name + "=" + Self.escaped(value)
        hasQuery = true
    }

    package mutating func add(_ name: String, each values: [String]) {
        for value in values { add(name, value) }
    }

    package func adding(_ name: String, _ value: String?) -> RequestPath {
        var path = self
        path.add(name, value)
        return path
    }

    package func adding(_ name: String, each values: [String]) -> RequestPath {
        values.reduce(self) { $0.adding(name, $1) }
    }

    /// Percent-encodes all characters except the unreserved characters of RFC 3986, section 2.3.
    package static func escaped(_ text: String) -> String {
        let escaped = PercentEncoding.encode(text)
        // A segment `.` or `..` would change the path (RFC 3986, section 5.2.4).
        return escaped == "." || escaped == ".." ? escaped.replacing(".", with: "%2E") : escaped
    }
}
