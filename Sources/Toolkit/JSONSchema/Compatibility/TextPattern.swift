/// A pattern of a schema, prepared for the comparison of schemas. For simple patterns, which have a ``Form``, the
/// comparison can decide if every text of one pattern also matches another pattern.
struct TextPattern {
    let source: Name
    private let pattern: Pattern
    private let form: Form
    /// The syntax tree; nil for an invalid pattern. Invalid patterns do not occur in practice, because the compiler has
    /// rejected them.
    let root: Pattern.Node?

    /// The simple forms of patterns, for which it can be decided if every text of one pattern also matches another
    /// pattern.
    private enum Form: Equatable {
        case always
        case words([[UInt8]])
        case prefix([UInt8]), suffix([UInt8]), contains([UInt8])
        case other
    }

    private static let steps = 100_000

    init(_ source: String, _ pattern: Pattern) {
        self.source = Name(source)
        self.pattern = pattern
        root = Self.parse(self.source.bytes)
        form = root.map(Self.form) ?? .other
    }

    private static func parse(_ source: [UInt8]) -> Pattern.Node? {
        source.withUnsafeBufferPointer { buffer in
            var parser = Pattern.Parser(buffer, limits: .standard)
            return (try? parser.parse())?.root
        }
    }

    /// Returns true if the pattern matches the text; nil when the search exceeded its budget.
    func matches(_ text: [UInt8]) -> Bool? {
        var steps = Self.steps
        switch text.withUnsafeBufferPointer({ pattern.matches($0, steps: &steps) }) {
        case .match: return true
        case .noMatch: return false
        case .exhausted: return nil
        }
    }

    /// All matching texts, if the pattern is a list of words; nil otherwise.
    var words: [[UInt8]]? { if case .words(let words) = form { words } else { nil } }

    /// Returns true when it is certain that every text that matches this pattern also matches the other pattern.
    func isIncluded(in other: TextPattern) -> Bool {
        if source == other.source || other.form == .always { return true }
        switch (form, other.form) {
        case (.words(let words), _): return words.allSatisfy { other.matches($0) == true }
        case (.prefix(let long), .prefix(let short)): return long.starts(with: short)
        case (.suffix(let long), .suffix(let short)): return long.reversed().starts(with: short.reversed())
        case (.prefix(let long), .contains(let part)), (.suffix(let long), .contains(let part)),
            (.contains(let long), .contains(let part)):
            return long.indices.contains { long[$0...].starts(with: part) }
        default: return false
        }
    }

    // MARK: - Reading

    private static func form(of root: Pattern.Node) -> Form {
        var nodes = root.flattened[...]
        var isAtStart = false
        var isAtEnd = false
        while case .edge(.textStart)? = nodes.first {
            isAtStart = true
            nodes.removeFirst()
        }
        while case .edge(.textEnd)? = nodes.last {
            isAtEnd = true
            nodes.removeLast()
        }
        if isAtStart, isAtEnd, nodes.count == 1, let words = words(of: nodes[nodes.startIndex]) { return .words(words) }
        if isAnything(nodes), !(isAtStart && isAtEnd) { return .always }
        guard let literal = literal(nodes) else { return .other }
        switch (isAtStart, isAtEnd) {
        case (true, true): return .words([literal])
        case (true, false): return .prefix(literal)
        case (false, true): return .suffix(literal)
        case (false, false): return .contains(literal)
        }
    }

    /// Returns true for a sequence of optional repetitions. Such a sequence matches every text, because it matches the
    /// empty text.
    private static func isAnything(_ nodes: ArraySlice<Pattern.Node>) -> Bool {
        nodes.allSatisfy { node in
            if case .loop(let repetition, _) = node { repetition.least == 0 } else { false }
        }
    }

    private static func literal(_ nodes: ArraySlice<Pattern.Node>) -> [UInt8]? {
        var bytes: [UInt8] = []
        for node in nodes {
            guard let scalar = node.members?.single.flatMap(Unicode.Scalar.init) else { return nil }
            bytes += Array(String(Character(scalar)).utf8)
        }
        return bytes
    }

    private static func words(of node: Pattern.Node) -> [[UInt8]]? {
        guard case .choice(let branches) = node, branches.count <= 256 else { return nil }
        var words: [[UInt8]] = []
        for branch in branches {
            guard let word = literal(branch.flattened[...]) else { return nil }
            words.append(word)
        }
        return words
    }
}
