import JSON

/// Evaluates one rule on one value, for comparing listed values (`enum`, `const`).
///
/// This evaluator uses the rules and is slow. The normal ``Evaluator`` cannot be used, because it runs only whole
/// plans. The result is nil when it depends on a keyword `unevaluated*`, or when the evaluation needs too many steps.
struct ValueCheck {
    private let pair: VersionPair
    private var steps: Int
    private let limit: Int
    private var depth = 0

    /// The maximum nesting of rules, which keeps the stack below 512 KiB.
    private static let depthLimit = 150

    init(_ pair: VersionPair, steps: Int) {
        self.pair = pair
        self.steps = steps
        limit = steps
    }

    /// The number of steps used.
    var taken: Int { limit - steps }

    mutating func holds(_ value: JSONValue, _ ref: RuleRef) -> Bool? {
        steps -= 1
        guard steps > 0, depth < Self.depthLimit else { return nil }
        depth += 1
        defer { depth -= 1 }
        let rule = pair.rule(ref)
        if rule.isFalse { return false }
        return Self.all(rule.checks.indices) { holds(value, rule.checks[$0].requirement, of: ref) }
    }

    /// Returns true if a value satisfies one keyword of the rule `ref`; nil when the result is undecided.
    mutating func holds(_ value: JSONValue, _ requirement: KeywordRequirement, of ref: RuleRef) -> Bool? {
        switch requirement {
        case .kinds(let kinds): return !KindSet(of: value).isDisjoint(with: kinds)
        case .equals(let other): return ValueSet.areEqual(value, other)
        case .oneOfValues(let values):
            steps -= values.count / 16
            return values.contains { ValueSet.areEqual(value, $0) }
        case .reference(let rule): return holds(value, RuleRef(ref.side, rule))
        case .allOf(let rules): return Self.all(rules) { holds(value, RuleRef(ref.side, $0)) }
        case .anyOf(let rules): return Self.any(rules) { holds(value, RuleRef(ref.side, $0)) }
        case .oneOf(let rules): return Self.one(rules) { holds(value, RuleRef(ref.side, $0)) }
        case .not(let rule): return holds(value, RuleRef(ref.side, rule)).map { !$0 }
        case .conditional(let test, let then, let otherwise):
            guard let isMet = holds(value, RuleRef(ref.side, test)) else { return nil }
            return (isMet ? then : otherwise).map { holds(value, RuleRef(ref.side, $0)) } ?? true
        default: break
        }
        switch value.kind {
        case .integer, .real: return number(value, requirement)
        case .string: return string(value, requirement, ref.side)
        case .array: return array(value, requirement, ref)
        case .object: return object(value, requirement, ref)
        case .boolean, .null: return true
        }
    }

    private func number(_ value: JSONValue, _ requirement: KeywordRequirement) -> Bool? {
        guard let number = Number(value.node) else { return nil }
        var range = NumberRange()
        switch requirement {
        case .minimum(let bound, let exclusive):
            guard let bound = Number(bound.node) else { return nil }
            range.require(atLeast: bound, exclusively: exclusive)
        case .maximum(let bound, let exclusive):
            guard let bound = Number(bound.node) else { return nil }
            range.require(atMost: bound, exclusively: exclusive)
        case .multipleOf(let divisor):
            return Number(divisor.node).flatMap(Divisor.init).map { number.isMultiple(of: $0) }
        default: return true
        }
        return number.isInside(range)
    }

    private func string(_ value: JSONValue, _ requirement: KeywordRequirement, _ side: Side) -> Bool? {
        let text = value.string ?? ""
        switch requirement {
        case .minLength(let count): return text.unicodeScalars.count >= count
        case .maxLength(let count): return text.unicodeScalars.count <= count
        case .pattern(let id): return pair[side].texts[id].matches(Array(text.utf8))
        case .format(let format): return Array(text.utf8).withUnsafeBufferPointer(format.accepts)
        // The result is undecided. Listed values with content keywords are rare and therefore not supported.
        case .content: return nil
        default: return true
        }
    }

    // MARK: - Arrays and objects

    private mutating func array(_ value: JSONValue, _ requirement: KeywordRequirement, _ ref: RuleRef) -> Bool? {
        let elements = value.elements ?? []
        switch requirement {
        case .minItems(let count): return elements.count >= count
        case .maxItems(let count): return elements.count <= count
        case .uniqueItems:
            return elements.indices.allSatisfy { index in
                !elements[..<index].contains { ValueSet.areEqual($0, elements[index]) }
            }
        case .prefix(let rules):
            return Self.all(zip(elements, rules).map(\.self)) { holds($0.0, RuleRef(ref.side, $0.1)) }
        case .rest(let rule, let after):
            return Self.all(elements.dropFirst(after)) { holds($0, RuleRef(ref.side, rule)) }
        case .contains(let rule, let minimum, let maximum, _):
            var count = 0
            for element in elements {
                guard let matches = holds(element, RuleRef(ref.side, rule)) else { return nil }
                count += matches ? 1 : 0
            }
            return count >= minimum && count <= maximum
        case .unevaluatedItems: return nil
        default: return true
        }
    }

    private mutating func object(_ value: JSONValue, _ requirement: KeywordRequirement, _ ref: RuleRef) -> Bool? {
        let members = (value.members ?? []).map { (name: Name($0.name), value: $0.value) }
        func has(_ name: Name) -> Bool { members.contains { $0.name == name } }
        switch requirement {
        case .minProperties(let count): return members.count >= count
        case .maxProperties(let count): return members.count <= count
        case .required(let names): return names.allSatisfy(has)
        case .dependentRequired(let needs): return needs.allSatisfy { !has($0.name) || $0.needs.allSatisfy(has) }
        case .dependentSchemas(let rules):
            return Self.all(rules.filter { has($0.name) }) { holds(value, RuleRef(ref.side, $0.rule)) }
        case .dependencies(let needs, let rules):
            guard needs.allSatisfy({ !has($0.name) || $0.needs.allSatisfy(has) }) else { return false }
            return Self.all(rules.filter { has($0.name) }) { holds(value, RuleRef(ref.side, $0.rule)) }
        case .propertyNames(let rule):
            return Self.all(members) { member in
                (try? JSONDocument(JSONText(string: member.name.text).bytes)).flatMap {
                    holds($0.root, RuleRef(ref.side, rule))
                }
            }
        case .properties, .patternProperties, .additional:
            return Self.all(members) { memberHolds($0.name, $0.value, requirement, ref.side) }
        case .unevaluatedProperties: return nil
        default: return true
        }
    }

    private mutating func memberHolds(
        _ name: Name, _ value: JSONValue, _ requirement: KeywordRequirement, _ side: Side
    ) -> Bool? {
        switch requirement {
        case .properties(let rows):
            return rows.first { $0.name == name }.map { holds(value, RuleRef(side, $0.rule)) } ?? true
        case .patternProperties(let rows):
            return Self.all(rows) { row in
                guard let matches = pair[side].texts[row.pattern].matches(name.bytes) else { return nil }
                return matches ? holds(value, RuleRef(side, row.rule)) : true
            }
        case .additional(let rule, let names, let patterns):
            if names.contains(name) { return true }
            for pattern in patterns {
                guard let matches = pair[side].texts[pattern].matches(name.bytes) else { return nil }
                if matches { return true }
            }
            return holds(value, RuleRef(side, rule))
        default: return true
        }
    }

    // MARK: - Three values

    private static func all<Part>(_ parts: some Sequence<Part>, _ test: (Part) -> Bool?) -> Bool? {
        var isSure = true
        for part in parts {
            switch test(part) {
            case false?: return false
            case nil: isSure = false
            case true?: continue
            }
        }
        return isSure ? true : nil
    }

    private static func any<Part>(_ parts: some Sequence<Part>, _ test: (Part) -> Bool?) -> Bool? {
        all(parts) { test($0).map { !$0 } }.map { !$0 }
    }

    private static func one<Part>(_ parts: some Sequence<Part>, _ test: (Part) -> Bool?) -> Bool? {
        var count = 0
        for part in parts {
            guard let holds = test(part) else { return nil }
            count += holds ? 1 : 0
        }
        return count == 1
    }
}

extension Number {
    func isMultiple(of divisor: Divisor) -> Bool {
        switch self {
        case .integer(let integer): divisor.divides(integer)
        case .real(let real): divisor.divides(real)
        }
    }

    func isInside(_ range: NumberRange) -> Bool {
        switch self {
        case .integer(let integer): range.contains(integer)
        case .real(let real): range.contains(real)
        }
    }
}
