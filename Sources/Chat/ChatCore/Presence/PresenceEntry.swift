import ChatModel
import JSON

/// One user in one venue, from coming to going.
final class PresenceEntry {
    let presenceKey: PresenceKey
    var state: JSONText?
    /// Connections that hold it by name; few.
    var holders: [HolderID] = []
    /// Until when the last sign of life is good, as uptime; zero without one.
    var renewedUntil: UInt64 = 0
    /// The deadline that stands in the heap for it; later ones are queued when this one comes.
    var queued = UInt64.max

    init(_ presenceKey: PresenceKey) { self.presenceKey = presenceKey }
}

/// One connection of a user.
final class Link {
    let user: UserID
    /// What it holds by name.
    var entries = PresenceIndex<PresenceScope>()
    /// When it counts as gone; `max` while it is there.
    var ends = UInt64.max
    var queued = UInt64.max

    init(_ user: UserID) { self.user = user }
}

/// One user: where, and by which connections.
struct UserPresence {
    var entries = PresenceIndex<PresenceScope>()
    /// How many connections there are.
    var links = 0

    var isGone: Bool { entries.isEmpty && links == 0 }
}

/// Those in one venue.
struct PresenceGroup {
    private var entries = PresenceIndex<ExactText>()
    /// The names in their order, made when somebody asks for it: a storm comes and goes without.
    private var names: [ExactText]?

    var count: Int { entries.count }

    mutating func enter(_ entry: PresenceEntry) {
        entries[ExactText(entry.presenceKey.user)] = entry
        names = nil
    }

    mutating func leave(_ user: String) {
        entries[ExactText(user)] = nil
        names = nil
    }

    mutating func page(after user: String?, _ order: ListOrder, limit: Int) -> Occupancy {
        guard limit > 0 else { return Occupancy(count: count, hasMore: count > 0) }
        let all = names ?? entries.all.map { ExactText($0.presenceKey.user) }.sorted()
        names = all
        let rest =
            switch order {
            case .ascending: all[(user.map { all.firstIndex(above: ExactText($0)) } ?? 0)...]
            case .descending: all[..<(user.map { all.firstIndex(above: ExactText($0), orAt: true) } ?? all.count)]
            }
        let page = order == .ascending ? Array(rest.prefix(limit)) : rest.suffix(limit).reversed()
        let occupants = page.map { Occupancy.Occupant(user: $0.text, state: entries[$0]?.state) }
        return Occupancy(count: count, occupants: occupants, hasMore: occupants.count < rest.count)
    }
}

extension [ExactText] {
    /// Where the first element above `name`, or at it, stands in this sorted list.
    fileprivate func firstIndex(above name: ExactText, orAt: Bool = false) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if self[middle] < name || (!orAt && self[middle] == name) { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

/// What of its seat a stay is found by.
protocol PresenceKeyPart: Hashable {
    init(of presenceKey: PresenceKey)
}

extension PresenceScope: PresenceKeyPart {
    init(of presenceKey: PresenceKey) { self = presenceKey.presenceScope }
}

extension ExactText: PresenceKeyPart {
    /// The user's name.
    init(of presenceKey: PresenceKey) { self.init(presenceKey.user) }
}

/// Stays by a part of their seats.
///
/// Most tables have one: a user is in one place, a connection holds it, nobody else is there. It stands by itself, because a
/// dictionary for it would take more memory than all else that is kept of the stay.
struct PresenceIndex<Key: PresenceKeyPart> {
    private var first: PresenceEntry?
    private var others: [Key: PresenceEntry] = [:]

    var count: Int { others.count + (first == nil ? 0 : 1) }
    var isEmpty: Bool { first == nil && others.isEmpty }
    /// In no order.
    var all: [PresenceEntry] { (first.map { [$0] } ?? []) + others.values }

    subscript(key: Key) -> PresenceEntry? {
        get { isFirst(key) ? first : others[key] }
        set {
            if isFirst(key) || first == nil && others[key] == nil {
                first = newValue
            } else {
                others[key] = newValue
                // The memory of a crowd goes with the crowd.
                if others.isEmpty { others = [:] }
            }
        }
    }

    private func isFirst(_ key: Key) -> Bool { first.map { Key(of: $0.presenceKey) == key } ?? false }
}
