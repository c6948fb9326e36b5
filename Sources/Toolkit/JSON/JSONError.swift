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
