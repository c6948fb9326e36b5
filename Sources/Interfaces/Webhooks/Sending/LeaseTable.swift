import ChatModel
import Locking

/// Leases of attempts under way, to renew those that take long.
final class LeaseTable: Sendable {
    private struct Key: Hashable {
        let id: String
        let fence: UInt64

        init(_ lease: Lease) {
            id = lease.delivery.id
            fence = lease.fence
        }
    }

    private let leases = Lock<[Key: (lease: Lease, since: ContinuousClock.Instant)]>([:])

    func insert(_ new: [Lease]) {
        let now = ContinuousClock.now
        leases.withLock { leases in
            for lease in new { leases[Key(lease)] = (lease, now) }
        }
    }

    func remove(_ old: [Lease]) {
        leases.withLock { leases in
            for lease in old { leases[Key(lease)] = nil }
        }
    }

    func heldAtLeast(_ age: Duration) -> [Lease] {
        let now = ContinuousClock.now
        return leases.withLock { leases in leases.values.filter { now - $0.since >= age }.map(\.lease) }
    }
}
