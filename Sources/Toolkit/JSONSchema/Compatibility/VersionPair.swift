import JSON

/// One of the two compared versions.
enum Side: UInt8, Hashable, Comparable {
    case old, new

    static func < (left: Side, right: Side) -> Bool { left.rawValue < right.rawValue }
}

/// A rule of one of the two compared versions. A set can contain rules of both versions, because a condition of one
/// version can restrict values of the other version.
struct RuleRef: Hashable, Comparable {
    let side: Side
    let id: Rule.ID

    init(_ side: Side, _ id: Rule.ID) {
        self.side = side
        self.id = id
    }

    static func < (left: RuleRef, right: RuleRef) -> Bool { (left.side, left.id) < (right.side, right.id) }
}

/// The two versions of a schema that are compared.
struct VersionPair {
    private let old: VersionRules
    private let new: VersionRules

    init(old: Schema, new: Schema) {
        self.old = VersionRules(old)
        self.new = VersionRules(new)
    }

    subscript(side: Side) -> VersionRules { side == .old ? old : new }

    func rule(_ ref: RuleRef) -> Rule { self[ref.side].rules[ref.id] }

    /// Returns true when the rule has no keywords, so that every value satisfies it.
    func isTrivial(_ ref: RuleRef) -> Bool {
        let rule = rule(ref)
        return !rule.isFalse && rule.checks.isEmpty
    }

    /// Returns the location of a rule in its schema, for messages.
    func pointer(_ ref: RuleRef, _ suffix: String = "") -> String {
        let version = self[ref.side]
        return version.index.display(version.index.subschemas[rule(ref).subschema].place) + suffix
    }
}

/// The parts of one version that the comparison uses.
struct VersionRules {
    let schema: Schema
    let texts: [TextPattern]
    /// The members and elements that each rule evaluates; nil when the schema has no `unevaluated*` keyword, or when
    /// the analysis failed.
    private let evaluated: Evaluated?

    var rules: [Rule] { schema.compiled.rules }
    var index: SchemaIndex { schema.compiled.index }

    init(_ schema: Schema) {
        self.schema = schema
        let compiled = schema.compiled
        texts = zip(compiled.patternSources, compiled.patterns).map(TextPattern.init)
        let asks = compiled.rules.contains { $0.checks.contains { $0.requirement.isUnevaluated } }
        // The compiler has already performed this analysis successfully. If the analysis exceeds the time limit now,
        // the result for the `unevaluated*` keywords is undecided.
        evaluated =
            asks
            ? (try? Cycles.order(of: compiled.rules, compiled.index)).flatMap {
                try? Evaluated(compiled.rules, order: $0, clock: CompileClock(milliseconds: 200))
            } : nil
    }

    /// Returns the members and elements that a rule evaluates without its own `unevaluated*` keyword; nil when they
    /// depend on the value or are unknown.
    func reach(of rule: Rule.ID) -> Evaluated.Reach? {
        guard let evaluated, !evaluated.needsMarks.contains(rule) else { return nil }
        return evaluated.certain[rule]
    }
}
