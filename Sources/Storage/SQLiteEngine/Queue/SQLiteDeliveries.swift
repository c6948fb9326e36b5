import ChatModel
import Locking
import SQLite
import StorageCore

/// The delivery queue (`DeliveryQueue`) of a store.
struct SQLiteDeliveries: DeliveryQueue {
    let engineState: EngineState
    let scheduler: DeliveryScheduler
    let readers: Readers
    let writerHandle: WriterHandle

    @discardableResult
    func plan(
        _ items: [PlannedDelivery], cursor: CursorName, from: Timetoken, to: Timetoken
    ) async throws(ChatError) -> [SubscriberID: Int] {
        try await writerHandle.run { [scheduler] (writer) throws(SQLiteFailure) in
            try writer.plan(items, cursor: cursor, from: from, to: to, scheduler: scheduler)
        }
    }

    func cursor(_ name: CursorName) async throws(ChatError) -> Timetoken { engineState.retention.cursor(name) }

    func lease(_ limit: Int, capacity: Int, wait: Duration) async throws(ChatError) -> [Lease] {
        try await leases(
            of: scheduler.lease(DeliveryScheduler.LeaseRequest(limit: limit, capacity: capacity), within: wait))
    }

    func lease(
        from subscriber: SubscriberID, limit: Int, lasting duration: Duration, wait: Duration
    ) async throws(ChatError) -> [Lease] {
        guard let number = scheduler.number(of: subscriber) else {
            throw ChatError.unknownSubscriber(subscriber)
        }
        let request = DeliveryScheduler.LeaseRequest(limit: limit, lane: number, duration: duration.nanoseconds)
        return try await leases(of: scheduler.lease(request, within: wait))
    }

    private func leases(of grants: [DeliveryScheduler.Grant]) async throws(ChatError) -> [Lease] {
        guard grants.contains(where: { $0.planned == nil || $0.freeCapacity > 0 }) else {
            return grants.compactMap(\.leaseOfPlanned)
        }
        var all = grants
        let stored: [DeliveryKey: Lease]
        do throws(ChatError) {
            if grants.contains(where: { $0.freeCapacity > 0 }) { all = try await withFollowers(grants) }
            let wanted = all
            stored = try await readers.run { (reader) throws(SQLiteFailure) in try reader.leases(wanted) }
        } catch {
            for grant in all { scheduler.release(grant, isGone: false) }
            throw error
        }
        var leases: [Lease] = []
        for grant in all {
            if let lease = grant.leaseOfPlanned ?? stored[grant.key] {
                leases.append(lease)
            } else {
                scheduler.release(grant, isGone: true)
            }
        }
        return leases
    }

    /// Adds the deliveries that follow the leased deliveries in the required order and may be part of the same
    /// attempts. Each is placed after the delivery that it follows.
    private func withFollowers(_ grants: [DeliveryScheduler.Grant]) async throws(ChatError) -> [DeliveryScheduler.Grant]
    {
        let followers = try await readers.run { (reader) throws(SQLiteFailure) in try reader.followers(of: grants) }
        return grants.flatMap { grant in [grant] + (followers[grant.key].map { scheduler.join(grant, $0) } ?? []) }
    }

    func finish(_ attempts: [(lease: Lease, outcome: DeliveryOutcome)]) async throws(ChatError) -> [Bool] {
        let keys = scheduler.claimRecording(of: attempts)
        guard keys.contains(where: { $0 != nil }) else { return keys.map { _ in false } }
        do throws(ChatError) {
            let result = await withUnsafeContinuation { continuation in
                scheduler.enqueueRecording(
                    FinishedAttempts(attempts: attempts, keys: keys, completion: Completion(continuation)))
            }
            return try result.get()
        } catch {
            scheduler.cancelRecording(of: keys)
            throw error
        }
    }

    func keep(_ bodies: [(lease: Lease, body: [UInt8])]) async throws(ChatError) -> [[UInt8]?] {
        let keys = bodies.map { key(of: $0.lease) }
        return try await writerHandle.run { (writer) throws(SQLiteFailure) in .success(try writer.keep(bodies, keys)) }
    }

    func renew(_ leases: [Lease], for duration: Duration) async throws(ChatError) -> [Bool] {
        leases.map { lease in
            key(of: lease).map { scheduler.renew($0, fence: lease.fence, for: duration) } ?? false
        }
    }

    func release(_ leases: [Lease], after pause: Duration) async throws(ChatError) -> [Bool] {
        // A lease whose end is moved to the end of the pause expires then, and its delivery is due again.
        guard pause == .zero else { return try await renew(leases, for: pause) }
        return leases.map { lease in key(of: lease).map { scheduler.release($0, fence: lease.fence) } ?? false }
    }

    private func key(of lease: Lease) -> DeliveryKey? {
        scheduler.number(of: lease.delivery.subscriber)
            .map { DeliveryKey(event: lease.delivery.event.rawValue, subscriber: $0) }
    }

    func set(_ settings: LaneSettings, of subscriber: SubscriberID) async throws(ChatError) {
        let stored = try await writerHandle.run { [scheduler] (writer) throws(SQLiteFailure) in
            .success(try writer.set(settings.bounded, of: subscriber, scheduler: scheduler))
        }
        // The deliveries of a long queue are ended or reordered in batches, so that other requests can run between the
        // batches.
        if settings.state == .closed {
            while try await writerHandle.run({ [scheduler] (writer) throws(SQLiteFailure) in
                .success(try writer.markDead(stored.number, scheduler: scheduler))
            }) {}
        }
        if stored.reordering != .done { try await reorder(stored.number) }
    }

    /// Reorders a subscriber's waiting deliveries according to its settings.
    func reorder(_ subscriber: Int64) async throws(ChatError) {
        var place: Writer.ReorderingPlace? = Writer.ReorderingPlace(subscriber: subscriber)
        while let current = place {
            place = try await writerHandle.run { [scheduler] (writer) throws(SQLiteFailure) in
                .success(try writer.reorder(current, scheduler: scheduler))
            }
        }
    }

    func pace(_ subscriber: SubscriberID, concurrency: Int?, notBefore: Timetoken?) async {
        guard let number = scheduler.number(of: subscriber) else { return }
        scheduler.pace(number, concurrency: concurrency, notBefore: notBefore?.rawValue ?? 0)
    }

    func list(_ query: DeliveryQuery) async throws(ChatError) -> Page<Delivery> {
        let listing = try DeliveryListing(query)
        return try await readers.run { (reader) throws(SQLiteFailure) in try reader.list(listing) }
    }

    func counts(_ queries: [DeliveryQuery], most: Int) async throws(ChatError) -> [Int] {
        var listings: [DeliveryListing] = []
        for query in queries { listings.append(try DeliveryListing(query)) }
        return try await readers.run { [listings] (reader) throws(SQLiteFailure) in
            try reader.counts(listings, most: most)
        }
    }

    func delivery(_ id: String, in app: AppID) async throws(ChatError) -> (Delivery, [DeliveryAttempt])? {
        let found = try await readers.run { (reader) throws(SQLiteFailure) in try reader.delivery(id, in: app) }
        return found.map { ($0.delivery, $0.attempts) }
    }

    func replay(_ selection: DeliverySelection, isDryRun: Bool) async throws(ChatError) -> Int {
        var count = 0
        var batch = ReplayBatch(selection)
        while let current = batch {
            let turn = try await writerHandle.run(needsTransaction: !isDryRun) {
                [scheduler] (writer) throws(SQLiteFailure) in
                .success(try writer.replay(current, isDryRun: isDryRun, scheduler: scheduler))
            }
            count += turn.count
            batch = turn.next
        }
        return count
    }
}

extension SQLiteDeliveries {
    func enqueue(_ items: [PlannedDelivery]) async throws(ChatError) -> (due: Int, processed: Int) {
        var (due, processed) = (0, 0)
        while processed < items.count {
            let part = items[processed...].prefix(Writer.turnRows)
            let turn = try await writerHandle.run { [scheduler] (writer) throws(SQLiteFailure) in
                .success(try writer.enqueue(part, scheduler: scheduler))
            }
            due += turn.due
            processed += turn.processed
            if turn.processed < part.count { break }
        }
        return (due, processed)
    }

    func purge(_ ids: [String], in app: AppID) async throws(ChatError) -> Int {
        try await inBatches(ids) { (writer, part) throws(SQLiteFailure) in try writer.purge(part, in: app) }
    }

    func skip(_ subscriber: SubscriberID, through event: Timetoken) async throws(ChatError) -> Int {
        guard let number = scheduler.number(of: subscriber) else { return 0 }
        let end = min(event.rawValue, UInt64(Int64.max) - 1)
        var count = 0
        var position: UInt64? = 0
        while let after = position {
            let turn = try await writerHandle.run { [scheduler] (writer) throws(SQLiteFailure) in
                .success(try writer.skip(number, after: after, through: end, scheduler: scheduler))
            }
            count += turn.count
            position = turn.next
        }
        return count
    }

    /// Runs `body` with one batch of the elements after the other, so that other requests can run between the batches.
    /// Returns the sum of the results.
    private func inBatches<Element: Sendable>(
        _ elements: [Element],
        _ body: @escaping @Sendable (Writer, ArraySlice<Element>) throws(SQLiteFailure) -> Int
    ) async throws(ChatError) -> Int {
        var count = 0
        for start in stride(from: 0, to: elements.count, by: Writer.turnRows) {
            let part = elements[start...].prefix(Writer.turnRows)
            count += try await writerHandle.run { (writer) throws(SQLiteFailure) in .success(try body(writer, part)) }
        }
        return count
    }
}

extension DeliveryScheduler.Grant {
    /// The lease of a delivery that the planner has just added; nil for any other delivery. The lease is made from the
    /// planner's data in memory, without reading the database.
    fileprivate var leaseOfPlanned: Lease? {
        guard let planned else { return nil }
        let delivery = Delivery(
            id: planned.id, subscriber: subscriber, event: planned.event, type: planned.type, channel: planned.channel,
            status: .pending, attempts: 0, due: Timetoken(item.due))
        return Lease(delivery: delivery, fence: fence, body: planned.body, attempt: attempt)
    }
}
