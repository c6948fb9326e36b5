import ChatModel
import JSON

/// A set of numbers. A set with one member, which is the most frequent case, allocates no memory.
struct NumberSet: Sendable {
    private static let none = UInt32.max

    private var first = NumberSet.none
    private var others: Set<UInt32> = []

    var isEmpty: Bool { first == Self.none && others.isEmpty }
    var count: Int { (first == Self.none ? 0 : 1) + others.count }

    /// Adds a number.
    ///
    /// - Parameter number: the number to add. The number must not be a member yet.
    mutating func insert(_ number: UInt32) {
        if first == Self.none { first = number } else { others.insert(number) }
    }

    /// Removes a number. Returns true when the number was a member.
    mutating func remove(_ number: UInt32) -> Bool {
        if first == number {
            first = Self.none
            return true
        }
        return others.remove(number) != nil
    }

    func forEach(_ body: (UInt32) -> Void) {
        if first != Self.none { body(first) }
        for number in others { body(number) }
    }
}

/// An index of the subscribers to one channel, by the values of event fields that their filters require. Each
/// subscriber is a member of the index, identified by a number. The cost of matching an event depends on the number of
/// fields, not on the number of subscribers.
///
/// A filter may have several requirements. A member is listed under the requirement under which the fewest other
/// members are listed when the member is inserted. For example, when many members are listed under `data.live == true`,
/// the filter `data.live == true && data.customer == 'c17'` is listed under `data.customer == 'c17'`.
struct FieldIndex: Sendable {
    /// The number of members (subscribers) that are tested one after the other before the tables are used. For so few
    /// members, a table would cost more than it saves.
    private static let few = 4
    /// The maximum length of a list in an event whose elements are looked up in a table. For a longer list, all members
    /// in the table are tested.
    private static let elementsMost = 1_000

    private var tables: [IndexedField.Place: [IndexedValue: NumberSet]] = [:]
    /// The members (subscribers) whose filters are tested for every event.
    private var others = NumberSet()
    /// True when the lookup for one event may find the same member (subscriber) more than once.
    private var hasDetours = false

    var isEmpty: Bool { tables.isEmpty && others.isEmpty }

    mutating func insert(_ member: UInt32, _ requirement: Requirement?) {
        guard let requirement, others.count >= Self.few else { return others.insert(member) }
        let facts = Set(cheapest(requirement).facts)
        for fact in facts { tables[fact.place, default: [:]][fact.value, default: NumberSet()].insert(member) }
        let places = Set(facts.map(\.place))
        let isFoundOnce = places.count == 1 && places.allSatisfy { $0.isMetOnce(ofSeveral: facts.count > 1) }
        if !isFoundOnce { hasDetours = true }
    }

    mutating func remove(_ member: UInt32, _ requirement: Requirement?) {
        guard !others.remove(member) else { return }
        // The requirement under which the member is listed depended on the members at the time. So the member is
        // removed from all its requirements.
        requirement?.forEach { fact in remove(member, from: fact) }
        if tables.isEmpty { hasDetours = false }
    }

    private mutating func remove(_ member: UInt32, from fact: IndexedField) {
        guard var members = tables[fact.place]?[fact.value] else { return }
        // The set is removed from the table while it changes, because Swift would otherwise copy it.
        tables[fact.place]?[fact.value] = nil
        _ = members.remove(member)
        if !members.isEmpty {
            tables[fact.place]?[fact.value] = members
        } else if tables[fact.place]?.isEmpty == true {
            tables[fact.place] = nil
        }
    }

    private func cheapest(_ requirement: Requirement) -> (facts: [IndexedField], subscribers: Int) {
        switch requirement {
        case .fact(let fact): return ([fact], tables[fact.place]?[fact.value]?.count ?? 0)
        case .any(let parts):
            return parts.reduce(into: ([], 0)) { sum, part in
                let choice = cheapest(part)
                sum = (sum.facts + choice.facts, sum.subscribers + choice.subscribers)
            }
        case .all(let parts): return parts.map(cheapest).min { $0.subscribers < $1.subscribers } ?? ([], 0)
        }
    }

    /// Calls `body` once for each member whose filter may match the event.
    func visit(_ subject: FilterSubject, _ body: (UInt32) -> Void) {
        others.forEach(body)
        guard hasDetours else { return match(subject, body) }
        var seen: Set<UInt32> = []
        match(subject) { member in if seen.insert(member).inserted { body(member) } }
    }

    private func match(_ subject: FilterSubject, _ body: (UInt32) -> Void) {
        for (place, table) in tables {
            switch place {
            case .value(let source):
                if let value = subject.fact(of: source) { table[value]?.forEach(body) }
            case .element(let source):
                switch subject.value(of: source) {
                case .array(let array):
                    guard array.count <= Self.elementsMost else {
                        for members in table.values { members.forEach(body) }
                        continue
                    }
                    for value in subject.facts(of: array, source) { table[value]?.forEach(body) }
                // The text may contain a required substring, but the table lists only whole values. So all members are
                // tested.
                case .string: for members in table.values { members.forEach(body) }
                case .undefined, .null, .boolean, .number, .object, .set: break
                }
            case .atLeast(let source):
                guard let number = subject.number(of: source)?.coarse else { continue }
                Self.match(table, body) { $0 <= number }
            case .atMost(let source):
                guard let number = subject.number(of: source)?.coarse else { continue }
                Self.match(table, body) { $0 >= number }
            case .typePrefix:
                guard let type = subject.event?.type else { continue }
                for prefix in DottedPrefixes(of: type) { table[.text(prefix)]?.forEach(body) }
            }
        }
    }
}

extension FieldIndex {
    private static func match(
        _ table: [IndexedValue: NumberSet], _ body: (UInt32) -> Void, _ isMet: (_ bound: Double) -> Bool
    ) {
        for (value, members) in table {
            if case .number(let bound) = value, isMet(bound) { members.forEach(body) }
        }
    }
}

extension IndexedField.Place {
    /// True when the lookup for one event finds a subscriber at most once in the table of the place `self`. A place is
    /// an event field and the kind of comparison with it.
    ///
    /// - Parameter hasSeveral: true when the subscriber is listed under several values in this table.
    fileprivate func isMetOnce(ofSeveral hasSeveral: Bool) -> Bool {
        switch self {
        case .value: true
        case .atLeast, .atMost, .typePrefix: !hasSeveral
        case .element: false
        }
    }
}
