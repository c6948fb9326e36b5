import JSON

/// A rule: a subschema whose references are resolved, for one binding of its dynamic references (``DynamicScope``).
/// Plans are created from rules, and reports evaluate rules.
struct Rule {
    typealias ID = Int

    let subschema: SchemaIndex.SubschemaID
    let binding: DynamicScope.ID
    var checks: [Check] = []
    /// True for the schema `false`.
    var isFalse = false
}

/// One keyword of a rule with its requirement.
struct Check {
    /// The keyword as written in the schema.
    let keyword: String
    let requirement: KeywordRequirement
}

/// The requirement of a keyword.
enum KeywordRequirement {
    case kinds(KindSet)
    case equals(JSONValue)
    case oneOfValues([JSONValue])

    case minimum(JSONValue, exclusive: Bool)
    case maximum(JSONValue, exclusive: Bool)
    case multipleOf(JSONValue)

    case minLength(Int)
    case maxLength(Int)
    case pattern(Int)
    case format(Format)
    /// Content in base64, JSON, or both.
    case content(base64: Bool, json: Bool)

    case minItems(Int)
    case maxItems(Int)
    case uniqueItems
    case prefix([Rule.ID])
    /// The rule for every element from the index `after` on.
    case rest(Rule.ID, after: Int)
    /// The rule for `contains`. `marks` is true when matching elements count as evaluated, which is the case since
    /// 2020-12.
    case contains(Rule.ID, minimum: Int, maximum: Int, marks: Bool)
    case unevaluatedItems(Rule.ID)

    case minProperties(Int)
    case maxProperties(Int)
    case required([Name])
    case properties([(name: Name, rule: Rule.ID)])
    case patternProperties([(pattern: Int, rule: Rule.ID)])
    /// The rule for members that are not in `names` and match none of the `patterns`.
    case additional(Rule.ID, names: [Name], patterns: [Int])
    case propertyNames(Rule.ID)
    case dependentRequired([(name: Name, needs: [Name])])
    case dependentSchemas([(name: Name, rule: Rule.ID)])
    /// The old keyword `dependencies`, for dependent names and schemas.
    case dependencies(needs: [(name: Name, needs: [Name])], schemas: [(name: Name, rule: Rule.ID)])
    case unevaluatedProperties(Rule.ID)

    case reference(Rule.ID)
    case allOf([Rule.ID])
    case anyOf([Rule.ID])
    case oneOf([Rule.ID])
    case not(Rule.ID)
    /// The keywords `if`, `then` and `else`.
    case conditional(test: Rule.ID, then: Rule.ID?, otherwise: Rule.ID?)
}

extension KeywordRequirement {
    /// The rules that this keyword applies to the same value.
    var inPlace: [Rule.ID] {
        switch self {
        case .reference(let rule), .not(let rule): [rule]
        case .allOf(let rules), .anyOf(let rules), .oneOf(let rules): rules
        case .conditional(let test, let then, let otherwise): [test, then, otherwise].compactMap(\.self)
        case .dependentSchemas(let dependents), .dependencies(_, let dependents): dependents.map(\.rule)
        default: []
        }
    }
}

/// Detects rules that lead back to themselves for the same value. The evaluation of such a schema would never end.
enum Cycles {
    private enum Mark { case new, open, done }

    /// Returns the rules in an order in which each rule comes after all rules that it applies to the same value.
    ///
    /// The function is a depth-first search without recursion, because a chain of references can be as long as the
    /// schema.
    ///
    /// - Throws: `SchemaError` for a cycle.
    static func order(of rules: [Rule], _ index: SchemaIndex) throws(SchemaError) -> [Rule.ID] {
        var order: [Rule.ID] = []
        order.reserveCapacity(rules.count)
        var marks = [Mark](repeating: .new, count: rules.count)
        for start in rules.indices where marks[start] == .new {
            var path: [(rule: Rule.ID, next: [Rule.ID])] = [(start, edges(of: rules[start]))]
            marks[start] = .open
            while let top = path.last {
                guard let next = top.next.last else {
                    marks[top.rule] = .done
                    order.append(top.rule)
                    path.removeLast()
                    continue
                }
                path[path.count - 1].next.removeLast()
                switch marks[next] {
                case .done: continue
                case .open: throw refusal(path.map(\.rule), back: next, rules, index)
                case .new:
                    marks[next] = .open
                    path.append((next, edges(of: rules[next])))
                }
            }
        }
        return order
    }

    private static func edges(of rule: Rule) -> [Rule.ID] { rule.checks.flatMap(\.requirement.inPlace) }

    private static func refusal(
        _ path: [Rule.ID], back to: Rule.ID, _ rules: [Rule], _ index: SchemaIndex
    ) -> SchemaError {
        let cycle = path.drop(while: { $0 != to }) + [to]
        let places = cycle.map { index.display(index.subschemas[rules[$0].subschema].place) }
        let shown = places.count > 6 ? places.prefix(3) + ["…"] + places.suffix(2) : places[...]
        return SchemaError(
            .cycle, "the schema's references form an endless loop: \(shown.joined(separator: " → "))",
            at: places.first ?? "#")
    }
}
