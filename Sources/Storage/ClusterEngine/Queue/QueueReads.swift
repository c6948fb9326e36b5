import ChatModel
import Postgres
import StorageCore

/// The columns of a delivery `d` and its subscriber `e`, for lists.
private let listedColumns = """
    d.tt, d.id, e.app, e.name, e.state, d.state, d.tries, d.manual, d.due, d.type, d.channel, d.reason, d.created
    """

/// Reads of the queue that change nothing.
struct QueueReads: Sendable {
    let pool: ConnectionPool

    // MARK: Leases

    /// Reads the data of these leased deliveries. See `QueueStorage.leases`.
    func leases(_ grants: [DeliveryScheduler.Grant]) async throws(StoreFailure) -> [DeliveryKey: Lease] {
        var wanted: [DeliveryKey: DeliveryScheduler.Grant] = [:]
        for grant in grants where grant.planned == nil { wanted[grant.key] = grant }
        guard !wanted.isEmpty else { return [:] }
        let rows = try await pool.run([
            Statement(
                """
                SELECT d.tt, d.ep, d.id, d.tries, d.manual, d.due, d.type, d.channel, d.body
                FROM unnest($1::bigint[], $2::bigint[]) AS k(tt, ep)
                JOIN delivery d ON d.tt = k.tt AND d.ep = k.ep AND d.state = 0
                """, Array(wanted.keys).columns)
        ])[0]
        var leases: [DeliveryKey: Lease] = [:]
        for row in 0..<rows.count {
            let key = rows.deliveryKey(row)
            guard let grant = wanted[key] else { continue }
            let tries = Int(rows.integer(row, 3) ?? 0)
            let isManual = rows.boolean(row, 4) ?? false
            let delivery = Delivery(
                id: rows.text(row, 2) ?? "", subscriber: grant.subscriber, event: Timetoken(key.event),
                type: rows.text(row, 6) ?? "", channel: rows.text(row, 7) ?? "",
                status: tries == 0 || isManual ? .pending : .failed, attempts: tries, due: rows.due(row, 5))
            leases[key] = Lease(
                delivery: delivery, fence: grant.fence, body: rows.bytes(row, 8), isManual: isManual,
                attempt: grant.attempt)
        }
        return leases
    }

    /// Reads the deliveries that follow leased ones. See `QueueStorage.followers`.
    func followers(
        of grants: [DeliveryScheduler.Grant]
    ) async throws(StoreFailure) -> [DeliveryKey: [DueItem]] {
        var room: [UInt64: Int] = [:]
        for grant in grants where grant.freeCapacity > 0 { room[grant.attempt] = grant.freeCapacity }
        let leaders = grants.filter { room[$0.attempt] != nil }
        guard !leaders.isEmpty else { return [:] }
        let rows = try await pool.run([
            Statement(
                """
                SELECT k.tt, k.ep, f.tt FROM unnest($1::bigint[], $2::bigint[], $3::bigint[]) AS k(tt, ep, most)
                JOIN delivery d ON d.tt = k.tt AND d.ep = k.ep AND d.chain IS NOT NULL
                CROSS JOIN LATERAL (SELECT n.tt FROM delivery n WHERE n.ep = d.ep AND n.chain = d.chain
                    AND n.tt > d.tt ORDER BY n.tt LIMIT k.most) f ORDER BY k.tt, k.ep, f.tt
                """,
                leaders.map(\.key).columns + [.integers(leaders.map { Int64(room[$0.attempt] ?? 0) })])
        ])[0]
        var found: [DeliveryKey: [DueItem]] = [:]
        for row in 0..<rows.count {
            found[rows.deliveryKey(row), default: []].append(
                DueItem(event: UInt64(clamping: rows.integer(row, 2) ?? 0), due: .max))
        }
        // The deliveries of one attempt share its capacity.
        for grant in leaders {
            let followers = (found[grant.key] ?? []).prefix(room[grant.attempt] ?? 0)
            found[grant.key] = Array(followers)
            room[grant.attempt, default: 0] -= followers.count
        }
        return found
    }

    /// The number of a subscriber; nil if it does not exist.
    ///
    /// - Parameter isPulled: true to find only a pulled subscription.
    func number(of subscriber: SubscriberID, isPulled: Bool = false) async throws(StoreFailure) -> Int64? {
        let rows = try await pool.run([
            Statement(
                "SELECT id FROM subscriber WHERE app = $1 AND name = $2 AND (pulled OR NOT $3)",
                [.text(subscriber.app.name), .text(subscriber.name), .boolean(isPulled)])
        ])[0]
        return rows.count > 0 ? rows.integer(0, 0) : nil
    }

    /// The position of a cursor; zero if it does not exist.
    func cursor(_ name: CursorName) async throws(StoreFailure) -> Timetoken {
        let rows = try await pool.run([Statement("SELECT tt FROM cursor WHERE name = $1", [.text(name.text)])])[0]
        return rows.count > 0 ? rows.timetoken(0, 0) ?? .zero : .zero
    }

    // MARK: Lists

    func delivery(_ id: String, in app: AppID) async throws(StoreFailure) -> (Delivery, [DeliveryAttempt])? {
        let rows = try await pool.run([
            Statement(
                """
                SELECT \(listedColumns), l.bytes FROM delivery d JOIN subscriber e ON e.id = d.ep
                LEFT JOIN attempt_log l ON l.tt = d.tt AND l.ep = d.ep WHERE d.id = $1 AND e.app = $2
                """, [.text(id), .text(app.name)])
        ])[0]
        guard rows.count > 0 else { return nil }
        let log = rows.bytes(0, 13).map { AttemptLog(packed: $0) } ?? AttemptLog()
        return (rows.delivery(0), log.attempts)
    }

    func list(_ listing: DeliveryListing) async throws(StoreFailure) -> Page<Delivery> {
        let query = listing.query
        let direction = query.order == .newestFirst ? "DESC" : "ASC"
        let wanted = Value.integer(Int64(query.limit + 1))
        let rows = try await inSnapshot(of: [query]) { subscribers in
            let parts = listing.parts(of: subscribers[0])
            return [
                Statement(
                    """
                    SELECT \(listedColumns), d.ep FROM (
                        SELECT f.tt, f.ep FROM \(DeliveryPart.columns) CROSS JOIN LATERAL (
                            SELECT d.tt, d.ep FROM delivery d WHERE \(DeliveryPart.condition)
                            ORDER BY d.tt \(direction) LIMIT $6) f
                        ORDER BY f.tt \(direction), f.ep \(direction) LIMIT $6) page
                    JOIN delivery d ON d.tt = page.tt AND d.ep = page.ep JOIN subscriber e ON e.id = d.ep
                    ORDER BY d.tt \(direction), d.ep \(direction)
                    """, parts.columns + [wanted])
            ]
        }[0]
        var page = Page<Delivery>(items: [])
        let count = min(rows.count, query.limit)
        for row in 0..<count {
            page.items.append(rows.delivery(row))
            if query.wantsCursors { page.cursors.append(rows.listedKey(row).listCursor) }
        }
        guard rows.count > query.limit, count > 0 else { return page }
        page.hasMore = true
        page.cursor = rows.listedKey(count - 1).listCursor
        return page
    }

    /// The number of deliveries that match each listing, at most `most` each, counted in one snapshot.
    func counts(_ listings: [DeliveryListing], most: Int) async throws(StoreFailure) -> [Int] {
        guard !listings.isEmpty else { return [] }
        let rows = try await inSnapshot(of: listings.map(\.query)) { subscribers in
            zip(listings, subscribers).map { listing, subscribers in
                Statement(
                    """
                    SELECT count(*) FROM (SELECT 1 FROM \(DeliveryPart.columns) CROSS JOIN LATERAL (
                        SELECT 1 FROM delivery d WHERE \(DeliveryPart.condition) LIMIT $6) f LIMIT $6) found
                    """, listing.parts(of: subscribers).columns + [.integer(Int64(most))])
            }
        }
        return rows.map { Int($0.integer(0, 0) ?? 0) }
    }

    /// Reads the subscribers of each query, and then runs statements, in one snapshot.
    private func inSnapshot(
        of queries: [DeliveryQuery],
        _ statements: @Sendable ([[(number: Int64, isOpen: Bool)]]) -> [Statement]
    ) async throws(StoreFailure) -> [Rows] {
        try await pool.with { (connection) throws(PostgresFailure) in
            let begin = [Statement("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")]
            let rows = try await connection.run(
                begin
                    + queries.map { query in
                        Statement(
                            "SELECT id, state FROM subscriber WHERE app = $1 AND ($2::text IS NULL OR name = $2)",
                            [.text(query.app.name), query.subscriber.map { .text($0) } ?? .null])
                    })
            let subscribers = rows.dropFirst().map { rows in
                (0..<rows.count).map { (number: rows.integer($0, 0) ?? 0, isOpen: rows.integer($0, 1) == 0) }
            }
            return Array(try await connection.run(statements(subscribers) + [Statement("COMMIT")]).dropLast())
        }
    }
}

extension [DeliveryPart] {
    /// The parts as five array parameters.
    fileprivate var columns: [Value] {
        [
            .integers(map(\.subscriber)), .integers(map { Int64($0.state.rawValue) }),
            .integers(map { part in part.hasFailed.map { $0 ? 1 : 0 } }), .integers(map { Int64(clamping: $0.after) }),
            .integers(map { Int64(clamping: $0.before) }),
        ]
    }
}

extension DeliveryPart {
    fileprivate static let columns = """
        unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[]) \
        AS p(ep, state, failed, after, before)
        """
    fileprivate static let condition = """
        d.ep = p.ep AND d.state = p.state AND d.tt > p.after AND d.tt < p.before \
        AND (p.failed IS NULL OR (d.tries > 0 AND NOT d.manual) = (p.failed = 1))
        """
}

extension Rows {
    /// A due time; nil for a delivery that waits for earlier ones.
    fileprivate func due(_ row: Int, _ column: Int) -> Timetoken? {
        guard let due = integer(row, column), due != Chain.inLine else { return nil }
        return Timetoken(UInt64(clamping: due))
    }

    /// The delivery in a row whose columns are those of lists.
    fileprivate func delivery(_ row: Int) -> Delivery {
        let tries = Int(integer(row, 6) ?? 0)
        let status: DeliveryStatus =
            switch StoredState(rawValue: Int(integer(row, 5) ?? 0)) {
            case .delivered: .delivered
            case .dead: .dead
            case .waiting, nil:
                if integer(row, 4) != 0 { .held } else { tries == 0 || boolean(row, 7) == true ? .pending : .failed }
            }
        return Delivery(
            id: text(row, 1) ?? "", subscriber: SubscriberID(text(row, 3) ?? "", in: AppID(text(row, 2) ?? "")),
            event: timetoken(row, 0) ?? .zero, type: text(row, 9) ?? "", channel: text(row, 10) ?? "", status: status,
            attempts: tries, due: status == .pending || status == .failed ? due(row, 8) : nil,
            reason: text(row, 11).flatMap { DeadReason(rawValue: $0) }, created: timetoken(row, 12))
    }

    /// The key in a row of a list.
    fileprivate func listedKey(_ row: Int) -> DeliveryKey {
        DeliveryKey(event: UInt64(clamping: integer(row, 0) ?? 0), subscriber: integer(row, 13) ?? 0)
    }
}
