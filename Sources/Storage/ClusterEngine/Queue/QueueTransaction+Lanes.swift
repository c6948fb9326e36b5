import ChatModel
import Locking
import Postgres
import StorageCore

extension QueueTransaction {
    /// Stores the settings of a subscriber, and returns its row.
    func set(_ settings: LaneSettings, of subscriber: SubscriberID) async throws(PostgresFailure) -> LaneRow? {
        // A change of the ordering first dissolves the chains of the old ordering. Reordering also runs when the
        // subscriber was not open, because the first delivery of a chain may have become dead because of its age.
        let rows = try await run([
            Statement(
                """
                INSERT INTO subscriber AS s (app, name, state, concurrency, ordering, rate, batch, pulled, attempts)
                VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT (app, name) DO UPDATE SET
                reordering = CASE WHEN s.ordering <> excluded.ordering THEN 1
                    WHEN s.reordering = 0 AND s.state <> 0 AND excluded.ordering <> 0 THEN 3 ELSE s.reordering END,
                state = excluded.state, concurrency = excluded.concurrency, ordering = excluded.ordering,
                rate = excluded.rate, batch = excluded.batch, pulled = excluded.pulled, attempts = excluded.attempts
                RETURNING \(LaneRow.columns)
                """,
                [
                    .text(subscriber.app.name), .text(subscriber.name), .integer(Int64(settings.state.rawValue)),
                    .integer(Int64(settings.concurrency)), .integer(Int64(settings.ordering.rawValue)),
                    settings.rate.map { .double($0) } ?? .null, .integer(Int64(settings.deliveriesPerAttempt)),
                    .boolean(settings.isPulled), settings.attempts.map { .integer(Int64($0)) } ?? .null,
                ])
        ])[0]
        guard let lane = LaneRow.all(rows).first else { return nil }
        _ = locked(rows)
        afterCommit { [scheduler, lanes] in
            if lanes.known(lane.number) != nil { scheduler.set(lane.stored) }
        }
        touch([lane])
        return lane
    }

    /// Marks one batch of a closed subscriber's waiting deliveries as dead. Returns true when there may be more.
    func markDead(_ number: Int64) async throws(PostgresFailure) -> Bool {
        guard let lane = try await lock(number), lane.settings.state == .closed else { return false }
        let changed = try await run([
            Statement(
                """
                UPDATE delivery SET state = 2, reason = $2, touched = $3, chain = NULL WHERE (tt, ep) IN (
                    SELECT tt, ep FROM delivery WHERE state = 0 AND ep = $1 LIMIT \(Self.turnRows))
                """, [.integer(number), .text(DeadReason.webhookDeleted.rawValue), .timetoken(now)])
        ])[0].affected
        count([number: -changed])
        touch([lane])
        let isMoreLeft = changed == Self.turnRows
        if !isMoreLeft { afterCommit { [scheduler] in scheduler.clear(number) } }
        return isMoreLeft
    }

    /// Reads a lane's earliest due deliveries from the database into memory.
    func fetch(_ number: Int64) async throws(PostgresFailure) {
        // The limit is raised by the number of leased deliveries, which are among the earliest in the database but are
        // not added to memory.
        let most = DeliveryScheduler.fetchedDeliveries + (scheduler.snapshot(of: number)?.leaseCount ?? 0)
        let rows = try await run([
            Statement("SELECT \(LaneRow.columns) FROM subscriber s WHERE s.id = $1", [.integer(number)]),
            Self.earliest(of: number, most),
        ])
        let items = Self.dueItems(rows[1])
        if let lane = LaneRow.all(rows[0]).first {
            // This node must not lease deliveries of a lane that another node has claimed.
            guard holder(of: lane) == .me else {
                return afterCommit { [lanes] in lanes.remove([number]) }
            }
        }
        afterCommit { [scheduler] in scheduler.replace(number, with: items, isComplete: items.count < most) }
    }

    // MARK: Ownership

    /// The maximum number of lanes that a node claims at once.
    static let claimsMost = 64

    /// Makes this node the owner of lanes that have due deliveries and no live owner. Returns the number of lanes.
    func claimDueLanes() async throws(PostgresFailure) -> Int {
        try await claim(
            """
            s.state = 0 AND NOT s.pulled AND s.waiting > 0
            AND EXISTS (SELECT 1 FROM delivery d WHERE d.state = 0 AND d.ep = s.id AND d.due <= $3)
            """, .timetoken(lanes.claimableDue(now: now)))
    }

    /// Makes this node the owner of one lane, unless another live node owns it.
    ///
    /// - Parameter isNeeded: true to ask the owner for the lane, if it is the lane of a pulled subscription.
    func claim(_ number: Int64, isNeeded: Bool) async throws(PostgresFailure) {
        guard lanes.known(number) == nil, try await claim("s.id = $3", .integer(number)) == 0, isNeeded else { return }
        let asked = try await run([
            Statement(
                "UPDATE subscriber SET wanted = $2 WHERE id = $1 AND pulled AND owner <> $2 AND wanted IS NULL",
                [.integer(number), .integer(lanes.node)])
        ])[0]
        if asked.affected > 0 { afterCommit { [lanes] in lanes.changed([number]) } }
    }

    /// Gives up the lane of a pulled subscription, and stores its leases for the next owner.
    ///
    /// - Parameter leases: the leases. The lane leases nothing until the end of the transaction.
    func handOver(_ number: Int64, _ leases: [TransferredLease]) async throws(PostgresFailure) {
        later(
            Statement(
                """
                INSERT INTO lease(tt, ep, due, fence, attempt, since, until, in_line)
                SELECT tt, ep, due, fence, attempt, since, until, in_line <> 0
                FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[],
                    $7::bigint[], $8::bigint[]) AS k(tt, ep, due, fence, attempt, since, until, in_line)
                WHERE EXISTS (SELECT 1 FROM subscriber s WHERE s.id = $9 AND s.owner = $10)
                ON CONFLICT DO NOTHING
                """,
                leases.map(\.key).columns + [
                    .integers(leases.map { Int64(clamping: $0.item.due) }),
                    .integers(leases.map { Int64(bitPattern: $0.fence) }),
                    .integers(leases.map { Int64(bitPattern: $0.attempt) }), .integers(leases.map(\.since.stored)),
                    .integers(leases.map(\.until.stored)), .integers(leases.map { $0.isInLine ? 1 : 0 }),
                    .integer(number), .integer(lanes.node),
                ]))
        later(
            Statement(
                "UPDATE subscriber SET owner = NULL, wanted = NULL WHERE id = $1 AND owner = $2",
                [.integer(number), .integer(lanes.node)]))
        afterCommit { [lanes] in
            lanes.remove([number])
            lanes.changed([number])
        }
    }

    /// Removes and returns the leases that the last owner of a lane has stored.
    private func transferredLeases(of number: Int64) async throws(PostgresFailure) -> [TransferredLease] {
        let rows = try await run([
            Statement(
                "DELETE FROM lease WHERE ep = $1 RETURNING tt, ep, due, fence, attempt, since, until, in_line",
                [.integer(number)])
        ])[0]
        return (0..<rows.count).map { row in
            let key = rows.deliveryKey(row)
            return TransferredLease(
                item: DueItem(event: key.event, due: UInt64(clamping: rows.integer(row, 2) ?? 0)),
                subscriber: number, fence: UInt64(bitPattern: rows.integer(row, 3) ?? 0),
                attempt: UInt64(bitPattern: rows.integer(row, 4) ?? 0), since: rows.timetoken(row, 5) ?? .zero,
                until: rows.timetoken(row, 6) ?? .zero, isInLine: rows.boolean(row, 7) ?? false)
        }
    }

    // The owner's lease is read in a subquery, and not in a join: if another node has just claimed the lane, the server
    // evaluates the condition again with the new owner, but it does not join anew.
    private func claim(_ condition: String, _ value: Value) async throws(PostgresFailure) -> Int {
        let rows = try await run([
            Statement(
                """
                UPDATE subscriber s SET owner = $1, wanted = NULL, fence = s.fence + 1 WHERE s.id IN (
                    SELECT s.id FROM subscriber s WHERE \(condition) AND s.id <> ALL($2)
                    AND (s.owner IS NULL OR s.owner = $1 OR NOT EXISTS (SELECT 1 FROM node n
                        WHERE n.id = s.owner AND n.lease_until > \(LaneRow.databaseTime)))
                    LIMIT \(Self.claimsMost) FOR UPDATE SKIP LOCKED)
                RETURNING \(LaneRow.columns)
                """, [.integer(lanes.node), .integers(lanes.all), value])
        ])[0]
        let claimed = LaneRow.all(rows)
        guard !claimed.isEmpty else { return 0 }
        // The earliest deliveries are read at once, so that they can be leased without another round trip.
        var leases: [TransferredLease] = []
        for lane in claimed where lane.settings.isPulled { leases += try await transferredLeases(of: lane.number) }
        let most = max(64, DeliveryScheduler.fetchedDeliveries / claimed.count) + leases.count
        let items = try await run(claimed.map { Self.earliest(of: $0.number, most) })
        for (lane, rows) in zip(claimed, items) {
            let due = Self.dueItems(rows)
            afterCommit { [lanes, scheduler, leases] in
                lanes.adopt(lane, waiting: lane.waiting)
                scheduler.receive(leases.filter { $0.key.subscriber == lane.number })
                scheduler.replace(lane.number, with: due, isComplete: due.count < most)
            }
        }
        if claimed.contains(where: { $0.isReordering }) { afterCommit { [lanes] in lanes.signal.send() } }
        return claimed.count
    }

    /// The statement that reads the earliest due deliveries of a lane.
    private static func earliest(of number: Int64, _ most: Int) -> Statement {
        Statement(
            """
            SELECT tt, due FROM delivery WHERE state = 0 AND ep = $1 AND due < \(Chain.inLine)
            ORDER BY due, tt LIMIT $2
            """, [.integer(number), .integer(Int64(most))])
    }

    private static func dueItems(_ rows: Rows) -> [DueItem] {
        (0..<rows.count).map { row in
            DueItem(
                event: UInt64(clamping: rows.integer(row, 0) ?? 0), due: UInt64(clamping: rows.integer(row, 1) ?? 0))
        }
    }

    /// The work that a comparison of memory with the rows of this node's lanes has found.
    struct Comparison: Sendable {
        /// The lanes that must be reordered.
        var reordered: [Int64] = []
        /// The lanes that other nodes need.
        var wanted: [Int64] = []
        /// The number of webhooks that this node should pass on to nodes with fewer.
        var released = 0
    }

    /// Compares memory with the rows of the lanes of this node, and gives up lanes.
    ///
    /// - Parameter idle: the lanes to give up. They lease nothing until the end of the transaction.
    func compareLanes(givingUp idle: [Int64], _ memory: NodeMemory) async throws(PostgresFailure) -> Comparison {
        let rows = try await run([
            Statement(
                "UPDATE subscriber SET owner = NULL, wanted = NULL WHERE id = ANY($1) AND owner = $2",
                [.integers(idle), .integer(lanes.node)]),
            Statement("SELECT \(LaneRow.columns) FROM subscriber s WHERE s.owner = $1", [.integer(lanes.node)]),
            Statement("SELECT name, tt FROM cursor"),
            Statement(
                "UPDATE node SET seeks = $2 WHERE id = $1 AND seeks <> $2",
                [.integer(lanes.node), .boolean(scheduler.hasWaiters)]),
            Statement(
                """
                SELECT (SELECT count(*) FROM subscriber s WHERE s.owner = n.id AND NOT s.pulled) FROM node n
                WHERE n.id <> $1 AND n.seeks AND n.lease_until > \(LaneRow.databaseTime)
                """, [.integer(lanes.node)]),
        ])
        let owned = LaneRow.all(rows[1])
        let lost = Set(lanes.all).subtracting(owned.map(\.number)).union(idle)
        afterCommit { [lanes] in
            lanes.remove(Array(lost))
            for lane in owned { lanes.compare(lane) }
        }
        for row in 0..<rows[2].count {
            memory.retention.move(CursorName(rows[2].text(row, 0) ?? ""), to: rows[2].timetoken(row, 1) ?? .zero)
        }
        let mine = owned.filter { holder(of: $0) == .me && !idle.contains($0.number) }
        return Comparison(
            reordered: mine.filter(\.isReordering).map(\.number),
            wanted: mine.filter { $0.wanted != nil }.map(\.number),
            released: Self.released(
                of: mine.count { !$0.settings.isPulled },
                besides: (0..<rows[4].count).compactMap { rows[4].integer($0, 0).map(Int.init) }))
    }

    /// The number of webhooks that a node should pass on to others at once, so that in the end all have the same number.
    ///
    /// One other node may claim all that are passed on. They are a part of the surplus only, so that this node does not
    /// have to pass them back.
    ///
    /// - Parameter own: the number of webhooks of this node.
    /// - Parameter others: the numbers of the nodes whose callers wait for deliveries.
    /// - Returns: a part of the surplus over the share; 0 if the surplus is at most a quarter of the share, so that webhooks
    ///   do not move forever.
    static func released(of own: Int, besides others: [Int]) -> Int {
        let fewer = others.filter { $0 < own }
        let share = (own + fewer.reduce(0, +)) / (fewer.count + 1)
        guard own - share > max(1, share / 4) else { return 0 }
        return max(1, (own - share) / (fewer.count + 1))
    }
}
