extension Pattern {
    /// A pattern as a tree; no deeper than `PatternLimits.nesting` groups.
    indirect enum Node {
        case empty
        case scalar(UInt32)
        case set(CharacterClass)
        case sequence([Node])
        case choice([Node])
        case loop(Repetition, Node)
        /// A capturing group, counted from 1.
        case group(Int, Node)
        case backReference(Int)
        /// `\k<name>`: the place in `Syntax.references`, since the group may still follow.
        case namedReference(Int)
        case edge(Edge)
        case look(Lookaround, Node)
    }

    /// How often something is repeated.
    struct Repetition {
        var least = 0
        /// nil: without end.
        var most: Int?
        var isGreedy = true
        /// Capturing groups inside; each round forgets them (ECMA-262, 22.2.2.3.1).
        var groups: ClosedRange<Int>?
    }

    /// What asks about a place and takes no character.
    enum Edge {
        case textStart, textEnd, wordEdge, noWordEdge
    }

    struct Lookaround {
        var isBehind: Bool
        var isNegated: Bool
    }

    /// What the parser hands on.
    struct Syntax {
        let root: Node
        let groupCount: Int
        /// The groups that the names after `\k` mean.
        let references: [Int]
    }
}

extension Pattern.Node {
    /// Whether it may match without taking a character.
    var canBeEmpty: Bool {
        switch self {
        case .scalar, .set: false
        case .empty, .edge, .look, .backReference, .namedReference: true
        case .sequence(let nodes): nodes.allSatisfy(\.canBeEmpty)
        case .choice(let nodes): nodes.contains(where: \.canBeEmpty)
        case .loop(let repetition, let node): repetition.least == 0 || node.canBeEmpty
        case .group(_, let node): node.canBeEmpty
        }
    }

    /// Whether there is nothing to match or to ask.
    var isVoid: Bool {
        switch self {
        case .empty: true
        case .sequence(let nodes): nodes.allSatisfy(\.isVoid)
        case .group(_, let node), .loop(_, let node): node.isVoid
        default: false
        }
    }

    /// Whether an automaton cannot serve it.
    var needsBacktracking: Bool {
        switch self {
        case .look, .backReference, .namedReference: true
        case .empty, .scalar, .set, .edge: false
        case .sequence(let nodes), .choice(let nodes): nodes.contains(where: \.needsBacktracking)
        case .loop(_, let node), .group(_, let node): node.needsBacktracking
        }
    }

    var refersBack: Bool {
        switch self {
        case .backReference, .namedReference: true
        case .empty, .scalar, .set, .edge: false
        case .sequence(let nodes), .choice(let nodes): nodes.contains(where: \.refersBack)
        case .loop(_, let node), .group(_, let node), .look(_, let node): node.refersBack
        }
    }

    /// The members, if it takes exactly one character.
    var members: Pattern.ScalarSet? {
        switch self {
        case .scalar(let scalar): Pattern.ScalarSet([scalar...scalar])
        case .set(let characters): characters.members
        default: nil
        }
    }
}
