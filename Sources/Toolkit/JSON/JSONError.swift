/// The reason why a text is not acceptable JSON, and the position of the error.
public struct JSONError: Error, Sendable, Equatable {
    /// The class of an error.
    public enum Reason: Sendable, Equatable {
        /// The text is not JSON (RFC 8259): a syntax error, invalid UTF-8, a lone surrogate, or a number that
        /// overflows.
        case malformed
        /// One object contains the same name twice.
        case duplicateName
        /// The text is nested deeper than the limit.
        case tooDeep
        /// The text has more bytes than the limit.
        case tooLarge
        /// An integer does not fit into 64 bits. This is valid JSON that the parser cannot represent.
        case numberOutOfRange
    }

    /// The class of the error.
    public var reason: Reason
    /// One sentence for the sender, without internal details.
    public var message: String
    /// The line, counted from 1. Zero when there is no meaningful position (too large).
    public var line: Int
    /// The column, counted from 1 in characters, as jansson does. Zero when there is no meaningful position.
    public var column: Int
    /// The number of bytes from the start of the text.
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

/// Limits on the size of a text. Checked before the parser allocates anything.
public struct JSONLimits: Sendable {
    /// The deepest nesting of arrays and objects; the root counts as one. jansson itself stops at 2048.
    public var depth: Int
    /// The maximum number of bytes of text.
    public var bytes: Int

    /// Creates limits; the default is 64 levels and any length.
    public init(depth: Int = 64, bytes: Int = .max) {
        self.depth = depth
        self.bytes = bytes
    }
}

/// The treatment of integers outside 64 bits.
public enum JSONNumbers: Sendable {
    /// Reject them (`JSONError.Reason.numberOutOfRange`).
    case strict
    /// Parse the document again with every integer as a double. The text keeps its digits.
    case lenient
    /// Like `lenient`; in addition, a number too large for a double is read as the largest double of its sign. Every
    /// number that RFC 8259 allows then has a value.
    case any
}

/// The treatment of an object that names a member twice.
public enum JSONDuplicates: Sendable { case refused, lastWins }

/// Checks the nesting of a text before parsing. The parser builds the tree as it reads, so a check afterwards would
/// come too late to save its cost.
enum Nesting {
    static func check(_ bytes: [UInt8], limit: Int) throws(JSONError) {
        guard let offset = bytes.withUnsafeBufferPointer({ firstTooDeep($0, limit) }) else { return }
        let before = bytes[..<offset]
        let lineStart = before.lastIndex(of: 0x0A).map { $0 + 1 } ?? 0
        throw JSONError(
            reason: .tooDeep, message: "nested deeper than \(limit) levels",
            line: before.count(where: { $0 == 0x0A }) + 1,
            // Columns count characters, so continuation bytes are left out.
            column: before[lineStart...].count(where: { $0 & 0xC0 != 0x80 }) + 1, offset: offset)
    }

    private static func firstTooDeep(_ bytes: UnsafeBufferPointer<UInt8>, _ limit: Int) -> Int? {
        var depth = 0
        var at = 0
        while at < bytes.count {
            switch bytes[at] {
            case UInt8(ascii: "\""):
                at += 1
                while at < bytes.count, bytes[at] != UInt8(ascii: "\"") {
                    at += bytes[at] == UInt8(ascii: "\\") ? 2 : 1
                }
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
