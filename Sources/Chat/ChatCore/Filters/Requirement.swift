import ChatModel

/// One property of an event that can be looked up in an index: a place and a value.
struct IndexedField: Hashable, Sendable {
    enum Place: Hashable, Sendable {
        /// The value of a name in the filter.
        case value(of: FilterSource)
        /// The elements of the list that a name in the filter refers to.
        case element(of: FilterSource)
        /// Lower bounds, coarsened, for the number that a name denotes.
        case atLeast(FilterSource)
        /// Upper bounds, coarsened, for the number that a name denotes.
        case atMost(FilterSource)
        /// A prefix of the event's type that ends with a dot, the dot included.
        case typePrefix
    }

    let place: Place
    let value: IndexedValue
}

/// A value as a key of an index. Values that a filter considers equal have the same key; some unequal values have the
/// same key too. So every filter found by a key must still be evaluated.
enum IndexedValue: Hashable, Sendable {
    /// A case-folded text, because list elements are compared without regard to case.
    case text(ExactText)
    /// The nearest double of a number, or of a text that spells a number, because integers and real numbers are
    /// compared with each other.
    case number(Double)
    case boolean(Bool)
    case null

    /// Nil for a value that equals nothing.
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

/// A necessary condition on the events for which an expression holds, as far as it can be looked up. It is not
/// sufficient.
indirect enum Requirement: Sendable {
    case fact(IndexedField)
    /// At least one of them is required.
    case any([Requirement])
    /// All of them are required, so it is enough to look up one.
    case all([Requirement])

    /// The maximum number of alternatives that are indexed, because each takes an entry in every channel.
    private static let widest = 16

    /// Requires one of the parts. Returns nil when nothing is known of one of them, or when there are too many
    /// alternatives.
    static func any(of parts: [Requirement?]) -> Requirement? {
        let known = parts.compactMap { $0 }
        guard known.count == parts.count else { return nil }
        let whole = Requirement.any(known)
        return whole.width <= widest ? whole : nil
    }

    /// Requires all parts. Returns nil when nothing is known of any part.
    static func all(of parts: [Requirement?]) -> Requirement? {
        let known = parts.compactMap { $0 }
        // Certain requirements are preferred when there are any. Many events satisfy a bound of a number. And when a
        // value is a text instead of a list, `CONTAINS` searches the text, so each filter that requires an element must
        // be evaluated.
        let certain = known.filter(\.isCertain)
        let best = certain.isEmpty ? known : certain
        return best.count > 1 ? .all(best) : best.first
    }

    /// The maximum number of index entries that it takes.
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

    /// Calls `body` with every indexed field that it names.
    func forEach(_ body: (IndexedField) -> Void) {
        switch self {
        case .fact(let fact): body(fact)
        case .any(let parts), .all(let parts): for part in parts { part.forEach(body) }
        }
    }
}

extension FilterNode {
    /// The requirement of a node; nil when it requires nothing that can be looked up.
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
    /// The number with its low-order digits removed, rounded towards zero. Rounding preserves the order of numbers.
    /// There are 256 rounded values between a number and twice that number, which limits the bounds that are compared
    /// for an event.
    var coarse: Double { Double(bitPattern: double.bitPattern & ~((1 << 44) - 1)) }
}

extension Selection {
    /// The requirement for an event on one of the channels to be selected.
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
