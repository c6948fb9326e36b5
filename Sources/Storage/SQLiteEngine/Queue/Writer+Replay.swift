import ChatModel
import SQLite
import StorageCore

/// The columns of a delivery that a replay needs.
private struct DeliveryRow {
    let key: DeliveryKey
    let isWaiting: Bool
    let channel: String
}

extension Writer {
    /// Makes the deliveries of one batch due now. Does not change deliveries that are being attempted or whose
    /// subscriber is closed. With `isDryRun`, only counts the deliveries.
    func replay(
        _ batch: ReplayBatch, isDryRun: Bool, scheduler: DeliveryScheduler
    ) throws(SQLiteFailure) -> (count: Int, next: ReplayBatch?) {
        let (found, next) = try find(batch, scheduler)
        let free = found.filter { isFree($0.key, scheduler) }
        guard !isDryRun else { return (free.count, next) }
        var revival = RescheduledBatch()
        for row in free { try revive(row, &revival, scheduler) }
        finish(revival, scheduler)
        return (revival.count, next)
    }

    /// Stores new deliveries, and makes existing finished deliveries due again. Stops at the first delivery whose
    /// subscriber's queue is full.
    func enqueue(
        _ items: ArraySlice<PlannedDelivery>, scheduler: DeliveryScheduler
    ) throws(SQLiteFailure) -> (due: Int, processed: Int) {
        var revival = RescheduledBatch()
        var processed = 0
        for item in items {
            let number = try number(of: item.subscriber, scheduler: scheduler)
            let key = DeliveryKey(event: item.event.rawValue, subscriber: number)
            guard isFree(key, scheduler) else {
                processed += 1
                continue
            }
            guard hasCapacity(number, revival, scheduler) else {
                // A delivery that already waits needs no capacity.
                guard try row(of: key)?.isWaiting == true else { break }
                processed += 1
                continue
            }
            processed += 1
            let chain = Chain(
                scheduler.snapshot(of: number)?.settings.ordering ?? .none, subscriber: number, channel: item.channel)
            guard try !insert(item, number, Place(chain: chain, isInLine: true, isManual: true)) else {
                revival.add(number, isNew: true)
                if let chain { try advance(chain, scheduler: scheduler) }
                continue
            }
            if let row = try row(of: key), !row.isWaiting { try revive(row, &revival, scheduler) }
        }
        finish(revival, scheduler)
        return (revival.count, processed)
    }

    private func row(of key: DeliveryKey) throws(SQLiteFailure) -> DeliveryRow? {
        let find = statements.deliveries.findRow
        find.bind(Int64(key.event), at: 1)
        find.bind(key.subscriber, at: 2)
        defer { find.reset() }
        return try find.step() ? find.deliveryRow : nil
    }

    /// Marks as dead one batch of the waiting deliveries after the event `after`, up to and including `event`. Returns
    /// their number, and the event after which the next batch continues; nil when there is no further batch.
    func skip(
        _ number: Int64, after: UInt64, through event: UInt64, scheduler: DeliveryScheduler
    ) throws(SQLiteFailure) -> (count: Int, next: UInt64?) {
        let events = try statements.deliveries.walk.events(
            DeliveryPart(subscriber: number, state: .waiting, after: after, before: event + 1), .oldestFirst,
            limit: Self.turnRows)
        let count = try abandon(events, of: number, because: .skipped, scheduler)
        return (count, events.count == Self.turnRows ? events.last : nil)
    }

    /// Marks as dead one batch of a subscriber's deliveries that have waited too long, because the subscriber is paused
    /// or its consumer has not pulled them. Returns true when there may be more.
    func markAgedDead(
        _ number: Int64, before edge: Timetoken, scheduler: DeliveryScheduler
    ) throws(SQLiteFailure) -> Bool {
        let find = statements.deliveries.findAged
        find.bind(number, at: 1)
        find.bind(Int64(edge.rawValue), at: 2)
        var events: [UInt64] = []
        try find.forEachRow { row in
            events.append(UInt64(row.integer(0)))
            return true
        }
        guard !events.isEmpty else { return false }
        return try abandon(events, of: number, because: .heldTooLong, scheduler) == Self.turnRows
    }

    /// Marks waiting deliveries as dead, except those that are being attempted. Makes the deliveries due that have
    /// waited for the marked deliveries. Returns the number of deliveries that were marked.
    private func abandon(
        _ events: [UInt64], of number: Int64, because reason: DeadReason, _ scheduler: DeliveryScheduler
    ) throws(SQLiteFailure) -> Int {
        let ordering = scheduler.snapshot(of: number)?.settings.ordering ?? .none
        var chains: Set<Chain> = []
        var count = 0
        for row in try find(events.map { DeliveryKey(event: $0, subscriber: number) })
        where !scheduler.isLeased(row.key) {
            let giveUp = statements.deliveries.abandon
            giveUp.bind(Int64(row.key.event), at: 1)
            giveUp.bind(number, at: 2)
            giveUp.bind(reason.rawValue, at: 3)
            giveUp.bind(Int64(now.rawValue), at: 4)
            try giveUp.run()
            count += 1
            if let chain = Chain(ordering, subscriber: number, channel: row.channel) { chains.insert(chain) }
        }
        // Without this change, the deliveries would count against the limit of waiting deliveries until the next start.
        effects.append { [count] in scheduler.forget([number: -count]) }
        for chain in chains { try advance(chain, scheduler: scheduler) }
        return count
    }

    /// Removes the dead deliveries among these ids. Returns the number of removed deliveries.
    func purge(_ ids: ArraySlice<String>, in app: AppID) throws(SQLiteFailure) -> Int {
        var count = 0
        for row in try find(ids, in: app) {
            let purge = statements.deliveries.purge
            purge.bind(Int64(row.key.event), at: 1)
            purge.bind(row.key.subscriber, at: 2)
            try purge.run()
            count += database.changes
        }
        return count
    }

    /// The deliveries that one batch has made due.
    private struct RescheduledBatch {
        var count = 0
        /// The number of deliveries that were not waiting before, by the subscriber's number.
        var lanes: [Int64: Int] = [:]

        mutating func add(_ number: Int64, isNew: Bool) {
            count += 1
            lanes[number, default: 0] += isNew ? 1 : 0
        }
    }

    private func isFree(_ key: DeliveryKey, _ scheduler: DeliveryScheduler) -> Bool {
        scheduler.snapshot(of: key.subscriber)?.state != .closed && !scheduler.isLeased(key)
    }

    private func hasCapacity(_ number: Int64, _ revival: RescheduledBatch, _ scheduler: DeliveryScheduler) -> Bool {
        scheduler.snapshot(of: number).map {
            $0.unfinished + revival.lanes[number, default: 0] < $0.settings.mostWaiting(engineState.limits)
        }
            ?? true
    }

    private func revive(
        _ row: DeliveryRow, _ revival: inout RescheduledBatch, _ scheduler: DeliveryScheduler
    ) throws(SQLiteFailure) {
        guard row.isWaiting || hasCapacity(row.key.subscriber, revival, scheduler) else { return }
        let ordering = scheduler.snapshot(of: row.key.subscriber)?.settings.ordering ?? .none
        let chain = Chain(ordering, subscriber: row.key.subscriber, channel: row.channel)
        let revive = statements.deliveries.revive
        revive.bind(Int64(row.key.event), at: 1)
        revive.bind(row.key.subscriber, at: 2)
        revive.bind(chain == nil ? Int64(now.rawValue) : Chain.inLine, at: 3)
        revive.bind(Int64(now.rawValue), at: 4)
        revive.bind(chain?.number, at: 5)
        try revive.run()
        revival.add(row.key.subscriber, isNew: !row.isWaiting)
        if let chain { try advance(chain, scheduler: scheduler) }
    }

    private func finish(_ revival: RescheduledBatch, _ scheduler: DeliveryScheduler) {
        effects.append { [lanes = revival.lanes] in scheduler.forget(lanes) }
    }

    private func find(
        _ batch: ReplayBatch, _ scheduler: DeliveryScheduler
    ) throws(SQLiteFailure) -> ([DeliveryRow], ReplayBatch?) {
        switch batch.selection {
        case .ids(let ids, let app):
            let part = ids[Int(batch.from)...].prefix(Self.turnRows)
            return (try find(part, in: app), ReplayBatch(batch.selection, from: UInt64(part.endIndex)))
        case .range(let subscriber, _, let before, let onlyFailed):
            guard let number = scheduler.number(of: subscriber) else { return ([], nil) }
            var events: [UInt64] = []
            for state in onlyFailed ? [StoredState.waiting, .dead] : [.waiting, .dead, .delivered] {
                events += try statements.deliveries.walk.events(
                    DeliveryPart(subscriber: number, state: state, after: batch.from, before: before.rawValue),
                    .oldestFirst, limit: Self.turnRows)
            }
            // Each query returns the earliest events after the same position, so the merged list is complete up to the
            // last event that is kept here.
            events = Array(events.sorted().prefix(Self.turnRows))
            let next = events.count == Self.turnRows ? ReplayBatch(batch.selection, from: events.last) : nil
            return (try find(events.map { DeliveryKey(event: $0, subscriber: number) }), next)
        }
    }

    private func find(_ ids: ArraySlice<String>, in app: AppID) throws(SQLiteFailure) -> [DeliveryRow] {
        var rows: [DeliveryRow] = []
        let find = statements.deliveries.findByID
        for id in Set(ids) {
            find.bind(id, at: 1)
            find.bind(app.name, at: 2)
            try find.forEachRow { row in
                rows.append(row.deliveryRow)
                return true
            }
        }
        return rows
    }

    private func find(_ keys: [DeliveryKey]) throws(SQLiteFailure) -> [DeliveryRow] {
        var rows: [DeliveryRow] = []
        let find = statements.deliveries.findRow
        for key in keys {
            find.bind(Int64(key.event), at: 1)
            find.bind(key.subscriber, at: 2)
            try find.forEachRow { row in
                rows.append(row.deliveryRow)
                return true
            }
        }
        return rows
    }
}

extension Statement {
    /// The delivery in the current row, whose columns must be tt, ep, state and channel.
    fileprivate var deliveryRow: DeliveryRow {
        DeliveryRow(
            key: DeliveryKey(event: UInt64(integer(0)), subscriber: integer(1)), isWaiting: integer(2) == 0,
            channel: text(3))
    }
}
