package import ChatModel
package import JSON
import Locking

/// The data of the presence store in memory: entries, connections and their deadlines. All times are arguments, as
/// uptime in nanoseconds.
package struct PresenceTable {
    private let limit: Int
    private var groups: [PresenceScope: PresenceGroup] = [:]
    private var users: [UserID: UserPresence] = [:]
    private var links: [HolderID: Link] = [:]
    private var deadlines = Heap<PresenceDeadline>()
    private var entryCount = 0
    /// The uptime at which each user last left, for users who left recently.
    private var departures = GenerationCache<PresenceKey, UInt64>(capacity: 8192)
    /// The time in nanoseconds after a departure during which the end of an older poll does not extend the user's
    /// presence.
    private static let departureWindow = Duration.seconds(2).nanoseconds

    /// True when an entry or a connection has a deadline.
    package var mayExpire: Bool { deadlines.first != nil }

    /// Creates an empty table with at most `limit` entries.
    package init(limit: Int) { self.limit = limit }

    /// Adds presence keys of a user that a connection holds.
    package mutating func hold(
        _ presenceKeys: [PresenceKey], of user: UserID, by holder: HolderID
    ) throws(ChatError) -> [PresenceChange] {
        try admit(presenceKeys)
        return hold(presenceKeys, of: presence(of: user), by: holder)
    }

    /// Adds presence keys of a user that a connection holds, if every key already has an entry, so that nobody joins.
    /// Returns false, and does nothing, in any other case.
    package mutating func holdPresent(_ presenceKeys: [PresenceKey], of user: UserID, by holder: HolderID) -> Bool {
        guard let known = users[user] ?? (presenceKeys.isEmpty ? presence(of: user) : nil),
            presenceKeys.allSatisfy({ known.entries[$0.presenceScope] != nil })
        else { return false }
        _ = hold(presenceKeys, of: known, by: holder)
        return true
    }

    private mutating func hold(
        _ presenceKeys: [PresenceKey], of user: UserPresence, by holder: HolderID
    ) -> [PresenceChange] {
        let link = links[holder] ?? begin(holder, of: user)
        link.ends = .max
        // From now on, participant entries last as long as the user has a connection, and heartbeats no longer count.
        for entry in user.participations { entry.renewedUntil = 0 }
        var changes: [PresenceChange] = []
        for presenceKey in presenceKeys {
            let known = user.entries[presenceKey.presenceScope]
            let entry = known ?? sit(presenceKey, user, &changes)
            if known == nil, let left = departures.value(of: presenceKey) {
                entry.doubtedUntil = left + Self.departureWindow
            }
            guard !entry.holders.contains(holder) else { continue }
            entry.holders.append(holder)
            link.entries[presenceKey.presenceScope] = entry
        }
        return changes
    }

    package mutating func renew(
        _ presenceKeys: [PresenceKey], for duration: UInt64, now: UInt64
    ) throws(ChatError) -> [PresenceChange] {
        try admit(presenceKeys)
        var changes: [PresenceChange] = []
        for presenceKey in presenceKeys {
            let user = presence(of: presenceKey.owner)
            let entry = user.entries[presenceKey.presenceScope] ?? sit(presenceKey, user, &changes)
            if presenceKey.kind == .participant, user.links > 0 { continue }
            entry.renewedUntil = now + duration
            queue(entry)
        }
        return changes
    }

    package mutating func disconnect(_ holder: HolderID, grace: UInt64, now: UInt64) {
        guard let link = links[holder] else { return }
        link.ends = min(link.ends, now + grace)
        queue(link, holder)
    }

    package mutating func conclude(_ holder: HolderID, for duration: UInt64, now: UInt64) -> [PresenceChange] {
        guard let link = links[holder] else { return [] }
        link.entries.forEach { prolong($0, for: duration, now: now) }
        for entry in link.user.participations { prolong(entry, for: duration, now: now) }
        return remove(holder, .left)
    }

    private mutating func prolong(_ entry: PresenceEntry, for duration: UInt64, now: UInt64) {
        // A client that leaves aborts its poll, and the request to leave may be processed before the poll. Such a late
        // poll must not keep the user present. A client that continues renews the entry within this time.
        let isDoubted = now < entry.doubtedUntil && entry.renewedUntil == 0
        entry.renewedUntil = now + (isDoubted ? min(duration, Self.departureWindow) : duration)
        queue(entry)
    }

    package mutating func release(_ presenceKeys: [PresenceKey]?, by holder: HolderID) -> [PresenceChange] {
        guard let presenceKeys else { return remove(holder, .left) }
        return release(up: presenceKeys.compactMap { entry($0) }, holder, .left)
    }

    package mutating func leave(_ presenceKeys: [PresenceKey], now: UInt64) -> [PresenceChange] {
        var changes: [PresenceChange] = []
        for presenceKey in presenceKeys {
            departures.insert(now, for: presenceKey)
            guard let entry = entry(presenceKey) else { continue }
            for holder in entry.holders { links[holder]?.entries[presenceKey.presenceScope] = nil }
            end(entry, .left, &changes)
        }
        return changes
    }

    /// Adds an entry for each open channel that a user has entered on another node, if the user has a connection here.
    package mutating func adopt(_ presenceKeys: [PresenceKey]) {
        var changes: [PresenceChange] = []
        for presenceKey in presenceKeys where presenceKey.kind == .participant {
            guard let user = users[presenceKey.owner], user.links > 0,
                user.entries[presenceKey.presenceScope] == nil
            else { continue }
            _ = sit(presenceKey, user, &changes)
        }
    }

    package mutating func setState(
        _ state: JSONText?, of presenceKey: PresenceKey
    ) throws(ChatError) -> [PresenceChange] {
        guard let entry = entry(presenceKey) else {
            throw .notPresent(presenceKey.user)
        }
        guard entry.state != state else { return [] }
        entry.state = state
        return [
            PresenceChange(
                presenceKey, .stateChanged, occupancy: groups[presenceKey.presenceScope]?.count ?? 0, state: state)
        ]
    }

    package mutating func expire(now: UInt64) -> [PresenceChange] {
        var changes: [PresenceChange] = []
        while let due = deadlines.first, due.at <= now {
            _ = deadlines.popFirst()
            switch due.of {
            case .entry(let entry): check(entry, due.at, now, &changes)
            case .link(let link, let holder): changes += check(link, holder, due.at, now)
            }
        }
        return changes
    }
}

// MARK: - Queries

extension PresenceTable {
    package mutating func occupants(
        of presenceScope: PresenceScope, after user: String?, _ order: ListOrder, limit: Int
    ) -> Occupancy {
        groups[presenceScope]?.page(after: user, order, limit: limit) ?? Occupancy(count: 0)
    }

    package func occupant(_ presenceKey: PresenceKey) -> Occupancy.Occupant? {
        entry(presenceKey).map { Occupancy.Occupant(user: presenceKey.user, state: $0.state) }
    }

    package func count(of presenceScope: PresenceScope) -> Int { groups[presenceScope]?.count ?? 0 }

    /// Returns each channel of the app on which users have the given kind of presence, with the number of these users.
    /// The channels have no particular order: there may be too many to sort under the lock.
    package func presenceScopes(of kind: PresenceKind, in app: AppID) -> [(channel: ChannelID, count: Int)] {
        groups.lazy.filter { $0.key.kind == kind && $0.key.channel.app == app }
            .map { ($0.key.channel, $0.value.count) }
    }

    package func channels(of user: UserID, as kind: PresenceKind) -> [ChannelID] {
        let entries = users[user]?.entries.all.filter { $0.presenceKey.kind == kind } ?? []
        return entries.map(\.presenceKey.channel).sorted { ExactText($0.name) < ExactText($1.name) }
    }

    package func isTaken(_ presenceKey: PresenceKey) -> Bool { entry(presenceKey) != nil }

    /// All entries, with the state that each user shows to others, in no particular order.
    package var all: [(presenceKey: PresenceKey, state: JSONText?)] {
        users.values.flatMap { $0.entries.all.map { ($0.presenceKey, $0.state) } }
    }

    private func entry(_ presenceKey: PresenceKey) -> PresenceEntry? {
        users[presenceKey.owner]?.entries[presenceKey.presenceScope]
    }
}

// MARK: - Changes

extension PresenceTable {
    /// Returns the presence of a user, and adds it if the table has none.
    private mutating func presence(of id: UserID) -> UserPresence {
        if let known = users[id] { return known }
        let user = UserPresence(id)
        users[id] = user
        return user
    }

    /// Adds a new connection.
    private mutating func begin(_ holder: HolderID, of user: UserPresence) -> Link {
        let link = Link(user)
        links[holder] = link
        user.links += 1
        return link
    }

    /// True when the user has a connection.
    package func isConnected(_ user: UserID) -> Bool { (users[user]?.links ?? 0) > 0 }

    private func admit(_ presenceKeys: [PresenceKey]) throws(ChatError) {
        guard entryCount + presenceKeys.count > limit else { return }
        guard entryCount + presenceKeys.count(where: { entry($0) == nil }) > limit else { return }
        throw ChatError(
            .overloaded,
            "the gateway has reached its limit of \(limit) presence entries (limits.presence_entries); try again later",
            retryAfter: .seconds(30))
    }

    /// Adds an entry for a key that has none.
    private mutating func sit(
        _ presenceKey: PresenceKey, _ user: UserPresence, _ changes: inout [PresenceChange]
    ) -> PresenceEntry {
        let entry = PresenceEntry(presenceKey)
        entryCount += 1
        user.entries[presenceKey.presenceScope] = entry
        groups[presenceKey.presenceScope, default: PresenceGroup()].enter(entry)
        changes.append(PresenceChange(presenceKey, .joined, occupancy: count(of: presenceKey.presenceScope)))
        return entry
    }

    private mutating func end(
        _ entry: PresenceEntry, _ how: PresenceChange.PresenceTransition, _ changes: inout [PresenceChange]
    ) {
        let presenceKey = entry.presenceKey
        entryCount -= 1
        groups[presenceKey.presenceScope]?.leave(presenceKey.user)
        if let user = users[presenceKey.owner] {
            user.entries[presenceKey.presenceScope] = nil
            forget(user)
        }
        let left = count(of: presenceKey.presenceScope)
        if left == 0 { groups[presenceKey.presenceScope] = nil }
        changes.append(PresenceChange(presenceKey, how, occupancy: left, state: entry.state))
    }

    private mutating func forget(_ user: UserPresence) {
        if user.isGone { users[user.id] = nil }
    }

    private func isHeld(_ entry: PresenceEntry) -> Bool { entry.isHeld(by: users[entry.presenceKey.owner]) }

    private mutating func release(
        up entries: [PresenceEntry], _ holder: HolderID, _ how: PresenceChange.PresenceTransition
    ) -> [PresenceChange] {
        var changes: [PresenceChange] = []
        for entry in entries where entry.holders.contains(holder) {
            entry.holders.removeAll { $0 == holder }
            links[holder]?.entries[entry.presenceKey.presenceScope] = nil
            if !isHeld(entry) { end(entry, how, &changes) }
        }
        return changes
    }

    /// Removes a connection, and ends the presence entries that no other connection or heartbeat keeps. Returns one
    /// change for each entry that ended.
    private mutating func remove(_ holder: HolderID, _ how: PresenceChange.PresenceTransition) -> [PresenceChange] {
        guard let link = links.removeValue(forKey: holder) else { return [] }
        link.user.links -= 1
        var ending: [PresenceEntry] = []
        link.entries.forEach { entry in
            entry.holders.removeAll { $0 == holder }
            if !entry.isHeld(by: link.user) { ending.append(entry) }
        }
        var changes: [PresenceChange] = []
        for entry in ending.inOrder { end(entry, how, &changes) }
        for entry in link.user.participations.inOrder where !entry.isHeld(by: link.user) { end(entry, how, &changes) }
        forget(link.user)
        return changes
    }
}

// MARK: - Deadlines

extension PresenceTable {
    private mutating func check(
        _ entry: PresenceEntry, _ deadline: UInt64, _ now: UInt64, _ changes: inout [PresenceChange]
    ) {
        guard entry.queued == deadline else { return }
        entry.queued = .max
        guard entry.renewedUntil > 0, self.entry(entry.presenceKey) === entry else { return }
        if entry.renewedUntil > now { return queue(entry) }
        entry.renewedUntil = 0
        if !isHeld(entry) { end(entry, .timedOut, &changes) }
    }

    private mutating func check(
        _ link: Link, _ holder: HolderID, _ deadline: UInt64, _ now: UInt64
    ) -> [PresenceChange] {
        guard link.queued == deadline else { return [] }
        link.queued = .max
        guard link.ends < .max, links[holder] === link else { return [] }
        if link.ends <= now { return remove(holder, .timedOut) }
        queue(link, holder)
        return []
    }

    /// Queues the deadline of an entry, unless the queue already contains an equal or earlier deadline of the entry. A
    /// renewal therefore usually does not change the queue: the new deadline is queued when the earlier deadline is
    /// reached.
    private mutating func queue(_ entry: PresenceEntry) {
        guard entry.renewedUntil < entry.queued else { return }
        entry.queued = entry.renewedUntil
        push(PresenceDeadline(at: entry.queued, of: .entry(entry)))
    }

    private mutating func queue(_ link: Link, _ holder: HolderID) {
        guard link.ends < link.queued else { return }
        link.queued = link.ends
        push(PresenceDeadline(at: link.queued, of: .link(link, holder)))
    }

    private mutating func push(_ deadline: PresenceDeadline) {
        deadlines.push(deadline)
        // Alternating long and short heartbeats leave obsolete deadlines in the queue.
        if deadlines.count > 2 * (entryCount + links.count) + 64 { compact() }
    }

    private mutating func compact() {
        deadlines.removeAll()
        for entry in users.values.flatMap(\.entries.all) {
            entry.queued = .max
            if entry.renewedUntil > 0 { queue(entry) }
        }
        for (holder, link) in links {
            link.queued = .max
            queue(link, holder)
        }
    }
}

/// The uptime at which an entry or a connection times out, unless it was renewed meanwhile.
private struct PresenceDeadline: Comparable {
    enum Subject {
        case entry(PresenceEntry)
        case link(Link, HolderID)
    }

    let at: UInt64
    let of: Subject

    static func < (left: PresenceDeadline, right: PresenceDeadline) -> Bool { left.at < right.at }
    static func == (left: PresenceDeadline, right: PresenceDeadline) -> Bool { left.at == right.at }
}

extension ChatError {
    /// The error when the state of a user who has no entry is set.
    package static func notPresent(_ user: String) -> ChatError {
        ChatError(.notFound, "user '\(user)' is not present on the channel", slug: "not_present")
    }
}

extension PresenceKey {
    /// The user, with the app of the channel.
    package var owner: UserID { UserID(user, in: channel.app) }
}

extension [PresenceEntry] {
    /// The entries sorted by channel, so that the order of events does not depend on hash values.
    fileprivate var inOrder: [PresenceEntry] {
        count < 2 ? self : sorted { ExactText($0.presenceKey.channel.name) < ExactText($1.presenceKey.channel.name) }
    }
}
