import ChatModel
public import Logging
import Postgres

extension PostgresStore {
    /// Checks the server, creates or migrates the tables, and returns the store.
    static func open(
        _ settings: ConnectionSettings, readers: Int, schema: ClusterSchema = .current, logger: Logger
    ) async throws(ClusterEngineFailure) -> PostgresStore {
        var settings = sessions(settings)
        let state = try await prepare(settings, readers: readers, logger: logger, schema.prepare)
        guard !state.isCopy else { throw .store(state.identityFinding.sentence) }
        settings.firstStatements = [SessionFence.beginSession(known: schema.known)]
        return PostgresStore(settings, installation: state.installation, readers: readers, logger: logger)
    }

    /// The settings of all connections of a node.
    static func sessions(_ settings: ConnectionSettings) -> ConnectionSettings {
        var settings = settings
        settings.needsWrites = true
        settings.sessionSettings = ServerFacts.sessionSettings(deadline: settings.deadline)
        return settings
    }

    /// Checks the server, and changes the tables.
    ///
    /// - Parameter change: takes a connection and the role, and returns the state of the changed tables.
    static func prepare(
        _ settings: ConnectionSettings, readers: Int, logger: Logger,
        _ change: (Connection, String) async throws(ClusterEngineFailure) -> SchemaState
    ) async throws(ClusterEngineFailure) -> SchemaState {
        var settings = settings
        settings.preparedStatements = 0
        let connection: Connection
        do throws(PostgresFailure) {
            connection = try await Connection.open(settings)
        } catch {
            var failure = error
            failure.message = openingText(error)
            throw .store(failure)
        }
        do throws(ClusterEngineFailure) {
            let facts = try await check(connection, settings, readers: readers, logger: logger)
            let state = try await change(connection, facts.role)
            try await checkRights(connection, facts)
            await connection.close()
            return state
        } catch {
            await connection.close()
            throw error
        }
    }

    /// The message of a failure to connect, with a remedy for a pooler and for a standby.
    static func openingText(_ failure: PostgresFailure) -> String {
        // A pooler that passes on only some settings of a session.
        if failure.message.contains("unsupported startup parameter") {
            return "\(failure.message): \(PoolerCheck.advice)"
        }
        // The answer of libpq about a standby.
        if failure.message.contains("session is read-only") {
            return "\(failure.message): the server is a standby, so the URL must also name the primary"
        }
        return failure.message
    }

    private static func check(
        _ connection: Connection, _ settings: ConnectionSettings, readers: Int, logger: Logger
    ) async throws(ClusterEngineFailure) -> ServerFacts {
        let facts: ServerFacts
        do throws(PostgresFailure) {
            guard try await !PoolerCheck.isPooled(connection, settings) else { throw .pooled }
            facts = try await ServerFacts.read(connection)
        } catch {
            throw .store(error)
        }
        let findings = facts.findings(nodes: 1, readers: readers)
        for finding in findings where finding.severity == .warning { logger.warning("\(finding.sentence)") }
        let failures = findings.filter { $0.severity == .failure }
        guard failures.isEmpty else { throw .store(failures.map(\.sentence).joined(separator: "; ")) }
        return facts
    }

    private static func checkRights(_ connection: Connection, _ facts: ServerFacts) async throws(ClusterEngineFailure) {
        let finding: ClusterFinding
        do throws(PostgresFailure) {
            finding = try await facts.rightsFinding(connection)
        } catch {
            throw .store(error)
        }
        guard finding.severity != .failure else { throw .store(finding.sentence) }
    }
}

extension PostgresFailure {
    /// True if the server cannot be reached, starts or stops, or has no resources, so that a later attempt may succeed.
    var isTemporary: Bool {
        switch kind {
        case .unreachable, .connectionLost, .timedOut: true
        case .rejected: ["57P", "53", "08"].contains { sqlState?.hasPrefix($0) == true }
        case .libraryMissing, .overloaded: false
        }
    }

    fileprivate static let pooled = PostgresFailure(
        kind: .rejected, message: "a pooler shares the sessions of the server between clients: \(PoolerCheck.advice)")
}

extension ClusterEngine {
    /// Creates or upgrades the tables, so that a role that may not do so can serve. Nodes may run meanwhile, also nodes
    /// that know only the version of the tables before.
    ///
    /// - Parameters:
    ///   - url: the database, with the role that owns the tables.
    ///   - isLast: true to end the upgrade: nodes that know only the version before can no longer start. It fails while
    ///     such nodes run.
    /// - Returns: the version of the tables, and the oldest version that a node may know.
    /// - Throws: ``ClusterEngineFailure``.
    public static func upgrade(
        url: String, isLast: Bool = false, logger: Logger = Logger(label: "parley.cluster")
    ) async throws(ClusterEngineFailure) -> (version: Int, oldest: Int) {
        try await upgrade(url: url, isLast: isLast, schema: .current, logger: logger)
    }

    static func upgrade(
        url: String, isLast: Bool, schema: ClusterSchema, logger: Logger
    ) async throws(ClusterEngineFailure) -> (version: Int, oldest: Int) {
        // A migration of large tables takes long.
        let settings = ConnectionSettings(
            connectionInfo: url, applicationName: "parley engine upgrade", deadline: .seconds(24 * 3600))
        let state = try await PostgresStore.prepare(
            PostgresStore.sessions(settings), readers: 1, logger: logger, isLast ? schema.finish : schema.prepare)
        return (state.version, state.oldest)
    }
}
