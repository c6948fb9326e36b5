extension Pattern {
    /// Reads the grammar of ECMA-262, 22.2.1 with the parameters `[+UnicodeMode, +NamedCaptureGroups]`, and its early
    /// errors. Nothing of annex B is taken: `\-`, `{` or `]` on their own are refused, as with the `u` flag.
    struct Parser {
        let source: UnsafeBufferPointer<UInt8>
        let limits: PatternLimits
        var offset = 0
        private var depth = 0
        private(set) var groupCount = 0
        var groupNames: [[UInt32]: Int] = [:]
        /// `\k<name>` as met; the group may follow later.
        var namedReferences: [(name: [UInt32], offset: Int)] = []
        /// The greatest `\1`, `\2`… as met.
        var greatestReference = (number: 0, offset: 0)

        init(_ source: UnsafeBufferPointer<UInt8>, limits: PatternLimits) {
            self.source = source
            self.limits = limits
        }

        mutating func parse() throws(PatternError) -> Syntax {
            let root = try disjunction()
            if offset < source.count { throw failure("a parenthesis closes nothing") }
            if greatestReference.number > groupCount {
                throw PatternError(message: "there is no such group", offset: greatestReference.offset)
            }
            var references: [Int] = []
            for (name, offset) in namedReferences {
                guard let group = groupNames[name] else {
                    throw PatternError(message: "no group has this name", offset: offset)
                }
                references.append(group)
            }
            return Syntax(root: root, groupCount: groupCount, references: references)
        }

        mutating func disjunction() throws(PatternError) -> Node {
            var branches = [try alternative()]
            while take("|") { branches.append(try alternative()) }
            return branches.count == 1 ? branches[0] : .choice(branches)
        }

        private mutating func alternative() throws(PatternError) -> Node {
            var terms: [Node] = []
            while let byte = peek, byte != UInt8(ascii: "|"), byte != UInt8(ascii: ")") { terms.append(try term()) }
            return terms.isEmpty ? .empty : terms.count == 1 ? terms[0] : .sequence(terms)
        }

        private mutating func term() throws(PatternError) -> Node {
            let groupsBefore = groupCount
            if let edge = edge() { return .edge(edge) }
            let atom = try atom()
            // Lookarounds cannot be repeated in this mode: what follows is then an atom, and refused there.
            if case .look = atom { return atom }
            guard var repetition = try quantifier() else { return atom }
            if groupCount > groupsBefore { repetition.groups = (groupsBefore + 1)...groupCount }
            return .loop(repetition, atom)
        }

        private mutating func edge() -> Edge? {
            if take("^") { return .textStart }
            if take("$") { return .textEnd }
            if take("\\b") { return .wordEdge }
            return take("\\B") ? .noWordEdge : nil
        }

        private mutating func atom() throws(PatternError) -> Node {
            guard let byte = peek else { throw failure("something is missing at the end") }
            switch byte {
            case UInt8(ascii: "("): return try group()
            case UInt8(ascii: "["): return .set(try characterClass())
            case UInt8(ascii: "\\"): return try atomEscape()
            case UInt8(ascii: "."):
                offset += 1
                return .set(.anyButLineEnds)
            case UInt8(ascii: "*"), UInt8(ascii: "+"), UInt8(ascii: "?"), UInt8(ascii: "{"):
                throw failure("there is nothing to repeat")
            case UInt8(ascii: "]"), UInt8(ascii: "}"): throw failure("a bracket closes nothing")
            default: return .scalar(nextScalar())
            }
        }

        private mutating func group() throws(PatternError) -> Node {
            let start = offset
            let look = look()
            var number: Int?
            if look == nil, !take("(?:") {
                groupCount += 1
                number = groupCount
                if take("(?<") { try nameGroup(groupCount) } else { try open() }
            }
            depth += 1
            if depth > limits.nesting { throw PatternError(message: "groups are nested too deeply", offset: start) }
            let content = try disjunction()
            depth -= 1
            guard take(")") else { throw PatternError(message: "a parenthesis is not closed", offset: start) }
            if let look { return .look(look, content) }
            return number.map { .group($0, content) } ?? content.asUnit
        }

        private mutating func look() -> Look? {
            if take("(?=") { return Look(isBehind: false, isNegated: false) }
            if take("(?!") { return Look(isBehind: false, isNegated: true) }
            if take("(?<=") { return Look(isBehind: true, isNegated: false) }
            return take("(?<!") ? Look(isBehind: true, isNegated: true) : nil
        }

        private mutating func open() throws(PatternError) {
            _ = take("(")
            if peek == UInt8(ascii: "?") { throw failure("this kind of group does not exist") }
        }
    }
}

extension Pattern.Node {
    /// A group in parentheses counts as one thing, also a lookaround that stands alone in it: `(?:(?=a))*` is allowed
    /// where `(?=a)*` is not.
    fileprivate var asUnit: Pattern.Node {
        if case .look = self { .sequence([self]) } else { self }
    }
}

// MARK: - Reading

extension Pattern.Parser {
    var peek: UInt8? { offset < source.count ? source[offset] : nil }

    /// Steps over a word, if it stands here.
    mutating func take(_ word: StaticString) -> Bool {
        let count = word.utf8CodeUnitCount
        guard source.count - offset >= count else { return false }
        for index in 0..<count where source[offset + index] != word.utf8Start[index] { return false }
        offset += count
        return true
    }

    /// The character here; there is one.
    mutating func nextScalar() -> UInt32 {
        let text = Pattern.Text(source)
        var place = text.start + offset
        let scalar = UTF8Reading.next(&place, text.end)
        offset = place - text.start
        return scalar
    }

    func failure(_ message: String) -> PatternError { PatternError(message: message, offset: offset) }
}
