/// A JSON Pointer (RFC 6901), split into its reference tokens.
public struct JSONPointer: Sendable, Hashable {
    /// The reference tokens, unescaped.
    public let tokens: [String]

    /// Creates a pointer from its unescaped reference tokens.
    public init(tokens: [String]) { self.tokens = tokens }

    /// Parses a pointer such as `/a/b~1c/0`. An empty text refers to the whole document. Returns `nil` when a text that
    /// is not empty does not start with `/`, or when a `~` is not followed by 0 or 1 (RFC 6901, section 3).
    public init?(_ text: some StringProtocol) {
        if text.isEmpty {
            tokens = []
            return
        }
        guard text.utf8.first == UInt8(ascii: "/") else { return nil }
        var tokens: [String] = []
        for part in text.dropFirst().split(separator: "/", omittingEmptySubsequences: false) {
            guard let token = Self.unescape(part) else { return nil }
            tokens.append(token)
        }
        self.tokens = tokens
    }

    /// Returns a member's name as one escaped reference token (RFC 6901, section 3). Only `~` and `/` are escaped.
    public static func escaped(_ name: String) -> String {
        guard name.utf8.contains(where: { $0 == UInt8(ascii: "~") || $0 == UInt8(ascii: "/") }) else { return name }
        var token = ""
        for scalar in name.unicodeScalars {
            switch scalar {
            case "~": token += "~0"
            case "/": token += "~1"
            default: token.unicodeScalars.append(scalar)
            }
        }
        return token
    }

    private static func unescape(_ part: some StringProtocol) -> String? {
        guard part.utf8.contains(UInt8(ascii: "~")) else { return String(part) }
        var token = ""
        var characters = part.unicodeScalars.makeIterator()
        while let scalar = characters.next() {
            guard scalar == "~" else {
                token.unicodeScalars.append(scalar)
                continue
            }
            switch characters.next() {
            case "0": token.append("~")
            case "1": token.append("/")
            default: return nil
            }
        }
        return token
    }
}

extension JSONValue {
    /// Returns the value that the pointer refers to inside this value; `nil` when there is none. An array index must be
    /// `0` or digits without a leading zero (RFC 6901, section 4).
    public func at(_ pointer: JSONPointer) -> JSONValue? {
        var value = self
        for token in pointer.tokens {
            switch value.kind {
            case .object:
                guard let member = value[token] else { return nil }
                value = member
            case .array:
                guard let index = Int(token), String(index) == token, let element = value[index] else { return nil }
                value = element
            default: return nil
            }
        }
        return value
    }
}
