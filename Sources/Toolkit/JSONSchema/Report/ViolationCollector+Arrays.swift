import JSON

extension ViolationCollector {
    /// Checks a keyword that restricts arrays or their elements. Returns nil for other keywords.
    mutating func validateArray(
        _ check: Check, of rule: Rule, _ value: JSONValue, _ place: Place, _ parts: EvaluatedParts
    ) -> Outcome? {
        let count = value.count
        switch check.requirement {
        case .minItems(let least) where count < least:
            let wanted = "at least \(Self.counted(least, "element"))"
            return violation(rule, check.keyword, value, place, "must have \(wanted), has \(count)", expected: wanted)
        case .maxItems(let most) where count > most:
            let wanted = "at most \(Self.counted(most, "element"))"
            return violation(rule, check.keyword, value, place, "must have \(wanted), has \(count)", expected: wanted)
        case .uniqueItems: return unique(check, rule, value, place)
        case .prefix(let rules): return prefix(rules, value, place)
        case .rest(let other, let after): return rest(other, after..<max(after, count), check, rule, value, place)
        case .contains(let wanted, let least, let most, let marks):
            return contains(wanted, least, most, marks, check, rule, value, place)
        case .unevaluatedItems(let other):
            var outcome = Outcome()
            for position in 0..<count where !parts.contains(position) {
                if isFull(outcome) || !spend() { break }
                outcome.mergeBelow(element(other, position, check, rule, value, place))
            }
            outcome.parts.all = true
            return outcome
        default: return nil
        }
    }

    private mutating func prefix(_ rules: [Rule.ID], _ value: JSONValue, _ place: Place) -> Outcome {
        var outcome = Outcome()
        for (position, rule) in rules.enumerated() {
            guard !isFull(outcome), let element = value[position] else { break }
            let below = place.keyword(String(position)).element(position)
            outcome.mergeBelow(apply(rule, element, below))
        }
        outcome.parts.below = rules.count
        return outcome
    }

    private mutating func rest(
        _ other: Rule.ID, _ places: Range<Int>, _ check: Check, _ rule: Rule, _ value: JSONValue, _ place: Place
    ) -> Outcome {
        var outcome = Outcome()
        for position in places {
            if isFull(outcome) { break }
            outcome.mergeBelow(element(other, position, check, rule, value, place))
        }
        outcome.parts.all = true
        return outcome
    }

    private mutating func element(
        _ other: Rule.ID, _ position: Int, _ check: Check, _ rule: Rule, _ value: JSONValue, _ place: Place
    ) -> Outcome {
        guard let element = value[position] else { return Outcome() }
        let below = place.element(position)
        guard rules[other].isFalse else { return apply(other, element, below) }
        return violation(rule, check.keyword, element, below, "element \(position) is not allowed")
    }

    private mutating func contains(
        _ wanted: Rule.ID, _ least: Int, _ most: Int, _ marks: Bool, _ check: Check, _ rule: Rule, _ value: JSONValue,
        _ place: Place
    ) -> Outcome {
        var outcome = Outcome()
        var found = 0
        for position in 0..<value.count {
            guard let element = value[position] else { break }
            let below = place.element(position)
            guard apply(wanted, element, below).isValid else { continue }
            found += 1
            if marks { outcome.parts.places.insert(position) }
        }
        if isExhausted { return Outcome() }
        if found < least {
            let wanted = "at least \(Self.counted(least, "matching element"))"
            return violation(rule, check.keyword, value, place, "must have \(wanted), has \(found)", expected: wanted)
        }
        if found > most {
            let wanted = "at most \(Self.counted(most, "matching element"))"
            return violation(rule, check.keyword, value, place, "must have \(wanted), has \(found)", expected: wanted)
        }
        return outcome
    }

    private mutating func unique(_ check: Check, _ rule: Rule, _ value: JSONValue, _ place: Place) -> Outcome {
        var scratch = Scratch()
        switch PublicAccess.uniqueness(ofArray: value.node, scratch: &scratch) {
        case .unique: return Outcome()
        case .repeated(let position, let earlier):
            return violation(rule, check.keyword, value, place, "elements \(earlier) and \(position) are equal")
        case .exhausted:
            _ = spend(.max / 2)
            return Outcome()
        }
    }
}
