import Glibc
import Logging
import SQLite
import StorageCore

/// The tables of the database file, and the migrations that update an older file.
enum Schema {
    /// `migrations[n]` migrates a file from version n to version n + 1. Never edit a migration after its release.
    static let migrations = [version1]

    /// The settings of every connection. `synchronous=FULL` makes each commit wait for the disk, so that an event
    /// survives a power failure if its sender has received status 201.
    static let connectionPragmas = """
        PRAGMA synchronous=FULL; PRAGMA foreign_keys=OFF; PRAGMA temp_store=MEMORY;
        """

    /// The additional settings of the writer's connection, for instance the page size of a new file and the write-ahead
    /// log.
    static let writerPragmas = """
        PRAGMA page_size=4096; PRAGMA journal_mode=WAL; PRAGMA journal_size_limit=268435456; PRAGMA cache_size=-65536;
        """

    /// The additional settings of a reader's connection. The cache of a reader's connection is one eighth of the size
    /// of the writer's cache. A larger cache does not make reads faster (measured), because each commit empties the
    /// cache of every reader, and the operating system caches the same pages.
    static let readerPragmas = "PRAGMA cache_size=-8192;"

    private static let version1 = """
        -- The last number given out or reserved of each numbering. 0: timetokens. -1: directory revisions. -2: the number
        -- of times that the file was opened.
        CREATE TABLE head(lane INTEGER PRIMARY KEY, tt INTEGER NOT NULL);
        INSERT INTO head VALUES (0, 0), (-1, 0), (-2, 0);

        -- Always empty. Writing and deleting one row shows whether an event of the largest size fits on the disk.
        CREATE TABLE probe(bytes BLOB);

        -- retention: in ticks, NULL without a limit. floor: the newest event that retention has removed. swept: retention has
        -- examined the events up to here.
        CREATE TABLE app(
            id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, retention INTEGER,
            floor INTEGER NOT NULL DEFAULT 0, swept INTEGER NOT NULL DEFAULT 0);
        CREATE TABLE channel(
            id INTEGER PRIMARY KEY, app INTEGER NOT NULL, name TEXT NOT NULL, UNIQUE(app, name));
        CREATE TABLE type(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);

        -- The timetoken is the rowid: events lie in the order of the log, and an append writes at the right edge of the tree.
        -- Columns that are mostly NULL stand last: a NULL costs one byte. expires: NULL without an end; by_type: 1 where the
        -- end follows from the type's retention. thread: the message to whose thread the event belongs.
        CREATE TABLE event(
            tt INTEGER PRIMARY KEY, ch INTEGER NOT NULL, kind INTEGER NOT NULL, type INTEGER NOT NULL, sender TEXT,
            body BLOB NOT NULL, meta BLOB, expires INTEGER, custom_type TEXT, schema_type INTEGER,
            schema_version INTEGER, cause TEXT, audience TEXT, origin TEXT, wire BLOB, trace TEXT, by_type INTEGER,
            thread INTEGER);
        -- The kind is in the index, so that the messages of a channel are counted without reading their rows.
        CREATE INDEX event_ch ON event(ch, tt, kind);
        CREATE INDEX event_expires ON event(expires) WHERE expires IS NOT NULL;
        CREATE INDEX event_thread ON event(thread, tt) WHERE thread IS NOT NULL;
        -- The replies of a channel are counted without reading their rows.
        CREATE INDEX event_reply ON event(ch, tt) WHERE thread IS NOT NULL;
        -- The newest event that retention has removed, by channel and type; app.floor is the newest of them all.
        CREATE TABLE loss(
            ch INTEGER NOT NULL, type INTEGER NOT NULL, app INTEGER NOT NULL, tt INTEGER NOT NULL,
            PRIMARY KEY(ch, type)) WITHOUT ROWID;
        CREATE INDEX loss_tt ON loss(app, tt);
        -- Restores have lost the events above `after` and up to `upto`.
        CREATE TABLE restore(after INTEGER NOT NULL, upto INTEGER NOT NULL);

        -- Keys of deduplication. `until` grows with insertion, so its index is written at the right edge only.
        CREATE TABLE seen(
            ch INTEGER NOT NULL, key TEXT NOT NULL, tt INTEGER NOT NULL, until INTEGER NOT NULL,
            PRIMARY KEY(ch, key)) WITHOUT ROWID;
        CREATE INDEX seen_until ON seen(until);
        -- Idempotency keys with the answers that their first requests received.
        CREATE TABLE claim(
            app INTEGER NOT NULL, key BLOB NOT NULL, print BLOB NOT NULL, tts BLOB NOT NULL, note BLOB NOT NULL,
            until INTEGER NOT NULL, PRIMARY KEY(app, key)) WITHOUT ROWID;
        CREATE INDEX claim_until ON claim(until);

        -- tag: the record's etag, drawn at random at each change, because revisions would reveal the commits of other apps.
        CREATE TABLE record(
            app TEXT NOT NULL, kind INTEGER NOT NULL, id TEXT NOT NULL, parent TEXT, revision INTEGER NOT NULL,
            updated INTEGER NOT NULL, body TEXT NOT NULL, tag INTEGER NOT NULL DEFAULT 0,
            PRIMARY KEY(app, kind, id)) WITHOUT ROWID;
        CREATE INDEX record_parent ON record(app, kind, parent, id);
        CREATE INDEX record_updated ON record(app, kind, updated, id);
        CREATE INDEX record_revision ON record(revision);
        -- Deleted records: a reader of changes learns of their deletion here.
        CREATE TABLE removed(
            revision INTEGER NOT NULL, app TEXT NOT NULL, kind INTEGER NOT NULL, id TEXT NOT NULL, at INTEGER NOT NULL,
            PRIMARY KEY(revision, app, kind, id)) WITHOUT ROWID;

        -- The positions of the log's readers inside the gateway.
        CREATE TABLE cursor(name TEXT PRIMARY KEY, tt INTEGER NOT NULL) WITHOUT ROWID;
        -- The subscribers: webhooks, and pull subscriptions with pulled = 1. reordering: the step of a change of `ordering`
        -- that is under way (Reordering), 0 without one.
        CREATE TABLE subscriber(
            id INTEGER PRIMARY KEY, app TEXT NOT NULL, name TEXT NOT NULL, state INTEGER NOT NULL,
            concurrency INTEGER NOT NULL, ordering INTEGER NOT NULL DEFAULT 0, rate REAL, batch INTEGER NOT NULL DEFAULT 1,
            pulled INTEGER NOT NULL DEFAULT 0, attempts INTEGER, reordering INTEGER NOT NULL DEFAULT 0,
            UNIQUE(app, name));
        -- state: 0 waiting, 1 delivered, 2 dead. The primary key allows one row for each event and subscriber. chain: the
        -- waiting deliveries that go out one after the other; NULL without an order and after the end. One delivery of each
        -- chain is due; the others have the due time Chain.inLine, and so lie at the right end of the index by due time.
        CREATE TABLE delivery(
            tt INTEGER NOT NULL, ep INTEGER NOT NULL, id TEXT NOT NULL, type INTEGER NOT NULL, channel TEXT NOT NULL,
            state INTEGER NOT NULL, due INTEGER NOT NULL, tries INTEGER NOT NULL DEFAULT 0,
            manual INTEGER NOT NULL DEFAULT 0, created INTEGER NOT NULL, touched INTEGER NOT NULL, reason TEXT, body BLOB,
            chain INTEGER, log INTEGER, PRIMARY KEY(tt, ep)) WITHOUT ROWID;
        CREATE UNIQUE INDEX delivery_id ON delivery(id);
        CREATE INDEX delivery_due ON delivery(ep, due) WHERE state = 0;
        CREATE INDEX delivery_chain ON delivery(ep, chain) WHERE chain IS NOT NULL;
        -- The due delivery of each chain. It may stand anywhere in its chain once older deliveries have come back.
        CREATE INDEX delivery_leader ON delivery(ep, chain) WHERE chain IS NOT NULL AND due < \(Chain.inLine);
        -- With the primary key behind it (ep, state, tt): every listing begins where its page begins.
        CREATE INDEX delivery_state ON delivery(ep, state);
        -- The attempts of each delivery, in the order of first attempts. A table of its own is written at its right edge,
        -- and a row of `delivery`, which lies anywhere, does not grow (growing would split its page).
        CREATE TABLE attempt_log(id INTEGER PRIMARY KEY, bytes BLOB NOT NULL);
        CREATE TRIGGER delivery_removed AFTER DELETE ON delivery WHEN old.log IS NOT NULL
            BEGIN DELETE FROM attempt_log WHERE id = old.log; END;
        """
}

extension SQLiteEngineSettings {
    /// Creates the tables of a new file, or migrates the tables of an older file. Either all migrations take effect or
    /// none.
    ///
    /// A migration cannot be undone. Therefore this function first checks that the file is not damaged and that the
    /// disk has space for a second copy of the file. Otherwise it throws an error before it changes the file.
    func upgrade(_ database: Database, by migrations: [String] = Schema.migrations) throws(SQLiteFailure) {
        let found = try database.schemaVersion
        guard found > 0, found < migrations.count else { return try database.migrate(migrations) }
        let fields: Logger.Metadata = ["from": "\(found)", "to": "\(migrations.count)", "path": "\(path)"]
        logger.notice(
            "upgrading the database; older versions of Parley cannot read the upgraded database", metadata: fields)
        try checkFreeSpace(database)
        let faults = try database.faults(isThorough: false)
        guard faults.isEmpty else {
            throw SQLiteFailure(
                kind: .corrupt,
                message:
                    "the database is damaged and was not upgraded: \(faults.joined(separator: "; ")); restore a backup"
            )
        }
        try database.migrate(migrations)
        logger.notice("upgraded the database", metadata: fields)
    }

    /// Throws if the file system has no space for another copy of the file, because a migration may first write every
    /// page to the write-ahead log.
    private func checkFreeSpace(_ database: Database) throws(SQLiteFailure) {
        let pages = try database.integer("PRAGMA page_count") ?? 0
        let needed = Int(pages * (try database.integer("PRAGMA page_size") ?? 0))
        var status = statvfs()
        guard !isInMemory, statvfs(path, &status) == 0 else { return }
        let free = Int(status.f_bavail) * Int(status.f_frsize)
        guard free < needed else { return }
        throw SQLiteFailure(
            kind: .full,
            message: "upgrading the database may need \(needed) bytes, but only \(free) are free; free disk space first"
        )
    }
}
