import ChatModel
import JSON
import Locking

/// The presence board of one process. Nothing waits for anything: a lock, taken for microseconds.
final class MemoryPresence: PresenceBoard {
    private let seating: Lock<Seating>
    private let uptime: @Sendable () -> UInt64

    init(limits: Limits, uptime: @escaping @Sendable () -> UInt64) {
        seating = Lock(Seating(limit: limits.seats))
        self.uptime = uptime
    }

    var mayExpire: Bool { seating.withLock { $0.mayExpire } }

    func hold(
        _ seats: [Seat], of user: UserID, by holder: HolderID
    ) async throws(ChatError) -> [PresenceChange] {
        try seating.withLock { seating throws(ChatError) in try seating.hold(seats, of: user, by: holder) }
    }

    func renew(_ seats: [Seat], for duration: Duration) async throws(ChatError) -> [PresenceChange] {
        let now = uptime()
        return try seating.withLock { seating throws(ChatError) in
            try seating.renew(seats, for: duration.nanoseconds, now: now)
        }
    }

    func lose(_ holder: HolderID, grace: Duration) async throws(ChatError) {
        let now = uptime()
        seating.withLock { $0.lose(holder, grace: grace.nanoseconds, now: now) }
    }

    func conclude(_ holder: HolderID, for duration: Duration) async throws(ChatError) -> [PresenceChange] {
        let now = uptime()
        return seating.withLock { $0.conclude(holder, for: duration.nanoseconds, now: now) }
    }

    func release(_ seats: [Seat]?, by holder: HolderID) async throws(ChatError) -> [PresenceChange] {
        seating.withLock { $0.release(seats, by: holder) }
    }

    func leave(_ seats: [Seat]) async throws(ChatError) -> [PresenceChange] {
        seating.withLock { $0.leave(seats) }
    }

    func setState(_ state: JSONText?, of seat: Seat) async throws(ChatError) -> [PresenceChange] {
        try seating.withLock { seating throws(ChatError) in try seating.setState(state, of: seat) }
    }

    func expire() async throws(ChatError) -> [PresenceChange] {
        let now = uptime()
        return seating.withLock { $0.expire(now: now) }
    }

    func occupants(of venue: Venue, after user: String?, limit: Int) async throws(ChatError) -> Occupancy {
        seating.withLock { $0.occupants(of: venue, after: user, limit: limit) }
    }

    func occupant(_ seat: Seat) async throws(ChatError) -> Occupancy.Occupant? {
        seating.withLock { $0.occupant(seat) }
    }

    func counts(of venues: [Venue]) async throws(ChatError) -> [Int] {
        seating.withLock { seating in venues.map { seating.count(of: $0) } }
    }

    func venues(
        of kind: SeatKind, in space: SpaceID, limit: Int, where isWanted: @Sendable (ChannelID) -> Bool
    ) async throws(ChatError) -> [(ChannelID, count: Int)] {
        let all = seating.withLock { $0.venues(of: kind, in: space) }
        let wanted = all.filter { isWanted($0.channel) }
        return wanted.sorted { ExactText($0.channel.name) < ExactText($1.channel.name) }.prefix(limit)
            .map { ($0.channel, count: $0.count) }
    }

    func channels(of user: UserID, as kind: SeatKind) async throws(ChatError) -> [ChannelID] {
        seating.withLock { $0.channels(of: user, as: kind) }
    }

    func isTaken(_ seat: Seat) -> Bool { seating.withLock { $0.isTaken(seat) } }
}
