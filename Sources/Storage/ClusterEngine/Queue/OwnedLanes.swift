import ChatModel
import Locking
import StorageCore

/// The lanes (queues of subscribers) that this node owns. Only the owner leases the deliveries of a lane. Every claim of
/// a lane increases its fence, so that the outcomes of a former owner are void.
final class OwnedLanes: Sendable {
    /// The values of a lane's row that this node has read last.
    struct Known: Sendable, Equatable {
        /// The number of claims of the lane.
        var fence: Int64
        /// The number of changes by nodes that did not own the lane; -1 if memory must be read again in any case.
        var version: Int64
    }

    private struct State: Sendable {
        var scheduler: DeliveryScheduler?
        var lanes: [Int64: Known] = [:]
        var paces: [SubscriberID: (concurrency: Int?, notBefore: UInt64)] = [:]
        /// True if a lane without an owner may have due deliveries.
        var mayClaim = true
        /// The time of the last claim.
        var claimed = Timetoken.zero
        /// The time until which this node claims only late deliveries, because it passes lanes on to other nodes.
        var restrainedUntil = Timetoken.zero
        /// The lanes that this node has changed although another node, or no node, owns them.
        var changed: Set<Int64> = []
    }

    /// The number of this node, different from those of all other nodes and of earlier starts.
    let node: Int64
    /// Wakes ``QueueNode/followLanes()``.
    let signal = AsyncSignal()
    private let state = Lock(State())

    init(node: Int64) { self.node = node }

    /// Set once, before the first use.
    func setScheduler(_ scheduler: DeliveryScheduler) { state.withLock { $0.scheduler = scheduler } }

    var scheduler: DeliveryScheduler {
        guard let scheduler = state.withLock({ $0.scheduler }) else { preconditionFailure("the queue is not open") }
        return scheduler
    }

    func known(_ number: Int64) -> Known? { state.withLock { $0.lanes[number] } }

    /// The numbers of all lanes of this node.
    var all: [Int64] { state.withLock { Array($0.lanes.keys) } }

    /// Adds a lane that this node has claimed.
    ///
    /// - Parameter waiting: the number of waiting deliveries that are only in the database.
    func adopt(_ lane: LaneRow, waiting: Int) {
        let pace = state.withLock { state in
            state.lanes[lane.number] = Known(fence: lane.fence, version: lane.version)
            return state.paces[lane.stored.subscriber]
        }
        scheduler.adopt(lane.stored, waiting: waiting)
        if let pace { scheduler.pace(lane.number, concurrency: pace.concurrency, notBefore: pace.notBefore) }
    }

    /// Compares a row of a lane, as a transaction has read it, with memory. Removes a lane that belongs to another node
    /// now, and reads a lane again that other nodes have changed.
    func compare(_ lane: LaneRow) {
        enum Change { case nothing, remove, reload }
        let change = state.withLock { state -> Change in
            guard let known = state.lanes[lane.number] else { return .nothing }
            guard lane.owner == node, known.fence == lane.fence else {
                state.lanes[lane.number] = nil
                return .remove
            }
            guard known.version != lane.version else { return .nothing }
            state.lanes[lane.number]?.version = lane.version
            return .reload
        }
        switch change {
        case .nothing: break
        case .remove: scheduler.remove([lane.number])
        case .reload: scheduler.reload(lane.stored, waiting: lane.waiting)
        }
    }

    /// Removes lanes that this node has given up or lost.
    func remove(_ numbers: [Int64]) {
        state.withLock { state in for number in numbers { state.lanes[number] = nil } }
        scheduler.remove(numbers)
    }

    /// Makes this node read all its lanes again.
    func invalidate() {
        state.withLock { state in for number in state.lanes.keys { state.lanes[number]?.version = -1 } }
        signal.send()
    }

    // MARK: Paces

    func setPace(_ subscriber: SubscriberID, concurrency: Int?, notBefore: UInt64) {
        state.withLock { state in
            state.paces[subscriber] = concurrency == nil && notBefore == 0 ? nil : (concurrency, notBefore)
        }
        guard let number = scheduler.number(of: subscriber) else { return }
        scheduler.pace(number, concurrency: concurrency, notBefore: notBefore)
    }

    // MARK: Changes of lanes that this node does not own

    /// Records changes of lanes that this node does not own. Their owners, or nodes that can claim them, get a hint.
    func changed(_ numbers: [Int64]) {
        state.withLock { state in
            state.changed.formUnion(numbers)
            state.mayClaim = true
        }
        signal.send()
    }

    /// Removes and returns the lanes for ``changed(_:)``.
    func takeChanged() -> [Int64] {
        state.withLock { state in
            defer { state.changed = [] }
            return Array(state.changed)
        }
    }

    /// Records that a lane without an owner may have due deliveries.
    func allowClaim() { state.withLock { $0.mayClaim = true } }

    /// The time after which a claim is repeated without a reason, in ticks (50 ms).
    private static let claimInterval: UInt64 = 500_000

    /// The time for which a node that passes lanes on leaves due deliveries to other nodes (3 s, in ticks).
    private static let restraint: UInt64 = 3 * Timetoken.ticksPerSecond
    /// The delay after which every node may claim a delivery (2 s, in ticks).
    private static let lateness: UInt64 = 2 * Timetoken.ticksPerSecond

    /// Leaves due deliveries to other nodes for three seconds, until they are two seconds late.
    func restrain(now: Timetoken) {
        state.withLock { $0.restrainedUntil = Timetoken(now.rawValue + Self.restraint) }
    }

    /// True while this node leaves due deliveries to other nodes.
    func isRestrained(now: Timetoken) -> Bool { state.withLock { now < $0.restrainedUntil } }

    /// The time by which a delivery must be due so that this node may claim its lane.
    func claimableDue(now: Timetoken) -> Timetoken {
        isRestrained(now: now) ? Timetoken(now.rawValue - min(now.rawValue, Self.lateness)) : now
    }

    /// True if a claim may find due deliveries. The caller must then claim.
    func beginClaim(now: Timetoken) -> Bool {
        state.withLock { state in
            let isLate = now < state.claimed || now.rawValue - state.claimed.rawValue >= Self.claimInterval
            guard state.mayClaim || isLate else { return false }
            (state.mayClaim, state.claimed) = (false, now)
            return true
        }
    }
}
