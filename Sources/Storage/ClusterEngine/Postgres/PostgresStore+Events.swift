import ChatModel
import Postgres

extension PostgresStore {
    /// The number of rows of all channels that one statement examines.
    private static let scanStride = 1000
    /// The number of rows of all channels that are examined for one page.
    private static let scanMost = 20_000
    /// The maximum number of channels that are looked up one by one. For more, the events of all channels are examined.
    private static let separateMost = 500

    private static let notImported = "e.origin IS DISTINCT FROM ''"

    static func selectEvents(at timetokens: [Timetoken]) -> Statement {
        let union = ["event", "passing"].map { table in
            """
            SELECT \(EventColumns.selected(isPassing: table == "passing")) FROM \(table) e \
            JOIN channel c ON c.id = e.ch WHERE e.tt = ANY($1)
            """
        }.joined(separator: " UNION ALL ")
        return Statement(union, [.integers(timetokens.map(\.stored))])
    }

    static func selectEverything(after position: Timetoken, upTo end: Timetoken, _ limit: Int) -> Statement {
        let union = ["event", "passing"].map { table in
            """
            (SELECT \(EventColumns.selected(isPassing: table == "passing")) FROM \(table) e \
            JOIN channel c ON c.id = e.ch WHERE e.tt > $1 AND e.tt <= $2 AND \(notImported) ORDER BY e.tt LIMIT $3)
            """
        }.joined(separator: " UNION ALL ")
        return Statement(
            "SELECT * FROM (\(union)) AS found ORDER BY tt LIMIT $3",
            [.timetoken(position), .timetoken(end), .integer(Int64(limit))])
    }

    func everything(
        after position: Timetoken, upTo end: Timetoken, limit: Int
    ) async throws(StoreFailure) -> Page<Event> {
        let events = EventColumns.read(
            try await pool.run([Self.selectEverything(after: position, upTo: end, limit + 1)])[0])
        guard events.count > limit else { return Page(items: events, position: end) }
        return Page(items: Array(events.prefix(limit)), hasMore: true, position: events[limit - 1].timetoken)
    }

    func event(at timetoken: Timetoken) async throws(StoreFailure) -> Event? {
        EventColumns.read(try await pool.run([Self.selectEvents(at: [timetoken])])[0]).first
    }

    func events(_ query: EventsQuery) async throws(StoreFailure) -> Page<Event> {
        if !query.channels.isAll {
            let ids = try await channelIDs(query.channels)
            if ids.count <= Self.separateMost { return try await separate(ids, query) }
        }
        return try await scan(query)
    }

    /// The numbers of the channels of a set without `isAll`; at most one more than ``separateMost``.
    private func channelIDs(_ channels: ChannelSet) async throws(StoreFailure) -> [Int64] {
        let rows = try await pool.run([
            Statement(
                """
                (SELECT id FROM channel WHERE app = $1 AND name = ANY($2) LIMIT $5)
                UNION
                (SELECT found.id FROM unnest($3::text[], $4::text[]) AS p(low, high) CROSS JOIN LATERAL (
                    SELECT c.id FROM channel c WHERE c.app = $1 AND c.name > p.low AND c.name < p.high
                    ORDER BY c.name LIMIT $5) AS found LIMIT $5)
                """,
                [
                    .text(channels.app.name), .texts(channels.names.map(\.text)),
                    .texts(channels.prefixes.map(\.text)),
                    // Longer names with the prefix: UTF-8 has no byte 0xFF, and no name begins with U+10FFFF.
                    .texts(channels.prefixes.map { $0.text + "\u{10FFFF}" }),
                    .integer(Int64(Self.separateMost + 1)),
                ])
        ])[0]
        return (0..<rows.count).compactMap { rows.integer($0, 0) }
    }

    private func separate(_ ids: [Int64], _ query: EventsQuery) async throws(StoreFailure) -> Page<Event> {
        let end = query.order == .oldestFirst ? query.upTo : query.after
        guard !ids.isEmpty else { return Page(items: [], position: end) }
        let direction = query.order == .oldestFirst ? "" : " DESC"
        let tables = query.isOfHistory ? ["event"] : ["event", "passing"]
        let union = tables.map { table in
            """
            (SELECT \(EventColumns.selected(isPassing: table == "passing")) FROM channel c CROSS JOIN LATERAL (
                SELECT * FROM \(table) e WHERE e.ch = c.id AND e.tt > $2 AND e.tt <= $3
                AND (e.expires IS NULL OR e.expires > $4)\(query.isOfHistory ? "" : " AND \(Self.notImported)")
                ORDER BY e.tt\(direction) LIMIT $5) e
            WHERE c.id = ANY($1) ORDER BY e.tt\(direction) LIMIT $5)
            """
        }.joined(separator: " UNION ALL ")
        let rows = try await pool.run([
            Statement(
                "SELECT * FROM (\(union)) AS found ORDER BY tt\(direction) LIMIT $5",
                [
                    .integers(ids), .timetoken(query.after), .timetoken(query.upTo), .timetoken(query.now),
                    .integer(Int64(query.limit) + 1),
                ])
        ])[0]
        let events = EventColumns.read(rows)
        guard events.count > query.limit else { return Page(items: events, position: end) }
        let items = Array(events.prefix(query.limit))
        return Page(items: items, hasMore: true, position: items.last?.timetoken ?? query.after)
    }

    /// Examines the events of all channels in the order of the query, up to ``scanMost`` rows.
    private func scan(_ query: EventsQuery) async throws(StoreFailure) -> Page<Event> {
        let isUpward = query.order == .oldestFirst
        let end = isUpward ? query.upTo : query.after
        var rest = query
        var page = Page<Event>(items: [], position: isUpward ? query.after : query.upTo)
        for _ in 0..<Self.scanMost / Self.scanStride {
            let rows = try await pool.run([Self.selectScan(rest)])[0]
            for event in EventColumns.read(rows) {
                let isExpired = event.draft.expires.map { $0 <= query.now } ?? false
                let isWanted =
                    !isExpired && query.channels.contains(event.channel)
                    && (query.isOfHistory || event.draft.past == nil)
                if isWanted, page.items.count == query.limit {
                    page.hasMore = true
                    return page
                }
                page.position = event.timetoken
                if isWanted { page.items.append(event) }
            }
            if rows.count < Self.scanStride {
                page.position = end
                return page
            }
            // The upper bound of a query is inclusive.
            if isUpward { rest.after = page.position } else { rest.upTo = Timetoken(page.position.rawValue - 1) }
        }
        page.hasMore = true
        return page
    }

    private static func selectScan(_ query: EventsQuery) -> Statement {
        let direction = query.order == .oldestFirst ? "" : " DESC"
        let tables = query.isOfHistory ? ["event"] : ["event", "passing"]
        let union = tables.map { table in
            """
            (SELECT \(EventColumns.selected(isPassing: table == "passing")) FROM \(table) e \
            JOIN channel c ON c.id = e.ch WHERE e.tt > $1 AND e.tt <= $2 ORDER BY e.tt\(direction) LIMIT $3)
            """
        }.joined(separator: " UNION ALL ")
        return Statement(
            "SELECT * FROM (\(union)) AS found ORDER BY tt\(direction) LIMIT $3",
            [.timetoken(query.after), .timetoken(query.upTo), .integer(Int64(scanStride))])
    }

    // MARK: History

    /// The maximum number of rows examined for one page. If the filter matches too few of them, the page ends there.
    private static let historyMost = 20_000

    func history(_ requests: [HistoryQuery]) async throws(StoreFailure) -> [Page<Event>] {
        var statements: [Statement] = []
        for query in requests {
            let direction = query.request.order == .oldestFirst ? "" : " DESC"
            var statement = query.range
            statement.text = """
                SELECT * FROM event e WHERE \(statement.text) ORDER BY e.tt\(direction) LIMIT \(Self.historyMost)
                """
            statements.append(
                Statement(
                    "SELECT tt FROM (\(statement.text)) AS e OFFSET \(Self.historyMost - 1)", statement.parameters))
            let filter = query.filter(&statement.parameters)
            statement.parameters.append(.integer(Int64(clamping: query.request.limit).addingOne))
            statement.text = """
                SELECT \(EventColumns.selected(isPassing: false)) FROM (\(statement.text)) AS e
                JOIN channel c ON c.id = e.ch WHERE \(filter) ORDER BY e.tt\(direction)
                LIMIT $\(statement.parameters.count)
                """
            statements.append(statement)
        }
        let results = try await pool.snapshot(statements)
        return requests.indices.map { index in
            let events = EventColumns.read(results[2 * index + 1])
            let items = Array(events.prefix(requests[index].request.limit))
            if events.count > items.count {
                return Page(items: items, hasMore: true, position: items.last?.timetoken ?? .zero)
            }
            let examined = results[2 * index]
            let last = examined.count > 0 ? examined.timetoken(0, 0) : nil
            return Page(items: items, hasMore: last != nil, position: last ?? items.last?.timetoken ?? .zero)
        }
    }

    func counts(_ requests: [HistoryQuery]) async throws(StoreFailure) -> [Int] {
        let results = try await pool.snapshot(
            requests.map { query in
                var statement = query.range
                let filter = query.filter(&statement.parameters)
                statement.parameters.append(.integer(Int64(clamping: query.request.countMost)))
                statement.text = """
                    SELECT count(*) FROM (SELECT 1 FROM event e WHERE \(statement.text) AND \(filter)
                    LIMIT $\(statement.parameters.count)) AS found
                    """
                return statement
            })
        return results.map { Int($0.integer(0, 0) ?? 0) }
    }

    // MARK: Losses

    /// The maximum number of expired events that are examined. If there are more, a possible loss is reported.
    private static let lossMost = 20_000

    func newestLoss(_ query: LossQuery) async throws(StoreFailure) -> Timetoken? {
        let channels = query.channels
        let parameters: [Value] = [
            .text(channels.app.name), .boolean(channels.isAll), .texts(channels.names.map(\.text)),
            .texts(channels.prefixes.map(\.text)), .timetoken(query.after), .timetoken(query.now),
        ]
        let patterns = TypePatterns(query.types)
        let ofChannels = """
            ($2 AND c.name <> '\(ChannelID.systemName)' OR c.name = ANY($3)
            OR EXISTS (SELECT 1 FROM unnest($4::text[]) AS p(text) WHERE starts_with(c.name, p.text) AND c.name <> p.text))
            """
        let ofTypes = patterns.condition("t.type", from: parameters.count + 1)
        let rows = try await pool.snapshot([
            Statement(
                """
                WITH expired AS MATERIALIZED (
                    SELECT tt, ch, type FROM event WHERE expires IS NOT NULL AND expires <= $6 AND tt > $5 AND by_type
                    AND origin IS DISTINCT FROM '' LIMIT \(Self.lossMost))
                SELECT greatest(
                    (SELECT max(t.tt) FROM loss t JOIN channel c ON c.id = t.ch
                    WHERE t.app = $1 AND t.tt > $5 AND \(ofChannels) AND \(ofTypes)),
                    (SELECT max(t.tt) FROM expired t JOIN channel c ON c.id = t.ch
                    WHERE c.app = $1 AND \(ofChannels) AND \(ofTypes)),
                    (SELECT CASE WHEN count(*) = \(Self.lossMost) THEN max(tt) END FROM expired))
                """, parameters + patterns.parameters)
        ])[0]
        let removed = rows.timetoken(0, 0)
        let start = max(query.after, query.swept)
        guard query.hidden > start else { return removed }
        let page = try await events(
            EventsQuery(channels: channels, after: start, upTo: query.hidden, limit: 250, now: .zero))
        let isLost = page.hasMore || page.items.contains { event in query.types.contains { $0.matches(event.type) } }
        return isLost ? max(query.hidden, removed ?? .zero) : removed
    }
}

extension Int64 {
    fileprivate var addingOne: Int64 { self == .max ? self : self + 1 }
}

extension HistoryQuery {
    /// The condition of the channel, the thread and the range on a row `e` of the table `event`, with its parameters. An
    /// index covers it.
    fileprivate var range: Statement {
        var range = Statement(
            "e.ch = (SELECT id FROM channel WHERE app = $1 AND name = $2) AND e.tt > $3 AND e.tt < $4",
            [
                .text(request.channel.app.name), .text(request.channel.name), .timetoken(max(request.after, cutoff)),
                .timetoken(request.before),
            ])
        if case .of(let root) = request.thread {
            range.text += " AND e.thread = $5"
            range.parameters.append(.timetoken(root))
        }
        return range
    }

    /// The other conditions. Adds their parameters to those of ``range``.
    fileprivate func filter(_ parameters: inout [Value]) -> String {
        func parameter(_ value: Value) -> String {
            parameters.append(value)
            return "$\(parameters.count)"
        }
        var conditions = ["(e.expires IS NULL OR e.expires > \(parameter(.timetoken(now))))"]
        if !request.kinds.isEmpty {
            let kinds = parameter(.integers(request.kinds.map { Int64($0.rawValue) }))
            // Without the types, a count reads the index only.
            let types =
                request.typesOfAnyKind.isEmpty
                ? "" : " OR e.type = ANY(\(parameter(.texts(request.typesOfAnyKind.map { $0 }))))"
            conditions.append("(e.kind = ANY(\(kinds))\(types))")
        }
        if request.thread == .none { conditions.append("e.thread IS NULL") }
        if let user = request.user { conditions.append("e.sender = \(parameter(.text(user)))") }
        if !request.types.isEmpty {
            let patterns = TypePatterns(request.types)
            conditions.append(patterns.condition("e.type", from: parameters.count + 1))
            parameters += patterns.parameters
        }
        return conditions.joined(separator: " AND ")
    }
}

/// A list of patterns as a condition of SQL with three parameters.
private struct TypePatterns {
    let parameters: [Value]

    init(_ patterns: [NamePattern]) {
        var exact: [String] = []
        var prefixes: [String] = []
        var isAll = false
        for pattern in patterns {
            switch pattern {
            case .exact(let name): exact.append(name)
            case .below(let prefix): prefixes.append(prefix)
            case .all: isAll = true
            }
        }
        parameters = [.boolean(isAll), .texts(exact), .texts(prefixes)]
    }

    /// - Parameter number: the number of the first parameter.
    func condition(_ column: String, from number: Int) -> String {
        """
        ($\(number) AND \(column) <> '\(ChannelID.systemName)' OR \(column) = ANY($\(number + 1)) OR EXISTS (
            SELECT 1 FROM unnest($\(number + 2)::text[]) AS p(text)
            WHERE starts_with(\(column), p.text) AND \(column) <> p.text))
        """
    }
}
