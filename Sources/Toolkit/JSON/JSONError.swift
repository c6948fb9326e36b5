/// The error for a text that the parser rejects: the reason and the position.
public struct JSONError: Error, Sendable, Equatable {
    /// The class of an error.
    public enum Reason: Sendable, Equatable {
        /// The text is not valid JSON (RFC 8259), or contains something else that jansson rejects: a syntax error,
        /// invalid UTF-8, a lone surrogate, or a number too large for a double.
        case malformed
        /// One object contains the same name twice.
        case duplicateName
        /// The text is nested deeper than the limit.
        case tooDeep
        /// The text has more bytes than the limit.
        case tooLarge
        /// An integer does not fit into 64 bits. The text is valid JSON, but the parser cannot represent the integer.
        case numberOutOfRange
    }

    /// The class of the error.
    public var reason: Reason
    /// One sentence that describes the error to the sender of the text, without internal details.
    public var message: String
    /// The line of the error, counted from 1. Zero when the error has no position (`tooLarge`).
    public var line: Int
    /// The column of the error in characters, counted from 1. Zero when the error has no position.
    public var column: Int
    /// The number of bytes from the start of the text to the error.
    public var offset: Int

    /// Creates an error.
    public init(reason: Reason, message: String, line: Int = 0, column: Int = 0, offset: Int = 0) {
        self.reason = reason
        self.message = message
        self.line = line
        self.column = column
        self.offset = offset
    }
}

extension JSONError: CustomStringConvertible {
    /// The message with its position, if there is one.
    public var description: String {
        line > 0 ? "\(message) (line \(line), column \(column))" : message
    }
}

/// Limits on the size and nesting of a JSON text. They are checked before the parser allocates memory.
public struct JSONLimits: Sendable {
    /// The maximum nesting depth of arrays and objects. The outermost array or object has depth 1. jansson's own limit
    /// is 2048.
    public var depth: Int
    /// The maximum length of the text in bytes.
    public var bytes: Int

    /// Creates limits. The default is 64 levels and no limit on the length.
    public init(depth: Int = 64, bytes: Int = .max) {
        self.depth = depth
        self.bytes = bytes
    }
}

/// The treatment of integers that do not fit into 64 bits.
public enum JSONNumbers: Sendable {
    /// Reject the text (`JSONError.Reason.numberOutOfRange`).
    case strict
    /// Parse the text again with every integer as a double. ``JSONDocument/text`` still contains the exact digits.
    case lenient
    /// Like `lenient`. In addition, a number that is too large for a double is read as the largest double with the same
    /// sign, so that every number that RFC 8259 allows has a value.
    case any
}

/// The treatment of an object in which a member's name occurs twice: reject the text, or use the last member.
public enum JSONDuplicates: Sendable { case refused, lastWins }

/// Checks the nesting depth of a text before it is parsed. A check after parsing would be too late, because the parser
/// would already have built the whole tree.
enum Nesting {
    static func check(_ bytes: [UInt8], limit: Int) throws(JSONError) {
        guard let offset = bytes.withUnsafeBufferPointer({ firstTooDeep($0, limit) }) else { return }
        let before = bytes[..<offset]
        let lineStart = before.lastIndex(of: 0x0A).map { $0 + 1 } ?? 0
        throw JSONError(
            reason: .tooDeep, message: "nested deeper than \(limit) levels",
            line: before.count(where: { $0 == 0x0A }) + 1,
            // Columns count characters, so UTF-8 continuation bytes are not counted.
            column: before[lineStart...].count(where: { $0 & 0xC0 != 0x80 }) + 1, offset: offset)
    }

    private static func firstTooDeep(_ bytes: UnsafeBufferPointer<UInt8>, _ limit: Int) -> Int? {
        var depth = 0
        var at = 0
        while at < bytes.count {
            switch bytes[at] {
            case UInt8(ascii: "\""):
                at = bytes.endOfString(from: at + 1)
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                depth += 1
                if depth > limit { return at }
            case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
            default: break
            }
            at += 1
        }
        return nil
    }
}
