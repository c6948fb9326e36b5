/// The tables of the first release, word for word: files with them are out there.
let firstSchema = """
    CREATE TABLE head(lane INTEGER PRIMARY KEY, tt INTEGER NOT NULL);
    INSERT INTO head VALUES (0, 0), (-1, 0);
    CREATE TABLE probe(bytes BLOB);
    CREATE TABLE space(
        id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, retention INTEGER,
        floor INTEGER NOT NULL DEFAULT 0, swept INTEGER NOT NULL DEFAULT 0);
    CREATE TABLE channel(
        id INTEGER PRIMARY KEY, space INTEGER NOT NULL, name TEXT NOT NULL, UNIQUE(space, name));
    CREATE TABLE type(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
    CREATE TABLE event(
        tt INTEGER PRIMARY KEY, ch INTEGER NOT NULL, kind INTEGER NOT NULL, type INTEGER NOT NULL, sender TEXT,
        body BLOB NOT NULL, meta BLOB, expires INTEGER, custom_type TEXT, schema_type INTEGER,
        schema_version INTEGER, cause TEXT, audience TEXT, origin TEXT, wire BLOB);
    CREATE INDEX event_ch ON event(ch);
    CREATE INDEX event_expires ON event(expires) WHERE expires IS NOT NULL;
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
    CREATE TABLE removed(
        revision INTEGER NOT NULL, space TEXT NOT NULL, kind INTEGER NOT NULL, id TEXT NOT NULL, at INTEGER NOT NULL,
        PRIMARY KEY(revision, space, kind, id)) WITHOUT ROWID;
    CREATE TABLE cursor(name TEXT PRIMARY KEY, tt INTEGER NOT NULL) WITHOUT ROWID;
    CREATE TABLE endpoint(
        id INTEGER PRIMARY KEY, space TEXT NOT NULL, name TEXT NOT NULL, state INTEGER NOT NULL,
        concurrency INTEGER NOT NULL, UNIQUE(space, name));
    CREATE TABLE delivery(
        tt INTEGER NOT NULL, ep INTEGER NOT NULL, id TEXT NOT NULL, type INTEGER NOT NULL, channel TEXT NOT NULL,
        state INTEGER NOT NULL, due INTEGER NOT NULL, tries INTEGER NOT NULL DEFAULT 0,
        manual INTEGER NOT NULL DEFAULT 0, touched INTEGER NOT NULL, reason TEXT, attempts BLOB, body BLOB,
        PRIMARY KEY(tt, ep)) WITHOUT ROWID;
    CREATE UNIQUE INDEX delivery_id ON delivery(id);
    CREATE INDEX delivery_due ON delivery(ep, due) WHERE state = 0;
    CREATE INDEX delivery_dead ON delivery(ep) WHERE state = 2;
    """
