/// A text with references in braces: `repos.{body/repository/name}`, `{query/topic|general}`.
///
/// What follows `|` stands in when there is no value. `{{` and `}}` are braces themselves.
struct TextTemplate: Sendable {
    enum Part: Sendable {
        case text(String)
        case reference(Reference, fallback: String?)
    }

    /// Why a template was not accepted; one sentence for its author.
    struct Fault: Error {
        let detail: String
    }

    let parts: [Part]

    init(_ text: String) throws(Fault) {
        var parts: [Part] = []
        var literal = ""
        var rest = text.unicodeScalars[...]
        while let scalar = rest.popFirst() {
            if (scalar == "{" || scalar == "}"), rest.first == scalar {
                literal.unicodeScalars.append(scalar)
                rest.removeFirst()
            } else if scalar == "{" {
                guard let close = rest.firstIndex(of: "}") else { throw Fault(detail: "a '{' is never closed") }
                if !literal.isEmpty { parts.append(.text(literal)) }
                literal = ""
                parts.append(try Self.reference(Substring(rest[..<close])))
                rest = rest[rest.index(after: close)...]
            } else if scalar == "}" {
                throw Fault(detail: "a '}' without '{'; write '}}' for the character itself")
            } else {
                literal.unicodeScalars.append(scalar)
            }
        }
        if !literal.isEmpty { parts.append(.text(literal)) }
        self.parts = parts
    }

    private static func reference(_ text: Substring) throws(Fault) -> Part {
        let bar = text.firstIndex(of: "|")
        let name = text[..<(bar ?? text.endIndex)]
        guard let reference = Reference(name) else {
            throw Fault(detail: "'{\(name.prefix(64))}' refers to nothing; there are \(Reference.forms)")
        }
        return .reference(reference, fallback: bar.map { String(text[text.index(after: $0)...]) })
    }

    /// The text when it has no references.
    var constant: String? {
        var text = ""
        for part in parts {
            guard case .text(let piece) = part else { return nil }
            text += piece
        }
        return text
    }

    var references: [Reference] {
        parts.compactMap { if case .reference(let reference, _) = $0 { reference } else { nil } }
    }

    /// The text with every reference filled in.
    /// - Throws: the references without a value and without a fallback.
    func render(_ post: MappedPost) throws(MissingValues) -> String {
        var text = ""
        var missing: [Reference] = []
        for part in parts {
            switch part {
            case .text(let piece): text += piece
            case .reference(let reference, let fallback):
                if let value = post.text(of: reference) ?? fallback { text += value } else { missing.append(reference) }
            }
        }
        guard missing.isEmpty else { throw MissingValues(references: missing) }
        return text
    }
}

/// References that lead nowhere in a post.
struct MissingValues: Error {
    var references: [Reference]
}
