import ChatModel
import Postgres
import StorageCore

extension QueueTransaction {
    /// The number of rows that one transaction changes, because other changes of the lane wait for it.
    static let turnRows = 2000

    /// The first delivery of each chain that is not empty.
    func heads(of chains: Set<Chain>) async throws(PostgresFailure) -> [Chain: DueItem] {
        guard !chains.isEmpty else { return [:] }
        return try await run([Self.heads(of: Array(chains))])[0].chainItems
    }

    private static func heads(of chains: [Chain]) -> Statement {
        Statement(
            """
            SELECT k.ep, k.chain, h.tt, h.due FROM unnest($1::bigint[], $2::bigint[]) AS k(ep, chain)
            CROSS JOIN LATERAL (SELECT tt, due FROM delivery d WHERE d.ep = k.ep AND d.chain = k.chain
                ORDER BY d.tt LIMIT 1) h
            """, chains.columns)
    }

    /// The delivery of each chain that is due or being attempted. All other deliveries of the chain are in line (they
    /// wait). It is the first of the chain, except after a replay has added an earlier delivery.
    private static func leaders(of chains: [Chain]) -> Statement {
        Statement(
            """
            SELECT k.ep, k.chain, h.tt, h.due FROM unnest($1::bigint[], $2::bigint[]) AS k(ep, chain)
            CROSS JOIN LATERAL (SELECT tt, due FROM delivery d WHERE d.ep = k.ep AND d.chain = k.chain
                AND d.due < \(Chain.inLine) LIMIT 1) h
            """, chains.columns)
    }

    /// Makes the first delivery of each chain due after the chains have changed. If another delivery of a chain is due,
    /// that delivery waits again. If another delivery is being attempted, the first delivery waits for it.
    ///
    /// Only the owner of a lane knows which deliveries are being attempted. For the lane of another node, this leaves
    /// the decision to the owner.
    ///
    /// - Parameter locked: the lanes of the chains.
    func advance(_ chains: Set<Chain>, _ locked: [Int64: LaneRow]) async throws(PostgresFailure) {
        guard !chains.isEmpty else { return }
        let chains = Array(chains)
        let rows = try await run([Self.heads(of: chains), Self.leaders(of: chains)])
        let (heads, leaders) = (rows[0].chainItems, rows[1].chainItems)
        var dues: [(key: DeliveryKey, due: Int64)] = []
        var undecided: Set<Int64> = []
        for chain in chains {
            guard let first = heads[chain], first.due == UInt64(Chain.inLine), let lane = locked[chain.subscriber]
            else { continue }
            let key = DeliveryKey(event: first.event, subscriber: chain.subscriber)
            let holder = holder(of: lane)
            if let leader = leaders[chain] {
                let leaderKey = DeliveryKey(event: leader.event, subscriber: chain.subscriber)
                switch holder {
                case .other:
                    undecided.insert(chain.subscriber)
                    continue
                case .me where scheduler.isLeased(leaderKey): continue
                case .me, .nobody: break
                }
                dues.append((leaderKey, Chain.inLine))
                if holder == .me { afterCommit { [scheduler] in scheduler.forget([chain.subscriber: 0]) } }
            }
            dues.append((key, now.stored))
            if holder == .me { afterCommit { [scheduler, now] in scheduler.promote(key, due: now.rawValue) } }
        }
        if !dues.isEmpty { later(Self.setDue(dues)) }
        if !undecided.isEmpty {
            later(
                Statement(
                    """
                    UPDATE subscriber SET reordering = \(Reordering.lead.rawValue)
                    WHERE id = ANY($1) AND reordering = 0
                    """, [.integers(Array(undecided))]))
        }
    }

    private static func setDue(_ dues: [(key: DeliveryKey, due: Int64)]) -> Statement {
        Statement(
            """
            UPDATE delivery d SET due = k.due FROM unnest($1::bigint[], $2::bigint[], $3::bigint[]) AS k(tt, ep, due)
            WHERE d.tt = k.tt AND d.ep = k.ep
            """, dues.map(\.key).columns + [.integers(dues.map(\.due))])
    }

    // MARK: Reordering

    /// The progress of ``reorder(_:)``.
    struct ReorderingPlace: Sendable {
        let subscriber: Int64
        /// The number of the last chain whose first delivery was made due. Chains are processed in the order of their
        /// numbers.
        var chain: Int64 = -1
    }

    /// Reorders one batch of a subscriber's waiting deliveries according to its settings. Returns the progress, or nil
    /// when reordering is complete or another node owns the lane, which then continues it.
    func reorder(_ place: ReorderingPlace) async throws(PostgresFailure) -> ReorderingPlace? {
        guard let lane = try await lock(place.subscriber), holder(of: lane) != .other else { return nil }
        switch lane.stored.reordering {
        case .done: return nil
        case .release:
            let changed = try await run([
                Statement(
                    """
                    UPDATE delivery SET chain = NULL, due = least(due, $2) WHERE (tt, ep) IN (
                        SELECT tt, ep FROM delivery WHERE chain IS NOT NULL AND ep = $1 LIMIT \(Self.turnRows))
                    """, [.integer(lane.number), .timetoken(now)])
            ])[0].affected
            if changed == Self.turnRows { return place }
            return try await record(lane.settings.ordering == .none ? .done : .chain, place, lane)
        case .chain: return try await chain(lane) ? place : try await record(.lead, place, lane)
        case .lead:
            let next = try await run([
                Statement(
                    """
                    SELECT DISTINCT chain FROM delivery WHERE chain IS NOT NULL AND ep = $1 AND chain > $2
                    ORDER BY chain LIMIT \(Self.turnRows)
                    """, [.integer(lane.number), .integer(place.chain)])
            ])[0]
            let chains = (0..<next.count).map { Chain(subscriber: lane.number, number: next.integer($0, 0) ?? 0) }
            try await advance(Set(chains), [lane.number: lane])
            guard chains.count == Self.turnRows, let last = chains.last else {
                return try await record(.done, place, lane)
            }
            return ReorderingPlace(subscriber: lane.number, chain: last.number)
        }
    }

    private func record(
        _ step: Reordering, _ place: ReorderingPlace, _ lane: LaneRow
    ) async throws(PostgresFailure) -> ReorderingPlace? {
        let rows = try await run([
            Statement(
                "UPDATE subscriber s SET reordering = $2 WHERE s.id = $1 RETURNING \(LaneRow.columns)",
                [.integer(lane.number), .integer(Int64(step.rawValue))])
        ])[0]
        guard step == .done, let changed = LaneRow.all(rows).first else { return place }
        if holder(of: lane) == .me {
            afterCommit { [scheduler] in
                scheduler.set(changed.stored)
                scheduler.forget([changed.number: 0])
            }
        }
        touch([lane])
        return nil
    }

    /// Assigns one batch of deliveries to chains. Returns true when there may be further deliveries.
    private func chain(_ lane: LaneRow) async throws(PostgresFailure) -> Bool {
        let found = try await run([
            Statement(
                """
                SELECT tt, ep, channel FROM delivery WHERE state = 0 AND ep = $1 AND due < \(Chain.inLine)
                LIMIT \(Self.turnRows)
                """, [.integer(lane.number)])
        ])[0]
        let chains = (0..<found.count).map { row in
            Chain(lane.settings.ordering, subscriber: lane.number, channel: found.text(row, 2) ?? "")?.number
        }
        later(
            Statement(
                """
                UPDATE delivery d SET chain = k.chain, due = \(Chain.inLine)
                FROM unnest($1::bigint[], $2::bigint[], $3::bigint[]) AS k(tt, ep, chain)
                WHERE d.tt = k.tt AND d.ep = k.ep
                """, found.deliveryKeys.columns + [.integers(chains)]))
        return found.count == Self.turnRows
    }
}

extension [Chain] {
    /// The chains as two array parameters: the subscribers and the numbers.
    fileprivate var columns: [Value] { [.integers(map(\.subscriber)), .integers(map(\.number))] }
}

extension Rows {
    /// Rows with the columns subscriber, chain, event and due time.
    fileprivate var chainItems: [Chain: DueItem] {
        var items: [Chain: DueItem] = [:]
        for row in 0..<count {
            let chain = Chain(subscriber: integer(row, 0) ?? 0, number: integer(row, 1) ?? 0)
            items[chain] = DueItem(
                event: UInt64(clamping: integer(row, 2) ?? 0), due: UInt64(clamping: integer(row, 3) ?? 0))
        }
        return items
    }
}
