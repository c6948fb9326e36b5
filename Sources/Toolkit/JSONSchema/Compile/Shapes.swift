/// Properties of each rule that do not depend on its requirements on members and elements.
struct Shapes {
    /// For each rule, the kinds of values that can pass.
    private(set) var kinds: [KindSet]
    /// For each rule, true if it only restricts the kinds of values.
    private(set) var onlyRestrictsKinds: [Bool]
    /// For each rule, the number of table rows that merging the rule into another rule adds; at most `heavy`.
    private(set) var weight: [Int]
    /// For each rule that consists only of a reference, the rule at the end of the chain of such references. For any
    /// other rule, the rule itself.
    private var targets: [Rule.ID]
    private var trivial: [Bool]

    /// The maximum weight of a rule that is merged into the rules that refer to it.
    static let inlinedWeight = 64
    private static let heavy = 1 << 20

    init(_ rules: [Rule], order: [Rule.ID]) {
        kinds = [KindSet](repeating: .all, count: rules.count)
        onlyRestrictsKinds = [Bool](repeating: false, count: rules.count)
        weight = [Int](repeating: 1, count: rules.count)
        targets = Array(rules.indices)
        trivial = [Bool](repeating: false, count: rules.count)
        for rule in order { read(rule, rules[rule]) }
    }

    func target(_ rule: Rule.ID) -> Rule.ID { targets[rule] }

    /// Returns true when the keywords of the rule show that every value satisfies the rule.
    func isTrivial(_ rule: Rule.ID) -> Bool { trivial[rule] }

    private mutating func read(_ id: Rule.ID, _ rule: Rule) {
        trivial[id] = !rule.isFalse && rule.checks.allSatisfy { isTrivial($0.requirement) }
        onlyRestrictsKinds[id] =
            !rule.isFalse && rule.checks.allSatisfy { check in onlyRestrictsKinds(check.requirement) }
        kinds[id] = rule.isFalse ? [] : rule.checks.reduce(KindSet.all) { $0.intersection(allowed($1.requirement)) }
        weight[id] = min(Self.heavy, rule.checks.reduce(1) { $0 + cost($1.requirement) })
        if rule.checks.count == 1, case .reference(let target) = rule.checks[0].requirement {
            targets[id] = targets[target]
        }
    }

    private func isTrivial(_ requirement: KeywordRequirement) -> Bool {
        switch requirement {
        case .reference(let rule): trivial[rule]
        case .allOf(let rules): rules.allSatisfy { trivial[$0] }
        case .anyOf(let rules): rules.contains { trivial[$0] }
        default: false
        }
    }

    private func onlyRestrictsKinds(_ requirement: KeywordRequirement) -> Bool {
        switch requirement {
        case .kinds: true
        case .reference(let rule), .not(let rule): onlyRestrictsKinds[rule]
        case .allOf(let rules), .anyOf(let rules): rules.allSatisfy { onlyRestrictsKinds[$0] }
        default: false
        }
    }

    private func allowed(_ requirement: KeywordRequirement) -> KindSet {
        switch requirement {
        case .kinds(let kinds): return kinds
        case .equals(let value): return KindSet(of: value)
        case .oneOfValues(let values): return values.reduce([]) { $0.union(KindSet(of: $1)) }
        case .reference(let rule): return kinds[rule]
        case .allOf(let rules): return rules.reduce(KindSet.all) { $0.intersection(kinds[$1]) }
        case .anyOf(let rules), .oneOf(let rules): return rules.reduce([]) { $0.union(kinds[$1]) }
        case .not(let rule): return onlyRestrictsKinds[rule] ? KindSet.all.subtracting(kinds[rule]) : .all
        default: return .all
        }
    }

    private func cost(_ requirement: KeywordRequirement) -> Int {
        switch requirement {
        case .properties(let members): members.count
        case .patternProperties(let rows): rows.count
        case .additional(_, let names, _): names.count
        case .required(let names): names.count
        case .oneOfValues(let values): values.count
        case .dependentRequired(let needs): needs.reduce(0) { $0 + $1.needs.count }
        case .prefix(let rules), .anyOf(let rules), .oneOf(let rules): rules.count
        case .reference(let rule): weight[rule] <= Self.inlinedWeight ? weight[rule] : 1
        case .allOf(let rules): rules.reduce(0) { $0 + weight[$1] }
        default: 1
        }
    }
}
