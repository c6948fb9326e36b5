import ChatModel

/// A condition on one field of an event that an index of filters can look up: the field, and the value that the field
/// is compared with.
struct IndexedField: Hashable, Sendable {
    enum Place: Hashable, Sendable {
        /// The field's value must equal the key, which is ``IndexedField/value``.
        case value(of: FilterSource)
        /// The field's value must be a list that contains the key, or any text, because the key may be a part of the
        /// text.
        case element(of: FilterSource)
        /// The field's value must be a number that, rounded by ``FilterNumber/coarse``, is at least the key. The key is
        /// a lower bound in the filter, rounded in the same way.
        case atLeast(FilterSource)
        /// The field's value must be a number that, rounded by ``FilterNumber/coarse``, is at most the key. The key is
        /// an upper bound in the filter, rounded in the same way.
        case atMost(FilterSource)
        /// The event's type must begin with the key, which is a prefix that ends with a dot.
        case typePrefix
    }

    let place: Place
    let value: IndexedValue
}

/// A value as the key of an index. Values that a filter considers equal have equal keys, but some unequal values have
/// equal keys too. So every filter that is found must still be evaluated.
enum IndexedValue: Hashable, Sendable {
    /// A case-folded text. The key ignores case, because elements of lists are compared without regard to case.
    case text(ExactText)
    /// A number, or a text that contains a number, rounded to the nearest double. Integers and real numbers are
    /// compared with each other, so they have the same kind of key.
    case number(Double)
    case boolean(Bool)
    case null

    /// Creates the key of a value; nil for an undefined value, a set, an array or an object, because these are equal to
    /// no other value.
    init?(_ value: FilterValue) {
        switch value.single {
        case .string(let text):
            self = FilterNumber(text).map { .number($0.double) } ?? .text(ExactText(CaseInsensitiveText.text(text)))
        case .number(let number): self = .number(number.double)
        case .boolean(let boolean): self = .boolean(boolean)
        case .null: self = .null
        case .undefined, .set, .array, .object: return nil
        }
    }
}

/// A condition that every event selected by an expression meets, and that an index can look up. An event that meets it
/// may still not be selected.
indirect enum Requirement: Sendable {
    case fact(IndexedField)
    /// At least one of the parts must be met.
    case any([Requirement])
    /// All parts must be met, so an index needs to look up only one of them.
    case all([Requirement])

    /// The maximum number of alternatives to index, because each alternative takes an entry in every channel.
    private static let widest = 16

    /// Returns the requirement that at least one of the parts is met; nil when one part is nil, or when there are too
    /// many alternatives.
    static func any(of parts: [Requirement?]) -> Requirement? {
        let known = parts.compactMap { $0 }
        guard known.count == parts.count else { return nil }
        let whole = Requirement.any(known)
        return whole.width <= widest ? whole : nil
    }

    /// Returns a requirement that is met when all parts are met; nil when all parts are nil. May leave out parts that
    /// many events meet.
    static func all(of parts: [Requirement?]) -> Requirement? {
        let known = parts.compactMap { $0 }
        // Prefer parts that few events meet. Many events meet a numeric bound. For a required element, all filters must
        // be evaluated when the value is a text instead of a list, because `CONTAINS` then searches the text.
        let certain = known.filter(\.isCertain)
        let best = certain.isEmpty ? known : certain
        return best.count > 1 ? .all(best) : best.first
    }

    /// The maximum number of index entries that the requirement takes.
    private var width: Int {
        switch self {
        case .fact: 1
        case .any(let parts): parts.reduce(0) { $0 + $1.width }
        case .all(let parts): parts.reduce(0) { max($0, $1.width) }
        }
    }

    private var isCertain: Bool {
        switch self {
        case .fact(let fact):
            switch fact.place {
            case .value, .typePrefix: true
            case .element, .atLeast, .atMost: false
            }
        case .any(let parts), .all(let parts): parts.allSatisfy(\.isCertain)
        }
    }

    /// Calls `body` with every single condition in the requirement.
    func forEach(_ body: (IndexedField) -> Void) {
        switch self {
        case .fact(let fact): body(fact)
        case .any(let parts), .all(let parts): for part in parts { part.forEach(body) }
        }
    }
}

extension FilterNode {
    /// A condition that every event selected by the node meets, and that an index can look up; nil when there is no
    /// such condition.
    var requirement: Requirement? {
        switch self {
        case .any(let nodes): .any(of: nodes.map(\.requirement))
        case .all(let nodes): .all(of: nodes.map(\.requirement))
        case .equality(.name(let source), .equal, .literal(let value)),
            .equality(.literal(let value), .equal, .name(let source)):
            Self.requirement(value, at: .value(of: source))
        case .contains(.name(let source), .literal(let value)): Self.requirement(value, at: .element(of: source))
        case .contains(.literal(.set(let members)), .name(let source)):
            .any(of: members.map { Self.requirement($0, at: .value(of: source)) })
        case .order(.name(let source), let order, .literal(let value)):
            Self.requirement(value.number, at: order.isUpward ? .atLeast(source) : .atMost(source))
        case .order(.literal(let value), let order, .name(let source)):
            Self.requirement(value.number, at: order.isUpward ? .atMost(source) : .atLeast(source))
        case .equality, .contains, .not, .order, .like, .likeValue, .arithmetic, .complement, .negative, .literal,
            .name, .list:
            nil
        }
    }

    private static func requirement(_ value: FilterValue, at place: IndexedField.Place) -> Requirement? {
        IndexedValue(value).map { .fact(IndexedField(place: place, value: $0)) }
    }

    private static func requirement(_ bound: FilterNumber?, at place: IndexedField.Place) -> Requirement? {
        bound.map { .fact(IndexedField(place: place, value: .number($0.coarse))) }
    }
}

extension FilterNode.Order {
    fileprivate var isUpward: Bool { self == .greater || self == .greaterOrEqual }
}

extension FilterNumber {
    /// The number with its low-order bits removed, which rounds it towards zero. Rounding preserves the order of
    /// numbers. There are 256 rounded values between a number and twice that number. Rounding thus limits the number of
    /// bounds that an event is compared with.
    var coarse: Double { Double(bitPattern: double.bitPattern & ~((1 << 44) - 1)) }
}

extension Selection {
    /// The requirement of the selection's types and filter: a condition that every selected event meets besides its
    /// channel, and that an index can look up. Nil when there is none.
    var requirement: Requirement? {
        let types = Requirement.any(
            of: types.map { pattern in
                switch pattern {
                case .exact(let name):
                    IndexedValue(.string(name)).map { .fact(IndexedField(place: .value(of: .type), value: $0)) }
                case .below(let prefix): .fact(IndexedField(place: .typePrefix, value: .text(ExactText(prefix))))
                case .all: nil
                }
            })
        return .all(of: [types, filter?.requirement])
    }
}
