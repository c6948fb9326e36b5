import Glibc

extension Pattern {
    /// A set of words, sorted by length and then by content.
    struct WordTable {
        /// The maximum length of a word in bytes. Patterns with longer words use another strategy.
        static let longest = 255

        private struct LengthGroup {
            var start: UInt32 = 0
            var count: UInt32 = 0
        }

        private let bytes: UnsafePointer<UInt8>
        private let shelves: UnsafePointer<LengthGroup>
        private let groupCount: Int

        init(_ words: Set<[UInt8]>, memory: PatternMemory) {
            var bytes: [UInt8] = []
            var shelves = Array(repeating: LengthGroup(), count: (words.map(\.count).max() ?? 0) + 1)
            for (length, words) in Dictionary(grouping: words, by: \.count) {
                shelves[length] = LengthGroup(start: UInt32(bytes.count), count: UInt32(words.count))
                bytes += words.sorted { $0.lexicographicallyPrecedes($1) }.joined()
            }
            self.bytes = memory.keep(bytes)
            self.shelves = memory.keep(shelves)
            groupCount = shelves.count
        }

        func contains(_ text: Text) -> Bool {
            let length = text.end - text.start
            guard length < groupCount else { return false }
            let shelf = shelves[length]
            var low = 0
            var high = Int(shelf.count)
            while low < high {
                let middle = (low + high) / 2
                let order = memcmp(text.start, bytes + Int(shelf.start) + middle * length, length)
                if order == 0 { return true }
                if order > 0 { low = middle + 1 } else { high = middle }
            }
            return false
        }
    }
}

extension Pattern.DirectForm {
    /// Creates the direct form of a pattern. Returns nil when the pattern has no direct form.
    init?(_ root: Pattern.Node, limits: PatternLimits, memory: Pattern.PatternMemory) throws(PatternError) {
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
        // If the text may continue after the match, the last run need not be longer than its minimum. The same is true
        // of the first run.
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

/// A sequence of literals and runs of classes, from which a chain is built.
private struct ChainDraft {
    enum Part {
        case literal([UInt8], first: UInt32)
        case run(Pattern.ScalarSet, least: Int, most: Int)
    }

    private(set) var parts: [Part] = []

    /// The maximum number of runs in a chain. Patterns with more runs use another strategy.
    private static let mostRuns = 32

    init?(_ nodes: ArraySlice<Pattern.Node>) {
        var runs = 0
        var literal: [UInt8] = []
        var first: UInt32 = 0
        for node in nodes {
            if case .scalar(let scalar) = node {
                if literal.isEmpty { first = scalar }
                UTF8Reading.append(scalar, to: &literal)
                continue
            }
            if !literal.isEmpty { parts.append(.literal(literal, first: first)) }
            literal = []
            runs += 1
            guard runs <= Self.mostRuns, let run = node.run else { return nil }
            parts.append(run)
        }
        if !literal.isEmpty { parts.append(.literal(literal, first: first)) }
    }

    /// The bytes of the sequence if it is a single literal; nil otherwise.
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
    /// True when the chain needs no backtracking: if a match exists, it is found by consuming as many characters as
    /// possible in each piece. This is the case when the pieces that can follow a run of variable length never start
    /// with a character of the run.
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
    func piece(_ limits: PatternLimits, _ memory: Pattern.PatternMemory) throws(PatternError) -> Pattern.Piece {
        switch self {
        case .literal(let bytes, _): .literal(Pattern.Literal(bytes, memory: memory))
        case .run(let set, let least, let most):
            .run(try Pattern.Run(set, least: least, most: most, limits: limits, memory: memory))
        }
    }
}

extension Pattern.Node {
    /// The nodes of this sequence, in which each group, and each repetition of exactly one iteration, is replaced by
    /// its content. Repetitions of zero iterations are removed. The returned nodes match the same texts as this
    /// sequence.
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

    /// This node as a run, if it is a class or a repetition of a class, with or without groups; nil otherwise.
    fileprivate var run: ChainDraft.Part? {
        guard case .loop(let repetition, let content) = self else {
            return members.map { .run($0, least: 1, most: 1) }
        }
        let nodes = content.flattened
        guard nodes.count == 1, let members = nodes[0].members else { return nil }
        return .run(members, least: repetition.least, most: repetition.most ?? .max)
    }

    /// The words of this node, if it is a choice of literals and small enough for a table; nil otherwise.
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
