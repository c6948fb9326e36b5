/// The text a signature is made over, as a template of `{id}`, `{ts}`, `{body}`, `{url}` and `{header:Name}`.
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

    /// The body alone, which is what most services sign.
    public static let body = SignedTemplate(parts: [.body])

    /// Reads a template such as `v0:{ts}:{body}`. One without `{body}` is refused: it would accept any body.
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

    /// Feeds the template, filled in, to the code. What the template asks for and the message lacks is a rejection:
    /// an empty piece in its place would sign something else.
    func feed(
        _ code: inout MessageAuthentication, _ message: SignedMessage, id: String?, timestamp: String?
    ) throws(SignatureRejection) {
        for part in parts {
            switch part {
            case .text(let text): code.update(text)
            case .body: code.update(message.body)
            case .id: code.update(try present(id, "{id}"))
            case .timestamp: code.update(try present(timestamp, "{ts}"))
            case .url: code.update(try present(message.url, "{url}"))
            case .header(let name): code.update(try message.required(name))
            }
        }
    }

    private func present(_ value: String?, _ name: String) throws(SignatureRejection) -> String {
        guard let value else { throw .headerMissing(name) }
        return value
    }
}

extension SignedTemplate {
    /// Slack's: `v0:{ts}:{body}`.
    static let slack = SignedTemplate(parts: [.text("v0:"), .timestamp, .text(":"), .body])
}
