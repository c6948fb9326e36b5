import JSON

/// Which of two versions something stands in.
enum Side: UInt8, Hashable, Comparable {
    case old, new

    static func < (left: Side, right: Side) -> Bool { left.rawValue < right.rawValue }
}

/// A rule of one of two versions. Sets of these may mix both: a condition of the new version narrows values of the old.
struct RuleRef: Hashable, Comparable {
    let side: Side
    let id: Rule.ID

    init(_ side: Side, _ id: Rule.ID) {
        self.side = side
        self.id = id
    }

    static func < (left: RuleRef, right: RuleRef) -> Bool { (left.side, left.id) < (right.side, right.id) }
}

/// Two versions side by side.
struct VersionPair {
    private let old: VersionRules
    private let new: VersionRules

    init(old: Schema, new: Schema) {
        self.old = VersionRules(old)
        self.new = VersionRules(new)
    }

    subscript(side: Side) -> VersionRules { side == .old ? old : new }

    func rule(_ ref: RuleRef) -> Rule { self[ref.side].rules[ref.id] }

    /// Whether everything satisfies the rule, as far as one look tells.
    func isTrivial(_ ref: RuleRef) -> Bool {
        let rule = rule(ref)
        return !rule.isFalse && rule.checks.isEmpty
    }

    /// Where the rule stands, for people.
    func pointer(_ ref: RuleRef, _ suffix: String = "") -> String {
        let version = self[ref.side]
        return version.index.display(version.index.subschemas[rule(ref).subschema].place) + suffix
    }
}

/// What the comparison reads of one version.
struct VersionRules {
    let schema: Schema
    let texts: [TextPattern]
    /// Which members each rule evaluates; nil when nothing in the schema asks, or nobody can say.
    private let evaluated: Evaluated?

    var rules: [Rule] { schema.compiled.rules }
    var index: SchemaIndex { schema.compiled.index }

    init(_ schema: Schema) {
        self.schema = schema
        let compiled = schema.compiled
        texts = zip(compiled.patternSources, compiled.patterns).map(TextPattern.init)
        let asks = compiled.rules.contains { $0.checks.contains { $0.demand.isUnevaluated } }
        // Both passed when the schema was compiled; should they run out of time now, the keywords stay undecided.
        evaluated =
            asks
            ? (try? Cycles.order(of: compiled.rules, compiled.index)).flatMap {
                try? Evaluated(compiled.rules, order: $0, clock: CompileClock(milliseconds: 200))
            } : nil
    }

    /// What stands beside an `unevaluated*` keyword of the rule, where that does not depend on the value.
    func reach(of rule: Rule.ID) -> Evaluated.Reach? {
        guard let evaluated, !evaluated.needsMarks.contains(rule) else { return nil }
        return evaluated.certain[rule]
    }
}
