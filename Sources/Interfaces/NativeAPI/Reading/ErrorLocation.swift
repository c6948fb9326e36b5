import ChatModel
import HTTPServer
import JSON

/// Finds the member of a request's body to which an error of another module refers. The error names a field. The member
/// has the name of the field, or another name that the route uses for it. If the member is an array, the location is
/// its first invalid element.
struct ErrorLocation {
    /// For each field name in an error, the other names under which routes accept that field. For a field without an
    /// entry, the other name is the plural of the field name.
    private static let names = [
        "channel": ["channels", "add", "remove"], "channels": ["add"], "user": ["users", "mentions", "by"],
        "by": ["user"], "cursor": ["Last-Event-ID"],
    ]

    private static func candidates(_ field: String) -> [String] { [field] + (names[field] ?? [field + "s"]) }

    /// The query parameter, path parameter or header field of a request to which an error's `field` refers; nil when
    /// the request has none.
    static func parameter(_ field: String, of request: Request) -> String? {
        candidates(field).first { name in
            !request.query[all: name].isEmpty || request.parameters[name] != nil
                || request.headers.contains(named: name)
        }
    }

    private let field: String
    private let body: JSONValue

    /// Creates a search for a field in a request's body.
    ///
    /// - Parameter field: see `ChatError.field`.
    init(_ field: String, in body: JSONValue) {
        self.field = field
        self.body = body
    }

    /// The JSON pointer; nil when the body has no such member.
    var pointer: String? {
        if field.isEmpty { return "#" }
        if let slash = field.firstIndex(of: "/") {
            return body[String(field[..<slash])] == nil ? nil : "#/" + field
        }
        let found = Self.candidates(field).compactMap { name in
            body[name].map { (name, $0) }
        }
        for isPattern in [true, false] {
            for (name, value) in found {
                if let text = value.string, name != field, refuses(text, isPattern: isPattern) { return "#/" + name }
                let index = value.elements?.firstIndex { $0.string.map { refuses($0, isPattern: isPattern) } ?? false }
                if let index { return "#/\(name)/\(index)" }
            }
        }
        return found.first { $0.0 == field || $0.1.elements != nil }.map { "#/" + $0.0 }
    }

    /// Returns true when the text is invalid as a value of the field.
    private func refuses(_ text: String, isPattern: Bool) -> Bool {
        var name = text
        if isPattern {
            switch NamePattern(text) {
            case nil: return true
            case .all: return false
            case .exact(let exact): name = exact
            case .below(let prefix): name = String(prefix.dropLast())
            }
        }
        do throws(ChatError) {
            switch field {
            case "channel": try Names.check(channel: name)
            case "user", "by": try Names.check(user: name)
            case "group": try Names.check(group: name)
            case "type": try isPattern ? Names.check(type: name) : Names.check(customType: name)
            default: break
            }
            return false
        } catch {
            return true
        }
    }
}
