import ChatModel
import SQLite
import StorageCore

extension Writer {
    // MARK: Planning

    /// Moves the planner's cursor and stores new deliveries. Stores nothing and returns an error if the cursor is not
    /// at `from`. Returns, for each subscriber whose queue was full, the number of deliveries that were stored as dead.
    func plan(
        _ items: [PlannedDelivery], cursor: CursorName, from: Timetoken, to: Timetoken, scheduler: DeliveryScheduler
    ) throws(SQLiteFailure) -> Result<[SubscriberID: Int], ChatError> {
        guard try move(cursor, from: from, to: to) else {
            return .failure(.cursorMoved(cursor, from: from))
        }
        var planned: [(subscriber: Int64, item: PlannedDelivery, isInLine: Bool)] = []
        // The number of deliveries that this call has added for each subscriber. The scheduler does not count them yet.
        var added: [Int64: Int] = [:]
        var overflowing: [SubscriberID: Int] = [:]
        for item in items {
            let number = try self.number(of: item.subscriber, scheduler: scheduler)
            let lane = scheduler.snapshot(of: number)
            let refusal = refusal(lane, added: added[number, default: 0])
            let place = try refusal == nil ? place(of: item, number, lane) : Place()
            guard try insert(item, number, place, deadBecause: refusal) else { continue }
            if let refusal {
                if refusal == .heldTooMany { overflowing[item.subscriber, default: 0] += 1 }
                continue
            }
            added[number, default: 0] += 1
            planned.append((number, item, place.isInLine))
        }
        effects.append { [engineState, planned, now] in
            engineState.retention.move(cursor, to: to)
            scheduler.add(planned, due: now.rawValue)
        }
        return .success(overflowing)
    }

    private func move(_ cursor: CursorName, from: Timetoken, to: Timetoken) throws(SQLiteFailure) -> Bool {
        let move = statements.deliveries.moveCursor
        move.bind(cursor.text, at: 1)
        move.bind(Int64(from.rawValue), at: 2)
        move.bind(Int64(to.rawValue), at: 3)
        try move.run()
        guard database.changes == 0 else { return true }
        guard from == .zero else { return false }
        let begin = statements.deliveries.beginCursor
        begin.bind(cursor.text, at: 1)
        begin.bind(Int64(to.rawValue), at: 2)
        try begin.run()
        return database.changes == 1
    }

    /// Returns the reason why a new delivery of this subscriber is stored as dead; nil when it is stored as waiting.
    private func refusal(_ lane: DeliveryScheduler.LaneSnapshot?, added: Int) -> DeadReason? {
        guard let lane else { return nil }
        if lane.state == .closed { return .webhookDeleted }
        return lane.unfinished + added < lane.settings.mostWaiting(engineState.limits) ? nil : .heldTooMany
    }

    /// The position of a new delivery in the subscriber's queue.
    struct Place {
        var chain: Chain?
        var isInLine = false
        var isManual = false
    }

    /// Returns the position of a new delivery: the end of its chain (the deliveries that must stay in order), because
    /// the planner adds deliveries in the order of events.
    private func place(
        of item: PlannedDelivery, _ number: Int64, _ lane: DeliveryScheduler.LaneSnapshot?
    ) throws(SQLiteFailure) -> Place {
        guard let lane, let chain = Chain(lane.settings.ordering, subscriber: number, channel: item.channel) else {
            return Place(isInLine: lane?.isReordering ?? false)
        }
        let hasOthers = try !isEmpty(chain)
        return Place(chain: chain, isInLine: lane.isReordering || hasOthers)
    }

    /// Stores a new delivery.
    ///
    /// - Returns: false when the delivery already exists.
    func insert(
        _ item: PlannedDelivery, _ number: Int64, _ place: Place, deadBecause reason: DeadReason? = nil
    ) throws(SQLiteFailure) -> Bool {
        let insert = statements.deliveries.insert
        insert.bind(Int64(item.event.rawValue), at: 1)
        insert.bind(number, at: 2)
        insert.bind(item.id, at: 3)
        insert.bind(try id(ofType: item.type), at: 4)
        insert.bind(item.channel, at: 5)
        insert.bind((reason == nil ? StoredState.waiting : .dead).rawValue, at: 6)
        insert.bind(place.chain != nil && place.isInLine ? Chain.inLine : Int64(now.rawValue), at: 7)
        insert.bind(Int64(now.rawValue), at: 8)
        insert.bind(reason?.rawValue, at: 9)
        insert.bind(place.chain?.number, at: 11)
        insert.bind(place.isManual ? 1 : 0, at: 12)
        guard let body = item.body else {
            insert.bindNull(at: 10)
            try insert.run()
            return database.changes == 1
        }
        try body.withUnsafeBufferPointer { (bytes) throws(SQLiteFailure) in
            insert.bindInPlace(bytes: bytes, at: 10)
            try insert.run()
        }
        return database.changes == 1
    }

    /// Returns the number of a subscriber. Creates a row for a new subscriber, which is open.
    func number(of subscriber: SubscriberID, scheduler: DeliveryScheduler) throws(SQLiteFailure) -> Int64 {
        if let known = scheduler.number(of: subscriber) { return known }
        let make = statements.deliveries.makeSubscriber
        make.bind(subscriber.app.name, at: 1)
        make.bind(subscriber.name, at: 2)
        make.bind(engineState.limits.deliveryConcurrency, at: 3)
        return try store(make, scheduler).number
    }

    // MARK: Lanes

    func set(
        _ settings: LaneSettings, of subscriber: SubscriberID, scheduler: DeliveryScheduler
    ) throws(SQLiteFailure) -> StoredSubscriber {
        let put = statements.deliveries.putSubscriber
        put.bind(subscriber.app.name, at: 1)
        put.bind(subscriber.name, at: 2)
        put.bind(settings.state.rawValue, at: 3)
        put.bind(settings.concurrency, at: 4)
        put.bind(settings.ordering.rawValue, at: 5)
        if let rate = settings.rate { put.bind(rate, at: 6) } else { put.bindNull(at: 6) }
        put.bind(settings.deliveriesPerAttempt, at: 7)
        put.bind(settings.isPulled ? 1 : 0, at: 8)
        put.bind(settings.attempts.map { Int64($0) }, at: 9)
        return try store(put, scheduler)
    }

    private func store(_ put: Statement, _ scheduler: DeliveryScheduler) throws(SQLiteFailure) -> StoredSubscriber {
        defer { put.reset() }
        guard try put.step() else {
            throw SQLiteFailure(kind: .other, message: "the database returned no row for the subscriber")
        }
        let stored = put.storedSubscriber
        effects.append { scheduler.set(stored) }
        return stored
    }

    /// Marks one batch of a closed subscriber's waiting deliveries as dead. Returns true when there may be more.
    func markDead(_ number: Int64, scheduler: DeliveryScheduler) throws(SQLiteFailure) -> Bool {
        let bury = statements.deliveries.markDead
        bury.bind(number, at: 1)
        bury.bind(DeadReason.webhookDeleted.rawValue, at: 2)
        bury.bind(Int64(now.rawValue), at: 3)
        try bury.run()
        let isMoreLeft = database.changes == Self.turnRows
        if !isMoreLeft { effects.append { scheduler.clear(number) } }
        return isMoreLeft
    }

    /// Reads a subscriber's earliest due deliveries from the database into memory.
    func fetchLane(_ number: Int64, scheduler: DeliveryScheduler) throws(SQLiteFailure) {
        let find = statements.deliveries.findDue
        find.bind(number, at: 1)
        // The limit is raised by the number of leased deliveries, which are among the earliest in the database but are
        // not added to memory.
        let most = DeliveryScheduler.fetchedDeliveries + (scheduler.snapshot(of: number)?.leaseCount ?? 0)
        find.bind(most, at: 2)
        var items: [DueItem] = []
        try find.forEachRow { row in
            items.append(DueItem(event: UInt64(row.integer(0)), due: UInt64(row.integer(1))))
            return true
        }
        effects.append { scheduler.replace(number, with: items, isComplete: items.count < most) }
    }
}
