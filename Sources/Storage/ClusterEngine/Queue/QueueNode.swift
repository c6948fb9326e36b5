import ChatModel
import Locking
import Logging
import Postgres
import StorageCore

/// The part of the queue that makes this node a member of the cluster: the node's lease, the claims of lanes, and the
/// hints about changes of lanes.
///
/// Every node has a row with a lease, by the clock of the database. While the lease lasts, no other node claims the lanes
/// of this node.
final class QueueNode: Sendable {
    let lanes: OwnedLanes
    private let storage: ClusterQueueStorage
    private let writer: QueueWriter
    /// A connection of its own, so that the lease does not wait behind other reads.
    private let pool: ConnectionPool
    private let bus: (any ClusterBus)?
    private let memory: NodeMemory
    private let settings: ClusterEngineSettings
    /// The uptime at which the last successful renewal of the lease was sent.
    private let renewed: Lock<UInt64>
    private let isClosed = Lock(false)
    /// True when ``pollInterval`` has passed since the last comparison.
    private let isTick = Lock(false)

    /// The interval between two comparisons of memory with the rows of this node's lanes, and between two claims while a
    /// caller waits for deliveries.
    static let pollInterval: Duration = .seconds(1)
    /// A lane is given up if nothing is due within this time (2 s, in ticks).
    private static let idleTicks: UInt64 = 2 * Timetoken.ticksPerSecond

    init(
        lanes: OwnedLanes, storage: ClusterQueueStorage, writer: QueueWriter, pool: ConnectionPool,
        bus: (any ClusterBus)?, memory: NodeMemory,
        settings: ClusterEngineSettings
    ) {
        self.lanes = lanes
        self.storage = storage
        self.writer = writer
        self.pool = pool
        self.bus = bus
        self.memory = memory
        self.settings = settings
        renewed = Lock(settings.uptime())
    }

    private var scheduler: DeliveryScheduler { lanes.scheduler }

    // MARK: The lease of the node

    /// The number of this node.
    var number: Int64 { lanes.node }

    /// The numbers of the other nodes whose leases have not ended.
    func others() async throws(StoreFailure) -> [Int64] {
        let rows = try await pool.run([
            Statement(
                "SELECT id FROM node WHERE id <> $1 AND lease_until > \(LaneRow.databaseTime) ORDER BY id",
                [.integer(number)])
        ])[0]
        return (0..<rows.count).compactMap { rows.integer($0, 0) }
    }

    /// Renews the lease.
    ///
    /// - Throws: the failure of the store; `.unavailable` when the queue is closed, because the lease is then given up.
    func renew() async throws(StoreFailure) {
        guard !hasEnded else { throw .unavailable("the engine is closed") }
        let sent = settings.uptime()
        _ = try await pool.run([
            Statement(
                """
                INSERT INTO node(id, lease_until, version) OVERRIDING SYSTEM VALUE
                VALUES ($1, \(LaneRow.databaseTime) + $2, $3)
                ON CONFLICT (id) DO UPDATE SET lease_until = excluded.lease_until
                """,
                [
                    .integer(lanes.node), .integer(settings.nodeLease.duration.timetokenTicks),
                    .integer(Int64(settings.schema.known)),
                ])
        ])
        renewed.withLock { $0 = max($0, sent) }
    }

    /// The time for which the lease still lasts, at least; zero when it may have ended.
    var leaseLeft: Duration {
        let (now, end) = (settings.uptime(), renewed.withLock { $0 })
        return max(.zero, settings.nodeLease.duration - .nanoseconds(now - min(now, end)))
    }

    private var isLeaseSafe: Bool {
        let now = settings.uptime()
        return now < renewed.withLock { $0 } + UInt64(settings.nodeLease.margin / .nanoseconds(1))
    }

    /// True when the queue leases nothing more.
    var hasEnded: Bool { isClosed.withLock { $0 } }

    /// Renews the lease if it may have ended. Returns false when the queue is closed.
    ///
    /// - Throws: `.unavailable` when the lease cannot be renewed. Then the node has given up its lanes.
    func prepareLeasing() async throws(ChatError) -> Bool {
        guard !hasEnded else { return false }
        guard !isLeaseSafe else { return true }
        do throws(StoreFailure) {
            try await renew()
        } catch {
            lanes.remove(lanes.all)
            throw error.answer
        }
        return true
    }

    // MARK: Lanes

    /// Claims lanes with due deliveries. Returns their number.
    func claim() async throws(ChatError) -> Int {
        try await writer.run { (transaction) throws(PostgresFailure) in .success(try await transaction.claimDueLanes())
        }
    }

    /// Claims one lane, unless another live node owns it.
    ///
    /// - Parameter isNeeded: true to ask the owner for the lane, if it is the lane of a pulled subscription.
    func claim(_ number: Int64, isNeeded: Bool) async throws(ChatError) {
        try await writer.run { (transaction) throws(PostgresFailure) in
            .success(try await transaction.claim(number, isNeeded: isNeeded))
        }
    }

    /// Gives the lane of a pulled subscription to the node that needs it, with its leases.
    private func handOver(_ number: Int64) async throws(ChatError) {
        scheduler.flush()
        await storage.recordFinished()
        do throws(ChatError) {
            try await writer.run { [scheduler] (transaction) throws(PostgresFailure) in
                .success(try await transaction.handOver(number, scheduler.suspend(number)))
            }
        } catch {
            scheduler.fetchFailed(number)
            throw error
        }
    }

    /// Claims the lanes of leases of pulled subscriptions that other nodes own. An acknowledgment may arrive at any node.
    /// Waits until the owners have given up the lanes, at most three seconds.
    func acquire(_ leases: [Lease], _ reads: QueueReads) async throws(ChatError) {
        for subscriber in Set(leases.map(\.delivery.subscriber)) where scheduler.number(of: subscriber) == nil {
            let number = try await asking { () throws(StoreFailure) in
                try await reads.number(of: subscriber, isPulled: true)
            }
            guard let number else { continue }
            for _ in 0..<100 {
                try await claim(number, isNeeded: true)
                if lanes.known(number) != nil { break }
                await settings.scheduler.sleep(.milliseconds(30))
            }
        }
    }

    /// Reorders a subscriber's waiting deliveries according to its settings, unless another node owns the lane.
    func reorder(_ subscriber: Int64) async throws(ChatError) {
        var place: QueueTransaction.ReorderingPlace? = QueueTransaction.ReorderingPlace(subscriber: subscriber)
        while let current = place {
            place = try await writer.run { (transaction) throws(PostgresFailure) in
                .success(try await transaction.reorder(current))
            }
        }
    }

    /// Receives a hint of another node. Returns false if the bytes are not a hint about lanes.
    func receive(_ hint: [UInt8]) -> Bool {
        guard LaneHint.isHint(hint) else { return false }
        lanes.allowClaim()
        lanes.signal.send()
        return true
    }

    // MARK: Regular work

    /// The interval between two attempts to renew the lease after a failure.
    private static let renewalRetry: Duration = .milliseconds(250)

    /// Renews the lease until the task is cancelled.
    func keepLease() async {
        var wait = settings.nodeLease.renewal
        while !Task.isCancelled {
            await settings.scheduler.sleep(wait)
            guard !Task.isCancelled else { return }
            do throws(StoreFailure) {
                try await renew()
                wait = settings.nodeLease.renewal
            } catch {
                // While the store is away, only its first failure is logged.
                if wait != Self.renewalRetry {
                    settings.logger.warning("the lease of the node is not renewed", metadata: ["failure": "\(error)"])
                }
                wait = Self.renewalRetry
                if !isLeaseSafe { lanes.remove(lanes.all) }
            }
        }
    }

    /// Wakes ``followLanes()`` regularly, until the task is cancelled.
    func tick() async {
        while !Task.isCancelled {
            await settings.scheduler.sleep(Self.pollInterval)
            lanes.allowClaim()
            isTick.withLock { $0 = true }
            lanes.signal.send()
        }
    }

    /// Keeps memory equal to the rows of this node's lanes, gives up idle lanes, and claims lanes for waiting callers,
    /// until the task is cancelled.
    func followLanes() async {
        while !Task.isCancelled {
            await lanes.signal.wait()
            guard !Task.isCancelled, !hasEnded else { return }
            let changed = lanes.takeChanged()
            if !changed.isEmpty { bus?.publish(LaneHint.bytes) }
            try? await follow()  // the writer has logged the failure; the next tick repeats
        }
    }

    private func follow() async throws(ChatError) {
        let moment = memory.clock.now.rawValue + Self.idleTicks
        let idle = Lock<[Int64]>([])
        let isReleasing = scheduler.isReleasing
        let found: QueueTransaction.Comparison
        do throws(ChatError) {
            found = try await writer.run { [memory, scheduler] (transaction) throws(PostgresFailure) in
                // Lanes are suspended within the transaction. So a caller whose lane is suspended can claim it
                // afterwards.
                let all = idle.withLock { idle in
                    idle += scheduler.suspendIdleLanes(until: moment)
                    return idle
                }
                return .success(try await transaction.compareLanes(givingUp: all, memory))
            }
        } catch {
            for number in idle.withLock({ $0 }) { scheduler.fetchFailed(number) }
            throw error
        }
        let givenUp = idle.withLock { $0 }
        if isReleasing, !givenUp.isEmpty { lanes.changed(givenUp) }
        let isTick = self.isTick.withLock { isTick in
            defer { isTick = false }
            return isTick
        }
        // The other nodes have a second to claim what was given up before more is released.
        if isTick { scheduler.release(lanes: found.released) }
        if isReleasing || scheduler.isReleasing { lanes.restrain(now: memory.clock.now) }
        for number in found.reordered { try await reorder(number) }
        for number in found.wanted { try await handOver(number) }
        // Two nodes whose callers wait for the same lane ask each other for it once in a while only.
        for number in scheduler.pulledLanes where lanes.known(number) == nil {
            try await claim(number, isNeeded: isTick)
        }
        if scheduler.hasWaiters, lanes.beginClaim(now: memory.clock.now) { _ = try await claim() }
    }

    /// Records the finished attempts, ends the waits, and gives up all lanes and the lease.
    func close() async {
        scheduler.flush()
        await storage.close()
        isClosed.withLock { $0 = true }
        await writer.close()
        scheduler.close()
        do throws(StoreFailure) {
            _ = try await pool.run([
                Statement("UPDATE subscriber SET owner = NULL WHERE owner = $1", [.integer(lanes.node)]),
                Statement("DELETE FROM node WHERE id = $1", [.integer(lanes.node)]),
            ])
        } catch {
            settings.logger.notice("the lanes of the node stay its own until its lease ends")
        }
        await pool.close()
    }
}

/// The message on the bus that says that lanes have changed. It does not say which: every node finds those that concern
/// it with one query.
enum LaneHint {
    /// Different from the first byte of every frame of `FrameCodec`.
    static let bytes: [UInt8] = [200]

    static func isHint(_ hint: [UInt8]) -> Bool { hint == bytes }
}
