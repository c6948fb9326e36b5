import ChatModel
import Locking

/// Leases of attempts under way, to renew those that take long.
final class LeaseTable: Sendable {
    /// By their fences, of which no two leases have the same.
    private let leases = Lock<[UInt64: (lease: Lease, since: ContinuousClock.Instant)]>([:])

    func insert(_ new: [Lease]) {
        let now = ContinuousClock.now
        leases.withLock { leases in
            for lease in new { leases[lease.fence] = (lease, now) }
        }
    }

    func remove(_ old: [Lease]) {
        leases.withLock { leases in
            for lease in old { leases[lease.fence] = nil }
        }
    }

    func heldAtLeast(_ age: Duration) -> [Lease] {
        let now = ContinuousClock.now
        return leases.withLock { leases in leases.values.filter { now - $0.since >= age }.map(\.lease) }
    }
}
