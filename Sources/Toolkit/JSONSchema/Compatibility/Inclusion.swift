import JSON

/// Proves that every value that satisfies some rules also satisfies another rule, or collects the gaps.
///
/// The narrow side is a set of rules, which all hold, merged into `ValueConstraints`. The wide side is one rule,
/// checked keyword by keyword, because satisfying a rule means satisfying each keyword. Disjunctions of the narrow side
/// are split; those of the wide side are tried. Everything that is not proved becomes a gap, with values that may
/// demonstrate it.
struct Inclusion {
    let pair: VersionPair
    /// The direction of the comparison, which decides whether a gap means that something became narrower or wider.
    let direction: SchemaComparison.Direction
    let isLenient: Bool
    private(set) var equality: RuleEquality
    var gaps: [Gap] = []

    private var proved: Set<Question> = []
    /// The questions in `proved` in the order in which they were asked, including open ones.
    private var trail: [Question] = []
    private var depth = 0
    private var trials = 0
    private var steps = Self.stepLimit
    /// The current nesting of sample creation.
    var samplingDepth = 0

    /// The budget of one direction: rules that are merged, compared or tried on a value.
    private static let stepLimit = 400_000
    /// Largest nesting of questions, which keeps the stack below 512 KiB.
    private static let depthLimit = 80
    /// The maximum number of questions kept in `proved`.
    private static let memoLimit = 20_000
    static let gapLimit = 200

    private struct Question: Hashable {
        let narrow: [RuleRef]
        let kinds: KindSet
        let wide: RuleRef
    }

    init(_ pair: VersionPair, _ direction: SchemaComparison.Direction, isLenient: Bool) {
        self.pair = pair
        self.direction = direction
        self.isLenient = isLenient
        equality = RuleEquality(pair)
    }

    /// True when every value of these kinds that satisfies all of `narrow` certainly satisfies `wide`.
    mutating func includes(_ narrow: [RuleRef], kinds: KindSet = .all, in wide: RuleRef) -> Bool {
        if pair.isTrivial(wide) || narrow.contains(where: { areSame($0, wide) }) { return true }
        let question = Question(narrow: narrow, kinds: kinds, wide: wide)
        if proved.contains(question) { return true }
        guard spend(), depth < Self.depthLimit, proved.count < Self.memoLimit else {
            return fail(wide, "", "is too large to compare", samples: [])
        }
        // A question that recurs inside itself is assumed to hold. Every cycle leads through a member or an element, so
        // this is an induction over the size of the value.
        let mark = trail.count
        proved.insert(question)
        trail.append(question)
        depth += 1
        let holds = covers(facts(of: narrow, kinds: kinds), wide)
        depth -= 1
        if !holds {
            // Proofs made in the meantime may depend on the failed assumption.
            for question in trail[mark...] { proved.remove(question) }
            trail.removeSubrange(mark...)
        }
        return holds
    }

    // MARK: - Facts

    mutating func facts(of rules: [RuleRef], kinds: KindSet = .all) -> ValueConstraints {
        var facts = ValueConstraints()
        facts.kinds = kinds
        return adding(rules, to: facts)
    }

    mutating func adding(_ rules: [RuleRef], to facts: ValueConstraints) -> ValueConstraints {
        var facts = facts
        facts.add(rules, pair)
        // The existing constraints are copied as well, which costs steps.
        steps -= 4 + facts.rules.count
        return facts
    }

    // MARK: - Kind by kind

    private static let groups: [KindSet] = [.null, .boolean, .number, .string, .array, .object]

    /// True when every value that satisfies the constraints satisfies the rule.
    mutating func covers(_ facts: ValueConstraints, _ wide: RuleRef) -> Bool {
        guard depth < Self.depthLimit else { return fail(wide, "", "is too deep to compare", samples: []) }
        depth += 1
        defer { depth -= 1 }
        if isEmpty(facts) { return true }
        if facts.choices.isEmpty { return coversByKind(facts, wide) }
        var unsplit = facts
        unsplit.choices = []
        if attempt({ $0.coversByKind(unsplit, wide) }).holds { return true }
        var holds = true
        for branch in branches(of: facts) where holds || !isTrying {
            if !isEmpty(branch), !coversByKind(branch, wide) { holds = false }
        }
        return holds
    }

    mutating func coversByKind(_ facts: ValueConstraints, _ wide: RuleRef) -> Bool {
        var holds = true
        for group in Self.groups where !facts.kinds.isDisjoint(with: group) && (holds || !isTrying) {
            let part = facts.restricted(to: group).listed()
            if !isEmpty(part), !satisfies(part, wide) { holds = false }
        }
        return holds
    }

    /// As above, for constraints on values of one kind.
    private mutating func satisfies(_ part: ValueConstraints, _ wide: RuleRef) -> Bool {
        guard spend() else { return fail(wide, "", "is too large to compare", samples: []) }
        let rule = pair.rule(wide)
        if rule.isFalse {
            return gap(
                wide, "", narrower: "nothing is accepted here any more", wider: "something is accepted here now",
                samples(of: part))
        }
        if part.rules.contains(where: { areSame($0, wide) }) { return true }
        var holds = true
        for check in rule.checks where holds || !isTrying {
            let isImplied =
                part.values.map { lists($0, part, check, wide) }
                ?? implies(part, check.requirement, check.keyword, wide)
            if !isImplied { holds = false }
        }
        return holds
    }

    /// Checks listed values one by one.
    private mutating func lists(
        _ values: [JSONValue], _ part: ValueConstraints, _ check: Check, _ wide: RuleRef
    ) -> Bool {
        var failing: [JSONValue] = []
        var isSure = true
        let known: ValueSet? = if case .oneOfValues(let allowed) = check.requirement { ValueSet(allowed) } else { nil }
        for value in values {
            guard spend() else { return fail(wide, "/" + check.keyword, "is too large to compare", samples: []) }
            let holds = known.map { $0.contains(value) } ?? holds(value, check.requirement, of: wide)
            guard holds != true, belongs(value, to: part) else { continue }
            isSure = isSure && holds == false
            failing.append(value)
        }
        guard let first = failing.first else { return true }
        let texts = failing.prefix(8).map(JSONText.init(printing:))
        if !isSure { return fail(wide, "/" + check.keyword, "cannot be compared", samples: texts) }
        let names = ChangeText.list(texts)
        if failing.count == 1, first.kind == .null {
            return gap(wide, "/" + check.keyword, narrower: "no longer takes null", wider: "takes null now", texts)
        }
        return gap(
            wide, "/" + check.keyword, narrower: "no longer takes \(names)", wider: "takes \(names) now", texts)
    }

    /// True unless one of the rules rejects the listed value.
    private mutating func belongs(_ value: JSONValue, to part: ValueConstraints) -> Bool {
        part.rules.allSatisfy { holds(value, $0) != false }
    }

    /// Evaluates a rule on a value; nil when the budget does not suffice.
    mutating func holds(_ value: JSONValue, _ ref: RuleRef) -> Bool? {
        var satisfaction = ValueCheck(pair, steps: min(steps, Self.stepsPerValue))
        defer { steps -= satisfaction.taken }
        return satisfaction.holds(value, ref)
    }

    mutating func holds(_ value: JSONValue, _ requirement: KeywordRequirement, of ref: RuleRef) -> Bool? {
        var satisfaction = ValueCheck(pair, steps: min(steps, Self.stepsPerValue))
        defer { steps -= satisfaction.taken }
        return satisfaction.holds(value, requirement, of: ref)
    }

    private static let stepsPerValue = 5_000

    // MARK: - Bounds

    /// Uses one step. Returns false when none are left.
    mutating func spend() -> Bool {
        steps -= 4
        return steps > 0
    }

    /// Adds steps for a final search, after the proof may have used all of them.
    mutating func refill() { steps = max(steps, Self.stepLimit / 4) }

    mutating func areSame(_ left: RuleRef, _ right: RuleRef) -> Bool { equality.areSame(left, right) }

    mutating func areSame(_ left: KeywordRequirement, _ one: Side, _ right: KeywordRequirement, _ other: Side) -> Bool {
        equality.areSame(left, one, right, other)
    }

    /// True inside an attempt, where the first gap is enough.
    var isTrying: Bool { trials > 0 }

    /// False inside nested attempts, whose samples are discarded.
    var needsSamples: Bool { trials <= 1 && steps > 0 }

    /// Checks a question without recording gaps. Returns the values that may demonstrate them.
    mutating func attempt(_ question: (inout Inclusion) -> Bool) -> (holds: Bool, samples: [JSONText]) {
        let mark = gaps.count
        trials += 1
        let holds = question(&self)
        trials -= 1
        let samples = gaps[mark...].flatMap(\.samples)
        gaps.removeSubrange(mark...)
        return (holds, Array(samples.prefix(Gap.sampleLimit)))
    }
}
