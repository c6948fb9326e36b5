import ChatModel
import JSON
import Locking

/// Who is where, and until when: the tables of the presence board. Time is handed in, as uptime in nanoseconds.
struct PresenceTable {
    private let limit: Int
    private var rooms: [Venue: VenuePresence] = [:]
    private var people: [UserID: UserPresence] = [:]
    private var links: [HolderID: Link] = [:]
    private var deadlines = Heap<SeatDeadline>()
    private var stayCount = 0

    var mayExpire: Bool { deadlines.first != nil }

    init(limit: Int) { self.limit = limit }

    mutating func hold(_ seats: [Seat], of user: UserID, by holder: HolderID) throws(ChatError) -> [PresenceChange] {
        try admit(seats)
        let link = links[holder] ?? begin(holder, of: user)
        link.ends = .max
        // From now on the connections say how long they stay.
        for stay in participations(of: user) { stay.renewedUntil = 0 }
        var changes: [PresenceChange] = []
        for seat in seats {
            let stay = sit(seat, &changes)
            guard !stay.holders.contains(holder) else { continue }
            stay.holders.append(holder)
            link.stays[seat.venue] = stay
        }
        return changes
    }

    mutating func renew(
        _ seats: [Seat], for duration: UInt64, now: UInt64
    ) throws(ChatError) -> [PresenceChange] {
        try admit(seats)
        var changes: [PresenceChange] = []
        for seat in seats {
            let stay = sit(seat, &changes)
            if seat.kind == .participant, isConnected(seat.owner) { continue }
            stay.renewedUntil = now + duration
            queue(stay)
        }
        return changes
    }

    mutating func lose(_ holder: HolderID, grace: UInt64, now: UInt64) {
        guard let link = links[holder] else { return }
        link.ends = min(link.ends, now + grace)
        queue(link, holder)
    }

    mutating func conclude(_ holder: HolderID, for duration: UInt64, now: UInt64) -> [PresenceChange] {
        guard let link = links[holder] else { return [] }
        for stay in link.stays.all + participations(of: link.user) {
            stay.renewedUntil = now + duration
            queue(stay)
        }
        return remove(holder, .left)
    }

    mutating func release(_ seats: [Seat]?, by holder: HolderID) -> [PresenceChange] {
        guard let seats else { return remove(holder, .left) }
        return give(up: seats.compactMap { stay($0) }, holder, .left)
    }

    mutating func leave(_ seats: [Seat]) -> [PresenceChange] {
        var changes: [PresenceChange] = []
        for seat in seats {
            guard let stay = stay(seat) else { continue }
            for holder in stay.holders { links[holder]?.stays[seat.venue] = nil }
            end(stay, .left, &changes)
        }
        return changes
    }

    mutating func setState(_ state: JSONText?, of seat: Seat) throws(ChatError) -> [PresenceChange] {
        guard let stay = stay(seat) else {
            throw ChatError(.notFound, "'\(seat.user)' is not there", slug: "not_present")
        }
        guard stay.state != state else { return [] }
        stay.state = state
        return [
            PresenceChange(seat, .stateChanged, occupancy: rooms[seat.venue]?.count ?? 0, state: state)
        ]
    }

    mutating func expire(now: UInt64) -> [PresenceChange] {
        var changes: [PresenceChange] = []
        while let due = deadlines.first, due.at <= now {
            _ = deadlines.popFirst()
            switch due.of {
            case .stay(let stay): check(stay, due.at, now, &changes)
            case .link(let link, let holder): changes += check(link, holder, due.at, now)
            }
        }
        return changes
    }
}

// MARK: - Asking

extension PresenceTable {
    mutating func occupants(of venue: Venue, after user: String?, _ order: ListOrder, limit: Int) -> Occupancy {
        rooms[venue]?.page(after: user, order, limit: limit) ?? Occupancy(count: 0)
    }

    func occupant(_ seat: Seat) -> Occupancy.Occupant? {
        stay(seat).map { Occupancy.Occupant(user: seat.user, state: $0.state) }
    }

    func count(of venue: Venue) -> Int { rooms[venue]?.count ?? 0 }

    /// In no order: there may be very many, and sorting them is nothing to do under a lock.
    func venues(of kind: SeatKind, in app: AppID) -> [(channel: ChannelID, count: Int)] {
        rooms.lazy.filter { $0.key.kind == kind && $0.key.channel.app == app }
            .map { ($0.key.channel, $0.value.count) }
    }

    func channels(of user: UserID, as kind: SeatKind) -> [ChannelID] {
        let stays = people[user]?.stays.all.filter { $0.seat.kind == kind } ?? []
        return stays.map(\.seat.channel).sorted { ExactText($0.name) < ExactText($1.name) }
    }

    func isTaken(_ seat: Seat) -> Bool { stay(seat) != nil }

    private func stay(_ seat: Seat) -> Stay? { people[seat.owner]?.stays[seat.venue] }

    private func participations(of user: UserID) -> [Stay] {
        people[user]?.stays.all.filter { $0.seat.kind == .participant } ?? []
    }
}

// MARK: - Coming and going

extension PresenceTable {
    /// A connection that was not there before.
    private mutating func begin(_ holder: HolderID, of user: UserID) -> Link {
        let link = Link(user)
        links[holder] = link
        people[user, default: UserPresence()].links += 1
        return link
    }

    private func isConnected(_ user: UserID) -> Bool { (people[user]?.links ?? 0) > 0 }

    private func admit(_ seats: [Seat]) throws(ChatError) {
        guard stayCount + seats.count > limit else { return }
        guard stayCount + seats.count(where: { stay($0) == nil }) > limit else { return }
        throw ChatError(
            .overloaded, "there are \(limit) users on channels, which is the gateway's limit",
            retryAfter: .seconds(30))
    }

    private mutating func sit(_ seat: Seat, _ changes: inout [PresenceChange]) -> Stay {
        if let known = stay(seat) { return known }
        let stay = Stay(seat)
        stayCount += 1
        people[seat.owner, default: UserPresence()].stays[seat.venue] = stay
        rooms[seat.venue, default: VenuePresence()].enter(stay)
        changes.append(PresenceChange(seat, .joined, occupancy: count(of: seat.venue)))
        return stay
    }

    private mutating func end(
        _ stay: Stay, _ how: PresenceChange.Happening, _ changes: inout [PresenceChange]
    ) {
        let seat = stay.seat
        stayCount -= 1
        people[seat.owner]?.stays[seat.venue] = nil
        rooms[seat.venue]?.leave(seat.user)
        forget(seat.owner)
        let left = count(of: seat.venue)
        if left == 0 { rooms[seat.venue] = nil }
        changes.append(PresenceChange(seat, how, occupancy: left, state: stay.state))
    }

    private mutating func forget(_ user: UserID) {
        if people[user]?.isGone == true { people[user] = nil }
    }

    private func isHeld(_ stay: Stay) -> Bool {
        if !stay.holders.isEmpty || stay.renewedUntil > 0 { return true }
        return stay.seat.kind == .participant && isConnected(stay.seat.owner)
    }

    private mutating func give(
        up stays: [Stay], _ holder: HolderID, _ how: PresenceChange.Happening
    ) -> [PresenceChange] {
        var changes: [PresenceChange] = []
        for stay in stays where stay.holders.contains(holder) {
            stay.holders.removeAll { $0 == holder }
            links[holder]?.stays[stay.seat.venue] = nil
            if !isHeld(stay) { end(stay, how, &changes) }
        }
        return changes
    }

    /// The connection is no more.
    private mutating func remove(_ holder: HolderID, _ how: PresenceChange.Happening) -> [PresenceChange] {
        guard let link = links[holder] else { return [] }
        links[holder] = nil
        people[link.user]?.links -= 1
        var changes = give(up: link.stays.all.inOrder, holder, how)
        for stay in participations(of: link.user).inOrder where !isHeld(stay) { end(stay, how, &changes) }
        forget(link.user)
        return changes
    }
}

// MARK: - Deadlines

extension PresenceTable {
    private mutating func check(
        _ stay: Stay, _ deadline: UInt64, _ now: UInt64, _ changes: inout [PresenceChange]
    ) {
        guard stay.queued == deadline else { return }
        stay.queued = .max
        guard stay.renewedUntil > 0, self.stay(stay.seat) === stay else { return }
        if stay.renewedUntil > now { return queue(stay) }
        stay.renewedUntil = 0
        if !isHeld(stay) { end(stay, .timedOut, &changes) }
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

    /// One entry for each stay: a renewal moves no entry, the deadline that comes too early is queued again.
    private mutating func queue(_ stay: Stay) {
        guard stay.renewedUntil < stay.queued else { return }
        stay.queued = stay.renewedUntil
        push(SeatDeadline(at: stay.queued, of: .stay(stay)))
    }

    private mutating func queue(_ link: Link, _ holder: HolderID) {
        guard link.ends < link.queued else { return }
        link.queued = link.ends
        push(SeatDeadline(at: link.queued, of: .link(link, holder)))
    }

    private mutating func push(_ deadline: SeatDeadline) {
        deadlines.push(deadline)
        // Whoever takes turns with long and short signs of life leaves entries behind that mean nothing any more.
        if deadlines.count > 2 * (stayCount + links.count) + 64 { tidy() }
    }

    private mutating func tidy() {
        deadlines.removeAll()
        for stay in people.values.flatMap(\.stays.all) {
            stay.queued = .max
            if stay.renewedUntil > 0 { queue(stay) }
        }
        for (holder, link) in links {
            link.queued = .max
            queue(link, holder)
        }
    }
}

/// When somebody may have been gone for too long.
private struct SeatDeadline: Comparable {
    enum Subject {
        case stay(Stay)
        case link(Link, HolderID)
    }

    let at: UInt64
    let of: Subject

    static func < (left: SeatDeadline, right: SeatDeadline) -> Bool { left.at < right.at }
    static func == (left: SeatDeadline, right: SeatDeadline) -> Bool { left.at == right.at }
}

extension Seat {
    fileprivate var owner: UserID { UserID(user, in: channel.app) }
}

extension [Stay] {
    /// By channel, so that what happens does not depend on a hash.
    fileprivate var inOrder: [Stay] { sorted { ExactText($0.seat.channel.name) < ExactText($1.seat.channel.name) } }
}
