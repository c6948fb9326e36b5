/// A value of a YAML document (YAML 1.1) with its place in the text.
///
/// A scalar is its text: the caller decides whether `007` or `true` is a number, a Boolean or a name.
public struct YAMLNode: Sendable {
    public enum Value: Sendable {
        case scalar(String)
        case sequence([YAMLNode])
        /// In the order of the text. No two keys are equal scalars.
        case mapping([(key: YAMLNode, value: YAMLNode)])
    }

    public let value: Value
    /// Where it begins.
    public let place: YAMLPlace

    /// The text of a scalar; nil for a collection.
    public var string: String? {
        guard case .scalar(let text) = value else { return nil }
        return text
    }

    /// The elements of a sequence; nil for anything else.
    public var sequence: [YAMLNode]? {
        guard case .sequence(let elements) = value else { return nil }
        return elements
    }

    /// The pairs of a mapping; nil for anything else.
    public var mapping: [(key: YAMLNode, value: YAMLNode)]? {
        guard case .mapping(let pairs) = value else { return nil }
        return pairs
    }

    /// What a mapping has under a key that is a scalar of this text; nil where there is none.
    public subscript(key: String) -> YAMLNode? { mapping?.first { $0.key.string == key }?.value }
}

/// A place in a text, both counted from 1; columns are characters.
public struct YAMLPlace: Sendable, Equatable, CustomStringConvertible {
    public let line: Int
    public let column: Int

    public init(line: Int, column: Int) {
        self.line = line
        self.column = column
    }

    public var description: String { "\(line):\(column)" }
}

/// Why a text is not taken for a YAML document.
public struct YAMLError: Error, Sendable, Equatable {
    /// One sentence without its place, in lower case: `duplicate key 'listen'`.
    public let reason: String
    public let place: YAMLPlace
}

/// The largest document that is read.
struct YAMLLimits {
    /// UTF-8 bytes.
    var bytes = 1024 * 1024
    /// Collections inside each other.
    var depth = 64
}
