/// A value of a YAML document (YAML 1.1) with its position in the text.
///
/// A scalar is stored as text. The caller determines if `007` or `true` is a number, a Boolean or a name.
public struct YAMLNode: Sendable {
    /// The content of a node.
    public enum Value: Sendable {
        case scalar(String)
        case sequence([YAMLNode])
        /// The key-value pairs, in the order of the text. No two keys are equal scalars.
        case mapping([(key: YAMLNode, value: YAMLNode)])
    }

    /// The content of the node.
    public let value: Value
    /// The position at which the node begins.
    public let place: YAMLPlace

    /// The text of a scalar; `nil` for a sequence or mapping.
    public var string: String? {
        guard case .scalar(let text) = value else { return nil }
        return text
    }

    /// The elements of a sequence; `nil` for other nodes.
    public var sequence: [YAMLNode]? {
        guard case .sequence(let elements) = value else { return nil }
        return elements
    }

    /// The key-value pairs of a mapping; `nil` for other nodes.
    public var mapping: [(key: YAMLNode, value: YAMLNode)]? {
        guard case .mapping(let pairs) = value else { return nil }
        return pairs
    }

    /// The value of a mapping's scalar key with this text; `nil` when there is none.
    public subscript(key: String) -> YAMLNode? { mapping?.first { $0.key.string == key }?.value }
}

/// A position in a text. Lines and columns are counted from 1. Columns are counted in characters.
public struct YAMLPlace: Sendable, Equatable, CustomStringConvertible {
    /// The line, counted from 1.
    public let line: Int
    /// The column in characters, counted from 1.
    public let column: Int

    /// Creates a position.
    init(line: Int, column: Int) {
        self.line = line
        self.column = column
    }

    /// The position as `line:column`.
    public var description: String { "\(line):\(column)" }
}

/// The error for a text that is rejected as a YAML document.
public struct YAMLError: Error, Sendable, Equatable {
    /// One sentence about the error in lower case, without the position, for instance `duplicate key 'listen'`.
    public let reason: String
    /// The position of the error.
    public let place: YAMLPlace
}

/// Limits on the size of a document.
struct YAMLLimits {
    /// The maximum length of the document in UTF-8 bytes.
    var bytes = 1024 * 1024
    /// The maximum nesting depth of sequences and mappings.
    var depth = 64
}
