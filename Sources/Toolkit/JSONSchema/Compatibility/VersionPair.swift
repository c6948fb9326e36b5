import JSON

/// One of the two compared versions.
enum Side: UInt8, Hashable, Comparable {
    case old, new

    static func < (left: Side, right: Side) -> Bool { left.rawValue < right.rawValue }
}

/// A rule of one of two versions. A set may contain rules of both, because a condition of the new version can narrow
/// values of the old one.
struct RuleRef: Hashable, Comparable {
    let side: Side
    let id: Rule.ID

    init(_ side: Side, _ id: Rule.ID) {
        self.side = side
        self.id = id
    }

    static func < (left: RuleRef, right: RuleRef) -> Bool { (left.side, left.id) < (right.side, right.id) }
}

/// The two versions of a comparison.
struct VersionPair {
    private let old: VersionRules
    private let new: VersionRules

    init(old: Schema, new: Schema) {
        self.old = VersionRules(old)
        self.new = VersionRules(new)
    }

    subscript(side: Side) -> VersionRules { side == .old ? old : new }

    func rule(_ ref: RuleRef) -> Rule { self[ref.side].rules[ref.id] }

    /// True when every value satisfies the rule, as far as its own keywords show.
    func isTrivial(_ ref: RuleRef) -> Bool {
        let rule = rule(ref)
        return !rule.isFalse && rule.checks.isEmpty
    }

    /// The location of the rule, for messages.
    func pointer(_ ref: RuleRef, _ suffix: String = "") -> String {
        let version = self[ref.side]
        return version.index.display(version.index.subschemas[rule(ref).subschema].place) + suffix
    }
}

/// The parts of one version that the comparison reads.
struct VersionRules {
    let schema: Schema
    let texts: [TextPattern]
    /// The members that each rule evaluates; nil when no keyword of the schema needs them, or they cannot be
    /// determined.
    private let evaluated: Evaluated?

    var rules: [Rule] { schema.compiled.rules }
    var index: SchemaIndex { schema.compiled.index }

    init(_ schema: Schema) {
        self.schema = schema
        let compiled = schema.compiled
        texts = zip(compiled.patternSources, compiled.patterns).map(TextPattern.init)
        let asks = compiled.rules.contains { $0.checks.contains { $0.requirement.isUnevaluated } }
        // Both steps succeeded when the schema was compiled. If they exceed the time limit now, these keywords stay
        // undecided.
        evaluated =
            asks
            ? (try? Cycles.order(of: compiled.rules, compiled.index)).flatMap {
                try? Evaluated(compiled.rules, order: $0, clock: CompileClock(milliseconds: 200))
            } : nil
    }

    /// The parts evaluated beside an `unevaluated*` keyword of the rule; nil when they depend on the value.
    func reach(of rule: Rule.ID) -> Evaluated.Reach? {
        guard let evaluated, !evaluated.needsMarks.contains(rule) else { return nil }
        return evaluated.certain[rule]
    }
}
