import JSON

/// Builds a conjunction from rules and the rules to which they refer.
struct ConjunctionBuilder {
    let rules: [Rule]
    let shapes: Shapes
    let evaluated: Evaluated
    private var seen: Set<Rule.ID> = []
    private var result = Conjunction()

    /// The maximum nesting of merged references. Deeper references become calls, because the builder is recursive.
    private static let depth = 32

    init(rules: [Rule], shapes: Shapes, evaluated: Evaluated) {
        self.rules = rules
        self.shapes = shapes
        self.evaluated = evaluated
    }

    mutating func gather(_ rules: [Rule.ID]) -> Conjunction {
        for rule in rules { add(rule, depth: 0) }
        return result
    }

    /// Returns the merged requirements of a rule. Leaves out the keywords for which `isLeft` returns true.
    mutating func gather(_ rule: Rule.ID, leaving isLeft: (KeywordRequirement) -> Bool) -> Conjunction {
        let checks = rules[rule].checks.filter { !isLeft($0.requirement) }
        result.isFalse = rules[rule].isFalse
        add(checks, of: rule, depth: 0)
        return result
    }

    private mutating func add(_ rule: Rule.ID, depth: Int) {
        guard seen.insert(rule).inserted else { return }
        if rules[rule].isFalse { result.isFalse = true }
        if evaluated.needsMarks.contains(rule) { return result.regions.append(rule) }
        add(rules[rule].checks, of: rule, depth: depth)
    }

    private mutating func add(_ checks: [Check], of rule: Rule.ID, depth: Int) {
        result.addChildren(of: checks)
        for check in checks where !result.add(plain: check.requirement) {
            switch check.requirement {
            case .reference(let target): refer(to: shapes.target(target), depth)
            case .allOf(let rules):
                for rule in rules where depth < Self.depth { add(rule, depth: depth + 1) }
                if depth >= Self.depth { result.calls += rules }
            case .anyOf(let rules): any(rules)
            case .oneOf(let rules): result.choices.append(.one(rules))
            case .not(let rule): not(rule)
            case .conditional(let test, let then, let otherwise):
                guard then != nil || otherwise != nil else { continue }
                result.choices.append(.conditional(test: test, then: then, otherwise: otherwise))
            case .dependentSchemas(let dependents): result.dependentRules += dependents
            case .dependencies(let needs, let schemas):
                result.dependentNames += needs
                result.dependentRules += schemas
            case .unevaluatedProperties(let others): close(rule, others)
            case .unevaluatedItems(let others): closeItems(rule, others)
            default: continue
            }
        }
    }

    private mutating func refer(to target: Rule.ID, _ depth: Int) {
        if shapes.isTrivial(target) { return }
        if depth < Self.depth, shapes.weight[target] <= Shapes.inlinedWeight {
            add(target, depth: depth + 1)
        } else {
            result.calls.append(target)
        }
    }

    private mutating func any(_ rules: [Rule.ID]) {
        if rules.contains(where: shapes.isTrivial) { return }
        if rules.allSatisfy({ shapes.onlyRestrictsKinds[$0] }) {
            result.kinds.formIntersection(rules.reduce([]) { $0.union(shapes.kinds[$1]) })
        } else {
            result.choices.append(.any(rules))
        }
    }

    private mutating func not(_ rule: Rule.ID) {
        if shapes.onlyRestrictsKinds[rule] {
            result.kinds.subtract(shapes.kinds[rule])
        } else {
            result.choices.append(.not(rule))
        }
    }

    /// Adds the keyword `unevaluatedProperties` as a member table, in which it has the effect of
    /// `additionalProperties`. This is possible because the members that the rule evaluates do not depend on the value.
    private mutating func close(_ rule: Rule.ID, _ others: Rule.ID) {
        let reach = evaluated.certain[rule]
        guard !reach.allMembers else { return }
        result.objects.append(
            Conjunction.ObjectPart(
                names: reach.names.sorted().map { ($0, []) }, patterns: reach.patterns.sorted().map { ($0, []) },
                additional: [others]))
    }

    private mutating func closeItems(_ rule: Rule.ID, _ others: Rule.ID) {
        let reach = evaluated.certain[rule]
        guard !reach.allElements else { return }
        result.arrays.append(Conjunction.ArrayPart(rest: others, after: reach.elements))
    }
}
