/// A text with references in braces: `repos.{body/repository/name}`, `{query/topic|general}`.
///
/// If the reference has no value, the text after `|` is used instead. `{{` and `}}` stand for single braces.
struct TextTemplate: Sendable {
    enum Part: Sendable {
        case text(String)
        case reference(TemplateReference, fallback: String?)
    }

    /// The error for a malformed template, with one sentence for the template's author.
    struct Fault: Error {
        let detail: String
    }

    let parts: [Part]

    init(
        _ text: String, _ refer: (Substring) throws(Fault) -> TemplateReference
    ) throws(Fault) {
        var parts: [Part] = []
        var literal = ""
        var rest = text.unicodeScalars[...]
        while let scalar = rest.popFirst() {
            if scalar == "{" || scalar == "}", rest.first == scalar {
                literal.unicodeScalars.append(scalar)
                rest.removeFirst()
            } else if scalar == "{" {
                guard let close = rest.firstIndex(of: "}") else { throw Fault(detail: "a '{' has no closing '}'") }
                if !literal.isEmpty { parts.append(.text(literal)) }
                literal = ""
                parts.append(try Self.reference(Substring(rest[..<close]), refer))
                rest = rest[rest.index(after: close)...]
            } else if scalar == "}" {
                throw Fault(detail: "a '}' has no opening '{'; write '}}' for the character itself")
            } else {
                literal.unicodeScalars.append(scalar)
            }
        }
        if !literal.isEmpty { parts.append(.text(literal)) }
        self.parts = parts
    }

    private static func reference(
        _ text: Substring, _ refer: (Substring) throws(Fault) -> TemplateReference
    ) throws(Fault) -> Part {
        let bar = text.firstIndex(of: "|")
        let reference = try refer(text[..<(bar ?? text.endIndex)])
        return .reference(reference, fallback: bar.map { String(text[text.index(after: $0)...]) })
    }

    /// The resulting text, if the template contains no references; `nil` otherwise.
    var constant: String? {
        var text = ""
        for part in parts {
            guard case .text(let piece) = part else { return nil }
            text += piece
        }
        return text
    }
}
