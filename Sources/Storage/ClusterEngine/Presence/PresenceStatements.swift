import ChatModel
import JSON
import Postgres

/// The statements about the tables of presence.
enum PresenceStatements {
    static let begin = Statement("BEGIN ISOLATION LEVEL READ COMMITTED")
    static let commit = Statement("COMMIT")
    static let rollback = Statement("ROLLBACK")

    /// The time of the database, in ticks.
    private static let now = LaneRow.databaseTime
    private static let isDead = """
        (p.swept OR NOT EXISTS (SELECT FROM node n WHERE n.id = p.node AND n.lease_until > \(now))
            AND (p.until IS NULL OR p.until <= \(now)))
        """
    /// The maximum time that transactions wait for a node to write its lost rows again: 15 s, in ticks.
    private static let restoringMost = 15 * Timetoken.ticksPerSecond
    /// The first key of the advisory locks of presence.
    private static let lockClass = 1_886_548_595
    /// The number of advisory locks. A transaction may take all of them, so it is much smaller than the number of locks
    /// that the server can hold.
    private static let lockCount: UInt64 = 256

    // MARK: Changing

    /// Locks the scopes of some keys until the end of the transaction. Always in the same order, so that transactions do
    /// not wait for each other in a circle.
    static func lock(_ keys: [PresenceKey]) -> Statement {
        let numbers = Set(keys.map { Int64($0.presenceScope.stableHash % lockCount) })
        return Statement(
            "SELECT pg_advisory_xact_lock(\(lockClass), number::integer) FROM unnest($1::bigint[]) AS number",
            [.integers(numbers.sorted())])
    }

    /// The epoch; true if all nodes have written their rows. A node whose lease has ended may come back later than this
    /// one, so its rows are awaited as well.
    static let epoch = Statement(
        """
        SELECT e.id, e.since <= \(now) - \(restoringMost) OR NOT EXISTS (
            SELECT FROM node n WHERE NOT EXISTS (SELECT FROM presence_node p WHERE p.node = n.id AND p.ready))
        FROM presence_epoch e
        """)

    /// Locks the rows of nodes.
    static func lockNodes(_ nodes: Set<Int64>) -> Statement {
        Statement(
            "SELECT node, change, swept FROM presence_node WHERE node = ANY($1) ORDER BY node FOR UPDATE",
            [.integers(nodes.sorted())])
    }

    private static let isSameKey = """
        p.app = k.app AND p.kind = k.kind AND p.channel = k.channel AND p.member = k.member
        """
    private static let keyColumns = "unnest($1::text[], $2::bigint[], $3::text[], $4::text[]"

    static func holdings(_ keys: [PresenceKey]) -> Statement {
        Statement(
            """
            SELECT p.app, p.kind, p.channel, p.member, p.node, p.state
            FROM \(keyColumns)) AS k(app, kind, channel, member) JOIN presence p ON \(isSameKey)
            WHERE p.news <> \(PresenceNews.ended.rawValue)
            """, columns(keys))
    }

    static func counts(_ scopes: [PresenceScope]) -> Statement {
        Statement(
            """
            SELECT s.app, s.kind, s.channel, s.users FROM unnest($1::text[], $2::bigint[], $3::text[])
                AS k(app, kind, channel)
            JOIN presence_scope s ON s.app = k.app AND s.kind = k.kind AND s.channel = k.channel
            """, columns(scopes))
    }

    /// Writes rows, and records the change that this node made last.
    static func write(_ rows: PresenceRows, node: Int64, change: Int64, isReady: Bool) -> [Statement] {
        var statements: [Statement] = []
        if !rows.removed.isEmpty { statements.append(delete(rows.removed)) }
        if !rows.ended.isEmpty {
            statements.append(
                Statement(
                    """
                    UPDATE presence p SET news = \(PresenceNews.ended.rawValue), state = NULL
                    FROM \(keyColumns), $5::bigint[]) AS k(app, kind, channel, member, node)
                    WHERE \(isSameKey) AND p.node = k.node
                    """, columns(rows.ended.map(\.0)) + [.integers(rows.ended.map(\.node))]))
        }
        if !rows.entered.isEmpty {
            statements.append(
                Statement(
                    """
                    INSERT INTO presence(app, kind, channel, member, node, state, entered)
                    SELECT k.app, k.kind, k.channel, k.member, $6, k.state, \(now)
                    FROM \(keyColumns), $5::bytea[]) AS k(app, kind, channel, member, state)
                    ON CONFLICT (app, kind, channel, member, node)
                        DO UPDATE SET news = 0, state = excluded.state, entered = excluded.entered
                    """,
                    columns(rows.entered.map(\.0)) + [.byteStrings(rows.entered.map { $0.1?.bytes }), .integer(node)]))
        }
        if !rows.states.isEmpty {
            statements.append(
                Statement(
                    """
                    UPDATE presence p SET state = k.state,
                        news = CASE p.node WHEN $6 THEN 0 ELSE \(PresenceNews.state.rawValue) END
                    FROM \(keyColumns), $5::bytea[]) AS k(app, kind, channel, member, state)
                    WHERE \(isSameKey) AND p.news <> \(PresenceNews.ended.rawValue)
                    """,
                    columns(rows.states.map(\.0)) + [.byteStrings(rows.states.map { $0.1?.bytes }), .integer(node)]))
        }
        let counts = rows.counts.filter { $0.value > 0 }
        let empty = rows.counts.filter { $0.value == 0 }
        if !empty.isEmpty {
            statements.append(
                Statement(
                    """
                    DELETE FROM presence_scope s USING unnest($1::text[], $2::bigint[], $3::text[])
                        AS k(app, kind, channel)
                    WHERE s.app = k.app AND s.kind = k.kind AND s.channel = k.channel
                    """, columns(Array(empty.keys))))
        }
        if !counts.isEmpty {
            statements.append(
                Statement(
                    """
                    INSERT INTO presence_scope(app, kind, channel, users)
                    SELECT * FROM unnest($1::text[], $2::bigint[], $3::text[], $4::bigint[])
                    ON CONFLICT (app, kind, channel) DO UPDATE SET users = excluded.users
                    """,
                    columns(counts.map(\.key)) + [.integers(counts.map { Int64($0.value) })]))
        }
        statements.append(
            Statement(
                "UPDATE presence_node SET change = $2, ready = $3 WHERE node = $1",
                [.integer(node), .integer(change), .boolean(isReady)]))
        return statements
    }

    private static func delete(_ rows: [(PresenceKey, node: Int64)], _ condition: String = "true") -> Statement {
        Statement(
            """
            DELETE FROM presence p USING \(keyColumns), $5::bigint[]) AS k(app, kind, channel, member, node)
            WHERE \(isSameKey) AND p.node = k.node AND \(condition)
            """, columns(rows.map(\.0)) + [.integers(rows.map(\.node))])
    }

    // MARK: Nodes

    /// Makes this node known, and returns the epoch.
    static func register(_ node: Int64) -> [Statement] {
        [
            Statement(
                "INSERT INTO presence_epoch(id, since) VALUES ($1, \(now)) ON CONFLICT DO NOTHING",
                [.integer(.random(in: .min ... .max))]),
            Statement(
                """
                INSERT INTO presence_node(node, ready) VALUES ($1, false)
                ON CONFLICT (node) DO UPDATE SET swept = false, until = NULL, ready = false
                """, [.integer(node)]),
            Statement("SELECT id FROM presence_epoch"),
        ]
    }

    /// Says that this node has no rows to write again.
    static func ready(_ node: Int64) -> Statement {
        Statement("UPDATE presence_node SET ready = true WHERE node = $1", [.integer(node)])
    }

    /// The regular reads of a node: the epoch, its own row, the dead nodes, and the news about its rows.
    static func poll(_ node: Int64, limit: Int) -> [Statement] {
        [
            epoch,
            Statement("SELECT node FROM presence_node WHERE node = $1 AND NOT swept", [.integer(node)]),
            Statement("SELECT p.node FROM presence_node p WHERE p.node <> $1 AND \(isDead)", [.integer(node)]),
            news(node, limit: limit),
        ]
    }

    /// Reads the changes of other nodes in the rows of a node that this node has not taken yet.
    static func news(_ node: Int64, limit: Int) -> Statement {
        Statement(
            """
            SELECT app, kind, channel, member, news, state FROM presence WHERE node = $1 AND news <> 0 LIMIT $2
            """, [.integer(node), .integer(Int64(limit))])
    }

    private static let isParticipant = """
        p.kind = \(PresenceKind.participant.number) AND p.news <> \(PresenceNews.ended.rawValue)
        """

    /// The time in ticks for which a transaction may be open after it has written a row: 10 s. A reader of new rows
    /// looks back so far.
    static let openMost: Int64 = 100_000_000

    /// The open channels that users have entered on other nodes after a time, in the order of the times.
    static func participants(enteredAfter time: Int64, elsewhereThan node: Int64, limit: Int) -> [Statement] {
        [
            Statement("SELECT \(now)"),
            Statement(
                """
                SELECT p.app, p.kind, p.channel, p.member, p.entered FROM presence p
                WHERE \(isParticipant) AND p.entered > $1 AND p.node <> $2 ORDER BY p.entered LIMIT $3
                """, [.integer(time), .integer(node), .integer(Int64(limit))]),
        ]
    }

    /// The open channels that some users have entered.
    static func participants(_ users: [UserID]) -> Statement {
        Statement(
            """
            SELECT DISTINCT p.app, p.kind, p.channel, p.member FROM unnest($1::text[], $2::text[]) AS k(app, member)
            JOIN presence p ON p.app = k.app AND p.member = k.member AND \(isParticipant)
            """, [.texts(users.map(\.app.name)), .texts(users.map(\.name))])
    }

    /// Deletes the rows of users who left, and marks new states as read.
    static func takeNews(
        _ node: Int64, ended: [PresenceKey], states: [(PresenceKey, JSONText?)]
    ) -> [Statement] {
        [
            begin, lock(ended + states.map(\.0)),
            delete(ended.map { ($0, node) }, "p.news = \(PresenceNews.ended.rawValue)"),
            Statement(
                """
                UPDATE presence p SET news = 0
                FROM \(keyColumns), $5::bytea[]) AS k(app, kind, channel, member, state)
                WHERE \(isSameKey) AND p.node = $6 AND p.news = \(PresenceNews.state.rawValue)
                    AND p.state IS NOT DISTINCT FROM k.state
                """,
                columns(states.map(\.0)) + [.byteStrings(states.map { $0.1?.bytes }), .integer(node)]),
            commit,
        ]
    }

    /// Marks a node as dead, unless it lives. Then returns some of the keys that it held.
    static func sweep(_ dead: Int64, limit: Int) -> [Statement] {
        [
            Statement("UPDATE presence_node p SET swept = true WHERE p.node = $1 AND \(isDead)", [.integer(dead)]),
            Statement(
                """
                SELECT p.app, p.kind, p.channel, p.member FROM presence p JOIN presence_node o ON o.node = p.node
                WHERE p.node = $1 AND o.swept ORDER BY p.app, p.kind, p.channel, p.member LIMIT $2
                """, [.integer(dead), .integer(Int64(limit))]),
        ]
    }

    /// Forgets a dead node that holds nothing.
    static func forget(_ dead: Int64) -> Statement {
        Statement(
            """
            DELETE FROM presence_node WHERE node = $1 AND swept
                AND NOT EXISTS (SELECT FROM presence WHERE node = $1)
            """, [.integer(dead)])
    }

    /// Says until when the keys of a node that has closed remain.
    static func close(_ node: Int64, grace: Duration) -> Statement {
        Statement(
            "UPDATE presence_node SET until = \(now) + $2 WHERE node = $1",
            [.integer(node), .integer(grace.timetokenTicks)])
    }

    // MARK: Columns

    static func parameters(_ scope: PresenceScope) -> [Value] {
        [.text(scope.channel.app.name), .integer(scope.kind.number), .text(scope.channel.name)]
    }

    static func columns(_ scopes: [PresenceScope]) -> [Value] {
        [
            .texts(scopes.map(\.channel.app.name)), .integers(scopes.map { $0.kind.number }),
            .texts(scopes.map(\.channel.name)),
        ]
    }

    static func columns(_ keys: [PresenceKey]) -> [Value] {
        columns(keys.map(\.presenceScope)) + [.texts(keys.map(\.user))]
    }
}

/// A change that another node has made to a row of a node, and that the node has not read yet.
enum PresenceNews: Int64 {
    /// The user left on another node.
    case ended = 1
    /// The state was set on another node.
    case state = 2
}

extension PresenceKind {
    /// The number in the tables.
    var number: Int64 {
        switch self {
        case .occupant: 0
        case .participant: 1
        case .typingUser: 2
        }
    }

    fileprivate init?(number: Int64) {
        guard let kind = PresenceKind.allCases.first(where: { $0.number == number }) else { return nil }
        self = kind
    }
}

extension PresenceScope {
    /// A hash that is the same on all nodes (FNV-1a).
    fileprivate var stableHash: UInt64 {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        func add(_ byte: UInt8) { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        for byte in channel.app.name.utf8 { add(byte) }
        add(0xff)
        for byte in channel.name.utf8 { add(byte) }
        add(UInt8(kind.number))
        return hash ^ hash >> 32
    }
}

extension Rows {
    /// The scope in the first three columns; nil for a kind that this version does not know.
    func presenceScope(_ row: Int) -> PresenceScope? {
        guard let kind = PresenceKind(number: integer(row, 1) ?? 0) else { return nil }
        return PresenceScope(kind, ChannelID(text(row, 2) ?? "", in: AppID(text(row, 0) ?? "")))
    }

    /// The key in the first four columns; nil for a kind that this version does not know.
    func presenceKey(_ row: Int) -> PresenceKey? {
        presenceScope(row).map { PresenceKey($0.kind, of: text(row, 3) ?? "", on: $0.channel) }
    }

    func state(_ row: Int, _ column: Int) -> JSONText? { bytes(row, column).map { JSONText(trusted: $0) } }

    /// The rows of `PresenceStatements.holdings`.
    var holdings: [(PresenceKey, node: Int64, state: JSONText?)] {
        (0..<count).compactMap { row in
            presenceKey(row).map { ($0, node: integer(row, 4) ?? 0, state: state(row, 5)) }
        }
    }

    /// The rows of `PresenceStatements.counts`.
    var counts: [PresenceScope: Int] {
        var counts: [PresenceScope: Int] = [:]
        for row in 0..<count {
            if let scope = presenceScope(row) { counts[scope] = Int(integer(row, 3) ?? 0) }
        }
        return counts
    }
}
