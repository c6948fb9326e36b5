import JSON

/// Compares rules of two versions for equality. Compares the keywords in any order and follows references.
///
/// ``Inclusion`` cannot compare some keywords, such as `not` or `unevaluatedItems`. Such a keyword counts as compatible
/// if it is equal in both versions. A pair of rules that occurs again inside its own comparison is assumed to be equal.
/// If the pair turns out to differ, the results that depend on this assumption are discarded.
struct RuleEquality {
    private let pair: VersionPair
    private var verdicts: [Pair: Bool] = [:]
    private var assumed: [Pair] = []
    private var depth = 0
    /// The remaining steps. When no steps remain, every comparison returns false, which is always a safe result.
    private var steps = 100_000

    private struct Pair: Hashable {
        let left: RuleRef
        let right: RuleRef
    }

    /// The maximum nesting of schemas. Each level takes several nested calls.
    private static let depthLimit = 200

    init(_ pair: VersionPair) { self.pair = pair }

    mutating func areSame(_ left: RuleRef, _ right: RuleRef) -> Bool {
        if left == right { return true }
        let key = Pair(left: left, right: right)
        if let known = verdicts[key] { return known }
        let (one, other) = (pair.rule(left), pair.rule(right))
        steps -= 1 + one.checks.count
        guard one.isFalse == other.isFalse, one.checks.count == other.checks.count, steps > 0, depth < Self.depthLimit
        else { return false }
        verdicts[key] = true
        let mark = assumed.count
        assumed.append(key)
        depth += 1
        let isSame = one.checks.allSatisfy { check in
            other.checks.contains {
                $0.keyword == check.keyword && areSame(check.requirement, left.side, $0.requirement, right.side)
            }
        }
        depth -= 1
        if !isSame {
            for other in assumed[mark...] { verdicts[other] = nil }
            assumed.removeSubrange(mark...)
            verdicts[key] = false
        }
        return isSame
    }

    /// Returns true when two keywords have the same requirement.
    mutating func areSame(_ left: KeywordRequirement, _ one: Side, _ right: KeywordRequirement, _ other: Side) -> Bool {
        switch (left, right) {
        case (.kinds(let left), .kinds(let right)): return left == right
        case (.equals(let left), .equals(let right)): return ValueSet.areEqual(left, right)
        case (.oneOfValues(let left), .oneOfValues(let right)):
            return left.allSatisfy(ValueSet(right).contains) && right.allSatisfy(ValueSet(left).contains)
        case (.minimum(let left, let isOpen), .minimum(let right, let isOther)),
            (.maximum(let left, let isOpen), .maximum(let right, let isOther)):
            return isOpen == isOther && ValueSet.areEqual(left, right)
        case (.multipleOf(let left), .multipleOf(let right)): return ValueSet.areEqual(left, right)
        case (.minLength(let left), .minLength(let right)), (.maxLength(let left), .maxLength(let right)),
            (.minItems(let left), .minItems(let right)), (.maxItems(let left), .maxItems(let right)),
            (.minProperties(let left), .minProperties(let right)),
            (.maxProperties(let left), .maxProperties(let right)):
            return left == right
        case (.pattern(let left), .pattern(let right)): return areSame(pattern: left, one, right, other)
        case (.format(let left), .format(let right)): return left == right
        case (.content(let base64, let json), .content(let otherBase64, let otherJSON)):
            return base64 == otherBase64 && json == otherJSON
        case (.uniqueItems, .uniqueItems): return true
        case (.required(let left), .required(let right)): return Set(left) == Set(right)
        case (.dependentRequired(let left), .dependentRequired(let right)): return areSame(needs: left, right)
        default: return areSameApplied(left, one, right, other)
        }
    }

    /// Returns true when two keywords that apply other rules have the same requirement.
    private mutating func areSameApplied(
        _ left: KeywordRequirement, _ one: Side, _ right: KeywordRequirement, _ other: Side
    ) -> Bool {
        switch (left, right) {
        case (.propertyNames(let left), .propertyNames(let right)), (.reference(let left), .reference(let right)),
            (.not(let left), .not(let right)), (.unevaluatedItems(let left), .unevaluatedItems(let right)),
            (.unevaluatedProperties(let left), .unevaluatedProperties(let right)):
            return areSame(RuleRef(one, left), RuleRef(other, right))
        case (.additional(let left, let names, let patterns), .additional(let right, let otherNames, let otherPatterns)):
            let sources = Set(patterns.map { pair[one].texts[$0].source })
            return Set(names) == Set(otherNames) && sources == Set(otherPatterns.map { pair[other].texts[$0].source })
                && areSame(RuleRef(one, left), RuleRef(other, right))
        case (.prefix(let left), .prefix(let right)): return areSame(row: left, one, right, other)
        case (.rest(let left, let after), .rest(let right, let otherAfter)):
            return after == otherAfter && areSame(RuleRef(one, left), RuleRef(other, right))
        case (.contains(let left, let minimum, let maximum, _), .contains(let right, let least, let most, _)):
            return minimum == least && maximum == most && areSame(RuleRef(one, left), RuleRef(other, right))
        case (.properties(let left), .properties(let right)),
            (.dependentSchemas(let left), .dependentSchemas(let right)):
            return areSame(table: left, one, right, other)
        case (.patternProperties(let left), .patternProperties(let right)):
            let rows = left.map { (name: pair[one].texts[$0.pattern].source, rule: $0.rule) }
            return areSame(table: rows, one, right.map { (pair[other].texts[$0.pattern].source, $0.rule) }, other)
        case (.dependencies(let needs, let left), .dependencies(let otherNeeds, let right)):
            return areSame(needs: needs, otherNeeds) && areSame(table: left, one, right, other)
        case (.allOf(let left), .allOf(let right)), (.anyOf(let left), .anyOf(let right)),
            (.oneOf(let left), .oneOf(let right)):
            return left.count == right.count && areSame(set: left, one, right, other)
        case (.conditional(let test, let then, let last), .conditional(let otherTest, let otherThen, let otherLast)):
            let left = [test, then, last].map { $0.map { RuleRef(one, $0) } }
            let right = [otherTest, otherThen, otherLast].map { $0.map { RuleRef(other, $0) } }
            return zip(left, right).allSatisfy { left, right in
                guard let left, let right else { return left == nil && right == nil }
                return areSame(left, right)
            }
        default: return false
        }
    }

    private func areSame(pattern left: Int, _ one: Side, _ right: Int, _ other: Side) -> Bool {
        pair[one].texts[left].source == pair[other].texts[right].source
    }

    private func areSame(
        needs left: [(name: Name, needs: [Name])], _ right: [(name: Name, needs: [Name])]
    ) -> Bool {
        let known = Dictionary(right.map { ($0.name, Set($0.needs)) }) { first, _ in first }
        return left.count == right.count && left.allSatisfy { known[$0.name] == Set($0.needs) }
    }

    private mutating func areSame(row left: [Rule.ID], _ one: Side, _ right: [Rule.ID], _ other: Side) -> Bool {
        left.count == right.count
            && zip(left, right).allSatisfy { areSame(RuleRef(one, $0), RuleRef(other, $1)) }
    }

    private mutating func areSame(
        table left: [(name: Name, rule: Rule.ID)], _ one: Side, _ right: [(name: Name, rule: Rule.ID)], _ other: Side
    ) -> Bool {
        let known = Dictionary(right.map { ($0.name, $0.rule) }) { first, _ in first }
        return left.count == right.count
            && left.allSatisfy { row in
                known[row.name].map { areSame(RuleRef(one, row.rule), RuleRef(other, $0)) } ?? false
            }
    }

    /// Compares lists of branches in any order. Returns true when each branch of one list equals a different branch of
    /// the other list.
    private mutating func areSame(set left: [Rule.ID], _ one: Side, _ right: [Rule.ID], _ other: Side) -> Bool {
        var free = right
        for rule in left {
            guard let match = free.firstIndex(where: { areSame(RuleRef(one, rule), RuleRef(other, $0)) }) else {
                return false
            }
            free.remove(at: match)
        }
        return true
    }
}
