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

/// Limits on the size and nesting of a JSON text. The limits are checked before the parser allocates memory.
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
    /// Parse the text again with every integer as a double, including the integers that fit into 64 bits.
    /// ``JSONDocument/text`` still contains the exact digits.
    case lenient
    /// Like `lenient`. In addition, a number that is too large for a double is read as the largest double with the same
    /// sign, so that every number that RFC 8259 allows has a value.
    case any
}

/// The treatment of an object in which a member's name occurs twice: reject the text, or use the last member.
public enum JSONDuplicates: Sendable { case refused, lastWins }
