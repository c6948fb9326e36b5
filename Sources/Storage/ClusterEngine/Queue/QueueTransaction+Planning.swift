import ChatModel
import Postgres
import StorageCore

/// A new delivery as a row.
struct NewDelivery: Sendable {
    let item: PlannedDelivery
    let subscriber: Int64
    var state = StoredState.waiting
    var due: Int64
    var reason: DeadReason?
    var chain: Chain?
    var isManual = false

    var key: DeliveryKey { DeliveryKey(event: item.event.rawValue, subscriber: subscriber) }
}

extension QueueTransaction {
    /// Moves the planner's cursor and stores new deliveries. Stores nothing and returns an error if the cursor is not
    /// at `from`. Returns, for each subscriber whose queue was full, the number of deliveries that were stored as dead.
    func plan(
        _ items: [PlannedDelivery], cursor: CursorName, from: Timetoken, to: Timetoken, _ memory: NodeMemory
    ) async throws(PostgresFailure) -> Result<[SubscriberID: Int], ChatError> {
        let subscribers = Array(Set(items.map(\.subscriber)))
        let rows = try await run(
            Self.move(cursor, from: from, to: to)
                + Self.lock(subscribers, concurrency: memory.limits.deliveryConcurrency))
        guard rows[0].affected + rows[1].affected > 0 else { return .failure(.cursorMoved(cursor, from: from)) }
        afterCommit { memory.retention.move(cursor, to: to) }
        guard !subscribers.isEmpty else { return .success([:]) }
        let locked = locked(rows[3])
        let numbers = Dictionary(locked.values.map { ($0.stored.subscriber, $0.number) }) { $1 }
        let (new, inLine) = try await place(items, locked, numbers, memory.limits)
        let claimed = locked.values.filter { lane in
            holder(of: lane) == .nobody && lane.settings.state == .open && !lane.settings.isPulled
                && !lane.isReordering && scheduler.hasWaiters && !lanes.isRestrained(now: now)
        }
        touch(locked.values.filter { lane in !claimed.contains { $0.number == lane.number } })
        let stored = Set(try await run([insert(new)])[0].deliveryKeys)
        var overflowing: [SubscriberID: Int] = [:]
        var counts: [Int64: Int] = [:]
        var planned: [(subscriber: Int64, item: PlannedDelivery, isInLine: Bool)] = []
        for row in new where stored.contains(row.key) {
            if row.reason == .heldTooMany { overflowing[row.item.subscriber, default: 0] += 1 }
            guard row.state == .waiting else { continue }
            counts[row.subscriber, default: 0] += 1
            planned.append((row.subscriber, row.item, inLine.contains(row.key)))
        }
        count(counts)
        try await claim(claimed)
        afterCommit { [scheduler, planned, now] in scheduler.add(planned, due: now.rawValue) }
        return .success(overflowing)
    }

    /// The statements that move a cursor, or create it. Exactly one row is affected, or none if the cursor is elsewhere.
    private static func move(_ cursor: CursorName, from: Timetoken, to: Timetoken) -> [Statement] {
        let values: [Value] = [.text(cursor.text), .timetoken(from), .timetoken(to)]
        return [
            Statement("UPDATE cursor SET tt = $3 WHERE name = $1 AND tt = $2", values),
            Statement(
                """
                INSERT INTO cursor(name, tt) SELECT $1, $3 WHERE $2 = 0
                AND NOT EXISTS (SELECT 1 FROM cursor WHERE name = $1) ON CONFLICT DO NOTHING
                """, values),
        ]
    }

    /// The two statements that create the missing rows of subscribers, which are open, and lock all of them.
    static func lock(_ subscribers: [SubscriberID], concurrency: Int) -> [Statement] {
        guard !subscribers.isEmpty else { return [] }
        let ordered = subscribers.sorted { ($0.app.name, $0.name) < ($1.app.name, $1.name) }
        let names: [Value] = [.texts(ordered.map(\.app.name)), .texts(ordered.map(\.name))]
        return [
            Statement(
                """
                INSERT INTO subscriber(app, name, state, concurrency)
                SELECT k.app, k.name, 0, $3 FROM unnest($1::text[], $2::text[]) AS k(app, name)
                WHERE NOT EXISTS (SELECT 1 FROM subscriber s WHERE s.app = k.app AND s.name = k.name)
                ON CONFLICT DO NOTHING
                """, names + [.integer(Int64(concurrency))]),
            Statement(
                """
                SELECT \(LaneRow.columns) FROM subscriber s WHERE (s.app, s.name) IN (
                    SELECT k.app, k.name FROM unnest($1::text[], $2::text[]) AS k(app, name))
                ORDER BY s.id FOR UPDATE OF s
                """, names),
        ]
    }

    /// Returns the rows of new deliveries, and those that wait for earlier deliveries of their chains.
    private func place(
        _ items: [PlannedDelivery], _ locked: [Int64: LaneRow], _ numbers: [SubscriberID: Int64], _ limits: Limits
    ) async throws(PostgresFailure) -> ([NewDelivery], inLine: Set<DeliveryKey>) {
        var room = locked.mapValues { $0.settings.mostWaiting(limits) - $0.waiting }
        var seen: Set<DeliveryKey> = []
        if room.values.contains(where: { $0 < items.count }) {
            let keys = items.compactMap { item in
                numbers[item.subscriber].map { DeliveryKey(event: item.event.rawValue, subscriber: $0) }
            }
            seen = Set(try await run([Self.existing(keys)])[0].deliveryKeys)
        }
        var chains: Set<Chain> = []
        for item in items {
            guard let number = numbers[item.subscriber], let lane = locked[number],
                let chain = Chain(lane.settings.ordering, subscriber: number, channel: item.channel)
            else { continue }
            chains.insert(chain)
        }
        var occupied = chains.isEmpty ? [] : Set(try await heads(of: chains).keys)
        var new: [NewDelivery] = []
        var inLine: Set<DeliveryKey> = []
        for item in items {
            guard let number = numbers[item.subscriber], let lane = locked[number] else { continue }
            var row = NewDelivery(item: item, subscriber: number, due: now.stored)
            guard seen.insert(row.key).inserted else { continue }
            if lane.settings.state == .closed {
                row.reason = .webhookDeleted
            } else if room[number, default: 0] <= 0 {
                row.reason = .heldTooMany
            }
            if row.reason != nil {
                row.state = .dead
            } else {
                room[number, default: 0] -= 1
                row.chain = Chain(lane.settings.ordering, subscriber: number, channel: item.channel)
                // The planner adds deliveries in the order of events, so each is the last of its chain.
                let isWaiting = row.chain.map { occupied.insert($0).inserted } == false
                if lane.isReordering || isWaiting { inLine.insert(row.key) }
                if row.chain != nil, lane.isReordering || isWaiting { row.due = Chain.inLine }
            }
            new.append(row)
        }
        return (new, inLine)
    }

    private static func existing(_ keys: [DeliveryKey]) -> Statement {
        Statement(
            """
            SELECT d.tt, d.ep FROM unnest($1::bigint[], $2::bigint[]) AS k(tt, ep)
            JOIN delivery d ON d.tt = k.tt AND d.ep = k.ep
            """, keys.columns)
    }

    /// The statement that stores new deliveries. It returns the keys of those that did not exist.
    func insert(_ new: [NewDelivery]) -> Statement {
        Statement(
            """
            INSERT INTO delivery(tt, ep, id, type, channel, state, due, created, touched, reason, body, chain, manual)
            SELECT tt, ep, id, type, channel, state, due, $12, $12, reason, body, chain, manual <> 0
            FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[], $5::text[], $6::bigint[], $7::bigint[],
                $8::text[], $9::bytea[], $10::bigint[], $11::bigint[])
                AS k(tt, ep, id, type, channel, state, due, reason, body, chain, manual)
            ON CONFLICT DO NOTHING RETURNING tt, ep
            """,
            new.map(\.key).columns + [
                .texts(new.map(\.item.id)), .texts(new.map(\.item.type)), .texts(new.map(\.item.channel)),
                .integers(new.map { Int64($0.state.rawValue) }), .integers(new.map(\.due)),
                .texts(new.map { $0.reason?.rawValue }), .byteStrings(new.map(\.item.body)),
                .integers(new.map { $0.chain?.number }), .integers(new.map { $0.isManual ? 1 : 0 }),
                .timetoken(now),
            ])
    }

    /// Makes this node the owner of locked lanes.
    private func claim(_ claimed: [LaneRow]) async throws(PostgresFailure) {
        guard !claimed.isEmpty else { return }
        let rows = try await run([
            Statement(
                """
                UPDATE subscriber s SET owner = $1, fence = s.fence + 1 WHERE s.id = ANY($2)
                RETURNING \(LaneRow.columns)
                """, [.integer(lanes.node), .integers(claimed.map(\.number))])
        ])[0]
        // The deliveries of this transaction are counted when they are added to memory.
        let waiting = Dictionary(claimed.map { ($0.number, $0.waiting) }) { $1 }
        for lane in LaneRow.all(rows) {
            afterCommit { [lanes] in lanes.adopt(lane, waiting: waiting[lane.number] ?? 0) }
        }
    }
}

extension [DeliveryKey] {
    /// The keys as two array parameters: the events and the subscribers.
    var columns: [Value] { [.integers(map { Int64(clamping: $0.event) }), .integers(map(\.subscriber))] }
}

extension Rows {
    /// The keys in the first two columns: the event and the subscriber.
    var deliveryKeys: [DeliveryKey] { (0..<count).map { deliveryKey($0) } }

    func deliveryKey(_ row: Int) -> DeliveryKey {
        DeliveryKey(event: UInt64(clamping: integer(row, 0) ?? 0), subscriber: integer(row, 1) ?? 0)
    }
}
