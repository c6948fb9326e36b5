import JSON
import Signing

/// A verified post as a mapping sees it.
struct MappedPost {
    let source: String
    let message: SignedMessage
    let query: [InboundPost.Field]
    /// Nil when the mapping asks for nothing of it.
    let body: JSONDocument?

    /// A value as text: texts as they are, numbers as they were written, `true` and `false`. Nil for everything else,
    /// and where there is nothing.
    func text(of reference: Reference) -> String? {
        switch reference {
        case .source: source
        case .header(let name): message.header(name)
        case .query(let name): query.first { $0.name == name }?.value
        case .body(let pointer): body?.root.at(pointer).flatMap { text(of: $0, at: pointer) }
        }
    }

    /// A value as JSON, byte for byte as the sender wrote it; headers and query as texts.
    func json(of reference: Reference) -> JSONText? {
        switch reference {
        case .body(let pointer): body?.text.at(pointer)
        default: text(of: reference).map { JSONText(string: $0) }
        }
    }

    private func text(of value: JSONValue, at pointer: JSONPointer) -> String? {
        switch value.kind {
        case .string: value.string
        case .boolean: value.boolean.map { $0 ? "true" : "false" }
        case .integer: value.integer.map { String($0) }
        // A double would lose digits: 100.10 stays 100.10.
        case .real: body?.text.at(pointer)?.description
        case .null, .object, .array: nil
        }
    }
}

extension JSONText {
    /// The bytes of what the pointer names; nil when there is no such place (RFC 6901, 4).
    func at(_ pointer: JSONPointer) -> JSONText? {
        var text = self
        for token in pointer.tokens {
            if let member = text.rawMember(token) {
                text = member
            } else if let index = Int(token), index >= 0, String(index) == token, let elements = text.rawElements(),
                index < elements.count
            {
                text = elements[index]
            } else {
                return nil
            }
        }
        return text
    }
}
