import ChatModel
import Locking
import Postgres
import StorageCore

/// The delivery queue (`DeliveryQueue`) of a cluster, as one node offers it.
struct ClusterDeliveries: DeliveryQueue {
    let node: QueueNode
    let scheduler: DeliveryScheduler
    let writer: QueueWriter
    let reads: QueueReads
    let memory: NodeMemory
    private var lanes: OwnedLanes { node.lanes }

    @discardableResult
    func plan(
        _ items: [PlannedDelivery], cursor: CursorName, from: Timetoken, to: Timetoken
    ) async throws(ChatError) -> [SubscriberID: Int] {
        try await writer.run { [memory] (transaction) throws(PostgresFailure) in
            try await transaction.plan(items, cursor: cursor, from: from, to: to, memory)
        }
    }

    func cursor(_ name: CursorName) async throws(ChatError) -> Timetoken {
        try await asking { () throws(StoreFailure) in try await reads.cursor(name) }
    }

    // MARK: Leases

    func lease(_ limit: Int, capacity: Int, wait: Duration) async throws(ChatError) -> [Lease] {
        let request = DeliveryScheduler.LeaseRequest(limit: limit, capacity: capacity)
        return try await untilClosed { () async throws(ChatError) in
            if lanes.beginClaim(now: memory.clock.now) { _ = try await node.claim() }
            let leases = try await scheduler.leases(request, within: .zero)
            guard leases.isEmpty else { return leases }
            // While the caller waits, `QueueNode.followLanes` claims lanes for it.
            guard wait == .zero else { return try await scheduler.leases(request, within: wait) }
            return try await node.claim() > 0 ? try await scheduler.leases(request, within: .zero) : []
        }
    }

    func lease(
        from subscriber: SubscriberID, limit: Int, lasting duration: Duration, wait: Duration
    ) async throws(ChatError) -> [Lease] {
        try await untilClosed { () async throws(ChatError) in
            let owned = scheduler.number(of: subscriber)
            let found: Int64? =
                if let owned { owned } else {
                    try await asking { () throws(StoreFailure) in try await reads.number(of: subscriber) }
                }
            guard let number = found else { throw .unknownSubscriber(subscriber) }
            let request = DeliveryScheduler.LeaseRequest(limit: limit, lane: number, duration: duration.nanoseconds)
            if owned != nil {
                let leases = try await scheduler.leases(request, within: .zero)
                guard leases.isEmpty else { return leases }
            }
            // The lane may have been given up since it was found, and may be given up again meanwhile.
            try await node.claim(number, isNeeded: true)
            let leases = try await scheduler.leases(request, within: wait)
            guard leases.isEmpty, try await isDue(number) else { return leases }
            try await node.claim(number, isNeeded: true)
            return try await scheduler.leases(request, within: max(wait, Self.claimWait))
        }
    }

    /// The time that a caller waits for a lane which has due deliveries.
    private static let claimWait: Duration = .milliseconds(200)

    /// True if a subscriber has due deliveries in the store. Some of them may be leased.
    private func isDue(_ number: Int64) async throws(ChatError) -> Bool {
        let now = memory.clock.now
        return try await asking { () throws(StoreFailure) in
            try await reads.pool.run([
                Statement(
                    "SELECT EXISTS (SELECT 1 FROM delivery WHERE ep = $1 AND state = 0 AND due <= $2)",
                    [.integer(number), .timetoken(now)])
            ])[0].boolean(0, 0) ?? false
        }
    }

    /// Runs `body` if the node may lease deliveries. Returns no leases when the queue is closed.
    private func untilClosed(_ body: () async throws(ChatError) -> [Lease]) async throws(ChatError) -> [Lease] {
        do throws(ChatError) {
            guard try await node.prepareLeasing() else { return [] }
            return try await body()
        } catch {
            guard !node.hasEnded else { return [] }
            throw error
        }
    }

    func finish(_ attempts: [(lease: Lease, outcome: DeliveryOutcome)]) async throws(ChatError) -> [Bool] {
        try await node.acquire(attempts.map(\.lease), reads)
        return try await scheduler.finish(attempts)
    }

    func keep(_ bodies: [(lease: Lease, body: [UInt8])]) async throws(ChatError) -> [[UInt8]?] {
        let keys = bodies.map { scheduler.key(of: $0.lease) }
        let known = zip(bodies, keys).compactMap { body, key in key.map { (body: body, key: $0) } }
        guard !known.isEmpty else { return bodies.map { _ in nil } }
        let rows = try await asking { () throws(StoreFailure) in
            try await reads.pool.run(keepStatements(known.map(\.body), known.map(\.key)))
        }[1]
        var stored: [DeliveryKey: [UInt8]] = [:]
        for row in 0..<rows.count { stored[rows.deliveryKey(row)] = rows.bytes(row, 2) }
        return keys.map { key in key.flatMap { stored[$0] } }
    }

    func renew(_ leases: [Lease], for duration: Duration) async throws(ChatError) -> [Bool] {
        try await node.acquire(leases, reads)
        return scheduler.renew(leases, for: duration)
    }

    func release(_ leases: [Lease], after pause: Duration) async throws(ChatError) -> [Bool] {
        try await node.acquire(leases, reads)
        return scheduler.release(leases, after: pause)
    }

    // MARK: Subscribers

    func set(_ settings: LaneSettings, of subscriber: SubscriberID) async throws(ChatError) {
        let lane = try await writer.run { (transaction) throws(PostgresFailure) in
            .success(try await transaction.set(settings.bounded, of: subscriber))
        }
        guard let lane else { throw .storeUnavailable }
        // The deliveries of a long queue are ended or reordered in batches, so that other changes can run between the
        // batches.
        if settings.state == .closed {
            while try await writer.run({ (transaction) throws(PostgresFailure) in
                .success(try await transaction.markDead(lane.number))
            }) {}
        }
        if lane.isReordering { try await node.reorder(lane.number) }
    }

    func pace(_ subscriber: SubscriberID, concurrency: Int?, notBefore: Timetoken?) async {
        lanes.setPace(subscriber, concurrency: concurrency, notBefore: notBefore?.rawValue ?? 0)
    }

    // MARK: Lists

    func list(_ query: DeliveryQuery) async throws(ChatError) -> Page<Delivery> {
        let listing = try DeliveryListing(query)
        return try await asking { () throws(StoreFailure) in try await reads.list(listing) }
    }

    func counts(_ queries: [DeliveryQuery], most: Int) async throws(ChatError) -> [Int] {
        var listings: [DeliveryListing] = []
        for query in queries { listings.append(try DeliveryListing(query)) }
        return try await asking { () throws(StoreFailure) in try await reads.counts(listings, most: most) }
    }

    func delivery(_ id: String, in app: AppID) async throws(ChatError) -> (Delivery, [DeliveryAttempt])? {
        try await asking { () throws(StoreFailure) in try await reads.delivery(id, in: app) }
    }

    // MARK: Rescheduling

    func replay(
        _ selection: DeliverySelection, isDryRun: Bool, whileCurrent record: RecordVersion?
    ) async throws(ChatError) -> Int {
        var count = 0
        var batch = ReplayBatch(selection)
        while let current = batch {
            let turn = try await run(whileCurrent: record) {
                [limits = memory.limits] (transaction) throws(PostgresFailure) in
                try await transaction.replay(current, isDryRun: isDryRun, limits)
            }
            count += turn.count
            batch = turn.next
        }
        return count
    }

    func enqueue(
        _ items: [PlannedDelivery], whileCurrent record: RecordVersion?
    ) async throws(ChatError) -> (due: Int, processed: Int) {
        var (due, processed) = (0, 0)
        while processed < items.count {
            let part = items[processed...].prefix(QueueTransaction.turnRows)
            let turn = try await run(whileCurrent: record) {
                [limits = memory.limits] (transaction) throws(PostgresFailure) in
                try await transaction.enqueue(part, limits)
            }
            due += turn.due
            processed += turn.processed
            if turn.processed < part.count { break }
        }
        return (due, processed)
    }

    func skip(_ subscriber: SubscriberID, through event: Timetoken) async throws(ChatError) -> Int {
        let number = try await asking { () throws(StoreFailure) in try await reads.number(of: subscriber) }
        guard let number else { return 0 }
        var count = 0
        var position: UInt64? = 0
        while let after = position {
            let turn = try await writer.run { (transaction) throws(PostgresFailure) in
                .success(try await transaction.skip(number, after: after, through: event.rawValue))
            }
            count += turn.count
            position = turn.next
        }
        return count
    }

    func purge(
        _ ids: [String], in app: AppID, whileCurrent record: RecordVersion?
    ) async throws(ChatError) -> Int {
        var count = 0
        for start in stride(from: 0, to: ids.count, by: QueueTransaction.turnRows) {
            let part = Array(ids[start...].prefix(QueueTransaction.turnRows))
            count += try await run(whileCurrent: record) { (transaction) throws(PostgresFailure) in
                try await transaction.purge(part, in: app)
            }
        }
        return count
    }

    /// Runs `body` in a transaction if a record has the given version. The record cannot change before the commit.
    private func run<Value: Sendable>(
        whileCurrent record: RecordVersion?,
        _ body: @Sendable (QueueTransaction) async throws(PostgresFailure) -> Value
    ) async throws(ChatError) -> Value {
        try await writer.run { (transaction) throws(PostgresFailure) in
            if let record {
                let etag = try await transaction.lockedEtag(of: record.key)
                do throws(ChatError) {
                    try RecordChange.Precondition.etag(record.etag).check(etag)
                } catch {
                    return .failure(error)
                }
            }
            return .success(try await body(transaction))
        }
    }
}
