import ChatModel
import Postgres

/// The version and the settings of a PostgreSQL server, as one session sees them.
struct ServerFacts: Sendable {
    /// The settings of each session of a node. They have precedence over the defaults of the role, the database and the
    /// server, which could weaken the guarantees or make statements fail.
    ///
    /// - Parameter deadline: the time after which the client gives up. The server then ends the work for it too, so that
    ///   a node that has stopped does not keep a lock.
    static func sessionSettings(deadline: Duration) -> [String: String] {
        let milliseconds = Int(deadline / .milliseconds(1))
        // Shorter than the deadline of the other nodes, which may wait for a lock that the session holds.
        let silence = "\(min(milliseconds / 2, 2000))ms"
        return [
            // With synchronous standbys, a commit also waits until they have written it to their disks.
            "synchronous_commit": "on",
            "default_transaction_isolation": "read committed",
            "standard_conforming_strings": "on",
            // The shortest text of a number that has the same value.
            "extra_float_digits": "1",
            // The listings have long expressions, which would be compiled for each statement on a large table.
            "jit": "off",
            // Every statement reads rows through an index. Without statistics, which new tables do not have, the server
            // prefers to scan whole tables.
            "enable_seqscan": "off", "enable_hashjoin": "off", "enable_mergejoin": "off",
            "statement_timeout": "\(milliseconds)ms",
            // Ends the session of a node that is paused, or has vanished without closing its connections.
            "idle_in_transaction_session_timeout": silence,
            // Ends a session whose response the node does not take. The other timeouts do not apply while the server
            // sends, and without this one the system waits for a quarter of an hour.
            "tcp_user_timeout": silence,
            // Ends an idle session after 25 s. Otherwise sessions of vanished nodes use up `max_connections`.
            "tcp_keepalives_idle": "10", "tcp_keepalives_interval": "5", "tcp_keepalives_count": "3",
            "lock_timeout": "0",
            "idle_session_timeout": "0",
        ]
    }

    /// The number of connections of a node besides those that read: the follower, the lease, and the writers of the log,
    /// of the delivery queue and of presence.
    static let otherConnections = 5
    private static let oldestVersion = 150_000

    let versionNumber: Int
    let version: String
    let role: String
    let database: String
    let isSuperuser: Bool
    private let encoding: String
    private let fsync: String
    private let fullPageWrites: String
    /// The number of connections that the server permits to the role.
    private let connections: Int
    /// The settings of the session that the server does not have.
    private let missingSettings: [String]

    static func read(_ connection: Connection) async throws(PostgresFailure) -> ServerFacts {
        let names = sessionSettings(deadline: .zero).keys.sorted()
        return ServerFacts(
            try await connection.run([
                Statement(
                    """
                    SELECT current_setting('server_version_num')::bigint, current_setting('server_version'),
                        current_user::text, current_database()::text, r.rolsuper, current_setting('server_encoding'),
                        current_setting('fsync'), current_setting('full_page_writes'), least(
                            current_setting('max_connections')::bigint
                                - current_setting('superuser_reserved_connections')::bigint,
                            CASE WHEN r.rolconnlimit >= 0 THEN r.rolconnlimit END,
                            CASE WHEN d.datconnlimit >= 0 THEN d.datconnlimit END),
                        ARRAY(SELECT k.name FROM unnest($1::text[]) AS k(name) WHERE NOT EXISTS (
                            SELECT 1 FROM pg_settings s WHERE s.name = k.name AND s.source = 'client'))
                    FROM pg_roles r, pg_database d WHERE r.rolname = current_user AND d.datname = current_database()
                    """, [.texts(names)])
            ])[0])
    }

    private init(_ rows: Rows) {
        versionNumber = Int(rows.integer(0, 0) ?? 0)
        version = rows.text(0, 1) ?? ""
        role = rows.text(0, 2) ?? ""
        database = rows.text(0, 3) ?? ""
        isSuperuser = rows.boolean(0, 4) ?? false
        encoding = rows.text(0, 5) ?? ""
        fsync = rows.text(0, 6) ?? ""
        fullPageWrites = rows.text(0, 7) ?? ""
        connections = Int(rows.integer(0, 8) ?? 0)
        missingSettings = (rows.texts(0, 9) ?? []).compactMap { $0 }
    }

    /// The findings, including those without a problem.
    ///
    /// - Parameters:
    ///   - nodes: the number of nodes that run, at least 1.
    ///   - readers: the number of connections of a node that read.
    func findings(nodes: Int, readers: Int) -> [ClusterFinding] {
        [versionFinding, encodingFinding, sessionFinding, durabilityFinding, connectionsFinding(nodes, readers)]
    }

    private var versionFinding: ClusterFinding {
        guard versionNumber < Self.oldestVersion else { return ClusterFinding("version", .ok, "PostgreSQL \(version)") }
        return ClusterFinding(
            "version", .failure, "the server is PostgreSQL \(version)", advice: "install PostgreSQL 15 or later")
    }

    private var encodingFinding: ClusterFinding {
        guard encoding != "UTF8" else { return ClusterFinding("encoding", .ok, "UTF8") }
        return ClusterFinding(
            "encoding", .failure, "the database '\(database)' has the encoding \(encoding)",
            advice: "create a database with ENCODING 'UTF8' TEMPLATE template0")
    }

    private var sessionFinding: ClusterFinding {
        guard !missingSettings.isEmpty else {
            return ClusterFinding("session", .ok, "sessions have synchronous_commit = on and the timeouts of Parley")
        }
        return ClusterFinding(
            "session", .failure,
            "settings of the session are lost on the way to the server: \(missingSettings.joined(separator: ", "))",
            advice: PoolerCheck.advice)
    }

    private var durabilityFinding: ClusterFinding {
        let off = [("fsync", fsync), ("full_page_writes", fullPageWrites)].filter { $0.1 != "on" }.map(\.0)
        guard !off.isEmpty else { return ClusterFinding("durability", .ok, "fsync and full_page_writes are on") }
        return ClusterFinding(
            "durability", .warning,
            "the server has \(off.map { "\($0) = off" }.joined(separator: " and ")), so a power failure may destroy the database",
            advice: "set \(off.map { "\($0) = on" }.joined(separator: " and ")) in postgresql.conf")
    }

    private func connectionsFinding(_ nodes: Int, _ readers: Int) -> ClusterFinding {
        let needed = nodes * (readers + Self.otherConnections)
        let subject = nodes == 1 ? "a node needs" : "\(nodes) nodes need"
        let text = "\(subject) \(needed) connections, and the server permits \(connections)"
        guard needed > connections else { return ClusterFinding("connections", .ok, text) }
        return ClusterFinding(
            "connections", .warning, text,
            advice: "raise max_connections of the server, or the connection limit of the role or the database")
    }
}

extension ServerFacts {
    /// Checks the rights of the role on the tables, which must exist.
    func rightsFinding(_ connection: Connection) async throws(PostgresFailure) -> ClusterFinding {
        let rows = try await connection.run([
            Statement(
                """
                SELECT c.relname::text FROM pg_class c JOIN pg_class e ON e.oid = to_regclass('engine')
                WHERE c.relnamespace = e.relnamespace AND c.relowner = e.relowner AND c.relkind IN ('r', 'p')
                AND NOT c.relispartition AND c.oid <> e.oid
                AND NOT (has_table_privilege(c.oid, 'SELECT') AND has_table_privilege(c.oid, 'INSERT')
                    AND has_table_privilege(c.oid, 'UPDATE') AND has_table_privilege(c.oid, 'DELETE'))
                ORDER BY c.relname
                """)
        ])[0]
        let tables = (0..<rows.count).compactMap { rows.text($0, 0) }
        guard tables.isEmpty else {
            return ClusterFinding(
                "rights", .failure,
                "the role '\(role)' may not read and change the tables \(tables.joined(separator: ", "))",
                advice: "grant it SELECT, INSERT, UPDATE and DELETE on them (docs/cluster.md)")
        }
        guard !isSuperuser else {
            return ClusterFinding(
                "rights", .warning, "the role '\(role)' is a superuser",
                advice: "serve with a role that has only the rights in docs/cluster.md")
        }
        return ClusterFinding("rights", .ok, "the role '\(role)' may read and change all tables")
    }
}

/// The check for a pooler that gives the transactions of one client to several sessions of the server. Prepared
/// statements and settings of the session are lost there.
enum PoolerCheck {
    static let advice = "connect to PostgreSQL itself; a node has few connections and needs no pooler (pgbouncer)"

    /// Returns true if two connections share a session of the server.
    ///
    /// - Parameter connection: must not prepare statements, because a shared session may already have their names.
    static func isPooled(
        _ connection: Connection, _ settings: ConnectionSettings
    ) async throws(PostgresFailure) -> Bool {
        let process = Statement("SELECT pg_backend_pid()::bigint")
        let first = try await connection.run([process])[0].integer(0, 0)
        let other = try await Connection.open(settings)
        do throws(PostgresFailure) {
            let second = try await other.run([Statement("BEGIN"), process])[1].integer(0, 0)
            // The other connection keeps its session, so the first one gets another.
            let third = first == second ? nil : try await connection.run([process])[0].integer(0, 0)
            await other.close()
            return first != third
        } catch {
            await other.close()
            throw error
        }
    }
}
