import Postgres

/// The step from one version of the tables to the next. It has two parts, so that nodes of both versions can work side
/// by side while an operator replaces one program by the other.
struct SchemaVersion: Sendable {
    /// The statements that add what the version needs. Nodes of the version before work during and after them.
    var expansion: [String]
    /// The statements that remove what only nodes of the version before need. They run when no such node is left, at the
    /// latest with the expansion of the next version.
    var contraction: [String] = []
}

/// The row of the table `engine`.
struct SchemaState: Sendable, Equatable {
    /// The version of the tables.
    let version: Int
    /// The oldest version that a program may know to use the tables: ``version``, or the one before it until the
    /// contraction.
    let oldest: Int
    /// The identity of the installation, drawn at random when the tables were created, and at each restore.
    let installation: String
    /// True if the tables were created in another database, and ``ClusterRestore`` has not run since.
    let isCopy: Bool

    static let selection = Statement("SELECT version, oldest, installation, place <> \(place) FROM engine")

    /// The server and the database of a session: the system identifier, which a standby has in common with its primary,
    /// and the object identifier of the database. A dump does not contain them.
    static let place = """
        (SELECT c.system_identifier || '/' || d.oid FROM pg_control_system() c, pg_database d
        WHERE d.datname = current_database())
        """

    /// A new identity of an installation.
    static let newInstallation = "replace(gen_random_uuid()::text, '-', '')"

    /// The state in the rows of ``selection``; nil without a row.
    init?(_ rows: Rows) {
        guard rows.count > 0 else { return nil }
        version = Int(rows.integer(0, 0) ?? 0)
        oldest = Int(rows.integer(0, 1) ?? 0)
        installation = rows.text(0, 2) ?? ""
        isCopy = rows.boolean(0, 3) ?? false
    }
}

/// A change of the tables.
struct SchemaChange {
    let statements: [Statement]
    /// The oldest version that a program may know to use the changed tables.
    let oldest: Int

    init(_ statements: [String], oldest: Int, _ row: Statement) {
        self.statements = statements.map { Statement($0) } + [row]
        self.oldest = oldest
    }

    init(_ statements: [String], version: Int, oldest: Int) {
        self.init(
            statements, oldest: oldest,
            Statement(
                "UPDATE engine SET version = $1, oldest = $2", [.integer(Int64(version)), .integer(Int64(oldest))]))
    }
}

/// Keeps the sessions of nodes away from tables that no longer serve them.
///
/// Each session of a node holds a shared advisory lock of the version that the node knows. A contraction takes the
/// exclusive locks of older versions. So it waits for no one, and never runs under a node that is paused and has lost its
/// lease. A session that begins later finds that the tables are too new for it.
enum SessionFence {
    /// The first number of the locks; the second one is the version. Its value is arbitrary; all nodes use the same one.
    static let lockClass = 0x7061_726C

    /// Creates the function that a session of a node calls first.
    static let function = """
        CREATE FUNCTION parley_begin_session(known integer) RETURNS void LANGUAGE plpgsql AS $$
            DECLARE
                tables engine%ROWTYPE;
            BEGIN
                PERFORM pg_advisory_lock_shared(\(lockClass), known);
                SELECT * INTO tables FROM engine;
                IF tables.oldest > known THEN
                    RAISE EXCEPTION USING ERRCODE = 'object_not_in_prerequisite_state', MESSAGE = format(
                        'the tables have version %s, but this version of Parley supports at most %s',
                        tables.version, known);
                END IF;
            END
        $$
        """

    /// The first statement of a session of a node.
    ///
    /// - Parameter known: the newest version of the tables that the node knows.
    static func beginSession(known: Int) -> Statement {
        Statement("SELECT parley_begin_session($1::integer)", [.integer(Int64(known))])
    }

    /// Takes the exclusive lock of a version until the end of the transaction. Returns false while sessions of nodes that
    /// know only this version exist.
    static func tryLock(_ version: Int) -> Statement {
        Statement("SELECT pg_try_advisory_xact_lock(\(lockClass), $1::integer)", [.integer(Int64(version))])
    }
}

/// The nodes that know only older versions of the tables.
struct OlderNodes {
    /// The nodes whose lease has not ended, and the version that each one knows.
    private var leases: [(node: Int64, version: Int)] = []
    /// The versions of nodes with sessions.
    private var sessions: [Int] = []

    var isEmpty: Bool { leases.isEmpty && sessions.isEmpty }

    /// Finds the nodes, and keeps new ones out until the end of the transaction.
    ///
    /// - Parameters:
    ///   - oldest: the oldest version that a node may know.
    ///   - newest: the version after the newest one that the nodes know.
    static func find(
        _ connection: Connection, from oldest: Int, below newest: Int
    ) async throws(PostgresFailure) -> OlderNodes {
        var found = OlderNodes()
        guard oldest < newest else { return found }
        let versions = Array(oldest..<newest)
        let rows = try await connection.run(
            versions.map { SessionFence.tryLock($0) } + [
                Statement(
                    """
                    SELECT id, version FROM node WHERE version < $1 AND lease_until > \(LaneRow.databaseTime) ORDER BY id
                    """, [.integer(Int64(newest))])
            ])
        found.sessions = zip(versions, rows).filter { $1.boolean(0, 0) != true }.map(\.0)
        let nodes = rows[versions.count]
        found.leases = (0..<nodes.count).map { (nodes.integer($0, 0) ?? 0, Int(nodes.integer($0, 1) ?? 0)) }
        return found
    }

    /// The nodes in words.
    var text: String {
        guard leases.isEmpty else {
            return leases.map { "node \($0.node) with version \($0.version)" }.joined(separator: ", ")
        }
        return "sessions of nodes with version \(sessions.map(String.init).joined(separator: ", "))"
    }
}
