import ChatModel
import Locking

/// Leases of attempts under way, to renew those that take long.
final class LeaseTable: Sendable {
    private struct Key: Hashable {
        let id: String
        let fence: UInt64
    }

    private let leases = Lock<[Key: (lease: Lease, since: ContinuousClock.Instant)]>([:])

    func insert(_ lease: Lease) {
        leases.withLock { $0[Key(id: lease.delivery.id, fence: lease.fence)] = (lease, .now) }
    }

    func remove(_ lease: Lease) {
        leases.withLock { $0[Key(id: lease.delivery.id, fence: lease.fence)] = nil }
    }

    func heldAtLeast(_ age: Duration) -> [Lease] {
        let now = ContinuousClock.now
        return leases.withLock { leases in leases.values.filter { now - $0.since >= age }.map(\.lease) }
    }
}
