import JSON

/// Tries to prove that every value that satisfies a set of rules (the narrow side) also satisfies another rule (the
/// wide side). Collects the gaps in the proof.
///
/// The rules of the narrow side are merged into `ValueConstraints`. The wide side is checked keyword by keyword.
/// Alternatives of the narrow side are examined one by one. For alternatives of the wide side, proving one alternative
/// is sufficient. Each keyword that cannot be proved becomes a gap, with sample values that may violate it.
struct Inclusion {
    let pair: VersionPair
    /// The direction of the comparison. It determines if a gap means that a keyword became narrower or wider.
    let direction: SchemaComparison.Direction
    let isLenient: Bool
    private(set) var equality: RuleEquality
    var gaps: [Gap] = []

    private var proved: Set<Question> = []
    /// The questions in `proved`, in the order in which they were asked. A question asks if some rules imply another
    /// rule. Questions whose proof is not finished are included.
    private var trail: [Question] = []
    private var depth = 0
    private var trials = 0
    private var steps = Self.stepLimit
    /// The number of nested calls of ``samples(of:breadth:)`` that are running.
    var samplingDepth = 0

    /// The maximum number of steps for comparing the versions in one direction. Steps are used for rules that are
    /// merged, compared or evaluated on a value.
    private static let stepLimit = 400_000
    /// The maximum nesting of questions, which keeps the stack below 512 KiB.
    private static let depthLimit = 80
    /// The maximum number of questions in `proved`.
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

    /// Returns true when it is proved that every value of these kinds that satisfies all rules of `narrow` also
    /// satisfies `wide`.
    mutating func includes(_ narrow: [RuleRef], kinds: KindSet = .all, in wide: RuleRef) -> Bool {
        if pair.isTrivial(wide) || narrow.contains(where: { areSame($0, wide) }) { return true }
        let question = Question(narrow: narrow, kinds: kinds, wide: wide)
        if proved.contains(question) { return true }
        guard spend(), depth < Self.depthLimit, proved.count < Self.memoLimit else {
            return fail(wide, "", "this part of the schema is too large to be compared", samples: [])
        }
        // If the same question occurs again inside its own proof, it is assumed to be true. This is a valid proof by
        // induction over the size of the value, because every cycle goes through a member or an element.
        let mark = trail.count
        proved.insert(question)
        trail.append(question)
        depth += 1
        let holds = covers(facts(of: narrow, kinds: kinds), wide)
        depth -= 1
        if !holds {
            // Proofs that were found in the meantime may depend on the false assumption, so they are removed.
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
        // Copying the existing constraints also costs steps.
        steps -= 4 + facts.rules.count
        return facts
    }

    // MARK: - Kind by kind

    private static let groups: [KindSet] = [.null, .boolean, .number, .string, .array, .object]

    /// Returns true when it is proved that every value that satisfies the constraints also satisfies the rule `wide`.
    /// Otherwise adds gaps.
    mutating func covers(_ facts: ValueConstraints, _ wide: RuleRef) -> Bool {
        guard depth < Self.depthLimit else {
            return fail(wide, "", "this part of the schema is nested too deeply to be compared", samples: [])
        }
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

    /// Does the same as ``covers(_:_:)`` for constraints that allow only values of one kind. Checks the rule `wide`
    /// keyword by keyword.
    private mutating func satisfies(_ part: ValueConstraints, _ wide: RuleRef) -> Bool {
        guard spend() else { return fail(wide, "", "this part of the schema is too large to be compared", samples: []) }
        let rule = pair.rule(wide)
        if rule.isFalse {
            return gap(
                wide, "", narrower: "no value is accepted here any more", wider: "some values are now accepted here",
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

    /// Returns true when each listed value satisfies one keyword of the rule `wide`, or is rejected by a rule of the
    /// narrow side. Otherwise adds a gap with the values that violate the keyword.
    private mutating func lists(
        _ values: [JSONValue], _ part: ValueConstraints, _ check: Check, _ wide: RuleRef
    ) -> Bool {
        var failing: [JSONValue] = []
        var isSure = true
        let known: ValueSet? = if case .oneOfValues(let allowed) = check.requirement { ValueSet(allowed) } else { nil }
        for value in values {
            guard spend() else {
                return fail(
                    wide, "/" + check.keyword, "this part of the schema is too large to be compared", samples: [])
            }
            let holds = known.map { $0.contains(value) } ?? holds(value, check.requirement, of: wide)
            guard holds != true, belongs(value, to: part) else { continue }
            isSure = isSure && holds == false
            failing.append(value)
        }
        guard let first = failing.first else { return true }
        let texts = failing.prefix(8).map(JSONText.init(printing:))
        if !isSure {
            return fail(wide, "/" + check.keyword, "this part of the schema cannot be compared", samples: texts)
        }
        let names = ChangeText.list(texts)
        if failing.count == 1, first.kind == .null {
            return gap(wide, "/" + check.keyword, narrower: "no longer accepts null", wider: "now accepts null", texts)
        }
        return gap(
            wide, "/" + check.keyword, narrower: "no longer accepts \(names)", wider: "now accepts \(names)", texts)
    }

    /// Returns false when one of the rules of the narrow side rejects the listed value.
    private mutating func belongs(_ value: JSONValue, to part: ValueConstraints) -> Bool {
        part.rules.allSatisfy { holds(value, $0) != false }
    }

    /// Returns true if a value satisfies a rule. Returns nil when the result is undecided, for instance because the
    /// budget is used up.
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

    /// Uses a part of the budget. Returns false when the budget is used up.
    mutating func spend() -> Bool {
        steps -= 4
        return steps > 0
    }

    /// Adds steps to the budget for a final search for samples, because the proof may have used all steps.
    mutating func refill() { steps = max(steps, Self.stepLimit / 4) }

    mutating func areSame(_ left: RuleRef, _ right: RuleRef) -> Bool { equality.areSame(left, right) }

    mutating func areSame(_ left: KeywordRequirement, _ one: Side, _ right: KeywordRequirement, _ other: Side) -> Bool {
        equality.areSame(left, one, right, other)
    }

    /// True inside ``attempt(_:)``, where the proof can stop at the first gap.
    var isTrying: Bool { trials > 0 }

    /// True when sample values must be created. False inside nested attempts, because their samples would be discarded,
    /// and when the budget is used up.
    var needsSamples: Bool { trials <= 1 && steps > 0 }

    /// Checks a question without recording its gaps. Returns the result, and the sample values of the gaps.
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
