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
