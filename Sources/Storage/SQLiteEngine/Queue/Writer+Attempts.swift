import ChatModel
import SQLite
import StorageCore

extension Writer {
    /// Records the outcomes of attempts. Returns for each attempt whether it was recorded. An attempt is not recorded
    /// when its key is nil (the lease was lost), when its delivery no longer exists, or when another attempt was
    /// recorded in the meantime.
    func finish(
        _ attempts: [(lease: Lease, outcome: DeliveryOutcome)], _ keys: [DeliveryKey?], scheduler: DeliveryScheduler
    ) throws(SQLiteFailure) -> [Bool] {
        var completed: [(key: DeliveryKey, ending: DeliveryScheduler.Ending)] = []
        var recorded: [Bool] = []
        var chains: Set<Chain> = []
        completed.reserveCapacity(attempts.count)
        recorded.reserveCapacity(attempts.count)
        let lanes = scheduler.snapshots(of: attempts, keys)
        for (index, attempt) in attempts.enumerated() {
            guard let key = keys[index], let lane = lanes[index] else {
                recorded.append(false)
                continue
            }
            let delivery = attempt.lease.delivery
            let (ending, chain) = try finishOne(
                key, attempt.outcome, isFirst: delivery.attempts == 0, channel: delivery.channel, lane)
            recorded.append(ending != nil)
            completed.append((key, ending ?? .over))
            if let chain { chains.insert(chain) }
        }
        effects.append { [completed] in scheduler.complete(completed) }
        // The next delivery of a chain can become due only after the leases of the attempts have ended.
        for chain in chains { try advance(chain, scheduler: scheduler) }
        return recorded
    }

    /// Stores request bodies before they are sent. A body replaces the delivery's stored body only if that has not
    /// changed since the lease began (`Lease.body`). Returns, for each delivery, the body that is stored afterwards; nil
    /// when there is none.
    func keep(
        _ bodies: [(lease: Lease, body: [UInt8])], _ keys: [DeliveryKey?]
    ) throws(SQLiteFailure) -> [[UInt8]?] {
        var stored: [[UInt8]?] = []
        for (one, key) in zip(bodies, keys) {
            guard let key else {
                stored.append(nil)
                continue
            }
            let keep = statements.deliveries.keep
            keep.bind(Int64(key.event), at: 1)
            keep.bind(key.subscriber, at: 2)
            keep.bind(one.body, at: 3)
            if let old = one.lease.body { keep.bind(old, at: 4) } else { keep.bindNull(at: 4) }
            try keep.run()
            stored.append(database.changes > 0 ? one.body : try storedBody(of: key))
        }
        return stored
    }

    private func storedBody(of key: DeliveryKey) throws(SQLiteFailure) -> [UInt8]? {
        let find = statements.deliveries.findBody
        find.bind(Int64(key.event), at: 1)
        find.bind(key.subscriber, at: 2)
        defer { find.reset() }
        guard try find.step(), !find.isNull(0) else { return nil }
        return find.bytes(0)
    }

    /// Records expired leases as failed attempts.
    func expire(_ leases: [ExpiredLease], scheduler: DeliveryScheduler) throws(SQLiteFailure) {
        var completed: [(key: DeliveryKey, ending: DeliveryScheduler.Ending)] = []
        var chains: Set<Chain> = []
        for lease in leases {
            let (ending, chain) = try finishOne(
                lease.key, .expired(lease, now: now), isFirst: false, channel: "",
                scheduler.snapshot(of: lease.key.subscriber))
            completed.append((lease.key, ending ?? .over))
            if let chain { chains.insert(chain) }
        }
        effects.append { [completed] in scheduler.complete(completed) }
        for chain in chains { try advance(chain, scheduler: scheduler) }
    }

    /// Records the outcome of one attempt.
    ///
    /// - Parameters:
    ///   - isFirst: true when the caller knows of no earlier attempt.
    ///   - channel: the channel of the event. For a pulled subscription, the channel is read from the database instead.
    /// - Returns: the new state of the delivery, or nil when it no longer exists; and the chain whose next delivery may
    ///   become due.
    private func finishOne(
        _ key: DeliveryKey, _ outcome: DeliveryOutcome, isFirst: Bool, channel: String,
        _ lane: DeliveryScheduler.LaneSnapshot?
    ) throws(SQLiteFailure) -> (DeliveryScheduler.Ending?, Chain?) {
        if isFirst, lane?.settings.attempts == nil {
            // The row is not read. The statement changes it only if it still has no attempt log.
            let (ending, chain) = try finishOne(key, outcome, after: History(channel: channel), lane)
            if let ending { return (ending, chain) }
            // There was an earlier attempt whose outcome was not reported, so the stored state must be read.
        }
        guard let history = try history(of: key) else { return (nil, nil) }
        return try finishOne(key, outcome, after: history, lane)
    }

    /// The state of a delivery before an attempt.
    private struct History {
        var log = AttemptLog()
        /// The row of the attempt log.
        var row: Int64?
        var tries = 0
        let channel: String
    }

    /// Records the outcome of one attempt of a delivery that was in the state `history`.
    ///
    /// - Returns: the new state of the delivery and the chain whose next delivery may become due. The state is nil when
    ///   the row does not match `history`.
    private func finishOne(
        _ key: DeliveryKey, _ outcome: DeliveryOutcome, after history: History, _ lane: DeliveryScheduler.LaneSnapshot?
    ) throws(SQLiteFailure) -> (DeliveryScheduler.Ending?, Chain?) {
        let outcome = outcome.recorded(after: history.tries, lane?.settings, now: now)
        let chain = lane.flatMap { Chain($0.settings.ordering, subscriber: key.subscriber, channel: history.channel) }
        var ending = DeliveryScheduler.Ending.over
        if let due = outcome.due?.rawValue {
            ending =
                try chain.map { chain throws(SQLiteFailure) in try self.isFirst(key.event, of: chain) } ?? true
                ? .due(due) : .inLine
        }
        let isStored = try store(outcome, ending, history, chain, of: key)
        return (isStored ? ending : nil, chain)
    }

    private func store(
        _ outcome: DeliveryOutcome, _ ending: DeliveryScheduler.Ending, _ history: History, _ chain: Chain?,
        of key: DeliveryKey
    ) throws(SQLiteFailure) -> Bool {
        let row = try store(outcome.attempt, history)
        let finish = statements.deliveries.finish
        finish.bind(Int64(key.event), at: 1)
        finish.bind(key.subscriber, at: 2)
        finish.bind(outcome.stored.rawValue, at: 3)
        switch ending {
        case .over: finish.bind(0, at: 4)
        case .due(let due): finish.bind(Int64(due), at: 4)
        case .inLine: finish.bind(Chain.inLine, at: 4)
        }
        finish.bind(Int64(now.rawValue), at: 5)
        finish.bind(outcome.reason?.rawValue, at: 6)
        finish.bind(row, at: 7)
        if let body = outcome.body { finish.bind(body, at: 8) } else { finish.bindNull(at: 8) }
        finish.bind(outcome.due == nil ? nil : chain?.number, at: 9)
        finish.bind(history.row, at: 10)
        try finish.run()
        guard database.changes == 0 else { return true }
        if history.row == nil {
            statements.deliveries.removeLog.bind(row, at: 1)
            try statements.deliveries.removeLog.run()
        }
        return false
    }

    /// Appends an attempt to the delivery's attempt log. Returns the row number of the log.
    private func store(_ attempt: DeliveryAttempt, _ history: History) throws(SQLiteFailure) -> Int64 {
        var log = history.log
        log.append(attempt)
        let put = history.row == nil ? statements.deliveries.insertLog : statements.deliveries.updateLog
        if let row = history.row { put.bind(row, at: 2) }
        try log.packed.withUnsafeBufferPointer { (bytes) throws(SQLiteFailure) in
            put.bindInPlace(bytes: bytes, at: 1)
            try put.run()
        }
        return history.row ?? database.lastInsertedRow
    }

    /// Reads the stored state of a delivery; returns nil when the delivery no longer exists.
    private func history(of key: DeliveryKey) throws(SQLiteFailure) -> History? {
        let find = statements.deliveries.history
        find.bind(Int64(key.event), at: 1)
        find.bind(key.subscriber, at: 2)
        defer { find.reset() }
        guard try find.step() else { return nil }
        return History(
            log: AttemptLog(packed: find.bytes(0)), row: find.optionalInteger(1), tries: Int(find.integer(2)),
            channel: find.text(3))
    }
}
