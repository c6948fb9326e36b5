public import ChatModel
import Postgres

/// The record, in the database of a cluster, that the database was restored from a backup or copied from another
/// database.
public struct ClusterRestore: Sendable {
    /// The interval of the events that the restore has lost.
    public struct Interval: Sendable, Equatable {
        /// The newest timetoken of the restored database.
        public var after: Timetoken
        /// The time of the record. All later timetokens are new.
        public var upTo: Timetoken
    }

    private let settings: ConnectionSettings

    /// Creates a record, which ``record(isComplete:)`` stores. Opens no connection.
    ///
    /// - Parameter url: the database, as for ``ClusterEngine``. Its role may be that of the nodes.
    public init(url: String) {
        settings = PostgresStore.sessions(
            ConnectionSettings(
                connectionInfo: url, applicationName: "parley engine restored", deadline: .seconds(600)))
    }

    /// Records the restore in one transaction. No node may run.
    ///
    /// The installation gets a new identity, and nodes can start on the database in its present place. New timetokens are
    /// later than the time of PostgreSQL. The record removes the rows of the former nodes, the leases of consumers,
    /// presence, and ephemeral events.
    ///
    /// - Parameter isComplete: true if the database has all events of the original, so that no reader needs to learn of a
    ///   loss.
    /// - Returns: the lost interval; nil for a complete copy.
    /// - Throws: ``ClusterEngineFailure`` when a node runs, when there are no tables or tables of another version, and
    ///   when the server cannot be used. The database is then as before.
    public func record(isComplete: Bool) async throws(ClusterEngineFailure) -> Interval? {
        let connection: Connection
        do throws(PostgresFailure) {
            connection = try await Connection.open(settings)
        } catch {
            throw .store(PostgresStore.openingText(error))
        }
        let result: Result<Interval?, ClusterEngineFailure>
        do throws(ClusterEngineFailure) {
            result = .success(try await record(isComplete: isComplete, connection))
        } catch {
            result = .failure(error)
        }
        // Without a commit, the server rolls the transaction back.
        await connection.close()
        return try result.get()
    }

    private func record(
        isComplete: Bool, _ connection: Connection
    ) async throws(ClusterEngineFailure) -> Interval? {
        do throws(PostgresFailure) {
            let found = try await ClusterSchema.state(connection)
            guard let found else { throw .refused("there are no tables: restore the database first") }
            let known = ClusterSchema.current.known
            guard found.oldest <= known, known <= found.version else {
                throw .refused(
                    "the tables have version \(found.version), but this version of Parley needs \(known): "
                        + (found.version < known ? "run 'parley engine upgrade' first" : "run a newer version"))
            }
            let start = try await connection.run([
                Statement("BEGIN"), Statement("SET LOCAL lock_timeout = '3s'"),
                // A node that starts meanwhile waits for the first table, and then reads the new identity.
                Statement("LOCK TABLE engine, node, head IN ACCESS EXCLUSIVE MODE"),
                Statement(PostgresStore.selectHead),
            ])
            // The restored rows do not show whether a node runs: they are those of the time of the backup.
            let fences = try await connection.run((found.oldest...found.version).map { SessionFence.tryLock($0) })
            guard fences.allSatisfy({ $0.boolean(0, 0) == true }) else {
                throw .refused(
                    "a node uses the database: stop all nodes (pg_stat_activity shows their sessions)")
            }
            let head = PostgresStore.head(start[3])
            let end = max(head.timetoken, head.time)
            _ = try await connection.run(Self.changes(upTo: end, isComplete: isComplete) + [Statement("COMMIT")])
            return isComplete ? nil : Interval(after: head.timetoken, upTo: end)
        } catch {
            throw .store(error)
        }
    }

    private static func changes(upTo end: Timetoken, isComplete: Bool) -> [Statement] {
        let removed = ["lease", "passing", "presence", "presence_scope", "presence_node", "presence_epoch"]
        return [
            Statement("UPDATE engine SET installation = \(SchemaState.newInstallation), place = \(SchemaState.place)"),
            Statement(
                "UPDATE head SET tt = $1, restored = CASE WHEN $2 THEN restored ELSE $1 END",
                [.timetoken(end), .boolean(isComplete)]),
            // The deliveries need not wait until the leases of the former nodes end.
            Statement("UPDATE subscriber SET owner = NULL, wanted = NULL WHERE owner IS NOT NULL"),
            Statement("DELETE FROM node"),
            // Consumers may have leases of nodes that started after the backup. No new node may get the number of such a
            // node. Rows that are inserted and removed use numbers up; the role of the nodes may not set the sequence.
            Statement("INSERT INTO node(lease_until, version) SELECT 0, 0 FROM generate_series(1, 10000)"),
            Statement("DELETE FROM node"),
        ] + removed.map { Statement("DELETE FROM \($0)") }
    }
}

extension PostgresFailure {
    fileprivate static func refused(_ message: String) -> PostgresFailure {
        PostgresFailure(kind: .rejected, message: message)
    }
}
