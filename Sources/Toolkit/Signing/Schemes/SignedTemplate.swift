/// A template of the text that a scheme signs, with the placeholders `{id}`, `{ts}`, `{body}`, `{url}` and
/// `{header:Name}`.
public struct SignedTemplate: Sendable {
    private enum Part: Sendable {
        case text(String)
        case id
        case timestamp
        case body
        case url
        case header(String)
    }

    private let parts: [Part]

    private init(parts: [Part]) { self.parts = parts }

    /// The template `{body}`. Most services sign only the body.
    public static let body = SignedTemplate(parts: [.body])

    /// Parses a template such as `v0:{ts}:{body}`.
    ///
    /// - Throws: `.templateInvalid` if a placeholder is unknown, a brace is unmatched, or `{body}` is missing. A
    ///   template without `{body}` would accept any body.
    public init(_ text: String) throws(SignatureSchemeError) {
        var parts: [Part] = []
        var hasBody = false
        var rest = text[...]
        while let open = rest.firstIndex(of: "{") {
            if open > rest.startIndex { parts.append(.text(String(rest[..<open]))) }
            guard let close = rest[open...].firstIndex(of: "}"),
                let part = Self.placeholder(rest[rest.index(after: open)..<close])
            else { throw .templateInvalid }
            if case .body = part { hasBody = true }
            parts.append(part)
            rest = rest[rest.index(after: close)...]
        }
        if !rest.isEmpty { parts.append(.text(String(rest))) }
        guard hasBody else { throw .templateInvalid }
        self.parts = parts
    }

    private static func placeholder(_ name: Substring) -> Part? {
        switch name {
        case "id": return .id
        case "ts": return .timestamp
        case "body": return .body
        case "url": return .url
        default:
            let field = name.dropFirst("header:".count)
            return name.hasPrefix("header:") && !field.isEmpty ? .header(String(field)) : nil
        }
    }

    /// True when the timestamp is part of the signed text.
    var signsTimestamp: Bool {
        parts.contains { if case .timestamp = $0 { true } else { false } }
    }

    /// True when the sender's id of the delivery is part of the signed text.
    var signsID: Bool {
        parts.contains { if case .id = $0 { true } else { false } }
    }

    /// Appends the text of the template, filled with the values of the message, to the authentication code.
    func feed(
        _ code: inout MessageAuthentication, _ message: SignedMessage, id: String?, timestamp: String?
    ) throws(SignatureRejection) {
        for part in parts {
            if case .body = part {
                code.update(message.body)
            } else {
                code.update(try text(part, message, id, timestamp))
            }
        }
    }

    /// Returns the text of the template, filled with the values of the message.
    func filled(_ message: SignedMessage, id: String?, timestamp: String?) throws(SignatureRejection) -> [UInt8] {
        var bytes: [UInt8] = []
        for part in parts {
            if case .body = part { bytes += message.body } else { bytes += try text(part, message, id, timestamp).utf8 }
        }
        return bytes
    }

    /// Returns the text of a part other than the body. Throws if the message has no value for the part, because an
    /// empty text would change the meaning of the signed text.
    private func text(
        _ part: Part, _ message: SignedMessage, _ id: String?, _ timestamp: String?
    ) throws(SignatureRejection) -> String {
        switch part {
        case .body: ""
        case .text(let text): text
        case .id: try present(id, "{id}")
        case .timestamp: try present(timestamp, "{ts}")
        case .url: try message.requiredURL()
        case .header(let name): try message.required(name)
        }
    }

    private func present(_ value: String?, _ name: String) throws(SignatureRejection) -> String {
        guard let value else { throw .headerMissing(name) }
        return value
    }
}

extension SignedTemplate {
    /// Discord's template: `{ts}{body}`.
    static let timestampAndBody = SignedTemplate(parts: [.timestamp, .body])

    /// The template of most senders that sign a time: `{ts}.{body}`.
    static let timestampDotBody = SignedTemplate(parts: [.timestamp, .text("."), .body])

    /// Slack's template: `v0:{ts}:{body}`.
    static let slack = SignedTemplate(parts: [.text("v0:"), .timestamp, .text(":"), .body])
}
