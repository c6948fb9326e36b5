import JSON

/// A place in a post that a mapping takes a value from.
enum Reference: Sendable, Hashable {
    case body(JSONPointer)
    case header(String)
    case query(String)
    /// The source's id.
    case source

    /// Reads `body`, `body/json/pointer`, `header/Name`, `query/name` or `source`; nil for anything else.
    init?(_ text: some StringProtocol) {
        if text == "source" {
            self = .source
        } else if text == "body" {
            self = .body(JSONPointer(tokens: []))
        } else if text.hasPrefix("body/"), let pointer = JSONPointer(text.dropFirst(4)) {
            self = .body(pointer)
        } else if text.hasPrefix("header/"), text.utf8.count > 7 {
            self = .header(String(text.dropFirst(7)))
        } else if text.hasPrefix("query/"), text.utf8.count > 6 {
            self = .query(String(text.dropFirst(6)))
        } else {
            return nil
        }
    }

    static let forms = "body/json/pointer, header/Name, query/name or source"

    var needsBody: Bool { if case .body = self { true } else { false } }
}

extension Reference: CustomStringConvertible {
    var description: String {
        switch self {
        case .body(let pointer):
            "body" + pointer.tokens.map { "/" + Self.escaped($0) }.joined()
        case .header(let name): "header/" + name
        case .query(let name): "query/" + name
        case .source: "source"
        }
    }

    private static func escaped(_ token: String) -> String {
        var text = ""
        for character in token.unicodeScalars {
            switch character {
            case "~": text += "~0"
            case "/": text += "~1"
            default: text.unicodeScalars.append(character)
            }
        }
        return text
    }
}
