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
        try await scheduler.leases(DeliveryScheduler.LeaseRequest(limit: limit, capacity: capacity), within: wait)
    }

    func lease(
        from subscriber: SubscriberID, limit: Int, lasting duration: Duration, wait: Duration
    ) async throws(ChatError) -> [Lease] {
        guard let number = scheduler.number(of: subscriber) else {
            throw ChatError.unknownSubscriber(subscriber)
        }
        let request = DeliveryScheduler.LeaseRequest(limit: limit, lane: number, duration: duration.nanoseconds)
        return try await scheduler.leases(request, within: wait)
    }

    func finish(_ attempts: [(lease: Lease, outcome: DeliveryOutcome)]) async throws(ChatError) -> [Bool] {
        try await scheduler.finish(attempts)
    }

    func keep(_ bodies: [(lease: Lease, body: [UInt8])]) async throws(ChatError) -> [[UInt8]?] {
        let keys = bodies.map { scheduler.key(of: $0.lease) }
        return try await writerHandle.run { (writer) throws(SQLiteFailure) in .success(try writer.keep(bodies, keys)) }
    }

    func renew(_ leases: [Lease], for duration: Duration) async throws(ChatError) -> [Bool] {
        scheduler.renew(leases, for: duration)
    }

    func release(_ leases: [Lease], after pause: Duration) async throws(ChatError) -> [Bool] {
        scheduler.release(leases, after: pause)
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

    func replay(
        _ selection: DeliverySelection, isDryRun: Bool, whileCurrent record: RecordVersion?
    ) async throws(ChatError) -> Int {
        var count = 0
        var batch = ReplayBatch(selection)
        while let current = batch {
            let turn = try await writerHandle.run(needsTransaction: !isDryRun) {
                [scheduler] (writer) throws(SQLiteFailure) in
                try writer.run(whileCurrent: record) { () throws(SQLiteFailure) in
                    try writer.replay(current, isDryRun: isDryRun, scheduler: scheduler)
                }
            }
            count += turn.count
            batch = turn.next
        }
        return count
    }
}

extension SQLiteDeliveries {
    func enqueue(
        _ items: [PlannedDelivery], whileCurrent record: RecordVersion?
    ) async throws(ChatError) -> (due: Int, processed: Int) {
        var (due, processed) = (0, 0)
        while processed < items.count {
            let part = items[processed...].prefix(Writer.turnRows)
            let turn = try await writerHandle.run { [scheduler] (writer) throws(SQLiteFailure) in
                try writer.run(whileCurrent: record) { () throws(SQLiteFailure) in
                    try writer.enqueue(part, scheduler: scheduler)
                }
            }
            due += turn.due
            processed += turn.processed
            if turn.processed < part.count { break }
        }
        return (due, processed)
    }

    func purge(
        _ ids: [String], in app: AppID, whileCurrent record: RecordVersion?
    ) async throws(ChatError) -> Int {
        var count = 0
        for start in stride(from: 0, to: ids.count, by: Writer.turnRows) {
            // Other requests can run between the batches.
            let part = ids[start...].prefix(Writer.turnRows)
            count += try await writerHandle.run { (writer) throws(SQLiteFailure) in
                try writer.run(whileCurrent: record) { () throws(SQLiteFailure) in try writer.purge(part, in: app) }
            }
        }
        return count
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
}
