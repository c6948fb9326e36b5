import JSON

/// All requirements on one value, merged from a rule, the rules of its `allOf`, and the small rules to which the rule
/// refers. Several bounds become one range, and several `properties` become one table.
///
/// The verdict does not change, because a value must satisfy all merged parts. The order of the keywords is lost, which
/// has no visible effect.
struct Conjunction {
    var isFalse = false
    var kinds = KindSet.all
    var range: NumberRange?
    var divisors: [Divisor] = []
    var minLength = 0
    var maxLength = Int.max
    var patterns: [Int] = []
    var formats: [Format] = []
    var contents: [Int] = []
    var enums: [[JSONValue]] = []

    var objects: [ObjectPart] = []
    var minProperties = 0
    var maxProperties = Int.max
    var required: [Name] = []
    var propertyNames: [Rule.ID] = []
    var dependentNames: [(name: Name, needs: [Name])] = []
    var dependentRules: [(name: Name, rule: Rule.ID)] = []

    var arrays: [ArrayPart] = []
    var minItems = 0
    var maxItems = Int.max
    var isUnique = false
    var contains: [ContainsPart] = []

    var choices: [Choice] = []
    /// The rules that are called as separate programs and not merged, because they are too large or nested too deeply.
    var calls: [Rule.ID] = []
    /// The rules whose `unevaluated*` keyword needs marks of the evaluated members and elements.
    var regions: [Rule.ID] = []

    /// The keywords `properties`, `patternProperties` and `additionalProperties` of one schema.
    struct ObjectPart {
        var names: [(name: Name, rules: [Rule.ID])] = []
        var patterns: [(pattern: Int, rules: [Rule.ID])] = []
        var additional: [Rule.ID]?
    }

    /// The keywords of one schema that apply to the elements of an array.
    struct ArrayPart {
        var prefix: [Rule.ID] = []
        var rest: Rule.ID?
        var after = 0
    }

    struct ContainsPart {
        let rule: Rule.ID
        let minimum: Int
        let maximum: Int
        let marks: Bool
    }

    enum Choice {
        case any([Rule.ID])
        case one([Rule.ID])
        case not(Rule.ID)
        case conditional(test: Rule.ID, then: Rule.ID?, otherwise: Rule.ID?)
    }
}

extension Conjunction {
    /// Adds a requirement that refers to no other rule. Returns false and adds nothing if the requirement refers to
    /// other rules.
    mutating func add(plain requirement: KeywordRequirement) -> Bool {
        switch requirement {
        case .kinds(let allowed): kinds.formIntersection(allowed)
        case .equals(let value): enums.append([value])
        case .oneOfValues(let values): enums.append(values)
        case .minimum(let value, let exclusive):
            if let bound = Number(value.node) { narrow { $0.require(atLeast: bound, exclusively: exclusive) } }
        case .maximum(let value, let exclusive):
            if let bound = Number(value.node) { narrow { $0.require(atMost: bound, exclusively: exclusive) } }
        case .multipleOf(let value):
            if let divisor = Number(value.node).flatMap(Divisor.init) { divisors.append(divisor) }
        case .minLength(let count): minLength = max(minLength, count)
        case .maxLength(let count): maxLength = min(maxLength, count)
        case .pattern(let pattern): if !patterns.contains(pattern) { patterns.append(pattern) }
        case .format(let format): if !formats.contains(format) { formats.append(format) }
        case .content(let base64, let json): contents.append((base64 ? 1 : 0) + (json ? 2 : 0))
        case .minItems(let count): minItems = max(minItems, count)
        case .maxItems(let count): maxItems = min(maxItems, count)
        case .uniqueItems: isUnique = true
        case .minProperties(let count): minProperties = max(minProperties, count)
        case .maxProperties(let count): maxProperties = min(maxProperties, count)
        case .required(let names): require(names)
        case .dependentRequired(let needs): dependentNames += needs
        case .propertyNames(let rule): propertyNames.append(rule)
        default: return false
        }
        return true
    }

    private mutating func narrow(_ change: (inout NumberRange) -> Void) {
        var narrowed = range ?? NumberRange()
        change(&narrowed)
        range = narrowed
    }

    mutating func require(_ names: [Name]) {
        var known = Set(required)
        for name in names where known.insert(name).inserted { required.append(name) }
    }

    /// Adds the requirements of a rule on members and elements. `checks` contains the rule's keywords in the order of
    /// the schema.
    mutating func addChildren(of checks: [Check]) {
        var object = ObjectPart()
        var array = ArrayPart()
        var hasObject = false
        var hasArray = false
        for check in checks {
            switch check.requirement {
            case .properties(let members):
                object.names += members.map { ($0.name, [$0.rule]) }
                hasObject = true
            case .patternProperties(let rows):
                object.patterns += rows.map { ($0.pattern, [$0.rule]) }
                hasObject = true
            case .additional(let rule, _, _):
                object.additional = [rule]
                hasObject = true
            case .prefix(let rules):
                array.prefix = rules
                hasArray = true
            case .rest(let rule, let after):
                array.rest = rule
                array.after = after
                hasArray = true
            case .contains(let rule, let minimum, let maximum, let marks):
                contains.append(ContainsPart(rule: rule, minimum: minimum, maximum: maximum, marks: marks))
            default: break
            }
        }
        if hasObject { objects.append(object) }
        if hasArray { arrays.append(array) }
    }
}
