import JSON

extension ViolationCollector {
    /// Checks the keywords that apply other rules to the same value.
    mutating func validateBranches(_ check: Check, of rule: Rule, _ value: JSONValue, _ place: Place) -> Outcome {
        switch check.requirement {
        case .reference(let target): return apply(target, value, place)
        case .allOf(let rules):
            var outcome = Outcome()
            for (position, rule) in rules.enumerated() {
                if isFull(outcome) { break }
                outcome.merge(apply(rule, value, place.keyword(String(position))))
            }
            return outcome
        case .anyOf(let rules): return any(rules, check, rule, value, place)
        case .oneOf(let rules): return one(rules, check, rule, value, place)
        case .not(let target):
            guard apply(target, value, place).isValid, !isExhausted else { return Outcome() }
            return violation(rule, check.keyword, value, place, "must not match the schema in 'not'")
        case .conditional(let test, let then, let otherwise):
            return conditional(test, then, otherwise, value, place)
        case .dependentSchemas(let dependents), .dependencies(_, let dependents):
            var outcome = Outcome()
            for (name, rule) in dependents where value.kind == .object && value[name.text] != nil {
                if isFull(outcome) { break }
                outcome.merge(apply(rule, value, place.keyword(name.text.pointerToken)))
            }
            return outcome
        default: return Outcome()
        }
    }

    private mutating func conditional(
        _ test: Rule.ID, _ then: Rule.ID?, _ otherwise: Rule.ID?, _ value: JSONValue, _ place: Place
    ) -> Outcome {
        var outcome = Outcome()
        // `then` and `else` are at the same level as `if`, so the last part of the path is removed.
        var beside = place
        beside.path = String(place.path.dropLast("/if".count))
        let tested = apply(test, value, place)
        if tested.isValid {
            outcome.parts = tested.parts
            if let then { outcome.merge(apply(then, value, beside.keyword("then"))) }
        } else if let otherwise {
            outcome.merge(apply(otherwise, value, beside.keyword("else")))
        }
        return outcome
    }

    // MARK: - Alternatives

    private mutating func any(
        _ rules: [Rule.ID], _ check: Check, _ rule: Rule, _ value: JSONValue, _ place: Place
    ) -> Outcome {
        let tried = attempt(rules, value, place)
        if tried.contains(where: \.isValid) {
            var outcome = Outcome()
            for branch in tried where branch.isValid { outcome.parts.formUnion(branch.parts) }
            return outcome
        }
        return explain(rules, tried, check, rule, value, place)
    }

    private mutating func one(
        _ rules: [Rule.ID], _ check: Check, _ rule: Rule, _ value: JSONValue, _ place: Place
    ) -> Outcome {
        let tried = attempt(rules, value, place)
        let passed = tried.indices.filter { tried[$0].isValid }
        if passed.count == 1 { return tried[passed[0]] }
        if passed.isEmpty { return explain(rules, tried, check, rule, value, place) }
        if isExhausted { return Outcome() }
        return violation(
            rule, check.keyword, value, place,
            "must match exactly one alternative, but matches alternatives \(passed[0] + 1) and \(passed[1] + 1)")
    }

    private mutating func attempt(_ rules: [Rule.ID], _ value: JSONValue, _ place: Place) -> [Outcome] {
        rules.indices.map { apply(rules[$0], value, place.keyword(String($0))) }
    }

    /// Returns the violations that explain why no branch has passed. If possible, returns only the violations of the
    /// branch that was probably intended, because all violations together would hide the actual error.
    private func explain(
        _ rules: [Rule.ID], _ tried: [Outcome], _ check: Check, _ rule: Rule, _ value: JSONValue, _ place: Place
    ) -> Outcome {
        if options.listsEveryBranch {
            return Outcome(isValid: false, found: tried.flatMap(\.found))
        }
        if let meant = told(rules, value) ?? deepest(tried, than: place.order.count) {
            return Outcome(isValid: false, found: tried[meant].found)
        }
        let kinds = rules.map { self.rules[$0].checks.compactMap(\.requirement.allowedKinds).first }
        let known = kinds.compactMap(\.self)
        if known.count == rules.count, known.allSatisfy({ $0.isDisjoint(with: KindSet(of: value, exactly: true)) }) {
            let words = known.reduce(KindSet()) { $0.union($1) }.words
            return violation(
                rule, check.keyword, value, place, "expected \(words), got \(Self.word(value))", expected: words)
        }
        if rules.count == 1 { return Outcome(isValid: false, found: tried[0].found) }
        return violation(rule, check.keyword, value, place, "matches none of the \(rules.count) alternatives")
    }

    /// Searches for a member of the value for which all branches list allowed values (`const`, `enum`), but only one
    /// branch lists the member's value. Returns the index of this branch; nil when no member is found.
    private func told(_ branches: [Rule.ID], _ value: JSONValue) -> Int? {
        guard value.kind == .object, branches.count > 1 else { return nil }
        let listed = branches.map { listedMembers(rules[$0]) }
        for name in Set(listed.flatMap(\.keys)).sorted() {
            guard let member = value[name.text] else { continue }
            let taking = listed.indices.filter { branch in
                listed[branch][name].map { $0.contains { PublicAccess.areEqual($0.node, member.node) } } ?? false
            }
            if taking.count == 1, listed.count(where: { $0[name] != nil }) == branches.count { return taking[0] }
        }
        return nil
    }

    /// Returns the members for which a rule, or a rule to which it refers by `$ref` or `allOf`, lists the allowed
    /// values (`const`, `enum`), each with these values.
    private func listedMembers(_ rule: Rule) -> [Name: [JSONValue]] {
        var listed: [Name: [JSONValue]] = [:]
        var waiting = [rule]
        var left = 32
        while let next = waiting.popLast(), left > 0 {
            left -= 1
            for check in next.checks {
                switch check.requirement {
                case .reference(let target): waiting.append(rules[target])
                case .allOf(let parts): waiting += parts.map { rules[$0] }
                case .properties(let members):
                    for (name, member) in members {
                        for check in rules[member].checks {
                            if case .equals(let value) = check.requirement { listed[name] = [value] }
                            if case .oneOfValues(let values) = check.requirement { listed[name] = values }
                        }
                    }
                default: continue
                }
            }
        }
        return listed
    }

    /// Returns the index of the branch that failed at the deepest location of the value; nil when no branch failed
    /// deeper than `depth`.
    private func deepest(_ tried: [Outcome], than depth: Int) -> Int? {
        let reached = tried.map { outcome in outcome.found.map(\.order.count).max() ?? 0 }
        guard let best = reached.max(), best > depth else { return nil }
        let candidates = reached.indices.filter { reached[$0] == best }
        // If several branches failed at the same depth, the one with the fewest violations is chosen.
        return candidates.min { tried[$0].found.count < tried[$1].found.count }
    }
}

extension KeywordRequirement {
    fileprivate var allowedKinds: KindSet? {
        if case .kinds(let kinds) = self { kinds } else { nil }
    }
}
