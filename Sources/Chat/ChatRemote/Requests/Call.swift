import ChatKit
import ChatModel
import HTTPClient
import JSON
import Text

/// A request to the native API.
struct Call: Sendable {
    var method = "GET"
    var path: RequestPath
    var body: JSONText?
    /// The idempotency key of an emit. The gateway answers a repeat with the response to the first request.
    var repeatKey: String?
    /// The device that sends the request. Its own streams do not receive the resulting events.
    var device: String?
    /// True when the record must not exist yet.
    var mustBeNew = false
    /// The version that the record must have.
    var version: String?
    /// True when repeating the request after it was done does nothing.
    var isHarmless = false

    init(_ method: String = "GET", _ path: RequestPath, body: JSONText? = nil) {
        self.method = method
        self.path = path
        self.body = body
    }

    /// True when sending the request twice has the same effect as sending it once. A request with a precondition is not
    /// repeatable: the effect of the first request would make the repeat fail.
    var isRepeatable: Bool {
        isHarmless || repeatKey != nil || (["GET", "PUT", "DELETE"].contains(method) && !mustBeNew)
    }

    /// Returns a unique idempotency key.
    static func freshKey() -> String { Device.fresh() }
}

/// A successful response.
struct GatewayResponse: Sendable {
    let status: Int
    /// The document; nil when the response had no body.
    let root: JSONValue?
    let text: JSONText

    init(_ result: OutboundResult) throws(ChatError) {
        status = result.status ?? 0
        guard !result.truncated else { throw ChatError(.tooLarge, "the gateway's answer is too large; ask for less") }
        guard !result.body.isEmpty else {
            root = nil
            text = .null
            return
        }
        guard let document = try? JSONDocument(result.body, limits: JSONLimits(depth: 2048), numbers: .any) else {
            throw ChatError(.unavailable, "the server is not a Parley gateway: its answer is not JSON")
        }
        root = document.root
        text = document.text
    }

    subscript(name: String) -> JSONValue? { root?[name] }

    /// Returns a required timetoken member.
    func timetoken(_ name: String) throws(ChatError) -> Timetoken {
        guard let value = self[name]?.string.flatMap({ Timetoken(text: $0) }) else { throw .foreignAnswer }
        return value
    }
}

extension ChatError {
    /// The error for a response of a newer gateway or of another server.
    static let foreignAnswer = ChatError(.unavailable, "the gateway's answer lacks what this library looks for")
}

/// A request path and query built from texts that may hold any character.
struct RequestPath: Sendable {
    private(set) var text: String
    private var hasQuery = false

    var withoutQuery: String { String(text.prefix { $0 != "?" }) }

    /// - Parameter segments: the path segments below `/v1`. A `/` inside a segment is escaped, since channel names may
    ///   hold one.
    init(_ segments: String...) { self.init(segments) }

    init(_ segments: [String]) { text = segments.reduce(into: "/v1") { $0 += "/" + Self.escaped($1) } }

    func adding(_ name: String, _ value: String?) -> RequestPath {
        guard let value else { return self }
        var path = self
        path.text += (hasQuery ? "&" : "?") + name + "=" + Self.escaped(value)
        path.hasQuery = true
        return path
    }

    func adding(_ name: String, each values: [String]) -> RequestPath {
        values.reduce(self) { $0.adding(name, $1) }
    }

    /// Percent-encodes everything but the unreserved characters of RFC 3986, section 2.3.
    static func escaped(_ text: String) -> String {
        let escaped = PercentEncoding.encode(text)
        // A segment of dots would change the path (RFC 3986, section 5.2.4).
        return escaped == "." || escaped == ".." ? escaped.replacing(".", with: "%2E") : escaped
    }
}
