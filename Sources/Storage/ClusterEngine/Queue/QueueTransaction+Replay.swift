import ChatModel
import Postgres
import StorageCore

/// The columns of a delivery that a replay needs.
private struct DeliveryRow: Sendable {
    let key: DeliveryKey
    let isWaiting: Bool
    let channel: String

    static let columns = "d.tt, d.ep, d.state, d.channel"

    static func all(_ rows: Rows) -> [DeliveryRow] {
        (0..<rows.count).map { row in
            DeliveryRow(
                key: rows.deliveryKey(row), isWaiting: rows.integer(row, 2) == 0, channel: rows.text(row, 3) ?? "")
        }
    }
}

extension QueueTransaction {
    /// Makes the deliveries of one batch due now. Does not change deliveries that are being attempted on this node, or
    /// whose subscriber is closed. With `isDryRun`, only counts the deliveries.
    func replay(
        _ batch: ReplayBatch, isDryRun: Bool, _ limits: Limits
    ) async throws(PostgresFailure) -> (count: Int, next: ReplayBatch?) {
        var (found, next) = try await find(batch)
        guard !found.isEmpty else { return (0, next) }
        let locked = locked(try await run([Self.lock(Array(Set(found.map(\.key.subscriber))))])[0])
        if !isDryRun { found = try await find(found.map(\.key)) }
        let free = found.filter { isFree($0.key, locked) }
        guard !isDryRun else { return (free.count, next) }
        var batch = RescheduledBatch(locked, limits)
        for row in free { revive(row, &batch, locked) }
        try await finish(batch, locked)
        return (batch.count, next)
    }

    /// Stores new deliveries, and makes existing finished deliveries due again. Stops at the first delivery whose
    /// subscriber's queue is full.
    func enqueue(
        _ items: ArraySlice<PlannedDelivery>, _ limits: Limits
    ) async throws(PostgresFailure) -> (due: Int, processed: Int) {
        guard !items.isEmpty else { return (0, 0) }
        let subscribers = Array(Set(items.map(\.subscriber)))
        let locked = locked(
            try await run(Self.lock(subscribers, concurrency: limits.deliveryConcurrency))[1])
        let numbers = Dictionary(locked.values.map { ($0.stored.subscriber, $0.number) }) { $1 }
        let keys = items.map { item in
            DeliveryKey(event: item.event.rawValue, subscriber: numbers[item.subscriber] ?? 0)
        }
        var stored = Dictionary(try await find(keys).map { ($0.key, $0) }) { $1 }
        var batch = RescheduledBatch(locked, limits)
        var processed = 0
        for (item, key) in zip(items, keys) {
            guard isFree(key, locked) else {
                processed += 1
                continue
            }
            let row = stored[key]
            // A delivery that already waits needs no capacity.
            guard row?.isWaiting == true || batch.hasRoom(key.subscriber) else { break }
            processed += 1
            if let row {
                guard !row.isWaiting else { continue }
                revive(row, &batch, locked)
            } else {
                var new = NewDelivery(item: item, subscriber: key.subscriber, due: now.stored)
                new.isManual = true
                new.chain = locked[key.subscriber].flatMap {
                    Chain($0.settings.ordering, subscriber: key.subscriber, channel: item.channel)
                }
                if new.chain != nil { new.due = Chain.inLine }
                batch.insert(new)
            }
            stored[key] = DeliveryRow(key: key, isWaiting: true, channel: item.channel)
        }
        try await finish(batch, locked)
        return (batch.count, processed)
    }

    /// Marks as dead one batch of the waiting deliveries after the event `after`, up to and including `event`. Returns
    /// their number, and the event after which the next batch continues; nil when there is no further batch.
    func skip(
        _ number: Int64, after: UInt64, through event: UInt64
    ) async throws(PostgresFailure) -> (count: Int, next: UInt64?) {
        guard let lane = try await lock(number) else { return (0, nil) }
        let rows = DeliveryRow.all(
            try await run([
                Statement(
                    """
                    SELECT \(DeliveryRow.columns) FROM delivery d WHERE d.ep = $1 AND d.state = 0
                    AND d.tt > $2 AND d.tt <= $3 ORDER BY d.tt LIMIT \(Self.turnRows)
                    """, [.integer(number), .integer(Int64(clamping: after)), .integer(Int64(clamping: event))])
            ])[0])
        let count = try await abandon(rows, of: lane, because: .skipped)
        return (count, rows.count == Self.turnRows ? rows.last?.key.event : nil)
    }

    /// Marks as dead one batch of a subscriber's deliveries that have waited too long, because the subscriber is paused
    /// or its consumer has not pulled them. Returns true when there may be more.
    func markAgedDead(_ number: Int64, before edge: Timetoken) async throws(PostgresFailure) -> Bool {
        guard let lane = try await lock(number) else { return false }
        // The condition also compares the time of the last change, because an old event may have been requested again
        // and a retry may be due far in the future.
        let rows = DeliveryRow.all(
            try await run([
                Statement(
                    """
                    SELECT \(DeliveryRow.columns) FROM delivery d WHERE d.ep = $1 AND d.state = 0 AND d.tt < $2
                    AND d.touched < $2 AND (d.due < $2 OR d.due = \(Chain.inLine)) ORDER BY d.tt
                    LIMIT \(Self.turnRows)
                    """, [.integer(number), .timetoken(edge)])
            ])[0])
        guard !rows.isEmpty else { return false }
        return try await abandon(rows, of: lane, because: .heldTooLong) == Self.turnRows
    }

    /// Marks waiting deliveries as dead, except those that are being attempted on this node. Makes the deliveries due
    /// that have waited for the marked deliveries. Returns the number of deliveries that were marked.
    private func abandon(
        _ rows: [DeliveryRow], of lane: LaneRow, because reason: DeadReason
    ) async throws(PostgresFailure) -> Int {
        let free = rows.filter { !scheduler.isLeased($0.key) }
        guard !free.isEmpty else { return 0 }
        later(
            Statement(
                """
                UPDATE delivery d SET state = 2, reason = $3, touched = $4, chain = NULL
                FROM unnest($1::bigint[], $2::bigint[]) AS k(tt, ep) WHERE d.tt = k.tt AND d.ep = k.ep
                """, free.map(\.key).columns + [.text(reason.rawValue), .timetoken(now)]))
        count([lane.number: -free.count])
        touch([lane])
        if holder(of: lane) == .me {
            afterCommit { [scheduler, count = free.count] in scheduler.forget([lane.number: -count]) }
        }
        let chains = free.compactMap { row in
            Chain(lane.settings.ordering, subscriber: lane.number, channel: row.channel)
        }
        try await advance(Set(chains), [lane.number: lane])
        return free.count
    }

    // MARK: Rescheduling

    /// The deliveries that one batch makes due.
    private struct RescheduledBatch: Sendable {
        var count = 0
        /// The number of deliveries that were not waiting before, by the subscriber's number.
        var added: [Int64: Int] = [:]
        var revived: [(row: DeliveryRow, chain: Chain?)] = []
        var new: [NewDelivery] = []
        private var room: [Int64: Int]

        init(_ locked: [Int64: LaneRow], _ limits: Limits) {
            room = locked.mapValues { $0.settings.mostWaiting(limits) - $0.waiting }
        }

        func hasRoom(_ number: Int64) -> Bool { room[number, default: 0] > 0 }

        mutating func insert(_ delivery: NewDelivery) {
            new.append(delivery)
            add(delivery.subscriber, isNew: true)
        }

        mutating func add(_ number: Int64, isNew: Bool) {
            count += 1
            added[number, default: 0] += isNew ? 1 : 0
            room[number, default: 0] -= isNew ? 1 : 0
        }

        var chains: Set<Chain> { Set(revived.compactMap(\.chain)).union(new.compactMap(\.chain)) }
    }

    private func isFree(_ key: DeliveryKey, _ locked: [Int64: LaneRow]) -> Bool {
        locked[key.subscriber]?.settings.state != .closed && !scheduler.isLeased(key)
    }

    private func revive(_ row: DeliveryRow, _ batch: inout RescheduledBatch, _ locked: [Int64: LaneRow]) {
        guard row.isWaiting || batch.hasRoom(row.key.subscriber) else { return }
        let chain = locked[row.key.subscriber].flatMap {
            Chain($0.settings.ordering, subscriber: row.key.subscriber, channel: row.channel)
        }
        batch.revived.append((row, chain))
        batch.add(row.key.subscriber, isNew: !row.isWaiting)
    }

    private func finish(_ batch: RescheduledBatch, _ locked: [Int64: LaneRow]) async throws(PostgresFailure) {
        guard batch.count > 0 else { return }
        if !batch.new.isEmpty { later(insert(batch.new)) }
        if !batch.revived.isEmpty {
            let revived = batch.revived
            later(
                Statement(
                    """
                    UPDATE delivery d SET state = 0, due = k.due, manual = true, touched = $5, reason = NULL,
                        chain = k.chain
                    FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[]) AS k(tt, ep, due, chain)
                    WHERE d.tt = k.tt AND d.ep = k.ep
                    """,
                    revived.map(\.row.key).columns + [
                        .integers(revived.map { $0.chain == nil ? now.stored : Chain.inLine }),
                        .integers(revived.map { $0.chain?.number }), .timetoken(now),
                    ]))
        }
        count(batch.added)
        touch(batch.added.keys.compactMap { locked[$0] })
        let mine = batch.added.filter { number, _ in locked[number].map { holder(of: $0) == .me } ?? false }
        afterCommit { [scheduler] in scheduler.forget(mine) }
        try await advance(batch.chains, locked)
    }

    // MARK: Reads

    private func find(_ batch: ReplayBatch) async throws(PostgresFailure) -> ([DeliveryRow], ReplayBatch?) {
        switch batch.selection {
        case .ids(let ids, let app):
            let part = ids[Int(batch.from)...].prefix(Self.turnRows)
            let rows = try await run([
                Statement(
                    """
                    SELECT \(DeliveryRow.columns) FROM delivery d JOIN subscriber s ON s.id = d.ep
                    WHERE d.id = ANY($1) AND s.app = $2
                    """, [.texts(Array(Set(part))), .text(app.name)])
            ])[0]
            return (DeliveryRow.all(rows), ReplayBatch(batch.selection, from: UInt64(part.endIndex)))
        case .range(let subscriber, _, let before, let onlyFailed):
            let rows = try await run([
                Statement(
                    """
                    SELECT tt, ep, state, channel FROM (
                        SELECT \(DeliveryRow.columns) FROM subscriber s CROSS JOIN unnest($5::bigint[]) AS k(state)
                        CROSS JOIN LATERAL (SELECT * FROM delivery d WHERE d.ep = s.id AND d.state = k.state
                            AND d.tt > $3 AND d.tt < $4 ORDER BY d.tt LIMIT \(Self.turnRows)) d
                        WHERE s.app = $1 AND s.name = $2) found
                    ORDER BY tt LIMIT \(Self.turnRows)
                    """,
                    [
                        .text(subscriber.app.name), .text(subscriber.name), .integer(Int64(clamping: batch.from)),
                        .timetoken(before), .integers(onlyFailed ? [0, 2] : [0, 1, 2]),
                    ])
            ])[0]
            let found = DeliveryRow.all(rows)
            let last = found.count == Self.turnRows ? found.last?.key.event : nil
            return (found, last.flatMap { ReplayBatch(batch.selection, from: $0) })
        }
    }

    private func find(_ keys: [DeliveryKey]) async throws(PostgresFailure) -> [DeliveryRow] {
        DeliveryRow.all(
            try await run([
                Statement(
                    """
                    SELECT \(DeliveryRow.columns) FROM unnest($1::bigint[], $2::bigint[]) AS k(tt, ep)
                    JOIN delivery d ON d.tt = k.tt AND d.ep = k.ep
                    """, keys.columns)
            ])[0])
    }
}

/// Steps of jobs: the removal of dead deliveries, and the condition that the node still runs the job.
extension QueueTransaction {
    /// The version of a record, which no other transaction can change before this one ends; nil when there is no record.
    func lockedEtag(of key: RecordKey) async throws(PostgresFailure) -> String? {
        let rows = try await run([
            Statement(
                "SELECT tag FROM record WHERE app = $1 AND kind = $2 AND id = $3 FOR SHARE",
                [.text(key.app.name), .integer(Int64(key.kind.rawValue)), .text(key.id)])
        ])[0]
        return rows.count == 0 ? nil : rows.integer(0, 0).map { ETag.text($0) }
    }

    /// Removes the dead deliveries among these ids. Returns the number of removed deliveries.
    func purge(_ ids: [String], in app: AppID) async throws(PostgresFailure) -> Int {
        let rows = try await run([
            Statement(
                """
                WITH gone AS (DELETE FROM delivery d USING subscriber s
                    WHERE s.id = d.ep AND s.app = $2 AND d.id = ANY($1) AND d.state = 2 RETURNING d.tt, d.ep),
                logs AS (DELETE FROM attempt_log l USING gone g WHERE l.tt = g.tt AND l.ep = g.ep)
                SELECT count(*) FROM gone
                """, [.texts(ids), .text(app.name)])
        ])[0]
        return Int(rows.integer(0, 0) ?? 0)
    }
}
