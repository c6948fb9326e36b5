public import ChatModel
import ChatPresence
public import JSON
public import Locking

/// A presence store in the memory of one process. Its lock is held for microseconds at a time.
public final class MemoryPresenceStore: PresenceStore {
    private let table: Lock<PresenceTable>
    private let uptime: @Sendable () -> UInt64

    /// Creates an empty store.
    ///
    /// - Parameter uptime: returns a monotonic time in nanoseconds, which determines when entries time out.
    public init(limits: Limits, uptime: @escaping @Sendable () -> UInt64 = { MonotonicTime.now.nanoseconds }) {
        table = Lock(PresenceTable(limit: limits.presenceEntries))
        self.uptime = uptime
    }

    public var mayExpire: Bool { table.withLock { $0.mayExpire } }

    public func hold(
        _ presenceKeys: [PresenceKey], of user: UserID, by holder: HolderID
    ) async throws(ChatError) -> [PresenceChange] {
        try table.withLock { table throws(ChatError) in try table.hold(presenceKeys, of: user, by: holder) }
    }

    public func holdAtOnce(_ presenceKeys: [PresenceKey], of user: UserID, by holder: HolderID) -> Bool {
        table.withLock { $0.holdPresent(presenceKeys, of: user, by: holder) }
    }

    public func concludeAtOnce(_ holder: HolderID, for duration: Duration) -> Bool {
        guard duration > .zero else { return false }
        let now = uptime()
        // The entries last for the duration, so nobody leaves.
        _ = table.withLock { $0.conclude(holder, for: duration.nanoseconds, now: now) }
        return true
    }

    public func renew(_ presenceKeys: [PresenceKey], for duration: Duration) async throws(ChatError) -> [PresenceChange]
    {
        let now = uptime()
        return try table.withLock { table throws(ChatError) in
            try table.renew(presenceKeys, for: duration.nanoseconds, now: now)
        }
    }

    public func disconnect(_ holder: HolderID, grace: Duration) async throws(ChatError) {
        let now = uptime()
        table.withLock { $0.disconnect(holder, grace: grace.nanoseconds, now: now) }
    }

    public func conclude(_ holder: HolderID, for duration: Duration) async throws(ChatError) -> [PresenceChange] {
        let now = uptime()
        return table.withLock { $0.conclude(holder, for: duration.nanoseconds, now: now) }
    }

    public func release(_ presenceKeys: [PresenceKey]?, by holder: HolderID) async throws(ChatError) -> [PresenceChange]
    {
        table.withLock { $0.release(presenceKeys, by: holder) }
    }

    public func leave(_ presenceKeys: [PresenceKey]) async throws(ChatError) -> [PresenceChange] {
        let now = uptime()
        return table.withLock { $0.leave(presenceKeys, now: now) }
    }

    public func setState(_ state: JSONText?, of presenceKey: PresenceKey) async throws(ChatError) -> [PresenceChange] {
        try table.withLock { table throws(ChatError) in try table.setState(state, of: presenceKey) }
    }

    public func expire() async throws(ChatError) -> [PresenceChange] {
        let now = uptime()
        return table.withLock { $0.expire(now: now) }
    }

    public func occupants(
        of presenceScope: PresenceScope, after user: String?, _ order: ListOrder, limit: Int
    ) async throws(ChatError) -> Occupancy {
        table.withLock { $0.occupants(of: presenceScope, after: user, order, limit: limit) }
    }

    public func occupant(_ presenceKey: PresenceKey) async throws(ChatError) -> Occupancy.Occupant? {
        table.withLock { $0.occupant(presenceKey) }
    }

    public func counts(of presenceScopes: [PresenceScope]) async throws(ChatError) -> [Int] {
        table.withLock { table in presenceScopes.map { table.count(of: $0) } }
    }

    public func presenceScopes(
        of kind: PresenceKind, in app: AppID, limit: Int, where isWanted: @Sendable (ChannelID) -> Bool
    ) async throws(ChatError) -> [(ChannelID, count: Int)] {
        let all = table.withLock { $0.presenceScopes(of: kind, in: app) }
        let wanted = all.filter { isWanted($0.channel) }
        return wanted.sorted { ExactText($0.channel.name) < ExactText($1.channel.name) }.prefix(limit)
            .map { ($0.channel, count: $0.count) }
    }

    public func channels(of user: UserID, as kind: PresenceKind) async throws(ChatError) -> [ChannelID] {
        table.withLock { $0.channels(of: user, as: kind) }
    }

    public func isTaken(_ presenceKey: PresenceKey) -> Bool { table.withLock { $0.isTaken(presenceKey) } }
}
