/// Why a text is not acceptable JSON, and where.
public struct JSONError: Error, Sendable, Equatable {
    public enum Reason: Sendable, Equatable {
        /// Not JSON (RFC 8259): the syntax, invalid UTF-8, a lone surrogate, a number that overflows.
        case malformed
        /// The same name twice in one object.
        case duplicateName
        /// Nested deeper than the limit.
        case tooDeep
        /// More bytes than the limit.
        case tooLarge
        /// An integer outside 64 bits; legal JSON that the parser cannot hold.
        case numberOutOfRange
    }

    public var reason: Reason
    /// One sentence for the sender, without internals.
    public var message: String
    /// 1-based; columns count characters, as jansson does. Zero when the position says nothing (too large).
    public var line: Int
    public var column: Int
    /// Bytes from the start of the text.
    public var offset: Int

    public init(reason: Reason, message: String, line: Int = 0, column: Int = 0, offset: Int = 0) {
        self.reason = reason
        self.message = message
        self.line = line
        self.column = column
        self.offset = offset
    }
}

extension JSONError: CustomStringConvertible {
    public var description: String {
        line > 0 ? "\(message) (line \(line), column \(column))" : message
    }
}

/// What a parse may cost. Checked before the parser allocates anything.
public struct JSONLimits: Sendable {
    /// Nested arrays and objects; the root counts as one. jansson itself gives up at 2048.
    public var depth: Int
    /// Bytes of text.
    public var bytes: Int

    public init(depth: Int = 64, bytes: Int = .max) {
        self.depth = depth
        self.bytes = bytes
    }
}

/// How integers outside 64 bits are read.
public enum JSONNumbers: Sendable {
    /// They are refused (`JSONError.Reason.numberOutOfRange`).
    case strict
    /// The document is read again with every integer as a double. The text keeps its digits.
    case lenient
    /// The same, and a number too large for a double is read as the largest one of its sign: every text that RFC 8259
    /// allows has a value.
    case any
}

/// What happens when an object names a member twice.
public enum JSONDuplicates: Sendable { case refused, lastWins }

/// The depth of a text, counted before parsing: the parser builds the tree as it goes, so a limit checked afterwards
/// would already have paid for it.
enum Nesting {
    static func check(_ bytes: [UInt8], limit: Int) throws(JSONError) {
        guard let offset = bytes.withUnsafeBufferPointer({ firstTooDeep($0, limit) }) else { return }
        let before = bytes[..<offset]
        let lineStart = before.lastIndex(of: 0x0A).map { $0 + 1 } ?? 0
        throw JSONError(
            reason: .tooDeep, message: "nested deeper than \(limit) levels",
            line: before.count(where: { $0 == 0x0A }) + 1,
            // Characters, not bytes: continuation bytes do not count.
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
