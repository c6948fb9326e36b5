import Postgres
import StorageCore

/// The tables in PostgreSQL: all their versions that a program knows.
struct ClusterSchema: Sendable {
    /// `versions[n]` upgrades the tables from version n to version n + 1. Never edit a version after its release.
    let versions: [SchemaVersion]

    /// The tables of this program.
    static let current = ClusterSchema(versions: [
        SchemaVersion(
            expansion: version1 + queueOfVersion1 + presenceOfVersion1 + RecordFunctions.statements + [
                SessionFence.function
            ])
    ])

    /// The newest version of the tables that the program knows.
    var known: Int { versions.count }

    private static let eventColumns = """
        tt bigint PRIMARY KEY, ch bigint NOT NULL, kind smallint NOT NULL, type text NOT NULL, sender text,
        body bytea NOT NULL, meta bytea, expires bigint, custom_type text, schema_type text, schema_version integer,
        cause text, audience text, origin text, wire bytea, trace text, by_type boolean NOT NULL, thread bigint,
        echoes text
        """

    private static let version1 = [
        // One row. The transaction that holds its lock may append and change records. Every commit changes the row, so
        // its page has space for many versions. restored: the end of the last interval whose events were lost when a
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
        // The nodes that run, or ran lately. lease_until: by the clock of the database, in ticks. version: the newest
        // version of the tables that the node knows. seeks: callers of the node wait for deliveries of webhooks.
        """
        CREATE TABLE node(
            id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, lease_until bigint NOT NULL, version integer NOT NULL,
            seeks boolean NOT NULL DEFAULT false)
        """,
        // The subscribers: webhooks, and pull subscriptions with pulled. reordering: the step of a change of `ordering`
        // that is under way (Reordering), 0 without one. waiting: the number of deliveries with the state 0. owner: the
        // node that leases the deliveries. wanted: a node that needs the lane. fence: the number of claims. version: the
        // number of changes by other nodes.
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

    /// Creates or upgrades the tables if needed, all or none. Several nodes may call it at the same time. A role that
    /// may not create tables is sufficient if the tables need no change.
    ///
    /// - Returns: the state of the tables. Their version may be newer than ``known``, if they still serve this program.
    /// - Throws: the failure of the server; `.newerSchema` for tables that do not serve this program; `.unusable` while
    ///   nodes run that the upgraded tables would not serve.
    func prepare(_ connection: Connection, role: String) async throws(ClusterEngineFailure) -> SchemaState {
        if let found = try await usable(connection), found.version >= known { return found }
        return try await change(connection, role: role) { upgrade(from: $0) }
    }

    /// Upgrades the tables like ``prepare(_:role:)``, and removes what only nodes of older versions need. Such nodes
    /// cannot start afterwards.
    ///
    /// - Throws: the failures of ``prepare(_:role:)``; `.unusable` while nodes of older versions run.
    func finish(_ connection: Connection, role: String) async throws(ClusterEngineFailure) -> SchemaState {
        let found = try await prepare(connection, role: role)
        guard found.version == known else { throw .newerSchema(found: found.version, known: known) }
        guard found.oldest < known else { return found }
        return try await change(connection, role: role) { finish(from: $0) }
    }

    /// Changes the tables in a transaction.
    private func change(
        _ connection: Connection, role: String, _ plan: (SchemaState?) -> SchemaChange?
    ) async throws(ClusterEngineFailure) -> SchemaState {
        let hindrance: OlderNodes?
        do throws(PostgresFailure) {
            hindrance = try await repeatedly(connection, plan)
        } catch {
            // 55P03: the wait for a lock has ended.
            guard error.sqlState != "55P03" else {
                throw .store(
                    "another process creates or changes the tables: wait until it has ended, for instance 'parley engine migrate'",
                    .unavailable)
            }
            // 42501: a right is missing. 3F000: the role may use no schema of the search path.
            guard error.sqlState == "42501" || error.sqlState == "3F000" else { throw .store(error) }
            _ = try? await connection.run([Statement("ROLLBACK")])
            let state =
                try await usable(connection).map {
                    "have version \($0.version), but this version of Parley needs \(known)"
                } ?? "are missing"
            throw .store(
                "the tables \(state), and the role '\(role)' may not change that (\(error.message)): run 'parley engine upgrade' as the role that owns the tables, or that may create them"
            )
        }
        if let hindrance { throw .olderNodes(hindrance, known: known) }
        guard let made = try await usable(connection) else { throw .store("the tables are missing") }
        return made
    }

    /// The number of attempts at a change that fails because of a deadlock with the transactions of running nodes.
    private static let attemptsMost = 3

    private func repeatedly(
        _ connection: Connection, _ plan: (SchemaState?) -> SchemaChange?
    ) async throws(PostgresFailure) -> OlderNodes? {
        var attempt = 1
        while true {
            do throws(PostgresFailure) {
                return try await self.attempt(connection, plan)
            } catch {
                guard error.sqlState == "40P01", attempt < Self.attemptsMost else { throw error }
                attempt += 1
                _ = try await connection.run([Statement("ROLLBACK")])
            }
        }
    }

    /// Returns the nodes because of which the tables were not changed; nil after a success.
    ///
    /// - Parameter plan: takes the state of the tables, which another process may have changed meanwhile.
    private func attempt(
        _ connection: Connection, _ plan: (SchemaState?) -> SchemaChange?
    ) async throws(PostgresFailure) -> OlderNodes? {
        let found = try await Self.begin(connection)
        let change = plan(found)
        if let found, let change {
            let nodes = try await OlderNodes.find(connection, from: found.oldest, below: change.oldest)
            if !nodes.isEmpty {
                _ = try await connection.run([Statement("ROLLBACK")])
                return nodes
            }
        }
        _ = try await connection.run((change?.statements ?? []) + [Statement("COMMIT")])
        return nil
    }

    /// The state of the tables, if they serve this program; nil without tables.
    private func usable(_ connection: Connection) async throws(ClusterEngineFailure) -> SchemaState? {
        let found: SchemaState?
        do throws(PostgresFailure) {
            found = try await Self.state(connection)
        } catch {
            throw .store(error)
        }
        if let found, found.oldest > known { throw .newerSchema(found: found.version, known: known) }
        return found
    }

    /// The state of the tables; nil without tables.
    static func state(_ connection: Connection) async throws(PostgresFailure) -> SchemaState? {
        let exists = try await connection.run([Statement("SELECT to_regclass('engine') IS NOT NULL")])[0]
        guard exists.boolean(0, 0) == true else { return nil }
        return SchemaState(try await connection.run([SchemaState.selection])[0])
    }

    /// Begins a transaction in which no other connection creates or changes the tables. Waits for locks at most three
    /// seconds.
    ///
    /// - Returns: the state of the tables; nil when there are none.
    static func begin(_ connection: Connection) async throws(PostgresFailure) -> SchemaState? {
        SchemaState(
            try await connection.run([
                Statement("BEGIN"),
                // Shorter than the deadline of a connection, so that the failure names the cause.
                Statement("SET LOCAL lock_timeout = '3s'"),
                Statement("SELECT pg_advisory_xact_lock(7261736679)"),
                Statement(
                    """
                    CREATE TABLE IF NOT EXISTS engine(
                        version integer NOT NULL, oldest integer NOT NULL, installation text NOT NULL,
                        place text NOT NULL)
                    """),
                SchemaState.selection,
            ])[4])
    }

    /// The change that creates the tables.
    var creation: SchemaChange {
        SchemaChange(
            versions.flatMap { $0.expansion + $0.contraction }, oldest: known,
            Statement(
                """
                INSERT INTO engine(version, oldest, installation, place)
                VALUES ($1, $1, \(SchemaState.newInstallation), \(SchemaState.place))
                """, [.integer(Int64(known))]))
    }

    /// The change that creates the tables, or upgrades them to the newest version; nil if they need none. The upgraded
    /// tables also serve nodes of the version before the newest one.
    func upgrade(from found: SchemaState?) -> SchemaChange? {
        guard let found else { return creation }
        guard found.version < known else { return nil }
        var statements: [String] = []
        for version in found.version + 1...known {
            if version - 1 > found.oldest { statements += self[version - 1].contraction }
            statements += self[version].expansion
        }
        return SchemaChange(statements, version: known, oldest: max(found.oldest, known - 1))
    }

    /// The change that removes what only nodes of the version before the newest one need; nil if nothing is left.
    private func finish(from found: SchemaState?) -> SchemaChange? {
        guard let found, found.version == known, found.oldest < known else { return nil }
        return SchemaChange(self[known].contraction, version: known, oldest: known)
    }

    private subscript(version: Int) -> SchemaVersion { versions[version - 1] }
}
