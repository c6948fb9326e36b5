/// Translates a filter expression of PubNub's SDKs to the gateway's filter language. In PubNub's expressions, a name
/// stands for a member of the metadata; in the gateway's language, this member is `meta.name`.
enum FilterTranslation {
    private static let words: Set = ["like", "contains", "and", "or", "not", "true", "false", "null"]
    private static let publishers: Set = ["uuid", "userid", "user_id"]
    /// A condition that is true for changes of records and messages. PubNub's filters never leave out these events.
    private static let unfiltered = [
        "user.*", "channel.*", "member*", "reaction.*", "action.*", "thread.updated", "message.updated",
        "message.deleted",
    ]
    .map { "type LIKE '\($0)'" }.joined(separator: " || ")

    static func native(_ expression: String) -> String {
        var result = ""
        var rest = Substring(expression)
        while let first = rest.first {
            if first == "'" || first == "\"" {
                result += text(&rest, quote: first)
            } else if first.isLetter || first == "_" {
                let word = rest.prefix { $0.isLetter || $0.isNumber || $0 == "_" }
                rest = rest.dropFirst(word.count)
                result += name(String(word), isMember: result.last == ".", rest.first)
            } else if first.isNumber {
                let number = rest.prefix { $0.isLetter || $0.isNumber || $0 == "." }
                rest = rest.dropFirst(number.count)
                result += number
            } else {
                result.append(first)
                rest = rest.dropFirst()
            }
        }
        return "(\(result)) || \(unfiltered)"
    }

    /// Removes a quoted text with its escapes from the beginning of `rest`, and returns it.
    private static func text(_ rest: inout Substring, quote: Character) -> String {
        var text = String(rest.removeFirst())
        while let next = rest.popFirst() {
            text.append(next)
            if next == "\\", let escaped = rest.popFirst() { text.append(escaped) } else if next == quote { break }
        }
        return text
    }

    private static func name(_ word: String, isMember: Bool, _ next: Character?) -> String {
        let hasMembers = next == "." || next == "["
        if isMember || words.contains(word.lowercased()) || (word == "meta" && hasMembers) || word == "data" {
            return word
        }
        return publishers.contains(word.lowercased()) ? "user" : "meta.\(word)"
    }
}
