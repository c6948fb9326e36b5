import JSON

extension Inclusion {
    /// Returns true when it is proved that all values that satisfy the constraints satisfy one keyword of the rule
    /// `wide`. The constraints allow only values of one kind.
    mutating func implies(
        _ part: ValueConstraints, _ requirement: KeywordRequirement, _ keyword: String, _ wide: RuleRef
    ) -> Bool {
        switch requirement {
        case .reference(let rule): return covers(part, RuleRef(wide.side, rule))
        case .allOf(let rules):
            var holds = true
            for rule in rules where holds || !isTrying {
                if !covers(part, RuleRef(wide.side, rule)) { holds = false }
            }
            return holds
        case .anyOf(let rules): return impliesAny(part, rules, keyword, wide)
        case .oneOf(let rules): return impliesOne(part, rules, keyword, wide)
        case .not(let rule): return impliesNot(part, rule, keyword, wide)
        case .conditional(let test, let then, let otherwise):
            return impliesConditional(part, test, then, otherwise, wide)
        case .kinds(let kinds): return impliesKinds(part, kinds, keyword, wide)
        case .equals(let value): return impliesValues(part, [value], keyword, wide)
        case .oneOfValues(let values): return impliesValues(part, values, keyword, wide)
        default: break
        }
        if part.kinds.isSubset(of: .number) { return impliesNumber(part, requirement, keyword, wide) }
        if part.kinds == .string { return impliesString(part, requirement, keyword, wide) }
        if part.kinds == .array { return impliesArray(part, requirement, keyword, wide) }
        if part.kinds == .object { return impliesObject(part, requirement, keyword, wide) }
        return true
    }

    private mutating func impliesKinds(
        _ part: ValueConstraints, _ kinds: KindSet, _ keyword: String, _ wide: RuleRef
    ) -> Bool {
        let refused = part.kinds.subtracting(kinds)
        if refused.isEmpty { return true }
        let names = ChangeText.list(refused)
        return gap(
            wide, "/" + keyword, narrower: "no longer accepts \(names)", wider: "now accepts \(names)",
            samples(of: part.restricted(to: refused)))
    }

    /// Adds a gap for `enum` or `const`, because constraints without a list of values never imply these keywords.
    /// Always returns false.
    private mutating func impliesValues(
        _ part: ValueConstraints, _ values: [JSONValue], _ keyword: String, _ wide: RuleRef
    ) -> Bool {
        let kinds = ChangeText.list(part.kinds)
        return gap(
            wide, "/" + keyword, narrower: "now accepts only the listed values of \(kinds)",
            wider: "now accepts more than the listed values of \(kinds)", samples(of: part, breadth: values.count + 6))
    }

    // MARK: - Numbers

    private mutating func impliesNumber(
        _ part: ValueConstraints, _ requirement: KeywordRequirement, _ keyword: String, _ wide: RuleRef
    ) -> Bool {
        var range = NumberRange()
        switch requirement {
        case .minimum(let value, let exclusive):
            guard let bound = Number(value.node) else {
                return fail(wide, "/" + keyword, "the bound cannot be compared", samples: [])
            }
            range.require(atLeast: bound, exclusively: exclusive)
            if part.range(isInside: range) { return true }
            let text = JSONText(printing: value).description
            return gap(
                wide, "/" + keyword, narrower: "the lower bound is now \(text)",
                wider: "the lower bound is no longer \(text)", numbers(part, below: bound))
        case .maximum(let value, let exclusive):
            guard let bound = Number(value.node) else {
                return fail(wide, "/" + keyword, "the bound cannot be compared", samples: [])
            }
            range.require(atMost: bound, exclusively: exclusive)
            if part.range(isInside: range) { return true }
            let text = JSONText(printing: value).description
            return gap(
                wide, "/" + keyword, narrower: "the upper bound is now \(text)",
                wider: "the upper bound is no longer \(text)", numbers(part, above: bound))
        case .multipleOf(let value): return impliesMultiple(part, value, keyword, wide)
        default: return true
        }
    }

    private mutating func impliesMultiple(
        _ part: ValueConstraints, _ value: JSONValue, _ keyword: String, _ wide: RuleRef
    ) -> Bool {
        guard let divisor = Number(value.node).flatMap(Divisor.init) else { return true }
        let steps = part.steps + (part.kinds.contains(.fraction) ? [] : [.integer(1)])
        if steps.contains(where: { $0.isMultiple(of: divisor) }) { return true }
        let text = JSONText(printing: value).description
        return gap(
            wide, "/" + keyword, narrower: "now accepts only multiples of \(text)",
            wider: "no longer accepts only multiples of \(text)", numbers(part, indivisibleBy: divisor))
    }

    // MARK: - Strings

    private mutating func impliesString(
        _ part: ValueConstraints, _ requirement: KeywordRequirement, _ keyword: String, _ wide: RuleRef
    ) -> Bool {
        switch requirement {
        case .minLength(let count):
            if part.minLength >= count { return true }
            return gap(
                wide, "/" + keyword, narrower: "now requires at least \(count) characters",
                wider: "no longer requires at least \(count) characters",
                strings(part, lengths: [part.minLength, count - 1]))
        case .maxLength(let count):
            if part.maxLength <= count { return true }
            return gap(
                wide, "/" + keyword, narrower: "now allows at most \(count) characters",
                wider: "now allows more than \(count) characters", strings(part, lengths: [count + 1, part.maxLength]))
        case .pattern(let id): return impliesPattern(part, pair[wide.side].texts[id], keyword, wide)
        case .format(let format):
            if part.formats.contains(where: { $0 == format || $0.isIncluded(in: format) }) { return true }
            return gap(
                wide, "/" + keyword, narrower: "the string must now have the format \(format.name)",
                wider: "the string need no longer have the format \(format.name)",
                strings(part, lengths: [part.minLength]))
        case .content(let base64, let json):
            if part.contents.contains(where: { $0.base64 == base64 && $0.json == json }) { return true }
            return gap(
                wide, "/" + keyword, narrower: "the content of the string is now checked",
                wider: "the content of the string is no longer checked",
                strings(part, lengths: [part.minLength]))
        default: return true
        }
    }

    private mutating func impliesPattern(
        _ part: ValueConstraints, _ pattern: TextPattern, _ keyword: String, _ wide: RuleRef
    ) -> Bool {
        if part.patterns.contains(where: { $0.isIncluded(in: pattern) }) { return true }
        let samples = strings(part, lengths: [part.minLength, part.minLength + 8])
        let failing = samples.filter { text in
            (try? JSONDocument(text.bytes))?.root.string.flatMap { pattern.matches(Array($0.utf8)) } == false
        }
        let text = pattern.source.text.quotable
        return gap(
            wide, "/" + keyword, narrower: "must now match \(text)", wider: "need no longer match \(text)", failing)
    }
}

extension ValueConstraints {
    /// Returns true when all numbers of this range are in the range `wide`, both as integers and as doubles.
    func range(isInside wide: NumberRange) -> Bool {
        let integers = !kinds.contains(.written) || range.lowest >= wide.lowest && range.highest <= wide.highest
        let isWithoutDoubles = kinds.isDisjoint(with: [.integral, .fraction])
        return integers && (isWithoutDoubles || range.low >= wide.low && range.high <= wide.high)
    }
}

extension Format {
    /// Returns true when every text of this format is also valid in the other format, according to the grammars.
    func isIncluded(in other: Format) -> Bool {
        switch (self, other) {
        case (.uri, .uriReference), (.uri, .iri), (.uri, .iriReference), (.uriReference, .iriReference),
            (.iri, .iriReference), (.email, .idnEmail), (.hostname, .plainHostname):
            true
        default: false
        }
    }
}
