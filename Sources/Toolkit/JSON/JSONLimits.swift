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
