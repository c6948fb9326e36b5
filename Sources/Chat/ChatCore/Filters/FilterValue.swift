import JSON

/// The value of an operand for one event.
enum FilterValue: Sendable {
    /// The value of a name that the event does not have, or of arithmetic with an operand that is not a number. Every
    /// comparison with it is false.
    case undefined
    case null
    case boolean(Bool)
    case number(FilterNumber)
    case string(String)
    /// A list in parentheses in the expression.
    case set([FilterValue])
    /// A JSON array.
    case array(JSONValue)
    /// A JSON object. An object cannot be compared with any value.
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

    /// If the value is a set with one element, this element; otherwise the value itself. So `('a')` is a set on the
    /// left side of `CONTAINS`, and a text everywhere else.
    var single: FilterValue {
        if case .set(let members) = self, let only = members.first, members.count == 1 { return only.single }
        return self
    }

    /// True when the value alone counts as a true condition.
    var isTrue: Bool {
        switch single {
        case .boolean(let value): value
        case .number(let value): !value.isZero
        case .string(let value): !value.isEmpty
        case .undefined, .null, .set, .array, .object: false
        }
    }

    /// Returns the value as a number, as the property `number` does, and counts the steps for parsing a text. Also nil
    /// when no steps are left.
    func number(_ subject: FilterSubject) -> FilterNumber? {
        if case .string(let text) = single, !subject.spend(text.utf8.count) { return nil }
        return number
    }

    /// The value as a number; a text that contains a number counts as that number. Nil for any other value.
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

    /// Returns the result of `==`; nil when the operands cannot be compared. In that case, both `==` and `!=` are
    /// false.
    func equals(_ other: FilterValue, _ subject: FilterSubject) -> Bool? {
        switch (single, other.single) {
        case (.undefined, _), (_, .undefined), (.set, _), (_, .set), (.array, _), (_, .array), (.object, _),
            (_, .object):
            nil
        case (.string(let left), .string(let right)):
            subject.spend(min(left.utf8.count, right.utf8.count)) && left.utf8.elementsEqual(right.utf8)
        case (.boolean(let left), .boolean(let right)): left == right
        case (.null, .null): true
        case (let left, let right):
            if let left = left.number(subject), let right = right.number(subject) { left == right } else { false }
        }
    }

    /// The cost of an element of a list, in steps.
    fileprivate static let elementSteps = 32
    /// The cost of case-folding a byte beyond ASCII, in steps.
    private static let foldSteps = 8

    /// Evaluates the operator `LIKE` with this value on the left. A set or array matches if any of its texts matches.
    func matches(_ pattern: WildcardPattern, _ subject: FilterSubject) -> Bool {
        switch self {
        case .string(let text): Self.pays(for: text, subject) && pattern.matches(text)
        case .set(let members):
            members.contains { member in
                member.string.map { Self.pays(for: $0, subject) && pattern.matches($0) } ?? false
            }
        case .array(let array):
            array.contains(for: subject) { element in
                element.string.map { Self.pays(for: $0, subject) && pattern.matches($0) } ?? false
            }
        case .undefined, .null, .boolean, .number, .object: false
        }
    }

    fileprivate static func pays(for text: String, _ subject: FilterSubject) -> Bool {
        subject.spend(elementSteps + text.utf8.count * (CaseInsensitiveText.isASCII(text) ? 1 : foldSteps))
    }

    /// Evaluates the operator `CONTAINS` with this value on the left: membership in a set or array, or otherwise a
    /// substring of a text.
    func contains(_ wanted: FilterValue, _ subject: FilterSubject) -> Bool {
        let wanted = wanted.single
        switch self {
        case .set(let members):
            let test = MemberTest(wanted, subject)
            return members.contains { test.isSame(as: $0) }
        case .array(let array):
            let test = MemberTest(wanted, subject)
            return array.contains(for: subject) { test.isSame(as: FilterValue($0)) }
        case .string(let text):
            // `FilterNode` searches for a text in a text, because it knows the source of both.
            guard case .number(let number) = wanted, subject.spend(text.utf8.count) else { return false }
            return SubstringSearch(Array(number.decimal.utf8)).occurs(in: Array(text.utf8))
        case .undefined, .null, .boolean, .number, .object: return false
        }
    }

    /// Tests whether an element of a list equals a value. The test is like `==`, but ignores the case of texts. The
    /// value to compare with is prepared once, as a text and as a number, because lists may be long.
    private struct MemberTest {
        let wanted: FilterValue
        let subject: FilterSubject
        private var text: CaseInsensitiveMember?
        private var number: FilterNumber?

        init(_ wanted: FilterValue, _ subject: FilterSubject) {
            self.wanted = wanted
            self.subject = subject
            guard case .string(let text) = wanted, FilterValue.pays(for: text, subject) else { return }
            self.text = CaseInsensitiveMember(text)
            number = FilterNumber(text)
        }

        func isSame(as member: FilterValue) -> Bool {
            switch (member, wanted) {
            case (.string(let member), .string):
                guard FilterValue.pays(for: member, subject) else { return false }
                return text?.isSame(as: member) ?? false
            case (.number(let member), .string): return number.map { $0 == member } ?? false
            default: return subject.spend(elementSteps) && member.equals(wanted, subject) ?? false
            }
        }
    }
}

extension JSONValue {
    /// Returns true when an element of the array satisfies `holds`. Stops at the first such element. Returns false when
    /// no steps are left.
    fileprivate func contains(for subject: FilterSubject, where holds: (JSONValue) -> Bool) -> Bool {
        for index in 0..<count {
            guard subject.spend(FilterValue.elementSteps) else { return false }
            if let element = self[index], holds(element) { return true }
        }
        return false
    }
}
