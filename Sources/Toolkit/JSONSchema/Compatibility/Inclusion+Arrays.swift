import JSON

extension Inclusion {
    mutating func impliesArray(
        _ part: ValueConstraints, _ requirement: KeywordRequirement, _ keyword: String, _ wide: RuleRef
    ) -> Bool {
        switch requirement {
        case .minItems(let count):
            let least = part.contains.map(\.minimum).max() ?? 0
            if max(part.minItems, least) >= count { return true }
            return gap(
                wide, "/" + keyword, narrower: "now requires at least \(count) elements",
                wider: "no longer requires at least \(count) elements", [array(part)].compactMap(\.self))
        case .maxItems(let count):
            if longest(part) <= count { return true }
            return gap(
                wide, "/" + keyword, narrower: "now allows at most \(count) elements",
                wider: "now allows more than \(count) elements", [array(part, count: count + 1)].compactMap(\.self))
        case .uniqueItems:
            if part.isUnique || longest(part) <= 1 { return true }
            let twins = facts(of: Set(part.children(at: 0) + part.children(at: 1)).sorted())
            let samples = samples(of: twins).prefix(2).compactMap { array(part, with: [0: $0, 1: $0]) }
            return gap(
                wide, "/" + keyword, narrower: "elements must now be unique",
                wider: "elements need no longer be unique",
                samples)
        case .prefix(let rules):
            return impliesElements(part, rules.enumerated().map { ($0.offset, RuleRef(wide.side, $0.element)) })
        case .rest(let rule, let after): return impliesRemaining(part, RuleRef(wide.side, rule), after, keyword, wide)
        case .unevaluatedItems(let rule):
            guard let reach = pair[wide.side].reach(of: wide.id) else {
                return fail(
                    wide, "/" + keyword, "this part of the schema cannot be compared", samples: samples(of: part))
            }
            if reach.allElements { return true }
            return impliesRemaining(part, RuleRef(wide.side, rule), reach.elements, keyword, wide)
        case .contains(let rule, let minimum, let maximum, _):
            return impliesContains(part, RuleRef(wide.side, rule), minimum, maximum, keyword, wide)
        default: return true
        }
    }

    /// Returns an upper bound for the number of elements of the arrays that satisfy the constraints.
    mutating func longest(_ part: ValueConstraints) -> Int {
        // Only the first 1,000 elements are examined. A result that is too large is safe.
        for index in 0...min(part.prefixLength, 1_000) where index < part.maxItems {
            let children = part.children(at: index)
            if !children.isEmpty, isEmpty(facts(of: children), depth: 1) { return index }
        }
        return part.maxItems
    }

    private mutating func impliesElements(_ part: ValueConstraints, _ places: [(index: Int, rule: RuleRef)]) -> Bool {
        var holds = true
        let longest = longest(part)
        for (index, rule) in places where index < longest && (holds || !isTrying) {
            let children = part.children(at: index)
            let isIncluded = descend { inclusion in
                inclusion.includes(children, in: rule)
            } building: { inclusion, value in
                inclusion.array(part, with: [index: value])
            }
            if !isIncluded { holds = false }
        }
        return holds
    }

    /// Returns true when it is proved that all elements from the index `after` on satisfy the rule. Elements to which
    /// the constraints apply special rules are examined one by one. All other elements have the same rules, so only one
    /// of them is examined.
    private mutating func impliesRemaining(
        _ part: ValueConstraints, _ rule: RuleRef, _ after: Int, _ keyword: String, _ wide: RuleRef
    ) -> Bool {
        if pair.isTrivial(rule) { return true }
        let last = max(after, part.prefixLength)
        guard last - after <= 1_000 else {
            return fail(wide, "/" + keyword, "this part of the schema is too large to be compared", samples: [])
        }
        if pair.rule(rule).isFalse {
            if longest(part) <= after { return true }
            return gap(
                wide, "/" + keyword, narrower: "no longer allows elements after the first \(after)",
                wider: "now allows elements after the first \(after)",
                [array(part, count: after + 1)].compactMap(\.self))
        }
        return impliesElements(part, (after...last).map { ($0, rule) })
    }

    private mutating func impliesContains(
        _ part: ValueConstraints, _ rule: RuleRef, _ minimum: Int, _ maximum: Int, _ keyword: String, _ wide: RuleRef
    ) -> Bool {
        let hasEnough = minimum == 0 || hasAtLeast(minimum, rule, part)
        let hasFew =
            longest(part) <= maximum || part.contains.contains { $0.maximum <= maximum && covers($0.rule, rule) }
        if hasEnough, hasFew { return true }
        let others = samples(of: facts(of: part.children(at: part.prefixLength)))
        var made = [array(part)] + others.prefix(4).map { array(part, with: [0: $0]) }
        if !hasFew, let count = maximum == .max ? nil : maximum + 1 {
            let matching = samples(of: facts(of: part.children(at: 0) + [rule])).first
            made.append(
                matching.flatMap { value in
                    array(part, with: Dictionary(uniqueKeysWithValues: (0..<min(count, 100)).map { ($0, value) }))
                })
        }
        return gap(
            wide, "/" + keyword, narrower: "'contains' now rejects more arrays",
            wider: "'contains' now accepts more arrays",
            made.compactMap(\.self))
    }

    private mutating func hasAtLeast(_ minimum: Int, _ rule: RuleRef, _ part: ValueConstraints) -> Bool {
        for row in part.contains where row.minimum >= minimum {
            if attempt({ $0.includes([row.rule], in: rule) }).holds { return true }
        }
        // Otherwise, the keyword is implied if each mandatory element satisfies the rule.
        guard part.minItems >= minimum else { return false }
        return (0...part.prefixLength).prefix(100).allSatisfy { index in
            attempt { $0.includes(part.children(at: index), in: rule) }.holds
        } && part.prefixLength < 100
    }

    /// Returns true when it is proved that every element that satisfies `rule` also satisfies `counted`, so that a
    /// limit on the number of elements that satisfy `counted` also limits the number of elements that satisfy `rule`.
    private mutating func covers(_ counted: RuleRef, _ rule: RuleRef) -> Bool {
        attempt { $0.includes([rule], in: counted) }.holds
    }
}
