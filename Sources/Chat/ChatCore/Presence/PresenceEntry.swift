import ChatModel
import JSON

/// One user in one scope, from the first sign of presence to the last.
final class PresenceEntry {
    let presenceKey: PresenceKey
    var state: JSONText?
    /// The connections that hold the entry explicitly; usually few.
    var holders: [HolderID] = []
    /// The end of the last heartbeat, as uptime; zero without a heartbeat.
    var renewedUntil: UInt64 = 0
    /// The queued deadline of the entry. A later deadline is queued when this one is reached.
    var queued = UInt64.max
    /// The time until which a connection that ends may be older than the user's departure, as uptime; zero for an entry
    /// that does not follow a departure.
    var doubtedUntil: UInt64 = 0

    init(_ presenceKey: PresenceKey) { self.presenceKey = presenceKey }
}

/// One connection of a user.
final class Link {
    let user: UserID
    /// The entries that it holds explicitly.
    var entries = PresenceIndex<PresenceScope>()
    /// The time at which it counts as gone; `max` while it is connected.
    var ends = UInt64.max
    var queued = UInt64.max

    init(_ user: UserID) { self.user = user }
}

/// The presence of one user: the entries and the connections.
struct UserPresence {
    var entries = PresenceIndex<PresenceScope>()
    /// The number of connections.
    var links = 0

    var isGone: Bool { entries.isEmpty && links == 0 }
}

/// The entries in one scope.
struct PresenceGroup {
    private var entries = PresenceIndex<ExactText>()
    /// The sorted names, made on demand, so that a burst of joins and leaves costs no sorting.
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
    /// The index of the first element after `name`, or at it, in this sorted list.
    fileprivate func firstIndex(above name: ExactText, orAt: Bool = false) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if self[middle] < name || (!orAt && self[middle] == name) { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

/// The part of a presence key by which an index finds an entry.
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

/// Presence entries by a part of their keys.
///
/// Most indexes have one entry: a user is in one place, a connection holds one key, a channel has one user. A single
/// entry is stored without a dictionary, which would take more memory than everything else stored about the entry.
struct PresenceIndex<Key: PresenceKeyPart> {
    private var first: PresenceEntry?
    private var others: [Key: PresenceEntry] = [:]

    var count: Int { others.count + (first == nil ? 0 : 1) }
    var isEmpty: Bool { first == nil && others.isEmpty }
    /// All entries, unordered.
    var all: [PresenceEntry] { (first.map { [$0] } ?? []) + others.values }

    subscript(key: Key) -> PresenceEntry? {
        get { isFirst(key) ? first : others[key] }
        set {
            if isFirst(key) || first == nil && others[key] == nil {
                first = newValue
            } else {
                others[key] = newValue
                // Frees the memory of a large dictionary when it becomes empty.
                if others.isEmpty { others = [:] }
            }
        }
    }

    private func isFirst(_ key: Key) -> Bool { first.map { Key(of: $0.presenceKey) == key } ?? false }
}
