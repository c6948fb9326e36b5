/// A value of a YAML document (YAML 1.1) with its position in the text.
///
/// A scalar is stored as text: the caller decides if `007` or `true` is a number, a Boolean or a name.
public struct YAMLNode: Sendable {
    /// The content of a node.
    public enum Value: Sendable {
        case scalar(String)
        case sequence([YAMLNode])
        /// The pairs in the order of the text. No two keys are equal scalars.
        case mapping([(key: YAMLNode, value: YAMLNode)])
    }

    /// The content.
    public let value: Value
    /// The position at which the node begins.
    public let place: YAMLPlace

    /// The text of a scalar; `nil` for a collection.
    public var string: String? {
        guard case .scalar(let text) = value else { return nil }
        return text
    }

    /// The elements of a sequence; `nil` for other nodes.
    public var sequence: [YAMLNode]? {
        guard case .sequence(let elements) = value else { return nil }
        return elements
    }

    /// The pairs of a mapping; `nil` for other nodes.
    public var mapping: [(key: YAMLNode, value: YAMLNode)]? {
        guard case .mapping(let pairs) = value else { return nil }
        return pairs
    }

    /// The value of a mapping under the scalar key with this text; `nil` when there is none.
    public subscript(key: String) -> YAMLNode? { mapping?.first { $0.key.string == key }?.value }
}

/// A position in a text. Line and column are counted from 1; columns count characters.
public struct YAMLPlace: Sendable, Equatable, CustomStringConvertible {
    /// The line, from 1.
    public let line: Int
    /// The column in characters, from 1.
    public let column: Int

    /// Creates a position.
    init(line: Int, column: Int) {
        self.line = line
        self.column = column
    }

    /// The position as `line:column`.
    public var description: String { "\(line):\(column)" }
}

/// The reason why a text is rejected as a YAML document.
public struct YAMLError: Error, Sendable, Equatable {
    /// One sentence without the position, in lower case: `duplicate key 'listen'`.
    public let reason: String
    /// The position of the error.
    public let place: YAMLPlace
}

/// Limits on the size of a document.
struct YAMLLimits {
    /// The maximum number of UTF-8 bytes.
    var bytes = 1024 * 1024
    /// The deepest nesting of collections.
    var depth = 64
}
