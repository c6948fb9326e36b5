public import ChatModel
import Postgres

/// Checks the servers and the data of a cluster for an operator. It changes nothing, and needs no running node.
public struct ClusterInspection: Sendable {
    private let url: String
    private let bus: BusSettings?
    private let readers: Int
    private let deadline: Duration
    private let clock: WallClock
    /// The versions of the tables that the nodes know.
    var schema = ClusterSchema.current

    /// Creates an inspection, which ``findings()`` carries out.
    ///
    /// - Parameters:
    ///   - url: the PostgreSQL server and the database, as for a node.
    ///   - bus: the NATS servers; nil for a cluster without a bus.
    ///   - readers: the number of connections of a node that read.
    ///   - deadline: the time limit of each request to a server.
    public init(
        url: String, bus: BusSettings?, readers: Int = ClusterEngineSettings().readers,
        deadline: Duration = .seconds(5), clock: WallClock = .system
    ) {
        self.url = url
        self.bus = bus
        self.readers = readers
        self.deadline = deadline
        self.clock = clock
    }

    /// Carries out all checks, and returns their results in a fixed order, including those without a problem.
    public func findings() async -> [ClusterFinding] {
        var (findings, installation) = await storeFindings()
        if let bus {
            findings.append(await BusCheck(settings: bus, deadline: deadline).finding(installation: installation))
        } else {
            findings.append(ClusterFinding("bus", .ok, "not configured: nodes read PostgreSQL five times a second"))
        }
        return findings
    }

    /// The findings about PostgreSQL, and the identity of the installation if the tables exist.
    private func storeFindings() async -> ([ClusterFinding], installation: String?) {
        var settings = PostgresStore.sessions(
            ConnectionSettings(connectionInfo: url, applicationName: "parley engine check", deadline: deadline))
        settings.preparedStatements = 0
        let connection: Connection
        do throws(PostgresFailure) {
            connection = try await Connection.open(settings)
        } catch {
            let finding = ClusterFinding(
                error.kind == .libraryMissing ? "libraries" : "connection", .failure,
                PostgresStore.openingText(error))
            return ([finding], nil)
        }
        var findings: [ClusterFinding] = []
        var installation: String?
        do throws(PostgresFailure) {
            if try await PoolerCheck.isPooled(connection, settings) {
                findings.append(
                    ClusterFinding(
                        "connection", .failure, "a pooler shares the sessions of the server between clients",
                        advice: PoolerCheck.advice))
            } else {
                installation = try await inspect(connection, &findings)
            }
        } catch {
            findings.append(ClusterFinding("connection", .failure, error.message))
        }
        await connection.close()
        return (findings, installation)
    }

    private func inspect(
        _ connection: Connection, _ findings: inout [ClusterFinding]
    ) async throws(PostgresFailure) -> String? {
        let facts = try await ServerFacts.read(connection)
        findings.append(
            ClusterFinding("connection", .ok, "the role '\(facts.role)' is connected to '\(facts.database)'"))
        let found = try await ClusterSchema.state(connection)
        guard let found, found.oldest <= schema.known, schema.known <= found.version else {
            findings += facts.findings(nodes: 1, readers: readers)
            findings.append(schemaFinding(found))
            return found?.installation
        }
        let tables = try await TableFacts.read(connection, clock: clock)
        findings += facts.findings(nodes: max(1, tables.nodes), readers: readers)
        findings.append(schemaFinding(found, versionsOfNodes: tables.versionsOfNodes))
        findings.append(found.identityFinding)
        findings.append(try await facts.rightsFinding(connection))
        findings += tables.findings
        findings.append(try await ReplicationFacts.read(connection).finding)
        return found.installation
    }

    /// - Parameter versionsOfNodes: the versions that the running nodes know.
    private func schemaFinding(_ state: SchemaState?, versionsOfNodes: Set<Int> = []) -> ClusterFinding {
        let known = schema.known
        guard let state else {
            return ClusterFinding(
                "schema", .warning, "there are no tables",
                advice: "the first node creates them; if its role may not, run 'parley engine upgrade' as their owner")
        }
        guard state.oldest <= known else {
            return ClusterFinding(
                "schema", .failure,
                "the tables have version \(state.version), but this version of Parley supports at most \(known)",
                advice: "run a newer version of Parley")
        }
        guard state.version >= known else {
            return ClusterFinding(
                "schema", .warning,
                "the tables have version \(state.version), and the next node upgrades them to \(known)",
                advice: "if the role of the nodes may not, run 'parley engine upgrade' as the owner of the tables")
        }
        let text = "the tables have version \(state.version)"
        guard state.oldest < state.version else { return ClusterFinding("schema", .ok, text) }
        let isOld = versionsOfNodes.contains { $0 < state.version }
        return ClusterFinding(
            "schema", .warning, "\(text), and also serve nodes of version \(state.oldest)",
            advice: isOld
                ? "such a node runs: upgrade it, then run 'parley engine upgrade --finish'"
                : "no such node runs: run 'parley engine upgrade --finish' to end the upgrade")
    }
}

extension SchemaState {
    /// The finding about the place of the database.
    var identityFinding: ClusterFinding {
        guard isCopy else { return ClusterFinding("identity", .ok, "the database is where its tables were created") }
        return ClusterFinding(
            "identity", .failure, "the database was restored or copied from another place",
            advice: "run 'parley engine restored' before a node starts (docs/cluster.md)")
    }
}

/// The replication of a PostgreSQL server.
private struct ReplicationFacts {
    /// The standbys that are connected.
    let standbys: Int
    /// Those that commits wait for; nil if the role may not read it.
    let synchronous: Int?
    /// True if commits wait for standbys (`synchronous_standby_names`).
    let isSynchronous: Bool

    static func read(_ connection: Connection) async throws(PostgresFailure) -> ReplicationFacts {
        let rows = try await connection.run([
            Statement(
                """
                SELECT count(*), count(*) FILTER (WHERE sync_state IN ('sync', 'quorum')),
                    pg_has_role(current_user, 'pg_read_all_stats', 'USAGE'),
                    current_setting('synchronous_standby_names') <> ''
                FROM pg_stat_replication
                """)
        ])[0]
        return ReplicationFacts(
            standbys: Int(rows.integer(0, 0) ?? 0),
            synchronous: rows.boolean(0, 2) == true ? Int(rows.integer(0, 1) ?? 0) : nil,
            isSynchronous: rows.boolean(0, 3) ?? false)
    }

    var finding: ClusterFinding {
        guard isSynchronous else {
            let text =
                standbys == 0
                ? "no standby is connected; the loss of the server's disk loses the events since the last backup"
                : "connected standbys: \(standbys), none of them synchronous; the loss of the server may lose the newest events"
            return ClusterFinding("replication", .ok, text)
        }
        guard standbys > 0, synchronous != 0 else {
            return ClusterFinding(
                "replication", .failure, "commits wait for a synchronous standby, and none is connected",
                advice: "repair a standby, or remove it from synchronous_standby_names")
        }
        guard let synchronous else {
            return ClusterFinding(
                "replication", .warning,
                "commits wait for standbys; connected: \(standbys); the role may not read whether they are synchronous",
                advice: "grant it pg_read_all_stats")
        }
        return ClusterFinding("replication", .ok, "commits wait for \(synchronous) of \(standbys) standbys")
    }
}
