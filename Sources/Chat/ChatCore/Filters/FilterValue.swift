import JSON

/// What an operand is worth for one event.
enum FilterValue: Sendable {
    /// A name without a value, and the result of arithmetic on what is no number. Every comparison with it is false.
    case undefined
    case null
    case boolean(Bool)
    case number(FilterNumber)
    case string(String)
    /// A parenthesised list of the expression.
    case set([FilterValue])
    /// A JSON array.
    case array(JSONValue)
    /// A JSON object: nothing can be compared with it.
    case object

    init(_ text: String?) { self = text.map { .string($0) } ?? .undefined }

    init(_ json: JSONValue) {
        switch json.kind {
        case .object: self = .object
        case .array: self = .array(json)
        case .string: self = FilterValue(json.string)
        case .integer: self = json.integer.map { .number(.integer($0)) } ?? .undefined
        case .real: self = json.double.flatMap { FilterNumber($0) }.map { .number($0) } ?? .undefined
        case .boolean: self = json.boolean.map { .boolean($0) } ?? .undefined
        case .null: self = .null
        }
    }

    /// A list of one stands for its element wherever a single value is asked for: `('a')` is a set left of `CONTAINS`
    /// and a text everywhere else.
    var single: FilterValue {
        if case .set(let members) = self, let only = members.first, members.count == 1 { return only.single }
        return self
    }

    /// Whether the value alone is a condition that holds (9.3).
    var isTrue: Bool {
        switch single {
        case .boolean(let value): value
        case .number(let value): !value.isZero
        case .string(let value): !value.isEmpty
        case .undefined, .null, .set, .array, .object: false
        }
    }

    /// The number, or the one a text spells.
    var number: FilterNumber? {
        switch single {
        case .number(let value): value
        case .string(let text): FilterNumber(text)
        default: nil
        }
    }

    var string: String? {
        if case .string(let text) = single { return text }
        return nil
    }

    /// Equality of `==` and `!=`; nil when the two cannot be compared, which makes both of them false.
    func equals(_ other: FilterValue) -> Bool? {
        switch (single, other.single) {
        case (.undefined, _), (_, .undefined), (.set, _), (_, .set), (.array, _), (_, .array), (.object, _),
            (_, .object):
            nil
        case (.string(let left), .string(let right)): left.utf8.elementsEqual(right.utf8)
        case (.boolean(let left), .boolean(let right)): left == right
        case (.null, .null): true
        case (let left, let right):
            if let left = left.number, let right = right.number { left == right } else { false }
        }
    }

    /// Order of `<` and its kin: numbers, and texts that spell one.
    func compare(_ other: FilterValue, _ holds: (FilterNumber, FilterNumber) -> Bool) -> Bool {
        guard let left = number, let right = other.number else { return false }
        return holds(left, right)
    }

    /// Left side of `LIKE`: the text, or any text of a set or array.
    func matches(_ pattern: WildcardPattern) -> Bool {
        switch self {
        case .string(let text): pattern.matches(text)
        case .set(let members): members.contains { $0.string.map(pattern.matches) ?? false }
        case .array(let array): array.contains { $0.string.map(pattern.matches) ?? false }
        case .undefined, .null, .boolean, .number, .object: false
        }
    }

    /// `CONTAINS`: membership in a set or array, else a part of a text.
    func contains(_ wanted: FilterValue) -> Bool {
        let wanted = wanted.single
        switch self {
        case .set(let members): return members.contains { $0.isSameMember(as: wanted) }
        case .array(let array): return array.contains { FilterValue($0).isSameMember(as: wanted) }
        case .string(let text):
            switch wanted {
            case .string(let part): return SubstringSearch(FoldedText.bytes(part)).occurs(in: FoldedText.bytes(text))
            case .number(let number): return SubstringSearch(Array(number.decimal.utf8)).occurs(in: Array(text.utf8))
            default: return false
            }
        case .undefined, .null, .boolean, .number, .object: return false
        }
    }

    /// Equality of members: as `==`, but texts without regard to case.
    private func isSameMember(as other: FilterValue) -> Bool {
        if case .string(let left) = self, case .string(let right) = other { return FoldedText.same(left, right) }
        return equals(other) ?? false
    }
}

extension JSONValue {
    /// Whether an element of the array satisfies `holds`; reads no further than the first that does.
    fileprivate func contains(where holds: (JSONValue) -> Bool) -> Bool {
        for index in 0..<count {
            if let element = self[index], holds(element) { return true }
        }
        return false
    }
}
