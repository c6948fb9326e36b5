import JSON

extension Inclusion {
    /// Returns true when the constraints imply a keyword of the rule `wide` that depends on the presence of a member:
    /// `dependentRequired`, `dependentSchemas` or `dependencies`.
    mutating func impliesDependents(
        _ part: ValueConstraints, _ requirement: KeywordRequirement, _ keyword: String, _ wide: RuleRef
    ) -> Bool {
        switch requirement {
        case .dependentRequired(let needs): return implies(part, needs: needs, keyword, wide)
        case .dependentSchemas(let rules): return implies(part, rules: rules, wide)
        case .dependencies(let needs, let rules):
            let holds = implies(part, needs: needs, keyword, wide)
            return (holds || !isTrying) && implies(part, rules: rules, wide) && holds
        default: return true
        }
    }

    private mutating func implies(
        _ part: ValueConstraints, needs: [(name: Name, needs: [Name])], _ keyword: String, _ wide: RuleRef
    ) -> Bool {
        var holds = true
        for row in needs where holds || !isTrying {
            let present = having(row.name, part)
            guard !isEmpty(present) else { continue }
            for name in row.needs where !present.required.contains(name) && (holds || !isTrying) {
                let (one, other) = (ChangeText.quoted(row.name), ChangeText.quoted(name))
                holds = gap(
                    wide, "/" + keyword, narrower: "\(one) now requires \(other)",
                    wider: "\(one) no longer requires \(other)",
                    [object(present, without: [name])].compactMap(\.self))
            }
        }
        return holds
    }

    private mutating func implies(
        _ part: ValueConstraints, rules: [(name: Name, rule: Rule.ID)], _ wide: RuleRef
    ) -> Bool {
        var holds = true
        for row in rules where holds || !isTrying {
            let present = having(row.name, part)
            if !isEmpty(present), !covers(present, RuleRef(wide.side, row.rule)) { holds = false }
        }
        return holds
    }

    /// Returns the constraints of objects that contain this member. They include the requirements that apply only when
    /// the member is present.
    mutating func having(_ name: Name, _ part: ValueConstraints) -> ValueConstraints {
        var facts = part
        facts.require([name])
        var next = 0
        while next < facts.required.count {
            for row in facts.dependentNames where row.name == facts.required[next] { facts.require(row.needs) }
            next += 1
        }
        let present = Set(facts.required)
        return adding(facts.dependentRules.filter { present.contains($0.name) }.map(\.rule), to: facts)
    }

    /// Returns true when it is proved that every member name that the constraints allow satisfies the rule.
    mutating func impliesNames(_ part: ValueConstraints, _ rule: RuleRef, _ wide: RuleRef) -> Bool {
        if attempt({ $0.includes(part.propertyNames, kinds: .string, in: rule) }).holds { return true }
        var isSure = part.objects.contains { table in
            guard table.patterns.isEmpty, let others = table.additional else { return false }
            return pair.rule(others).isFalse
        }
        let (_, made) = attempt { $0.includes(part.propertyNames, kinds: .string, in: rule) }
        let names =
            part.knownNames
            + made.compactMap { text in
                (try? JSONDocument(text.bytes))?.root.string.map { Name($0) }
            }
        var samples: [JSONText] = []
        for name in names {
            let children = part.children(named: name)
            if !children.isEmpty, isEmpty(facts(of: children)) { continue }
            guard let text = try? JSONDocument(JSONText(string: name.text).bytes) else { continue }
            if holds(text.root, rule) == true { continue }
            isSure = false
            if let sample = object(part, with: [(name, nil)]) { samples.append(sample) }
        }
        if isSure { return true }
        return gap(
            wide, "/propertyNames", narrower: "some member names are now rejected",
            wider: "more member names are now accepted", samples)
    }
}
