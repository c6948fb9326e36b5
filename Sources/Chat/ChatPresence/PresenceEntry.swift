import ChatModel
import JSON

/// The presence of one user in one scope: a channel and a kind of presence. The entry exists from the user's arrival to
/// the user's departure.
final class PresenceEntry {
    let presenceKey: PresenceKey
    var state: JSONText?
    /// The connections that keep the user present in this scope, usually one or two.
    var holders: [HolderID] = []
    /// The uptime at which the last heartbeat expires; zero when there was no heartbeat.
    var renewedUntil: UInt64 = 0
    /// The entry's deadline in the queue of deadlines, as uptime; `max` when the queue contains no deadline of the
    /// entry. A renewal of the entry usually does not change the queue: the new deadline is queued when the queued
    /// deadline is reached.
    var queued = UInt64.max
    /// A poll that ends before this uptime does not extend the user's presence, because the poll may have begun before
    /// the user's last departure. Zero for an entry that does not follow a departure.
    var doubtedUntil: UInt64 = 0

    init(_ presenceKey: PresenceKey) { self.presenceKey = presenceKey }

    /// True while a connection or a heartbeat keeps the user present. A user also stays inside an open channel as long as
    /// the user has a connection.
    func isHeld(by user: UserPresence?) -> Bool {
        if !holders.isEmpty || renewedUntil > 0 { return true }
        return presenceKey.kind == .participant && (user?.links ?? 0) > 0
    }
}

/// One connection of a user: a stream or a poll.
final class Link {
    let user: UserPresence
    /// The presence entries that exist because of this connection.
    var entries = PresenceIndex<PresenceScope>()
    /// The uptime at which the connection counts as gone; `max` while it is connected.
    var ends = UInt64.max
    var queued = UInt64.max

    init(_ user: UserPresence) { self.user = user }
}

/// The presence of one user: the user's entries and connections. A class, so that the connections of the user lead to it
/// without a search.
final class UserPresence {
    let id: UserID
    var entries = PresenceIndex<PresenceScope>()
    /// The number of the user's connections.
    var links = 0

    init(_ id: UserID) { self.id = id }

    var isGone: Bool { entries.isEmpty && links == 0 }

    /// The entries of the open channels that the user has entered, in no particular order.
    var participations: [PresenceEntry] {
        var found: [PresenceEntry] = []
        entries.forEach { if $0.presenceKey.kind == .participant { found.append($0) } }
        return found
    }
}

/// The presence entries of all users in one presence scope (a channel and a kind of presence).
struct PresenceGroup {
    private var entries = PresenceIndex<ExactText>()
    /// The sorted names of the users; nil after a change. The names are sorted only when a page is requested, so that
    /// many joins and leaves need no sorting.
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
    /// Returns the index of the first element above `name` in this sorted list. If `orAt` is true, an element equal to
    /// `name` also counts.
    fileprivate func firstIndex(above name: ExactText, orAt: Bool = false) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if self[middle] < name || (!orAt && self[middle] == name) { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

/// The part of a presence key that an index uses as its key.
protocol PresenceKeyPart: Hashable {
    init(of presenceKey: PresenceKey)
}

extension PresenceScope: PresenceKeyPart {
    init(of presenceKey: PresenceKey) { self = presenceKey.presenceScope }
}

extension ExactText: PresenceKeyPart {
    /// Takes the user's name from a presence key.
    init(of presenceKey: PresenceKey) { self.init(presenceKey.user) }
}

/// An index of presence entries by a part of their keys.
///
/// Most indexes have one entry: most users are in one channel, most connections have one entry, and most channels have
/// one user. A single entry is stored without a dictionary, which would take more memory than the rest of the entry.
struct PresenceIndex<Key: PresenceKeyPart> {
    private var first: PresenceEntry?
    private var others: [Key: PresenceEntry] = [:]

    var count: Int { others.count + (first == nil ? 0 : 1) }
    var isEmpty: Bool { first == nil && others.isEmpty }
    /// All entries, in no particular order.
    var all: [PresenceEntry] { (first.map { [$0] } ?? []) + others.values }

    /// Calls `body` with each entry, in no particular order.
    func forEach(_ body: (PresenceEntry) -> Void) {
        if let first { body(first) }
        if !others.isEmpty { others.values.forEach(body) }
    }

    subscript(key: Key) -> PresenceEntry? {
        get { isFirst(key) ? first : others.isEmpty ? nil : others[key] }
        set {
            if isFirst(key) || first == nil && others[key] == nil {
                first = newValue
            } else {
                others[key] = newValue
                // Frees the memory of a dictionary that was large and is now empty.
                if others.isEmpty { others = [:] }
            }
        }
    }

    private func isFirst(_ key: Key) -> Bool { first.map { Key(of: $0.presenceKey) == key } ?? false }
}
