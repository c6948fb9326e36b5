/// The members and elements of a value that each rule evaluates, in the sense of `unevaluatedProperties` and
/// `unevaluatedItems`. There are two sets for each rule: the parts that the rule certainly evaluates when it passes,
/// and the parts that it may evaluate.
///
/// An `unevaluated*` keyword can be compiled like `additionalProperties` if both sets are the same for the other
/// keywords of its rule. Otherwise, the evaluated parts must be marked at run time.
struct Evaluated {
    struct Reach {
        var allMembers = false
        var names: Set<Name> = []
        var patterns: Set<Int> = []
        var allElements = false
        var elements = 0
        /// True when the elements that match `contains` are evaluated. Which elements match depends on their values.
        var someElements = false

        var isEmpty: Bool {
            !allMembers && names.isEmpty && patterns.isEmpty && !allElements && elements == 0 && !someElements
        }

        mutating func formUnion(_ other: Reach) {
            allMembers = allMembers || other.allMembers
            names.formUnion(other.names)
            patterns.formUnion(other.patterns)
            allElements = allElements || other.allElements
            elements = max(elements, other.elements)
            someElements = someElements || other.someElements
        }
    }

    /// The parts that each rule certainly evaluates when it passes, without its own `unevaluated*` keyword.
    private(set) var certain: [Reach]
    /// The parts that each rule may evaluate, without its own `unevaluated*` keyword.
    private(set) var possible: [Reach]
    /// The parts that each rule certainly evaluates when it passes, including its own `unevaluated*` keyword.
    private var certainOutside: [Reach]
    /// The parts that each rule may evaluate, including its own `unevaluated*` keyword.
    private var possibleOutside: [Reach]
    /// The rules with an `unevaluated*` keyword for which the evaluated parts depend on the value.
    private(set) var needsMarks: Set<Rule.ID> = []

    /// Analyzes the rules in the given order, in which each rule comes after all rules that it applies to the same
    /// value. Skips the analysis if the schema has no `unevaluated*` keyword, which is usual.
    init(_ rules: [Rule], order: [Rule.ID], clock: CompileClock) throws(SchemaError) {
        let nothing = [Reach](repeating: Reach(), count: rules.count)
        (certain, possible, certainOutside, possibleOutside) = (nothing, nothing, nothing, nothing)
        guard rules.contains(where: { $0.checks.contains { $0.requirement.isUnevaluated } }) else { return }
        for (position, rule) in order.enumerated() {
            if position % 64 == 0 { try clock.check() }
            add(rule, rules[rule].checks)
        }
    }

    /// Returns true when a rule may evaluate parts that an enclosing `unevaluated*` keyword must consider.
    func contributes(_ rule: Rule.ID) -> Bool { !possibleOutside[rule].isEmpty }

    private mutating func add(_ rule: Rule.ID, _ checks: [Check]) {
        var sure = Reach()
        var maybe = Reach()
        for check in checks {
            let own = Self.own(check.requirement)
            sure.formUnion(own.certain)
            maybe.formUnion(own.certain)
            maybe.formUnion(own.possible)
            switch check.requirement {
            case .reference(let target): sure.formUnion(certainOutside[target])
            case .allOf(let targets): targets.forEach { sure.formUnion(certainOutside[$0]) }
            case .not: continue
            default: break
            }
            for target in check.requirement.inPlace { maybe.formUnion(possibleOutside[target]) }
        }
        certain[rule] = sure
        possible[rule] = maybe
        resolve(rule, checks)
    }

    private static func own(_ requirement: KeywordRequirement) -> (certain: Reach, possible: Reach) {
        var sure = Reach()
        var maybe = Reach()
        switch requirement {
        case .properties(let members): sure.names = Set(members.map(\.name))
        case .patternProperties(let rows): sure.patterns = Set(rows.map(\.pattern))
        case .additional: sure.allMembers = true
        case .prefix(let rules): sure.elements = rules.count
        case .rest: sure.allElements = true
        case .contains(_, _, _, let marks): maybe.someElements = marks
        default: break
        }
        return (sure, maybe)
    }

    private mutating func resolve(_ rule: Rule.ID, _ checks: [Check]) {
        let sure = certain[rule]
        let maybe = possible[rule]
        var hasMembers = false
        var hasElements = false
        for check in checks {
            if case .unevaluatedProperties = check.requirement { hasMembers = true }
            if case .unevaluatedItems = check.requirement { hasElements = true }
        }
        let isStatic =
            (!hasMembers || Self.membersAreStatic(sure, maybe)) && (!hasElements || Self.elementsAreStatic(sure, maybe))
        if !isStatic { needsMarks.insert(rule) }
        certainOutside[rule] = sure
        certainOutside[rule].allMembers = sure.allMembers || hasMembers
        certainOutside[rule].allElements = sure.allElements || hasElements
        possibleOutside[rule] = maybe
        possibleOutside[rule].allMembers = maybe.allMembers || hasMembers
        possibleOutside[rule].allElements = maybe.allElements || hasElements
    }

    private static func membersAreStatic(_ sure: Reach, _ maybe: Reach) -> Bool {
        sure.allMembers
            || !maybe.allMembers && maybe.names.isSubset(of: sure.names) && maybe.patterns.isSubset(of: sure.patterns)
    }

    private static func elementsAreStatic(_ sure: Reach, _ maybe: Reach) -> Bool {
        sure.allElements || !maybe.allElements && !maybe.someElements && maybe.elements <= sure.elements
    }
}

extension KeywordRequirement {
    var isUnevaluated: Bool {
        switch self {
        case .unevaluatedItems, .unevaluatedProperties: true
        default: false
        }
    }
}
