import SQLite

/// The tables, and how a file comes to have them. `engine.md` 3 says why `tt` is the rowid.
enum Schema {
    /// Each step leads one version further; a released step is never edited.
    static let migrations = [version1, version2, version3, version4, version5, version6, version7, version8]

    /// What every connection sets. `synchronous=FULL` makes each commit wait for the disk: the promise behind a 201.
    static let connectionPragmas = """
        PRAGMA synchronous=FULL; PRAGMA foreign_keys=OFF; PRAGMA temp_store=MEMORY;
        """

    /// What the writer sets beside, before the first table: the page size of a new file, and the write-ahead log.
    static let writerPragmas = """
        PRAGMA page_size=4096; PRAGMA journal_mode=WAL; PRAGMA journal_size_limit=268435456; PRAGMA cache_size=-65536;
        """

    /// What a connection for reading sets beside. Each commit of the writer empties its cache, and the system has the pages
    /// too: with an eighth of the writer's, a page of history took as long (measured).
    static let readerPragmas = "PRAGMA cache_size=-8192;"

    private static let version1 = """
        -- The last number given out or reserved. Lane 0: timetokens. Lane -1: directory revisions.
        CREATE TABLE head(lane INTEGER PRIMARY KEY, tt INTEGER NOT NULL);
        INSERT INTO head VALUES (0, 0), (-1, 0);

        -- Always empty: written and emptied to learn whether an event of the largest size would find room.
        CREATE TABLE probe(bytes BLOB);

        -- retention: ticks, NULL for ever. floor: the newest event retention has removed. swept: looked at up to here.
        CREATE TABLE space(
            id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, retention INTEGER,
            floor INTEGER NOT NULL DEFAULT 0, swept INTEGER NOT NULL DEFAULT 0);
        CREATE TABLE channel(
            id INTEGER PRIMARY KEY, space INTEGER NOT NULL, name TEXT NOT NULL, UNIQUE(space, name));
        CREATE TABLE type(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);

        -- Columns that are mostly NULL stand last: a NULL costs one byte, a JSON text of them would be parsed per read.
        CREATE TABLE event(
            tt INTEGER PRIMARY KEY, ch INTEGER NOT NULL, kind INTEGER NOT NULL, type INTEGER NOT NULL, sender TEXT,
            body BLOB NOT NULL, meta BLOB, expires INTEGER, custom_type TEXT, schema_type INTEGER,
            schema_version INTEGER, cause TEXT, audience TEXT, origin TEXT, wire BLOB);
        CREATE INDEX event_ch ON event(ch);  -- the rowid is its hidden last column: (ch, tt) for free
        CREATE INDEX event_expires ON event(expires) WHERE expires IS NOT NULL;

        -- until grows with insertion, so its index is written at the right edge only.
        CREATE TABLE seen(
            ch INTEGER NOT NULL, key TEXT NOT NULL, tt INTEGER NOT NULL, until INTEGER NOT NULL,
            PRIMARY KEY(ch, key)) WITHOUT ROWID;
        CREATE INDEX seen_until ON seen(until);
        CREATE TABLE claim(
            space INTEGER NOT NULL, key BLOB NOT NULL, print BLOB NOT NULL, tts BLOB NOT NULL, note BLOB NOT NULL,
            until INTEGER NOT NULL, PRIMARY KEY(space, key)) WITHOUT ROWID;
        CREATE INDEX claim_until ON claim(until);

        CREATE TABLE record(
            space TEXT NOT NULL, kind INTEGER NOT NULL, id TEXT NOT NULL, parent TEXT, revision INTEGER NOT NULL,
            updated INTEGER NOT NULL, body TEXT NOT NULL, PRIMARY KEY(space, kind, id)) WITHOUT ROWID;
        CREATE INDEX record_parent ON record(space, kind, parent, id);
        CREATE INDEX record_updated ON record(space, kind, updated, id);
        CREATE INDEX record_revision ON record(revision);
        -- Records that are no more, so that who follows changes hears of it.
        CREATE TABLE removed(
            revision INTEGER NOT NULL, space TEXT NOT NULL, kind INTEGER NOT NULL, id TEXT NOT NULL, at INTEGER NOT NULL,
            PRIMARY KEY(revision, space, kind, id)) WITHOUT ROWID;

        CREATE TABLE cursor(name TEXT PRIMARY KEY, tt INTEGER NOT NULL) WITHOUT ROWID;
        CREATE TABLE endpoint(
            id INTEGER PRIMARY KEY, space TEXT NOT NULL, name TEXT NOT NULL, state INTEGER NOT NULL,
            concurrency INTEGER NOT NULL, UNIQUE(space, name));
        -- state: 0 waiting, 1 delivered, 2 dead. The key holds each (event, endpoint) pair to one row.
        CREATE TABLE delivery(
            tt INTEGER NOT NULL, ep INTEGER NOT NULL, id TEXT NOT NULL, type INTEGER NOT NULL, channel TEXT NOT NULL,
            state INTEGER NOT NULL, due INTEGER NOT NULL, tries INTEGER NOT NULL DEFAULT 0,
            manual INTEGER NOT NULL DEFAULT 0, touched INTEGER NOT NULL, reason TEXT, attempts BLOB, body BLOB,
            PRIMARY KEY(tt, ep)) WITHOUT ROWID;
        CREATE UNIQUE INDEX delivery_id ON delivery(id);
        CREATE INDEX delivery_due ON delivery(ep, due) WHERE state = 0;
        CREATE INDEX delivery_dead ON delivery(ep) WHERE state = 2;
        """

    private static let version2 = """
        -- Lane -2: how often the file was opened.
        INSERT INTO head VALUES (-2, 0);

        ALTER TABLE endpoint ADD COLUMN ordering INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE endpoint ADD COLUMN rate REAL;
        ALTER TABLE endpoint ADD COLUMN batch INTEGER NOT NULL DEFAULT 1;
        ALTER TABLE endpoint ADD COLUMN pulled INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE endpoint ADD COLUMN attempts INTEGER;
        -- How far its items have been put into a new order: a step of Reordering, 0 when they have.
        ALTER TABLE endpoint ADD COLUMN reordering INTEGER NOT NULL DEFAULT 0;

        -- chain: those of an endpoint's waiting items that go one after the other; NULL where nothing is in order, or over.
        -- Of each chain one item is due, the others have the due time Writer.inLine: the index by due times has the heads
        -- alone at its left, however long the chains.
        ALTER TABLE delivery ADD COLUMN chain INTEGER;
        CREATE INDEX delivery_chain ON delivery(ep, chain) WHERE chain IS NOT NULL;

        -- With the key behind it (ep, state, tt): every listing begins where its page begins.
        CREATE INDEX delivery_state ON delivery(ep, state);
        DROP INDEX delivery_dead;
        """

    private static let version3 = """
        -- Of each chain the one that is due, which stands anywhere in it after older ones have come back.
        CREATE INDEX delivery_leader ON delivery(ep, chain) WHERE chain IS NOT NULL AND due < \(Writer.inLine);
        """

    private static let version4 = """
        -- What was tried, in the order of first attempts: written at the right edge, and the delivery's row, which stands
        -- anywhere, does not grow (which would split its page).
        CREATE TABLE attempt_log(id INTEGER PRIMARY KEY, bytes BLOB NOT NULL);
        ALTER TABLE delivery ADD COLUMN log INTEGER;
        UPDATE delivery SET log = number FROM (SELECT tt AS t, ep AS e, row_number() OVER (ORDER BY tt, ep) AS number
            FROM delivery WHERE attempts IS NOT NULL) WHERE tt = t AND ep = e;
        INSERT INTO attempt_log SELECT log, attempts FROM delivery WHERE log IS NOT NULL ORDER BY log;
        ALTER TABLE delivery DROP COLUMN attempts;
        CREATE TRIGGER delivery_removed AFTER DELETE ON delivery WHEN old.log IS NOT NULL
            BEGIN DELETE FROM attempt_log WHERE id = old.log; END;
        """

    private static let version5 = """
        ALTER TABLE event ADD COLUMN trace TEXT;
        """

    private static let version6 = """
        -- In the same order as before, with the kind beside: how many messages there are is counted without their rows.
        DROP INDEX event_ch;
        CREATE INDEX event_ch ON event(ch, tt, kind);
        """

    private static let version7 = """
        -- 1 where `expires` is the end that its type's retention gives it.
        ALTER TABLE event ADD COLUMN by_type INTEGER;
        -- The newest event that retention has removed, by channel and type; space.floor is the newest of them all.
        CREATE TABLE loss(
            ch INTEGER NOT NULL, type INTEGER NOT NULL, space INTEGER NOT NULL, tt INTEGER NOT NULL,
            PRIMARY KEY(ch, type)) WITHOUT ROWID;
        CREATE INDEX loss_tt ON loss(space, tt);
        INSERT INTO loss SELECT ch.id, ty.id, s.id, s.floor FROM space s JOIN channel ch ON ch.space = s.id JOIN type ty
            WHERE s.floor > 0;
        \(restores)
        """

    private static let version8 = """
        -- The message to whose thread an event belongs; NULL for most.
        ALTER TABLE event ADD COLUMN thread INTEGER;
        UPDATE event SET thread = reply.root FROM (
            SELECT CAST(substr(id, -17) AS INTEGER) AS place, CAST(json_extract(body, '$.thread_of') AS INTEGER) AS root
            FROM record WHERE kind = 19 AND parent IS NOT NULL) reply
            WHERE tt = reply.place AND reply.root > 0;
        CREATE INDEX event_thread ON event(thread, tt) WHERE thread IS NOT NULL;
        -- How many messages of a channel are replies is counted without its other rows.
        CREATE INDEX event_reply ON event(ch, tt) WHERE thread IS NOT NULL;
        -- A record's etag, drawn at random whenever it is altered: revisions count the commits of every app.
        ALTER TABLE record ADD COLUMN tag INTEGER NOT NULL DEFAULT 0;
        UPDATE record SET tag = random();
        """

    /// The table of intervals that restores have lost: events above `after` and up to `upto`. A restore makes it as well, since
    /// its backup may be of a version without it.
    static let restores = "CREATE TABLE IF NOT EXISTS restore(after INTEGER NOT NULL, upto INTEGER NOT NULL);"
}
