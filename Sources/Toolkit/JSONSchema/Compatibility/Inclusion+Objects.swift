import JSON

extension Inclusion {
    mutating func impliesObject(
        _ part: ValueConstraints, _ requirement: KeywordRequirement, _ keyword: String, _ wide: RuleRef
    ) -> Bool {
        switch requirement {
        case .minProperties, .maxProperties: return impliesCount(part, requirement, keyword, wide)
        case .required(let names): return impliesRequired(part, names, keyword, wide)
        case .properties(let rows):
            var holds = true
            for row in rows where holds || !isTrying {
                if !impliesMember(part, row.name, RuleRef(wide.side, row.rule)) { holds = false }
            }
            return holds
        case .patternProperties(let rows):
            var holds = true
            for row in rows where holds || !isTrying {
                let pattern = pair[wide.side].texts[row.pattern]
                if !impliesMatching(part, pattern, RuleRef(wide.side, row.rule)) { holds = false }
            }
            return holds
        case .additional(let rule, let names, let patterns):
            let texts = patterns.map { pair[wide.side].texts[$0] }
            return impliesOtherMembers(part, RuleRef(wide.side, rule), Set(names), texts, keyword, wide)
        case .unevaluatedProperties(let rule):
            guard let reach = pair[wide.side].reach(of: wide.id) else {
                return fail(
                    wide, "/" + keyword, "this part of the schema cannot be compared", samples: samples(of: part))
            }
            if reach.allMembers { return true }
            let texts = reach.patterns.sorted().map { pair[wide.side].texts[$0] }
            return impliesOtherMembers(part, RuleRef(wide.side, rule), reach.names, texts, keyword, wide)
        case .propertyNames(let rule): return impliesNames(part, RuleRef(wide.side, rule), wide)
        default: return impliesDependents(part, requirement, keyword, wide)
        }
    }

    private mutating func impliesCount(
        _ part: ValueConstraints, _ requirement: KeywordRequirement, _ keyword: String, _ wide: RuleRef
    ) -> Bool {
        switch requirement {
        case .minProperties(let count):
            if max(part.minProperties, part.required.count) >= count { return true }
            return gap(
                wide, "/" + keyword, narrower: "now requires at least \(count) members",
                wider: "no longer requires at least \(count) members", [object(part)].compactMap(\.self))
        case .maxProperties(let count):
            if min(part.maxProperties, mostMembers(part) ?? .max) <= count { return true }
            return gap(
                wide, "/" + keyword, narrower: "now allows at most \(count) members",
                wider: "now allows more than \(count) members", [object(part, count: count + 1)].compactMap(\.self))
        default: return true
        }
    }

    private mutating func impliesRequired(
        _ part: ValueConstraints, _ names: [Name], _ keyword: String, _ wide: RuleRef
    ) -> Bool {
        let known = Set(part.required)
        var holds = true
        for name in names where !known.contains(name) && (holds || !isTrying) {
            let quoted = ChangeText.quoted(name)
            holds = gap(
                wide, "/" + keyword, narrower: "\(quoted) is now required", wider: "\(quoted) is no longer required",
                [object(part, without: [name])].compactMap(\.self))
        }
        return holds
    }

    // MARK: - Members

    /// Returns true when it is proved that the member with this name, if present, satisfies the rule.
    private mutating func impliesMember(_ part: ValueConstraints, _ name: Name, _ rule: RuleRef) -> Bool {
        let children = part.children(named: name)
        if pair.isTrivial(rule) { return true }
        if isLenient, children.isEmpty, !part.mentions(name) {
            tolerate(rule, name)
            return true
        }
        return descend { inclusion in
            inclusion.includes(children, in: rule)
        } building: { inclusion, value in
            inclusion.object(part, with: [(name, value)])
        }
    }

    private mutating func tolerate(_ rule: RuleRef, _ name: Name) {
        guard !isTrying else { return }
        let quoted = ChangeText.quoted(name)
        let text =
            direction == .backward
            ? "the schema now describes the optional member \(quoted)"
            : "the schema no longer describes the optional member \(quoted)"
        add(Gap(pointer: pair.pointer(rule), text: text, samples: [], isTolerated: true))
    }

    /// Returns true when every member whose name matches the pattern satisfies the rule.
    private mutating func impliesMatching(_ part: ValueConstraints, _ pattern: TextPattern, _ rule: RuleRef) -> Bool {
        if pair.isTrivial(rule) { return true }
        var names = part.knownNames.filter { pattern.matches($0.bytes) != false }
        names += pattern.examples(count: 3).map { Name(String(decoding: $0, as: UTF8.self)) }.filter {
            !part.mentions($0)
        }
        return impliesEach(part, names, rule) && impliesUnnamed(part, matching: pattern, excluded: [], rule, "", rule)
    }

    /// Returns true when every other member satisfies the rule: each member whose name is not in `names` and matches no
    /// pattern.
    private mutating func impliesOtherMembers(
        _ part: ValueConstraints, _ rule: RuleRef, _ names: Set<Name>, _ patterns: [TextPattern], _ keyword: String,
        _ wide: RuleRef
    ) -> Bool {
        if pair.isTrivial(rule) { return true }
        func isOther(_ name: Name) -> Bool {
            !names.contains(name) && patterns.allSatisfy { $0.matches(name.bytes) != true }
        }
        let known = part.knownNames.filter(isOther)
        let made = part.objects.flatMap(\.patterns).flatMap { $0.pattern.examples(count: 2) }
        let invented = (made.map { Name(String(decoding: $0, as: UTF8.self)) } + Self.inventedNames).filter {
            isOther($0) && !part.mentions($0)
        }
        if pair.rule(rule).isFalse { return refuses(part, known, invented, patterns, rule, keyword, wide) }
        return impliesEach(part, known + invented.prefix(4), rule)
            && impliesUnnamed(part, matching: nil, excluded: patterns, rule, "/" + keyword, wide)
    }

    static let inventedNames = ["other", "another", "x", "X-1", "_", "0"].map { Name($0) }

    /// Returns true when the constraints reject every member to which the wide side applies the rule `false`. Adds a
    /// gap for each such member that the constraints accept. Used by `impliesOtherMembers`.
    private mutating func refuses(
        _ part: ValueConstraints, _ known: [Name], _ invented: [Name], _ patterns: [TextPattern], _ rule: RuleRef,
        _ keyword: String, _ wide: RuleRef
    ) -> Bool {
        var holds = true
        for name in known where (holds || !isTrying) && !refusesAlready(part, name) {
            let quoted = ChangeText.quoted(name)
            let samples = [object(part, with: [(name, nil)])].compactMap(\.self)
            holds = gap(
                wide, "/" + keyword, narrower: "the member \(quoted) is now rejected",
                wider: "the member \(quoted) is now accepted", samples)
        }
        let isOpen = invented.first { !refusesAlready(part, $0) }
        if let isOpen, holds || !isTrying {
            holds = gap(
                wide, "/" + keyword, narrower: "members that the schema does not name are now rejected",
                wider: "members that the schema does not name are now accepted",
                [object(part, with: [(isOpen, nil)])].compactMap(\.self))
        } else if isOpen == nil {
            holds = impliesUnnamed(part, matching: nil, excluded: patterns, rule, "/" + keyword, wide) && holds
        }
        return holds
    }

    private mutating func refusesAlready(_ part: ValueConstraints, _ name: Name) -> Bool {
        let children = part.children(named: name)
        return !children.isEmpty && isEmpty(facts(of: children))
    }

    private mutating func impliesEach(_ part: ValueConstraints, _ names: [Name], _ rule: RuleRef) -> Bool {
        var holds = true
        for name in names where holds || !isTrying {
            let children = part.children(named: name)
            let isIncluded = descend { inclusion in
                inclusion.includes(children, in: rule)
            } building: { inclusion, value in
                inclusion.object(part, with: [(name, value)])
            }
            if !isIncluded { holds = false }
        }
        return holds
    }

    /// Returns true when it is proved that members whose names occur in no schema satisfy the rule. In each table of
    /// the narrow side (the known constraints), a pattern or the rule for other members may apply to such a member.
    /// Every combination of these rules must imply `rule`.
    private mutating func impliesUnnamed(
        _ part: ValueConstraints, matching pattern: TextPattern?, excluded: [TextPattern], _ rule: RuleRef,
        _ suffix: String,
        _ wide: RuleRef
    ) -> Bool {
        for outcome in outcomes(part, pattern, excluded) {
            let (holds, _) = attempt { $0.includes(outcome, in: rule) }
            if !holds {
                return fail(
                    wide, suffix, "this part of the schema cannot be compared for every member name", samples: [])
            }
        }
        return true
    }

    private func outcomes(_ part: ValueConstraints, _ pattern: TextPattern?, _ excluded: [TextPattern]) -> [[RuleRef]] {
        var combinations: [[RuleRef]] = [[]]
        for table in part.objects {
            var options = [table.additional.map { [$0] } ?? []]
            let certain = table.patterns.filter { row in pattern.map { $0.isIncluded(in: row.pattern) } ?? false }
            if !certain.isEmpty {
                options = [certain.compactMap(\.rule)]
            } else {
                let possible = table.patterns.filter { row in
                    !excluded.contains { $0.source == row.pattern.source }
                }
                options += possible.map { row in row.rule.map { [$0] } ?? [] }
            }
            // If there are too many combinations, nothing is assumed about the member. The check is still correct.
            if combinations.count * options.count > 32 { return [[]] }
            combinations = combinations.flatMap { begun in options.map { begun + $0 } }
        }
        return combinations.map { Set($0).sorted() }
    }

    /// Returns the maximum number of members if all permitted names are listed; nil otherwise.
    private mutating func mostMembers(_ part: ValueConstraints) -> Int? {
        var least: Int?
        for table in part.objects where table.patterns.isEmpty {
            guard let others = table.additional, isEmpty(facts(of: [others])) else { continue }
            least = min(least ?? .max, table.names.count)
        }
        return least
    }
}
