import ChatModel

/// One thing that can be looked up of an event: what stands where.
struct IndexedField: Hashable, Sendable {
    enum Place: Hashable, Sendable {
        /// The value of a name.
        case value(of: FilterSource)
        /// The elements of the list that a name stands for.
        case element(of: FilterSource)
        /// Bounds which the number that a name stands for must not be below, roughly.
        case atLeast(FilterSource)
        /// Bounds which it must not be above.
        case atMost(FilterSource)
        /// What stands before some dot of the event's type, the dot included.
        case typePrefix
    }

    let place: Place
    let value: IndexedValue
}

/// A value as a key: whatever a filter takes for equal has the same key, and some of what it does not. Who is found by a
/// key is asked before it is believed.
enum IndexedValue: Hashable, Sendable {
    /// Without regard to case, as members of a list are compared.
    case text(ExactText)
    /// Also of a text that spells a number. The double next to it: an integer and a real number are compared as such.
    case number(Double)
    case boolean(Bool)
    case null

    /// Nil for what is equal to nothing.
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

/// What an event must have for a condition to hold, as far as it can be looked up. Necessary, not sufficient.
indirect enum Requirement: Sendable {
    case fact(IndexedField)
    /// At least one of them.
    case any([Requirement])
    /// Every one of them, so it is enough to look for one.
    case all([Requirement])

    /// How many alternatives are worth an index: each takes a place of its own in every channel.
    private static let widest = 16

    /// One of the parts must be met; nil when there is one of which nothing is known, or when they are too many.
    static func any(of parts: [Requirement?]) -> Requirement? {
        let known = parts.compactMap { $0 }
        guard known.count == parts.count else { return nil }
        let whole = Requirement.any(known)
        return whole.width <= widest ? whole : nil
    }

    /// All parts must be met; nil when nothing is known of any.
    static func all(of parts: [Requirement?]) -> Requirement? {
        let known = parts.compactMap { $0 }
        // Many have room below a number, and a text is no list: whoever waits for its elements has to be asked. Rather
        // something certain, if there is any.
        let certain = known.filter(\.isCertain)
        let best = certain.isEmpty ? known : certain
        return best.count > 1 ? .all(best) : best.first
    }

    /// How many places it takes at most.
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

    /// Calls `body` with every fact that is named.
    func forEach(_ body: (IndexedField) -> Void) {
        switch self {
        case .fact(let fact): body(fact)
        case .any(let parts), .all(let parts): for part in parts { part.forEach(body) }
        }
    }
}

extension FilterNode {
    /// What must be met for the node to hold; nil when that is nothing one can look up.
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
    /// The number without the last of its digits, nearer to zero: of numbers in their order, these are in the same order.
    /// There are 256 of them between a number and its double, which bounds how many bounds an event is held against.
    var coarse: Double { Double(bitPattern: double.bitPattern & ~((1 << 44) - 1)) }
}

extension Selection {
    /// What an event on one of the channels must have to be admitted.
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
