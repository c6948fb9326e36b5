extension Pattern {
    /// A pattern as a syntax tree, with at most `PatternLimits.nesting` nested groups.
    indirect enum Node {
        case empty
        case scalar(UInt32)
        case set(CharacterClass)
        case sequence([Node])
        case choice([Node])
        case loop(Repetition, Node)
        /// A capturing group, numbered from 1.
        case group(Int, Node)
        case backReference(Int)
        /// A reference `\k<name>`. The value is an index into `Syntax.references`, because the group may follow later
        /// in the pattern.
        case namedReference(Int)
        case edge(Edge)
        case lookaround(Lookaround, Node)
    }

    /// The bounds of a repetition.
    struct Repetition {
        var least = 0
        /// The maximum number of iterations; nil means no limit.
        var most: Int?
        var isGreedy = true
        /// The numbers of the capturing groups inside the repetition, which each iteration clears (ECMA-262,
        /// 22.2.2.3.1); nil when there are none.
        var groups: ClosedRange<Int>?
    }

    /// An assertion about a position, which consumes no character.
    enum Edge {
        case textStart, textEnd, wordBoundary, noWordBoundary
    }

    struct Lookaround {
        var isBehind: Bool
        var isNegated: Bool
    }

    /// The result of the parser.
    struct Syntax {
        let root: Node
        let groupCount: Int
        /// The numbers of the groups to which the `\k<name>` references refer.
        let references: [Int]
    }
}

extension Pattern.Node {
    /// True when the node may match without consuming a character.
    var canBeEmpty: Bool {
        switch self {
        case .scalar, .set: false
        case .empty, .edge, .lookaround, .backReference, .namedReference: true
        case .sequence(let nodes): nodes.allSatisfy(\.canBeEmpty)
        case .choice(let nodes): nodes.contains(where: \.canBeEmpty)
        case .loop(let repetition, let node): repetition.least == 0 || node.canBeEmpty
        case .group(_, let node): node.canBeEmpty
        }
    }

    /// True when the node consumes no characters and asserts nothing.
    var isVoid: Bool {
        switch self {
        case .empty: true
        case .sequence(let nodes): nodes.allSatisfy(\.isVoid)
        case .group(_, let node), .loop(_, let node): node.isVoid
        default: false
        }
    }

    /// True when the node cannot be matched by an automaton.
    var needsBacktracking: Bool {
        switch self {
        case .lookaround, .backReference, .namedReference: true
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
        case .loop(_, let node), .group(_, let node), .lookaround(_, let node): node.refersBack
        }
    }

    /// The characters that the node matches, if it always consumes exactly one character; nil otherwise.
    var members: Pattern.ScalarSet? {
        switch self {
        case .scalar(let scalar): Pattern.ScalarSet([scalar...scalar])
        case .set(let characters): characters.members
        default: nil
        }
    }
}
