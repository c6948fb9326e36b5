extension Pattern.DirectForm {
    /// The direct form of a pattern, if it has one.
    init?(_ root: Pattern.Node, limits: PatternLimits, memory: Pattern.Memory) throws(PatternError) {
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
        if isAtStart, isAtEnd, nodes.count == 1, let words = nodes.first?.words {
            self = .words(Pattern.WordTable(words, memory: memory))
            return
        }
        guard var draft = ChainDraft(nodes) else { return nil }
        // Where the text may go on, a run need not be longer than it must.
        if !isAtEnd { draft.shortenEnd() }
        if !isAtStart { draft.shortenStart() }
        let ends = (isAtStart, isAtEnd)
        if draft.parts.isEmpty, ends != (true, true) {
            self = .always
        } else if let literal = draft.literal,
            ends != (false, false) || literal.count <= Pattern.Literal.longestSearched
        {
            self.init(Pattern.Literal(literal, memory: memory), ends)
        } else if isAtStart, draft.isWithoutChoice {
            var pieces: [Pattern.Piece] = []
            for part in draft.parts { pieces.append(try part.piece(limits, memory)) }
            self = .chain(memory.keep(pieces), count: pieces.count, isWhole: isAtEnd)
        } else if !isAtStart, draft.parts.count == 1, case .run(let run) = try draft.parts[0].piece(limits, memory) {
            self = isAtEnd ? .tail(run) : .streak(run)
        } else {
            return nil
        }
    }

    private init(_ literal: Pattern.Literal, _ ends: (isAtStart: Bool, isAtEnd: Bool)) {
        self =
            switch ends {
            case (true, true): .equals(literal)
            case (true, false): .prefix(literal)
            case (false, true): .suffix(literal)
            case (false, false): .contains(literal)
            }
    }
}

/// Literals and runs of classes, one after another.
private struct ChainDraft {
    enum Part {
        case literal([UInt8], first: UInt32)
        case run(Pattern.ScalarSet, least: Int, most: Int)
    }

    private(set) var parts: [Part] = []

    /// More runs than this are left to the other engines, which look up each class once.
    private static let mostRuns = 32

    init?(_ nodes: ArraySlice<Pattern.Node>) {
        var runs = 0
        for node in nodes {
            if case .scalar = node {} else { runs += 1 }
            guard runs <= Self.mostRuns else { return nil }
            if case .loop(let repetition, let content) = node {
                guard let set = content.onlyMembers else { return nil }
                append(set, repetition.least, repetition.most ?? .max)
            } else if let set = node.members {
                append(set, 1, 1)
            } else {
                return nil
            }
        }
    }

    private mutating func append(_ set: Pattern.ScalarSet, _ least: Int, _ most: Int) {
        guard let scalar = set.single, least == 1, most == 1 else {
            parts.append(.run(set, least: least, most: most))
            return
        }
        if case .literal(var bytes, let first)? = parts.last {
            UTF8Reading.append(scalar, to: &bytes)
            parts[parts.count - 1] = .literal(bytes, first: first)
        } else {
            var bytes: [UInt8] = []
            UTF8Reading.append(scalar, to: &bytes)
            parts.append(.literal(bytes, first: scalar))
        }
    }

    /// All of it, if it is nothing but a literal.
    var literal: [UInt8]? {
        if parts.isEmpty { return [] }
        guard parts.count == 1, case .literal(let bytes, _) = parts[0] else { return nil }
        return bytes
    }

    mutating func shortenEnd() {
        while case .run(let set, let least, _)? = parts.last {
            parts.removeLast()
            if least > 0 {
                parts.append(.run(set, least: least, most: least))
                return
            }
        }
    }

    mutating func shortenStart() {
        while case .run(let set, let least, _)? = parts.first {
            if least > 0 {
                parts[0] = .run(set, least: least, most: least)
                return
            }
            parts.removeFirst()
        }
    }
}

extension ChainDraft {
    /// Whether taking as much as there is, piece by piece, finds a match if there is one: whatever may follow a run that can
    /// vary begins with no character of it.
    var isWithoutChoice: Bool {
        parts.indices.allSatisfy { index in
            guard case .run(let set, let least, let most) = parts[index], least != most else { return true }
            for following in parts[(index + 1)...] {
                switch following {
                case .literal(_, let first): return !set.contains(first)
                case .run(let next, let least, _):
                    if !set.isDisjoint(with: next) { return false }
                    if least > 0 { return true }
                }
            }
            return true
        }
    }
}

extension ChainDraft.Part {
    func piece(_ limits: PatternLimits, _ memory: Pattern.Memory) throws(PatternError) -> Pattern.Piece {
        switch self {
        case .literal(let bytes, _): .literal(Pattern.Literal(bytes, memory: memory))
        case .run(let set, let least, let most):
            .run(try Pattern.Run(set, least: least, most: most, limits: limits, memory: memory))
        }
    }
}

extension Pattern.Node {
    /// A row of nodes that match the same texts, with nothing left that only groups.
    var flattened: [Pattern.Node] {
        switch self {
        case .empty: []
        case .sequence(let nodes): nodes.flatMap(\.flattened)
        case .group(_, let node): node.flattened
        case .loop(let repetition, let node):
            switch (repetition.least, repetition.most) {
            case (0, 0): []
            case (1, 1): node.flattened
            default: [self]
            }
        default: [self]
        }
    }

    /// The members, if it takes exactly one character, grouped or not.
    fileprivate var onlyMembers: Pattern.ScalarSet? {
        let nodes = flattened
        return nodes.count == 1 ? nodes[0].members : nil
    }

    /// The words, if it is a choice of literals that a table can hold.
    fileprivate var words: Set<[UInt8]>? {
        guard case .choice(let branches) = self else { return nil }
        var words: Set<[UInt8]> = []
        for branch in branches {
            var word: [UInt8] = []
            for node in branch.flattened {
                guard case .scalar(let scalar) = node else { return nil }
                UTF8Reading.append(scalar, to: &word)
            }
            guard word.count <= Pattern.WordTable.longest else { return nil }
            words.insert(word)
        }
        return words
    }
}
