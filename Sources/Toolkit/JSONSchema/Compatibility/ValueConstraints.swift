import JSON

/// All known constraints on one value, merged from rules of one or both versions.
///
/// The constraints form the narrow side of an ``Inclusion``. Constraints that this type cannot represent are omitted. A
/// proof remains valid, because omitting a constraint only enlarges the set of values.
struct ValueConstraints {
    /// The merged rules.
    var rules: Set<RuleRef> = []
    var isNothing = false
    var kinds = KindSet.all
    /// All possible values, if there are only a few; nil otherwise.
    var values: [JSONValue]?

    var range = NumberRange()
    var steps: [Number] = []
    var minLength = 0
    var maxLength = Int.max
    var patterns: [TextPattern] = []
    var formats: [Format] = []
    var contents: [(base64: Bool, json: Bool)] = []

    var objects: [MemberTable] = []
    var minProperties = 0
    var maxProperties = Int.max
    /// The names of required members, each only once.
    var required: [Name] = []
    var propertyNames: [RuleRef] = []
    var dependentNames: [(name: Name, needs: [Name])] = []
    var dependentRules: [(name: Name, rule: RuleRef)] = []

    var arrays: [ElementTable] = []
    var minItems = 0
    var maxItems = Int.max
    var isUnique = false
    var contains: [ContainsCheck] = []

    /// The choices between branches (`anyOf`, `oneOf`, `if`) that have not been split into separate constraints yet.
    var choices: [Choice] = []
    /// The rules that the value must violate.
    var nots: [RuleRef] = []

    /// The keywords `properties`, `patternProperties` and `additionalProperties` of one schema.
    struct MemberTable {
        var names: [Name: RuleRef?] = [:]
        var order: [Name] = []
        var patterns: [(pattern: TextPattern, rule: RuleRef?)] = []
        var additional: RuleRef?

        mutating func add(_ name: Name, _ rule: RuleRef?) {
            if names.updateValue(rule, forKey: name) == nil { order.append(name) }
        }
    }

    /// The keywords of one schema that apply to the elements of an array.
    struct ElementTable {
        var prefix: [RuleRef] = []
        var rest: RuleRef?
        var after = 0

        func rules(at index: Int) -> [RuleRef] {
            if index < prefix.count { return [prefix[index]] }
            return index >= after ? rest.map { [$0] } ?? [] : []
        }

        var length: Int { max(prefix.count, after) }
    }

    struct ContainsCheck {
        let rule: RuleRef
        let minimum: Int
        let maximum: Int
    }

    enum Choice {
        case any([RuleRef])
        case one([RuleRef])
        case conditional(test: RuleRef, then: RuleRef?, otherwise: RuleRef?)
    }
}

// MARK: - Queries

extension ValueConstraints {
    /// The names of members that the rules mention, in the order of the schemas.
    var knownNames: [Name] {
        var seen: Set<Name> = []
        return (objects.flatMap(\.order) + required).filter { seen.insert($0).inserted }
    }

    func mentions(_ name: Name) -> Bool { required.contains(name) || objects.contains { $0.names[name] != nil } }

    /// Returns the rules that the member with this name must satisfy.
    func children(named name: Name) -> [RuleRef] {
        var rules: Set<RuleRef> = []
        for table in objects {
            var isCovered = false
            if let known = table.names[name] {
                isCovered = true
                if let known { rules.insert(known) }
            }
            for row in table.patterns {
                // If it is undecided whether the pattern matches, no rule of this table can be assumed to apply to the
                // member.
                guard let matches = row.pattern.matches(name.bytes) else {
                    isCovered = true
                    continue
                }
                isCovered = isCovered || matches
                if matches, let rule = row.rule { rules.insert(rule) }
            }
            if !isCovered, let additional = table.additional { rules.insert(additional) }
        }
        return rules.sorted()
    }

    /// Returns the rules that the element at `index` must satisfy.
    func children(at index: Int) -> [RuleRef] { Set(arrays.flatMap { $0.rules(at: index) }).sorted() }

    /// The number of elements at the start of an array to which special rules may apply. The same rules apply to all
    /// later elements.
    var prefixLength: Int { arrays.map(\.length).max() ?? 0 }

    /// Returns these constraints, restricted to values of these kinds.
    func restricted(to kinds: KindSet) -> ValueConstraints {
        var facts = self
        facts.kinds.formIntersection(kinds)
        facts.conclude()
        return facts
    }
}
