import ChatKit
import ChatModel
import HTTPClient
import JSON

/// A request to the native API.
struct Call: Sendable {
    var method = "GET"
    var path: RequestPath
    var body: JSONText?
    /// Makes an emit safe to repeat: the gateway answers a repeat as it answered the first.
    var repeatKey: String?
    /// The device it comes from, whose own streams are spared what it does.
    var device: String?
    /// Whether there must be no such record yet.
    var mustBeNew = false
    /// The version that must be there.
    var version: String?
    /// Whether a repeat of what has been done does nothing.
    var isHarmless = false

    init(_ method: String = "GET", _ path: RequestPath, body: JSONText? = nil) {
        self.method = method
        self.path = path
        self.body = body
    }

    /// Whether sending it twice does what sending it once does. Not with a demand: the repeat would fail by what the first
    /// has done.
    var isRepeatable: Bool {
        isHarmless || repeatKey != nil || (["GET", "PUT", "DELETE"].contains(method) && !mustBeNew)
    }

    /// A key that no other request has.
    static func freshKey() -> String { Device.fresh() }
}

/// An answer of success.
struct GatewayResponse: Sendable {
    let status: Int
    /// Null when it had no body.
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
            throw ChatError(.unavailable, "what answers is no Parley gateway: it does not speak JSON")
        }
        root = document.root
        text = document.text
    }

    subscript(name: String) -> JSONValue? { root?[name] }

    /// A member that must be there.
    func timetoken(_ name: String) throws(ChatError) -> Timetoken {
        guard let value = self[name]?.string.flatMap({ Timetoken(text: $0) }) else { throw .foreignAnswer }
        return value
    }
}

extension ChatError {
    /// Of a newer gateway, or of something else.
    static let foreignAnswer = ChatError(.unavailable, "the gateway's answer lacks what this library looks for")
}

/// A path and query built from texts that may hold any character.
struct RequestPath: Sendable {
    private(set) var text: String
    private var hasQuery = false

    var withoutQuery: String { String(text.prefix { $0 != "?" }) }

    /// - Parameter segments: each one segment below `/v1`; a `/` inside is escaped, since channels may hold one.
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

    /// Everything but the unreserved characters of RFC 3986 section 2.3, percent-encoded.
    static func escaped(_ text: String) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E: bytes.append(byte)
            default: bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 0xF)]]
            }
        }
        let escaped = String(decoding: bytes, as: UTF8.self)
        // A segment of dots would be walked instead of named (RFC 3986 section 5.2.4).
        return escaped == "." || escaped == ".." ? escaped.replacing(".", with: "%2E") : escaped
    }
}
