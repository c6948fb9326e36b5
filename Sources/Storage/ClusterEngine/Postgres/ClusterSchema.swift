import Postgres
import StorageCore

/// The tables in PostgreSQL, and the migrations that update older ones.
enum ClusterSchema {
    /// `migrations[n]` migrates the tables from version n to version n + 1. Never edit a migration after its release.
    /// Nodes of the version before must be able to work while a migration runs and after it.
    static let migrations = [version1 + queueOfVersion1 + presenceOfVersion1]

    private static let eventColumns = """
        tt bigint PRIMARY KEY, ch bigint NOT NULL, kind smallint NOT NULL, type text NOT NULL, sender text,
        body bytea NOT NULL, meta bytea, expires bigint, custom_type text, schema_type text, schema_version integer,
        cause text, audience text, origin text, wire bytea, trace text, by_type boolean NOT NULL, thread bigint,
        echoes text
        """

    private static let version1 = [
        // One row. Its lock is the lane: the right to append and to change records. A commit changes it, so it has
        // space for many versions in its page. restored: the end of the last interval whose events were lost when a
        // backup was restored.
        """
        CREATE TABLE head(
            lane smallint PRIMARY KEY, commit bigint NOT NULL, tt bigint NOT NULL, revision bigint NOT NULL,
            restored bigint NOT NULL DEFAULT 0) WITH (fillfactor = 20)
        """,
        // The first node that opens the store sets the timetoken (ClusterEngine.begin).
        "INSERT INTO head VALUES (0, 0, 0, 0)",
        // retention: in ticks, NULL without a limit. floor: the newest lost event. swept: retention has examined the
        // events up to here.
        """
        CREATE TABLE app(
            name text COLLATE "C" PRIMARY KEY, retention bigint, floor bigint NOT NULL DEFAULT 0,
            swept bigint NOT NULL DEFAULT 0)
        """,
        """
        CREATE TABLE channel(
            id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, app text COLLATE "C" NOT NULL,
            name text COLLATE "C" NOT NULL, UNIQUE (app, name))
        """,
        // The payloads are compressed on the way to the disk by the server, if they are long.
        "CREATE TABLE event(\(eventColumns))",
        // With what a count reads, so that it reads the index only.
        "CREATE INDEX event_ch ON event(ch, tt) INCLUDE (kind, expires)",
        "CREATE INDEX event_expires ON event(expires) WHERE expires IS NOT NULL",
        "CREATE INDEX event_thread ON event(thread, tt) WHERE thread IS NOT NULL",
        // Ephemeral events. A crash of the server empties the table.
        "CREATE UNLOGGED TABLE passing(\(eventColumns))",
        "CREATE INDEX passing_ch ON passing(ch, tt)",
        """
        CREATE TABLE loss(
            ch bigint NOT NULL, type text COLLATE "C" NOT NULL, app text COLLATE "C" NOT NULL, tt bigint NOT NULL,
            PRIMARY KEY (ch, type))
        """,
        "CREATE INDEX loss_tt ON loss(app, tt)",
        """
        CREATE TABLE seen(
            ch bigint NOT NULL, key text COLLATE "C" NOT NULL, tt bigint NOT NULL, until bigint NOT NULL,
            PRIMARY KEY (ch, key))
        """,
        "CREATE INDEX seen_until ON seen(until)",
        """
        CREATE TABLE claim(
            app text COLLATE "C" NOT NULL, key bytea NOT NULL, print bytea NOT NULL, tts bigint[] NOT NULL,
            note bytea NOT NULL, until bigint NOT NULL, PRIMARY KEY (app, key))
        """,
        "CREATE INDEX claim_until ON claim(until)",
        // tag: the record's etag, drawn at random at each change, because revisions would reveal the commits of other
        // apps.
        """
        CREATE TABLE record(
            app text COLLATE "C" NOT NULL, kind smallint NOT NULL, id text COLLATE "C" NOT NULL,
            parent text COLLATE "C", revision bigint NOT NULL, updated bigint NOT NULL, body text NOT NULL,
            tag bigint NOT NULL, PRIMARY KEY (app, kind, id))
        """,
        "CREATE INDEX record_parent ON record(app, kind, parent, id)",
        "CREATE INDEX record_updated ON record(app, kind, updated, id)",
        "CREATE INDEX record_revision ON record(revision)",
        // Removed records: a reader of changes learns of their removal here.
        """
        CREATE TABLE removed(
            revision bigint NOT NULL, app text COLLATE "C" NOT NULL, kind smallint NOT NULL,
            id text COLLATE "C" NOT NULL, at bigint NOT NULL, PRIMARY KEY (revision, app, kind, id))
        """,
        "CREATE INDEX removed_key ON removed(app, kind, id)",
        "CREATE INDEX removed_at ON removed(at)",
        // What nodes must learn of a commit besides its events and records. Kept for an hour.
        "CREATE TABLE notice(commit bigint PRIMARY KEY, body bytea NOT NULL, at bigint NOT NULL)",
        // The last transaction of each writer, for a writer whose connection was lost during a commit.
        """
        CREATE TABLE writer(id bigint PRIMARY KEY, number bigint NOT NULL, at bigint NOT NULL) WITH (fillfactor = 50)
        """,
        // The positions of the log's readers inside the gateway.
        "CREATE TABLE cursor(name text COLLATE \"C\" PRIMARY KEY, tt bigint NOT NULL)",
    ]

    /// The tables of the delivery queue.
    private static let queueOfVersion1 = [
        // The nodes that run, or ran lately. lease_until: by the clock of the database, in ticks.
        // seeks: callers of the node wait for deliveries of webhooks.
        """
        CREATE TABLE node(
            id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, lease_until bigint NOT NULL,
            seeks boolean NOT NULL DEFAULT false)
        """,
        // The subscribers: webhooks, and pull subscriptions with pulled. reordering: the step of a change of `ordering`
        // that is under way (Reordering), 0 without one. waiting: the number of deliveries with the state 0. owner: the
        // node that leases the deliveries. wanted: a node that needs the lane. fence: the number of claims. version: the number of changes by other nodes.
        // Every change of a subscriber's deliveries locks the row. The counters change often, so the page has space for
        // several versions of a row.
        """
        CREATE TABLE subscriber(
            id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, app text COLLATE "C" NOT NULL,
            name text COLLATE "C" NOT NULL, state smallint NOT NULL, concurrency bigint NOT NULL,
            ordering smallint NOT NULL DEFAULT 0, rate double precision, batch bigint NOT NULL DEFAULT 1,
            pulled boolean NOT NULL DEFAULT false, attempts bigint, reordering smallint NOT NULL DEFAULT 0,
            waiting bigint NOT NULL DEFAULT 0, owner bigint, wanted bigint, fence bigint NOT NULL DEFAULT 0,
            version bigint NOT NULL DEFAULT 0, UNIQUE (app, name)) WITH (fillfactor = 50)
        """,
        "CREATE INDEX subscriber_owner ON subscriber(owner) WHERE owner IS NOT NULL",
        // state: 0 waiting, 1 delivered, 2 dead. The primary key allows one row for each event and subscriber. chain: the
        // waiting deliveries that go out one after the other; NULL without an order and after the end. One delivery of
        // each chain is due; the others have the due time Chain.inLine.
        """
        CREATE TABLE delivery(
            tt bigint NOT NULL, ep bigint NOT NULL, id text COLLATE "C" NOT NULL, type text NOT NULL,
            channel text NOT NULL, state smallint NOT NULL, due bigint NOT NULL, tries integer NOT NULL DEFAULT 0,
            manual boolean NOT NULL DEFAULT false, created bigint NOT NULL, touched bigint NOT NULL, reason text,
            body bytea, chain bigint, PRIMARY KEY (tt, ep))
        """,
        "CREATE UNIQUE INDEX delivery_id ON delivery(id)",
        "CREATE INDEX delivery_due ON delivery(ep, due, tt) WHERE state = 0",
        "CREATE INDEX delivery_chain ON delivery(ep, chain, tt) WHERE chain IS NOT NULL",
        // The due delivery of each chain. It may stand anywhere in its chain once older deliveries have come back.
        """
        CREATE INDEX delivery_leader ON delivery(ep, chain) WHERE chain IS NOT NULL AND due < \(Chain.inLine)
        """,
        "CREATE INDEX delivery_state ON delivery(ep, state, tt)",
        // The leases of a pulled subscription while no node owns it. since and until are times of day.
        """
        CREATE TABLE lease(
            tt bigint NOT NULL, ep bigint NOT NULL, due bigint NOT NULL, fence bigint NOT NULL, attempt bigint NOT NULL,
            since bigint NOT NULL, until bigint NOT NULL, in_line boolean NOT NULL, PRIMARY KEY (ep, tt))
        """,
        // The attempts of each delivery (AttemptLog). A row of `delivery` does not grow with them.
        "CREATE TABLE attempt_log(tt bigint, ep bigint, bytes bytea NOT NULL, PRIMARY KEY (tt, ep))",
    ]

    /// The tables of presence.
    private static let presenceOfVersion1 = [
        // The presence keys that nodes hold (PresenceStatements). A crash of the server empties these tables, and nodes
        // write them again. news: what the node has not read yet (PresenceNews). entered: when the row was written.
        """
        CREATE UNLOGGED TABLE presence(
            app text COLLATE "C" NOT NULL, kind smallint NOT NULL, channel text COLLATE "C" NOT NULL,
            member text COLLATE "C" NOT NULL, node bigint NOT NULL, state bytea, news smallint NOT NULL DEFAULT 0,
            entered bigint NOT NULL, PRIMARY KEY (app, kind, channel, member, node))
        """,
        "CREATE INDEX presence_member ON presence(app, kind, member, channel)",
        "CREATE INDEX presence_holder ON presence(node)",
        "CREATE INDEX presence_news ON presence(node) WHERE news <> 0",
        "CREATE INDEX presence_entered ON presence(entered) WHERE kind = 1",
        // The number of users in each scope.
        """
        CREATE UNLOGGED TABLE presence_scope(
            app text COLLATE "C" NOT NULL, kind smallint NOT NULL, channel text COLLATE "C" NOT NULL,
            users bigint NOT NULL, PRIMARY KEY (app, kind, channel)) WITH (fillfactor = 50)
        """,
        // The nodes with rows. change: the node's last transaction, a random number. swept: the node is dead, and its
        // rows are removed. ready: the node has written all its rows. until: the node has closed, and its rows remain
        // until then.
        """
        CREATE UNLOGGED TABLE presence_node(
            node bigint PRIMARY KEY, change bigint NOT NULL DEFAULT 0, swept boolean NOT NULL DEFAULT false,
            ready boolean NOT NULL, until bigint) WITH (fillfactor = 20)
        """,
        // One row. Its absence or another id says that the tables were emptied.
        """
        CREATE UNLOGGED TABLE presence_epoch(
            one boolean PRIMARY KEY DEFAULT true CHECK (one), id bigint NOT NULL, since bigint NOT NULL)
        """,
        "INSERT INTO presence_epoch(id, since) VALUES (1, 0)",
    ]

    /// Creates or migrates the tables if needed, all or none. Several nodes may call it at the same time. A role that
    /// may not create tables is sufficient if the tables have the newest version.
    ///
    /// - Throws: the failure of the server, or `.newerSchema` for tables of a newer version.
    static func prepare(_ connection: Connection, role: String) async throws(ClusterEngineFailure) -> Installation {
        let found = try await known(connection)
        if let found, found.version == migrations.count { return found }
        do throws(PostgresFailure) {
            try await migrate(connection)
        } catch {
            // 55P03: the wait for a lock has ended.
            guard error.sqlState != "55P03" else {
                throw .store(
                    "another process creates or changes the tables: wait until it has ended, for instance 'parley engine migrate'"
                )
            }
            // 42501: a right is missing. 3F000: the role may use no schema of the search path.
            guard error.sqlState == "42501" || error.sqlState == "3F000" else { throw .store(error.message) }
            let state =
                found.map { "have version \($0.version), but this version of Parley needs \(migrations.count)" }
                ?? "are missing"
            throw .store(
                "the tables \(state), and the role '\(role)' may not change that (\(error.message)): run 'parley engine upgrade' as the role that owns the database"
            )
        }
        guard let made = try await known(connection) else { throw .store("the tables are missing") }
        return made
    }

    /// The installation, if this program knows the version of its tables; nil without tables.
    private static func known(_ connection: Connection) async throws(ClusterEngineFailure) -> Installation? {
        let found: Installation?
        do throws(PostgresFailure) {
            found = try await installation(connection)
        } catch {
            throw .store(error.message)
        }
        if let found, found.version > migrations.count {
            throw .newerSchema(found: found.version, known: migrations.count)
        }
        return found
    }

    /// The installation; nil without tables.
    static func installation(_ connection: Connection) async throws(PostgresFailure) -> Installation? {
        let exists = try await connection.run([Statement("SELECT to_regclass('engine') IS NOT NULL")])[0]
        guard exists.boolean(0, 0) == true else { return nil }
        let rows = try await connection.run([
            Statement("SELECT version, installation, place <> \(place) FROM engine")
        ])[0]
        guard rows.count > 0 else { return nil }
        return Installation(
            version: Int(rows.integer(0, 0) ?? 0), identity: rows.text(0, 1) ?? "",
            isCopy: rows.boolean(0, 2) ?? false)
    }

    private static func migrate(_ connection: Connection) async throws(PostgresFailure) {
        // Another node may have migrated the tables meanwhile, also to a newer version.
        let found = try await begin(connection)
        _ = try await connection.run(statements(from: found) + [Statement("COMMIT")])
    }

    /// Begins a transaction in which no other connection creates or migrates the tables. Waits for locks at most three
    /// seconds.
    ///
    /// - Returns: the version of the tables; nil when there are none.
    static func begin(_ connection: Connection) async throws(PostgresFailure) -> Int? {
        let rows = try await connection.run([
            Statement("BEGIN"),
            // Shorter than the deadline of a connection, so that the failure names the cause.
            Statement("SET LOCAL lock_timeout = '3s'"),
            Statement("SELECT pg_advisory_xact_lock(7261736679)"),
            Statement(
                """
                CREATE TABLE IF NOT EXISTS engine(
                    version integer NOT NULL, installation text NOT NULL, place text NOT NULL)
                """),
            Statement("SELECT version FROM engine"),
        ])[4]
        return rows.count == 0 ? nil : rows.integer(0, 0).map(Int.init)
    }

    /// The server and the database of a session: the system identifier, which a standby has in common with its primary,
    /// and the object identifier of the database. A dump does not contain them.
    static let place = """
        (SELECT c.system_identifier || '/' || d.oid FROM pg_control_system() c, pg_database d
        WHERE d.datname = current_database())
        """

    /// A new identity of an installation.
    static let newIdentity = "replace(gen_random_uuid()::text, '-', '')"

    /// The statements that create the tables, or migrate the tables of a version.
    static func statements(from found: Int?) -> [Statement] {
        var statements = migrations.dropFirst(found ?? 0).joined().map { Statement($0) }
        if found ?? 0 < migrations.count { statements += RecordFunctions.statements.map { Statement($0) } }
        statements.append(
            Statement(
                found == nil
                    ? "INSERT INTO engine VALUES ($1, \(newIdentity), \(place))"
                    : "UPDATE engine SET version = greatest(version, $1)",
                [.integer(Int64(migrations.count))]))
        return statements
    }
}

/// The row of the table `engine`.
struct Installation: Sendable {
    /// The version of the tables.
    let version: Int
    /// Drawn at random when the tables were created, and at each restore.
    let identity: String
    /// True if the tables were created in another database, and ``ClusterRestore`` has not run since.
    let isCopy: Bool
}
