import JSON

extension ValueConstraints {
    /// Adds rules, and the rules that they apply to the same value. The recursion ends, because no rule applies itself
    /// to the same value.
    mutating func add(_ refs: [RuleRef], _ pair: VersionPair) {
        var waiting = refs
        while let ref = waiting.popLast() {
            guard rules.insert(ref).inserted else { continue }
            let rule = pair.rule(ref)
            if rule.isFalse { isNothing = true }
            addTables(of: rule, ref, pair)
            for check in rule.checks { add(check.requirement, ref, pair, &waiting) }
        }
        conclude()
    }

    private mutating func add(
        _ requirement: KeywordRequirement, _ ref: RuleRef, _ pair: VersionPair, _ waiting: inout [RuleRef]
    ) {
        func refs(_ ids: [Rule.ID]) -> [RuleRef] { ids.map { RuleRef(ref.side, $0) } }
        switch requirement {
        case .reference(let rule): waiting.append(RuleRef(ref.side, rule))
        case .allOf(let rules): waiting += refs(rules)
        case .anyOf(let rules): rules.count == 1 ? waiting += refs(rules) : choices.append(.any(refs(rules)))
        case .oneOf(let rules): rules.count == 1 ? waiting += refs(rules) : choices.append(.one(refs(rules)))
        case .not(let rule): deny(RuleRef(ref.side, rule), pair)
        case .conditional(let test, let then, let otherwise):
            choices.append(
                .conditional(
                    test: RuleRef(ref.side, test), then: then.map { RuleRef(ref.side, $0) },
                    otherwise: otherwise.map { RuleRef(ref.side, $0) }))
        case .propertyNames(let rule): propertyNames.append(RuleRef(ref.side, rule))
        case .dependentRequired(let needs): dependentNames += needs
        case .dependentSchemas(let rules): dependentRules += rules.map { ($0.name, RuleRef(ref.side, $0.rule)) }
        case .dependencies(let needs, let rules):
            dependentNames += needs
            dependentRules += rules.map { ($0.name, RuleRef(ref.side, $0.rule)) }
        case .contains(let rule, let minimum, let maximum, _):
            contains.append(ContainsCheck(rule: RuleRef(ref.side, rule), minimum: minimum, maximum: maximum))
        case .pattern(let id): add(pair[ref.side].texts[id])
        default: addPlain(requirement)
        }
    }

    private mutating func addPlain(_ requirement: KeywordRequirement) {
        switch requirement {
        case .kinds(let allowed): kinds.formIntersection(allowed)
        case .equals(let value): restrict(to: [value])
        case .oneOfValues(let values): restrict(to: values)
        case .minimum(let value, let exclusive):
            if let bound = Number(value.node) { range.require(atLeast: bound, exclusively: exclusive) }
        case .maximum(let value, let exclusive):
            if let bound = Number(value.node) { range.require(atMost: bound, exclusively: exclusive) }
        case .multipleOf(let value): if let step = Number(value.node) { steps.append(step) }
        case .minLength(let count): minLength = max(minLength, count)
        case .maxLength(let count): maxLength = min(maxLength, count)
        case .format(let format): if !formats.contains(format) { formats.append(format) }
        case .content(let base64, let json): contents.append((base64, json))
        case .minItems(let count): minItems = max(minItems, count)
        case .maxItems(let count): maxItems = min(maxItems, count)
        case .uniqueItems: isUnique = true
        case .minProperties(let count): minProperties = max(minProperties, count)
        case .maxProperties(let count): maxProperties = min(maxProperties, count)
        case .required(let names): require(names)
        default: return
        }
    }

    private mutating func add(_ pattern: TextPattern) {
        if !patterns.contains(where: { $0.source == pattern.source }) { patterns.append(pattern) }
    }

    mutating func require(_ names: [Name]) {
        var known = Set(required)
        for name in names where known.insert(name).inserted { required.append(name) }
    }

    /// Restricts the possible values to those that are also in `list`.
    private mutating func restrict(to list: [JSONValue]) {
        guard let values else { return self.values = list }
        let set = ValueSet(list)
        self.values = values.filter(set.contains)
    }

    /// Adds the requirement that the value violates the rule. If the rule only restricts the kind of the value, removes
    /// the kinds that the rule allows from the possible kinds.
    mutating func deny(_ ref: RuleRef, _ pair: VersionPair) {
        let checks = pair.rule(ref).checks
        if checks.count == 1, !pair.rule(ref).isFalse, case .kinds(let refused) = checks[0].requirement {
            kinds.subtract(refused)
        } else if pair.isTrivial(ref) {
            isNothing = true
        } else {
            nots.append(ref)
        }
    }

    // MARK: - Members and elements

    private mutating func addTables(of rule: Rule, _ ref: RuleRef, _ pair: VersionPair) {
        var members = MemberTable()
        var elements = ElementTable()
        var (hasMembers, hasElements) = (false, false)
        for check in rule.checks {
            switch check.requirement {
            case .properties(let rows): for row in rows { members.add(row.name, RuleRef(ref.side, row.rule)) }
            case .patternProperties(let rows):
                members.patterns += rows.map { (pair[ref.side].texts[$0.pattern], RuleRef(ref.side, $0.rule)) }
            case .additional(let rule, _, _): members.additional = RuleRef(ref.side, rule)
            case .prefix(let rules): elements.prefix = rules.map { RuleRef(ref.side, $0) }
            case .rest(let rule, let after):
                elements.rest = RuleRef(ref.side, rule)
                elements.after = after
            case .unevaluatedProperties(let rule): close(ref, RuleRef(ref.side, rule), pair)
            case .unevaluatedItems(let rule): closeElements(ref, RuleRef(ref.side, rule), pair)
            default: continue
            }
            hasMembers = hasMembers || check.requirement.isAboutMembers
            hasElements = hasElements || check.requirement.isAboutElements
        }
        if hasMembers { objects.append(members) }
        if hasElements { arrays.append(elements) }
    }

    /// Adds the keyword `unevaluatedProperties` as another member table, in which it has the effect of
    /// `additionalProperties`. Adds nothing if the members that the rule evaluates depend on the value.
    private mutating func close(_ ref: RuleRef, _ others: RuleRef, _ pair: VersionPair) {
        guard let reach = pair[ref.side].reach(of: ref.id), !reach.allMembers else { return }
        var table = MemberTable()
        for name in reach.names.sorted() { table.add(name, nil) }
        table.patterns = reach.patterns.sorted().map { (pair[ref.side].texts[$0], nil) }
        table.additional = others
        objects.append(table)
    }

    private mutating func closeElements(_ ref: RuleRef, _ others: RuleRef, _ pair: VersionPair) {
        guard let reach = pair[ref.side].reach(of: ref.id), !reach.allElements else { return }
        arrays.append(ElementTable(rest: others, after: reach.elements))
    }
}

extension KeywordRequirement {
    fileprivate var isAboutMembers: Bool {
        switch self {
        case .properties, .patternProperties, .additional: true
        default: false
        }
    }

    fileprivate var isAboutElements: Bool {
        switch self {
        case .prefix, .rest: true
        default: false
        }
    }
}
