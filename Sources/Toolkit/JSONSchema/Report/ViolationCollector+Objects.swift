import JSON

extension ViolationCollector {
    /// Checks a keyword that restricts objects or their members. Returns nil for other keywords.
    mutating func validateObject(
        _ check: Check, of rule: Rule, _ value: JSONValue, _ place: Place, _ parts: EvaluatedParts
    ) -> Outcome? {
        let members = value.members ?? []
        guard spend(members.count + Self.names(in: check.requirement, for: members.count) / 4) else { return Outcome() }
        switch check.requirement {
        case .minProperties(let least) where members.count < least:
            let wanted = "at least \(Self.counted(least, "member"))"
            return violation(
                rule, check.keyword, value, place, "must have \(wanted), has \(members.count)", expected: wanted)
        case .maxProperties(let most) where members.count > most:
            let wanted = "at most \(Self.counted(most, "member"))"
            return violation(
                rule, check.keyword, value, place, "must have \(wanted), has \(members.count)", expected: wanted)
        case .required(let names): return missing(names, check, rule, members, value, place)
        case .dependentRequired(let needs): return missingDependents(needs, check, rule, members, value, place)
        case .dependencies(let needs, _):
            var outcome = missingDependents(needs, check, rule, members, value, place)
            outcome.merge(validateBranches(check, of: rule, value, place))
            return outcome
        case .properties(let known): return named(known, members, place)
        case .patternProperties(let rows): return patterned(rows, members, place)
        case .additional(let other, let names, let patterns):
            return additional(other, names, patterns, check, rule, members, place)
        case .unevaluatedProperties(let other): return unevaluated(other, check, rule, members, place, parts)
        case .propertyNames(let names): return checkNames(names, members, place)
        default: return nil
        }
    }

    /// Returns the number of comparisons that a keyword needs for an object with `members` members. Each name in the
    /// keyword counts once. Each pattern in the keyword counts once for each member.
    private static func names(in requirement: KeywordRequirement, for members: Int) -> Int {
        switch requirement {
        case .properties(let known): known.count
        case .additional(_, let names, let patterns): names.count + patterns.count * members
        case .dependentRequired(let needs): needs.count
        case .dependentSchemas(let dependents): dependents.count
        case .dependencies(let needs, let dependents): needs.count + dependents.count
        default: 0
        }
    }

    private mutating func missing(
        _ names: [Name], _ check: Check, _ rule: Rule, _ members: [(name: String, value: JSONValue)],
        _ value: JSONValue, _ place: Place
    ) -> Outcome {
        var outcome = Outcome()
        let given = Set(members.map { Name($0.name) })
        var strangers: NameSuggester?
        for name in names where !given.contains(name) {
            if isFull(outcome) || !spend() { break }
            var detail = "missing property \(name.text.quotable)"
            let others = strangers ?? self.unknownMembers(among: members, to: rule)
            strangers = others
            if let near = nearest(to: name.text, among: others) {
                detail += "; the object has \(near); did you mean \(name.text)?"
            }
            outcome.merge(violation(rule, check.keyword, value, place, detail, expected: name.text.quotable))
        }
        return outcome
    }

    private mutating func missingDependents(
        _ needs: [(name: Name, needs: [Name])], _ check: Check, _ rule: Rule,
        _ members: [(name: String, value: JSONValue)], _ value: JSONValue, _ place: Place
    ) -> Outcome {
        var outcome = Outcome()
        let given = Set(members.map { Name($0.name) })
        for (name, needed) in needs where given.contains(name) {
            for other in needed where !given.contains(other) {
                if isFull(outcome) || !spend() { return outcome }
                let place = place.keyword(name.text.pointerToken)
                let detail = "missing property \(other.text.quotable), which \(name.text.quotable) requires"
                outcome.merge(violation(rule, check.keyword, value, place, detail, expected: other.text.quotable))
            }
        }
        return outcome
    }

    // MARK: - Names that may be misspelt

    /// Returns the names of the members that a schema does not know. Only these names can be misspellings of the name
    /// of a missing member.
    private mutating func unknownMembers(
        among members: [(name: String, value: JSONValue)], to rule: Rule
    ) -> NameSuggester {
        guard comparisons > 0 else { return NameSuggester([]) }
        let known = knownNames(rule)
        return NameSuggester(members.lazy.map(\.name).filter { !known.contains(Name($0)) })
    }

    /// Returns the names that a schema knows and that an object does not contain.
    private mutating func freeNames(
        of rule: Rule, beside members: [(name: String, value: JSONValue)]
    ) -> NameSuggester {
        guard comparisons > 0 else { return NameSuggester([]) }
        let given = Set(members.map { Name($0.name) })
        return NameSuggester(knownNames(rule).subtracting(given).sorted().lazy.map(\.text))
    }

    /// Returns the names of the members that a rule describes with `properties`. Includes the names in the rules that
    /// this rule applies to the same value. Subtracts the cost of collecting the names from `comparisons`.
    private mutating func knownNames(_ rule: Rule) -> Set<Name> {
        var names: Set<Name> = []
        var waiting = [rule]
        var left = 64
        while let next = waiting.popLast(), left > 0 {
            left -= 1
            for check in next.checks {
                if case .properties(let members) = check.requirement { names.formUnion(members.map(\.name)) }
                waiting += check.requirement.inPlace.map { rules[$0] }
            }
        }
        comparisons -= names.count / 2
        return names
    }

    // MARK: - Members

    private mutating func named(
        _ known: [(name: Name, rule: Rule.ID)], _ members: [(name: String, value: JSONValue)], _ place: Place
    ) -> Outcome {
        var outcome = Outcome()
        let ruleFor = Dictionary(known.map { ($0.name, $0.rule) }, uniquingKeysWith: { first, _ in first })
        for (position, member) in members.enumerated() {
            if isFull(outcome) { break }
            guard let rule = ruleFor[Name(member.name)] else { continue }
            outcome.parts.places.insert(position)
            let below = place.keyword(member.name.pointerToken)
                .member(member.name, position, redacted: options.redacted)
            outcome.mergeBelow(apply(rule, member.value, below))
        }
        return outcome
    }

    private mutating func patterned(
        _ rows: [(pattern: Int, rule: Rule.ID)], _ members: [(name: String, value: JSONValue)], _ place: Place
    ) -> Outcome {
        var outcome = Outcome()
        for (position, member) in members.enumerated() {
            if isFull(outcome) { break }
            for row in rows where spend() && matches(row.pattern, member.name) {
                outcome.parts.places.insert(position)
                let below = place.keyword(patternSources[row.pattern].pointerToken)
                    .member(member.name, position, redacted: options.redacted)
                outcome.mergeBelow(apply(row.rule, member.value, below))
            }
        }
        return outcome
    }

    private mutating func matches(_ pattern: Int, _ name: String) -> Bool {
        var name = name
        return name.withUTF8 { matches(pattern, $0) }
    }

    private mutating func additional(
        _ other: Rule.ID, _ names: [Name], _ patterns: [Int], _ check: Check, _ rule: Rule,
        _ members: [(name: String, value: JSONValue)], _ place: Place
    ) -> Outcome {
        var outcome = Outcome()
        let known = Set(names)
        var free: NameSuggester?
        for (position, member) in members.enumerated() where !known.contains(Name(member.name)) {
            if isFull(outcome) { break }
            if patterns.contains(where: { matches($0, member.name) }) { continue }
            outcome.parts.places.insert(position)
            outcome.mergeBelow(unknownMember(other, check, rule, member, position, members, &free, place))
        }
        return outcome
    }

    private mutating func unevaluated(
        _ other: Rule.ID, _ check: Check, _ rule: Rule, _ members: [(name: String, value: JSONValue)], _ place: Place,
        _ parts: EvaluatedParts
    ) -> Outcome {
        var outcome = Outcome()
        var free: NameSuggester?
        for (position, member) in members.enumerated() where !parts.contains(position) {
            if isFull(outcome) { break }
            outcome.mergeBelow(unknownMember(other, check, rule, member, position, members, &free, place))
        }
        outcome.parts.all = true
        return outcome
    }

    /// Checks a member that the schema does not know. If unknown members are not allowed, the message suggests the name
    /// that was probably intended.
    ///
    /// - Parameter free: the known names that the object does not contain, of which the member may be a misspelling.
    private mutating func unknownMember(
        _ other: Rule.ID, _ check: Check, _ rule: Rule, _ member: (name: String, value: JSONValue), _ position: Int,
        _ members: [(name: String, value: JSONValue)], _ free: inout NameSuggester?, _ place: Place
    ) -> Outcome {
        let below = place.member(member.name, position, redacted: options.redacted)
        guard rules[other].isFalse else { return apply(other, member.value, below) }
        var detail = "property \(member.name.quotable) is not allowed"
        let others = free ?? freeNames(of: rule, beside: members)
        free = others
        if let near = nearest(to: member.name, among: others) { detail += "; did you mean \(near)?" }
        return violation(rule, check.keyword, member.value, below, detail)
    }

    private mutating func checkNames(
        _ names: Rule.ID, _ members: [(name: String, value: JSONValue)], _ place: Place
    ) -> Outcome {
        var outcome = Outcome()
        for (position, member) in members.enumerated() {
            if isFull(outcome) { break }
            // Parsing cannot fail here, because the name comes from the parser.
            guard let name = try? JSONDocument(JSONText(string: member.name)) else { continue }
            let below = place.member(member.name, position, redacted: options.redacted)
            var found = apply(names, name.root, below)
            for index in found.found.indices {
                found.found[index].violation.detail = "the name of the property \(found.found[index].violation.detail)"
            }
            outcome.mergeBelow(found)
        }
        return outcome
    }
}
