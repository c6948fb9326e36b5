import ChatModel
import SQLite

/// One delivery with what was tried.
struct FullDelivery: Sendable {
    let delivery: Delivery
    let attempts: [DeliveryAttempt]
}

extension Reader {
    /// What the leases of these grants need from the file; an item that is no longer waiting has none.
    func leases(_ grants: [Board.Grant]) throws(SQLiteFailure) -> [DeliveryKey: Lease] {
        var leases: [DeliveryKey: Lease] = [:]
        let find = statements.leasedDelivery
        for grant in grants where grant.planned == nil {
            find.bind(Int64(grant.key.event), at: 1)
            find.bind(grant.key.endpoint, at: 2)
            defer { find.reset() }
            guard try find.step() else { continue }
            leases[grant.key] = Lease(
                delivery: try find.delivery(names), fence: grant.fence,
                body: find.isNull(Statement.deliveryEnd) ? nil : find.bytes(Statement.deliveryEnd),
                isManual: find.integer(7) != 0)
        }
        return leases
    }

    func delivery(_ id: String, in space: SpaceID) throws(SQLiteFailure) -> FullDelivery? {
        let find = statements.fullDelivery
        find.bind(id, at: 1)
        find.bind(space.name, at: 2)
        defer { find.reset() }
        guard try find.step() else { return nil }
        return FullDelivery(
            delivery: try find.delivery(names),
            attempts: AttemptLog(packed: find.bytes(Statement.deliveryEnd)).attempts)
    }

    func list(_ listing: DeliveryListing) throws(SQLiteFailure) -> Page<Delivery> {
        var page = Page<Delivery>(items: [])
        let rows = try statement(listing.rows.text)
        for (index, value) in listing.rows.values.enumerated() { rows.bind(value, at: Int32(index + 1)) }
        var cursor: String?
        try rows.forEachRow { (row) throws(SQLiteFailure) in
            guard page.items.count < listing.limit else {
                page.hasMore = true
                page.cursor = cursor
                return false
            }
            page.items.append(try row.delivery(names))
            cursor = ListCursor.text([.integer(row.integer(0)), .integer(row.integer(Statement.deliveryEnd))])
            return true
        }
        return page
    }
}

/// A question for a list of deliveries, compiled to SQL before a connection is taken.
struct DeliveryListing: Sendable {
    let rows: SQLPiece
    let limit: Int

    /// - Throws: `.malformed` for a bad cursor.
    init(_ query: DeliveryQuery) throws(ChatError) {
        limit = query.limit
        var conditions = [SQLPiece("e.space = ?", [.text(query.space.name)])]
        if let endpoint = query.endpoint {
            conditions.append(
                SQLPiece(
                    "d.ep = (SELECT id FROM endpoint WHERE space = ? AND name = ?)",
                    [.text(query.space.name), .text(endpoint)]))
        }
        if let event = query.event {
            conditions.append(SQLPiece("d.tt = ?", [.integer(Int64(clamping: event.rawValue))]))
        }
        if !query.statuses.isEmpty {
            let statuses = DeliveryStatus.allCases.filter { query.statuses.contains($0) }
            conditions.append(SQLPiece("(" + statuses.map { "(\($0.condition))" }.joined(separator: " OR ") + ")"))
        }
        if let after = query.after {
            conditions.append(SQLPiece("d.tt > ?", [.integer(Int64(clamping: after.rawValue))]))
        }
        if let before = query.before {
            conditions.append(SQLPiece("d.tt < ?", [.integer(Int64(clamping: before.rawValue))]))
        }
        let (beyond, direction) = query.order == .newestFirst ? ("<", "DESC") : (">", "ASC")
        if let cursor = query.cursor {
            guard let values = ListCursor.values(cursor), values.count == 2 else { throw .badCursor }
            conditions.append(SQLPiece("(d.tt, d.ep) \(beyond) (?, ?)", values))
        }
        let condition = SQLPiece.joined(conditions, by: "AND")
        // CROSS JOIN keeps deliveries outside: they are walked newest first, each endpoint is one lookup.
        rows = SQLPiece(
            """
            SELECT \(Statement.deliveryColumns), d.ep FROM delivery d CROSS JOIN endpoint e ON e.id = d.ep
            WHERE \(condition.text) ORDER BY d.tt \(direction), d.ep \(direction) LIMIT ?
            """, condition.values + [.integer(Int64(query.limit) + 1)])
    }
}

extension DeliveryStatus {
    /// The rows users call so.
    fileprivate var condition: String {
        switch self {
        case .pending: "d.state = 0 AND e.state = 0 AND (d.tries = 0 OR d.manual = 1)"
        case .failed: "d.state = 0 AND e.state = 0 AND d.tries > 0 AND d.manual = 0"
        case .held: "d.state = 0 AND e.state <> 0"
        case .delivered: "d.state = 1"
        case .dead: "d.state = 2"
        }
    }
}

extension Statement {
    /// A delivery's columns; ``deliveryEnd`` is the first one behind them.
    static let deliveryColumns = """
        d.tt, d.id, e.space, e.name, e.state, d.state, d.tries, d.manual, d.due, d.type, d.channel, d.reason
        """
    static let deliveryEnd: Int32 = 12

    fileprivate func delivery(_ names: NameTable) throws(SQLiteFailure) -> Delivery {
        let status = deliveryStatus
        return Delivery(
            id: text(1), endpoint: EndpointID(text(3), in: SpaceID(text(2))), event: Timetoken(UInt64(integer(0))),
            type: try names.type(integer(9)), channel: text(10), status: status, attempts: Int(integer(6)),
            due: status == .pending || status == .failed ? Timetoken(UInt64(integer(8))) : nil,
            reason: optionalText(11))
    }

    private var deliveryStatus: DeliveryStatus {
        switch StoredState(rawValue: Int(integer(5))) {
        case .delivered: .delivered
        case .dead: .dead
        case .waiting, nil:
            if integer(4) != 0 { .held } else { integer(6) == 0 || integer(7) != 0 ? .pending : .failed }
        }
    }
}
