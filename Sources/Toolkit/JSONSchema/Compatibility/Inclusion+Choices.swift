import JSON

extension Inclusion {
    /// Returns one variant of the constraints for each combination of the branches in `facts.choices`. When there are
    /// 48 variants, further choices are ignored. A variant with ignored choices allows more values.
    mutating func branches(of facts: ValueConstraints) -> [ValueConstraints] {
        var done: [ValueConstraints] = []
        var open = [facts]
        while var next = open.popLast() {
            guard let choice = next.choices.popLast() else {
                done.append(next)
                continue
            }
            guard done.count + open.count < Self.branchLimit else {
                open.append(next)
                continue
            }
            open += taking(choice, next).filter { !$0.isNothing }.reversed()
        }
        return done
    }

    private static let branchLimit = 48

    private mutating func taking(_ choice: ValueConstraints.Choice, _ facts: ValueConstraints) -> [ValueConstraints] {
        switch choice {
        case .any(let rules):
            if rules.contains(where: facts.rules.contains) { return [facts] }
            return rules.map { adding([$0], to: facts) }
        case .one(let rules):
            return rules.indices.map { index in
                var branch = adding([rules[index]], to: facts)
                for other in rules.indices where other != index { branch.deny(rules[other], pair) }
                branch.conclude()
                return branch
            }
        case .conditional(let test, let then, let otherwise):
            var failing = adding(otherwise.map { [$0] } ?? [], to: facts)
            failing.deny(test, pair)
            failing.conclude()
            return [adding([test] + (then.map { [$0] } ?? []), to: facts), failing]
        }
    }

    // MARK: - Emptiness

    /// Returns true when it is certain that no value satisfies the constraints.
    mutating func isEmpty(_ facts: ValueConstraints, depth: Int = 2) -> Bool {
        if facts.isNothing { return true }
        if depth > 0, facts.values == nil, facts.kinds.subtracting(emptyKinds(facts, depth)).isEmpty { return true }
        return facts.nots.contains { isCovered(facts, by: $0) }
    }

    /// Returns the kinds of which no value satisfies the constraints: `object` if no value satisfies the rules of a
    /// required member, and `array` if the constraints require more elements than they allow.
    private mutating func emptyKinds(_ facts: ValueConstraints, _ depth: Int) -> KindSet {
        var hollow: KindSet = []
        if facts.kinds.contains(.object) {
            let isHollow = facts.required.prefix(64).contains { name in
                let children = facts.children(named: name)
                return !children.isEmpty && isEmpty(self.facts(of: children), depth: depth - 1)
            }
            if isHollow { hollow.insert(.object) }
        }
        if facts.kinds.contains(.array), facts.minItems > 0, longest(facts) < facts.minItems { hollow.insert(.array) }
        return hollow
    }

    /// Returns true when it is proved that all values satisfy the rule `denied`. The constraints require that values
    /// violate this rule, so no value can satisfy the constraints.
    private mutating func isCovered(_ facts: ValueConstraints, by denied: RuleRef) -> Bool {
        if facts.rules.contains(where: { areSame($0, denied) }) { return true }
        guard spend(), facts.nots.count <= 16 else { return false }
        var plain = facts
        plain.nots = []
        plain.choices = []
        return attempt { $0.coversByKind(plain, denied) }.holds
    }

    // MARK: - The wide side

    /// Returns true when it is proved that one of the rules (the branches of `anyOf`) accepts all values that satisfy
    /// the constraints. Otherwise adds a gap.
    mutating func impliesAny(_ part: ValueConstraints, _ rules: [Rule.ID], _ keyword: String, _ wide: RuleRef) -> Bool {
        var samples: [JSONText] = []
        for rule in rules {
            let (holds, found) = attempt { $0.covers(part, RuleRef(wide.side, rule)) }
            if holds { return true }
            samples += found
        }
        // A witness of the gap must be rejected by all branches. A sample for one branch may be accepted by another
        // branch.
        return gap(
            wide, "/" + keyword, narrower: "the branches no longer accept every value that was accepted",
            wider: "the branches now accept more values", samples + self.samples(of: part))
    }

    mutating func impliesOne(_ part: ValueConstraints, _ rules: [Rule.ID], _ keyword: String, _ wide: RuleRef) -> Bool {
        var samples: [JSONText] = []
        for (index, rule) in rules.enumerated() {
            let (holds, found) = attempt { $0.covers(part, RuleRef(wide.side, rule)) }
            guard holds else {
                samples += found
                continue
            }
            let isAlone = rules.indices.allSatisfy { other in
                other == index || isEmpty(adding([RuleRef(wide.side, rules[other])], to: part))
            }
            if isAlone { return true }
        }
        return gap(
            wide, "/" + keyword, narrower: "some branch no longer accepts every value that was accepted",
            wider: "the branches now accept more values", samples + self.samples(of: part))
    }

    mutating func impliesNot(_ part: ValueConstraints, _ rule: Rule.ID, _ keyword: String, _ wide: RuleRef) -> Bool {
        let overlap = adding([RuleRef(wide.side, rule)], to: part)
        if isEmpty(overlap) || branches(of: overlap).allSatisfy({ isEmpty($0) }) { return true }
        return gap(
            wide, "/" + keyword, narrower: "now excludes a value that was accepted",
            wider: "no longer excludes the same values", samples(of: overlap) + samples(of: part))
    }

    mutating func impliesConditional(
        _ part: ValueConstraints, _ test: Rule.ID, _ then: Rule.ID?, _ otherwise: Rule.ID?, _ wide: RuleRef
    ) -> Bool {
        let test = RuleRef(wide.side, test)
        var holds = true
        if let then {
            holds = covers(adding([test], to: part), RuleRef(wide.side, then))
        }
        if let otherwise, holds || !isTrying {
            var failing = part
            failing.deny(test, pair)
            failing.conclude()
            if !covers(failing, RuleRef(wide.side, otherwise)) { holds = false }
        }
        return holds
    }
}
