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
