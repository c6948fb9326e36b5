extension Pattern {
    /// Parses patterns according to the grammar of ECMA-262, 22.2.1 with the parameters `[+UnicodeMode,
    /// +NamedCaptureGroups]`, including its early errors. Annex B is not supported: `\-`, and a single `{` or `]`, are
    /// rejected, as with the `u` flag.
    ///
    /// Open groups are stored in an array, so that nested parentheses cannot exhaust the thread's stack.
    struct Parser {
        /// An open group. The first open group is the whole pattern.
        fileprivate struct Level {
            var kind = Kind.plain
            /// The position of the opening parenthesis in the pattern.
            var start = 0
            /// The number of capturing groups before this group.
            var groupsBefore = 0
            var branches: [Node] = []
            var terms: [Node] = []

            enum Kind {
                case plain
                case capture(Int)
                case lookaround(Lookaround)
            }
        }

        let source: UnsafeBufferPointer<UInt8>
        let limits: PatternLimits
        var offset = 0
        private var groupCount = 0
        private var open = [Level()]
        var groupNames: [[UInt32]: Int] = [:]
        /// The `\k<name>` references found so far. They are resolved at the end, because the group may come after the
        /// reference.
        var namedReferences: [(name: [UInt32], offset: Int)] = []
        /// The highest number of a back reference (`\1`, `\2`…) found so far, with its position.
        var greatestReference = (number: 0, offset: 0)

        init(_ source: UnsafeBufferPointer<UInt8>, limits: PatternLimits) {
            self.source = source
            self.limits = limits
        }

        mutating func parse() throws(PatternError) -> Syntax {
            while let byte = peek {
                switch byte {
                case UInt8(ascii: "("): try openGroup()
                case UInt8(ascii: ")"): try closeGroup()
                case UInt8(ascii: "|"):
                    offset += 1
                    open[open.count - 1].endBranch()
                default: try term()
                }
            }
            if open.count > 1 {
                throw PatternError(message: "a closing parenthesis is missing", offset: open[open.count - 1].start)
            }
            return Syntax(root: open[0].content(), groupCount: groupCount, references: try references())
        }
    }
}

extension Pattern.Parser.Level {
    fileprivate mutating func endBranch() {
        branches.append(terms.isEmpty ? .empty : terms.count == 1 ? terms[0] : .sequence(terms))
        terms = []
    }

    fileprivate mutating func content() -> Pattern.Node {
        endBranch()
        if branches.count == 1 { return branches[0] }
        return characters.map { .set($0) } ?? .choice(branches)
    }

    /// The alternatives as one class, if each alternative is a single character, as in `a|b|c`; nil otherwise. Every
    /// strategy matches a class faster than a choice.
    private var characters: Pattern.CharacterClass? {
        var characters = Pattern.CharacterClass()
        for branch in branches {
            guard case .scalar(let scalar) = branch else { return nil }
            characters.items.append(.range(scalar, scalar))
        }
        return characters
    }
}

extension Pattern.Parser {
    /// Returns the group numbers of the named references. Called when all groups are known.
    private func references() throws(PatternError) -> [Int] {
        if greatestReference.number > groupCount {
            throw PatternError(message: "the pattern has no group with this number", offset: greatestReference.offset)
        }
        var references: [Int] = []
        for (name, offset) in namedReferences {
            guard let group = groupNames[name] else {
                throw PatternError(message: "the pattern has no group with this name", offset: offset)
            }
            references.append(group)
        }
        return references
    }

    // MARK: Groups

    private mutating func openGroup() throws(PatternError) {
        var level = Level(start: offset, groupsBefore: groupCount)
        if let look = lookaround() {
            level.kind = .lookaround(look)
        } else if !accept("(?:") {
            groupCount += 1
            level.kind = .capture(groupCount)
            if accept("(?<") {
                try nameGroup(groupCount)
            } else {
                offset += 1
                if peek == UInt8(ascii: "?") { throw failure("this kind of group is not supported") }
            }
        }
        if open.count > limits.nesting {
            throw PatternError(message: "groups are nested too deeply", offset: level.start)
        }
        open.append(level)
    }

    private mutating func lookaround() -> Pattern.Lookaround? {
        if accept("(?=") { return Pattern.Lookaround(isBehind: false, isNegated: false) }
        if accept("(?!") { return Pattern.Lookaround(isBehind: false, isNegated: true) }
        if accept("(?<=") { return Pattern.Lookaround(isBehind: true, isNegated: false) }
        return accept("(?<!") ? Pattern.Lookaround(isBehind: true, isNegated: true) : nil
    }

    private mutating func closeGroup() throws(PatternError) {
        guard open.count > 1, var level = open.popLast() else {
            throw failure("a closing parenthesis has no opening one")
        }
        offset += 1
        let content = level.content()
        switch level.kind {
        case .plain: try append(content, groupsBefore: level.groupsBefore)
        case .capture(let number): try append(.group(number, content), groupsBefore: level.groupsBefore)
        // A quantifier after a lookaround is an error, because lookarounds cannot be repeated with the `u` flag.
        case .lookaround(let look): open[open.count - 1].terms.append(.lookaround(look, content))
        }
    }

    // MARK: Terms

    private mutating func term() throws(PatternError) {
        if let edge = edge() {
            open[open.count - 1].terms.append(.edge(edge))
        } else {
            try append(try atom(), groupsBefore: groupCount)
        }
    }

    /// Adds a node, and the quantifier that may follow it.
    private mutating func append(_ node: Pattern.Node, groupsBefore: Int) throws(PatternError) {
        guard var repetition = try quantifier() else {
            open[open.count - 1].terms.append(node)
            return
        }
        if groupCount > groupsBefore { repetition.groups = (groupsBefore + 1)...groupCount }
        open[open.count - 1].terms.append(.loop(repetition, node))
    }

    private mutating func edge() -> Pattern.Edge? {
        if accept("^") { return .textStart }
        if accept("$") { return .textEnd }
        if accept("\\b") { return .wordBoundary }
        return accept("\\B") ? .noWordBoundary : nil
    }

    private mutating func atom() throws(PatternError) -> Pattern.Node {
        switch peek {
        case UInt8(ascii: "["): return .set(try characterClass())
        case UInt8(ascii: "\\"): return try atomEscape()
        case UInt8(ascii: "."):
            offset += 1
            return .set(.anyButLineEnds)
        case UInt8(ascii: "*"), UInt8(ascii: "+"), UInt8(ascii: "?"), UInt8(ascii: "{"):
            throw failure("a quantifier has no expression to repeat")
        case UInt8(ascii: "]"), UInt8(ascii: "}"): throw failure("a closing bracket has no opening one")
        default: return .scalar(nextScalar())
        }
    }
}

// MARK: - Reading

extension Pattern.Parser {
    var peek: UInt8? { offset < source.count ? source[offset] : nil }

    /// Skips a word. Returns false and skips nothing if the next characters differ.
    mutating func accept(_ word: StaticString) -> Bool {
        let count = word.utf8CodeUnitCount
        guard source.count - offset >= count else { return false }
        for index in 0..<count where source[offset + index] != word.utf8Start[index] { return false }
        offset += count
        return true
    }

    /// Parses the next character. There must be one.
    mutating func nextScalar() -> UInt32 {
        let text = Pattern.Text(source)
        var place = text.start + offset
        let scalar = UTF8Reading.next(&place, text.end)
        offset = place - text.start
        return scalar
    }

    func failure(_ message: String) -> PatternError { PatternError(message: message, offset: offset) }
}

extension Pattern.Parser {
    /// Parses `[…]`. The next character is the bracket.
    mutating func characterClass() throws(PatternError) -> Pattern.CharacterClass {
        let start = offset
        offset += 1
        var characters = Pattern.CharacterClass()
        characters.isNegated = accept("^")
        while !accept("]") {
            if offset == source.count {
                throw PatternError(message: "the closing bracket of a character class is missing", offset: start)
            }
            characters.items.append(try rangeOrAtom())
        }
        return characters
    }

    private mutating func rangeOrAtom() throws(PatternError) -> Pattern.CharacterClass.Item {
        let start = offset
        let first = try classAtom()
        let dash = offset
        // A dash before the closing bracket represents itself.
        guard accept("-"), let next = peek, next != UInt8(ascii: "]") else {
            offset = dash
            return first
        }
        guard case .range(let low, _) = first, case .range(let high, _) = try classAtom() else {
            throw PatternError(message: "a range in a character class must end with a character", offset: start)
        }
        if low > high { throw PatternError(message: "the end of a range is below its start", offset: start) }
        return .range(low, high)
    }

    private mutating func classAtom() throws(PatternError) -> Pattern.CharacterClass.Item {
        let start = offset
        guard accept("\\") else {
            let scalar = nextScalar()
            return .range(scalar, scalar)
        }
        if let item = try classEscape() { return item }
        let scalar = accept("b") ? 0x08 : accept("-") ? 0x2D : try characterEscape(start)
        return .range(scalar, scalar)
    }
}

extension Pattern.Parser {
    /// Parses the name of a group. The `(?<` has been read.
    mutating func nameGroup(_ number: Int) throws(PatternError) {
        let start = offset
        let name = try groupName()
        guard groupNames.updateValue(number, forKey: name) == nil else {
            throw PatternError(message: "two groups have the same name", offset: start)
        }
    }

    /// Parses `\k<name>`. The `\k` has been read.
    mutating func namedReference() throws(PatternError) -> Pattern.Node {
        guard accept("<") else { throw failure("\\k must be followed by the name of a group in angle brackets") }
        let start = offset
        namedReferences.append((try groupName(), start))
        return .namedReference(namedReferences.count - 1)
    }

    /// Parses an identifier up to `>` and returns its code points.
    private mutating func groupName() throws(PatternError) -> [UInt32] {
        var name: [UInt32] = []
        while !accept(">") {
            let start = offset
            guard peek != nil else { throw failure("the closing bracket of a group's name is missing") }
            let scalar = accept("\\u") ? try unicodeEscape() : nextScalar()
            guard isNamePart(scalar, first: name.isEmpty) else {
                throw PatternError(message: "the name of a group is not an identifier", offset: start)
            }
            name.append(scalar)
        }
        if name.isEmpty { throw failure("the name of a group is empty") }
        return name
    }

    private func isNamePart(_ scalar: UInt32, first: Bool) -> Bool {
        switch scalar {
        case 0x24, 0x5F: true
        case 0x200C, 0x200D: !first
        default: first ? UnicodeProperty.isIdentifierStart(scalar) : UnicodeProperty.isIdentifierPart(scalar)
        }
    }
}
