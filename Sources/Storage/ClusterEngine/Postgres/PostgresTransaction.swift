import ChatModel
import JSON
import Locking
import Postgres
import StorageCore

/// A transaction of the writer's connection that holds the lock of the head.
struct PostgresTransaction: StoreTransaction {
    /// The number of the transaction among those of its writer.
    let number: Int64
    /// The identity of the writer, drawn at random.
    let writer: Int64
    let head: Head
    let connection: Connection
    let names: ChannelNumbers

    /// The key of the advisory lock before the lock of the head. Its value is arbitrary; all nodes use the same one.
    private static let laneLock = 0x7061_726C_6579

    /// Begins a transaction and waits for the lock of the head.
    static func begin(
        _ connection: Connection, number: Int64, of writer: Int64, _ names: ChannelNumbers
    ) async throws(PostgresFailure) -> Self {
        let rows = try await connection.run([
            Statement("BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"),
            // Admits the waiting nodes in the order of their requests. The lock of the row does not: each commit
            // makes a new version of the row, and all waiting nodes compete for it.
            Statement("SELECT pg_advisory_xact_lock(\(laneLock))"),
            Statement("\(PostgresStore.selectHead) FOR UPDATE"),
        ])
        return PostgresTransaction(
            number: number, writer: writer, head: PostgresStore.head(rows[2]), connection: connection, names: names)
    }

    func read(_ lookup: Lookup) async throws(StoreFailure) -> Found {
        var statements: [Statement] = []
        var readers: [(Rows, inout Found) -> Void] = []
        if !lookup.records.isEmpty {
            statements.append(PostgresStore.selectRecords(Array(lookup.records)))
            readers.append { rows, found in
                for key in lookup.records { found.records[key] = .some(nil) }
                for row in 0..<rows.count {
                    let record = rows.record(row)
                    found.records[record.key] = record
                }
            }
        }
        if !lookup.changed.isEmpty {
            let (apps, kinds, ids) = PostgresStore.columns(Array(lookup.changed))
            statements.append(
                Statement(
                    """
                    SELECT k.app, k.kind, k.id, greatest(
                        (SELECT revision FROM record r WHERE (r.app, r.kind, r.id) = (k.app, k.kind, k.id)),
                        (SELECT max(revision) FROM removed r WHERE (r.app, r.kind, r.id) = (k.app, k.kind, k.id)))
                    FROM unnest($1::text[], $2::bigint[], $3::text[]) AS k(app, kind, id)
                    """, [apps, kinds, ids]))
            readers.append { rows, found in
                for row in 0..<rows.count {
                    guard let key = rows.recordKey(row) else { continue }
                    found.changed[key] = Revision(rows.integer(row, 3) ?? 0)
                }
            }
        }
        if !lookup.repeats.isEmpty {
            let keys = Array(lookup.repeats)
            statements.append(
                Statement(
                    """
                    SELECT k.app, k.name, k.key, s.tt, s.until
                    FROM unnest($1::text[], $2::text[], $3::text[]) AS k(app, name, key)
                    JOIN seen s ON s.ch = (SELECT id FROM channel c WHERE c.app = k.app AND c.name = k.name)
                        AND s.key = k.key
                    """,
                    [
                        .texts(keys.map(\.channel.app.name)), .texts(keys.map(\.channel.name)), .texts(keys.map(\.key)),
                    ]))
            readers.append { rows, found in
                for key in keys { found.repeats[key] = .some(nil) }
                for row in 0..<rows.count {
                    let channel = ChannelID(rows.text(row, 1) ?? "", in: AppID(rows.text(row, 0) ?? ""))
                    found.repeats[RepeatKey(channel, rows.text(row, 2) ?? "")] = StoredRepeat(
                        timetoken: rows.timetoken(row, 3) ?? .zero, until: rows.timetoken(row, 4) ?? .zero)
                }
            }
        }
        if !lookup.claims.isEmpty {
            let keys = Array(lookup.claims)
            statements.append(
                PostgresStore.selectClaims(keys.map(\.app.name), keys.map(\.key)))
            readers.append { rows, found in
                for key in keys { found.claims[key] = .some(nil) }
                for row in 0..<rows.count {
                    let (key, claim) = PostgresStore.claim(rows, row)
                    found.claims[key] = claim
                }
            }
        }
        if !lookup.events.isEmpty {
            let places = Array(lookup.events)
            statements.append(PostgresStore.selectEvents(at: places))
            readers.append { rows, found in
                for place in places { found.events[place] = .some(nil) }
                for event in EventColumns.read(rows) { found.events[event.timetoken] = event }
            }
        }
        var found = Found()
        let results = try await run(statements)
        for (rows, reader) in zip(results, readers) { reader(rows, &found) }
        return found
    }

    func delete(
        after: Timetoken, before: Timetoken, in channel: ChannelID, limit: Int
    ) async throws(StoreFailure) -> [(timetoken: Timetoken, expires: Timetoken?)] {
        let rows = try await run([
            Statement(
                """
                DELETE FROM event WHERE tt IN (
                    SELECT tt FROM event WHERE ch = (SELECT id FROM channel WHERE app = $1 AND name = $2)
                    AND tt > $3 AND tt < $4 ORDER BY tt LIMIT $5)
                RETURNING tt, expires
                """,
                [
                    .text(channel.app.name), .text(channel.name), .timetoken(after), .timetoken(before),
                    .integer(Int64(limit)),
                ])
        ])[0]
        return (0..<rows.count).map { (rows.timetoken($0, 0) ?? .zero, rows.timetoken($0, 1)) }
    }

    func commit(_ changes: StoreChanges) async throws(StoreFailure) {
        let events = changes.events + changes.imported
        var channels = Set(events.map(\.channel))
        channels.formUnion(changes.repeats.keys.map(\.channel))
        let ids = try await numbers(of: channels)
        var statements: [Statement] = []
        let kept = events.filter { $0.retention == .kept }
        let passing = events.filter { $0.retention == .passing }
        // First, because an event that was removed may be imported again in the same batch.
        if !changes.deletions.isEmpty {
            statements.append(
                Statement("DELETE FROM event WHERE tt = ANY($1)", [.integers(changes.deletions.map(\.stored))]))
        }
        if !kept.isEmpty { statements.append(EventColumns.insert(kept, into: "event", ids: ids.all)) }
        if !passing.isEmpty { statements.append(EventColumns.insert(passing, into: "passing", ids: ids.all)) }
        statements += changes.statements(ids.all)
        statements.append(
            Statement(
                "UPDATE head SET commit = $1, tt = $2, revision = $3 WHERE lane = 0",
                [
                    .integer(Int64(changes.head.commit)), .timetoken(changes.head.timetoken),
                    .integer(Int64(changes.head.revision)),
                ]))
        // Tells whether the transaction was committed, if the connection is lost now. The identifiers that PostgreSQL
        // gives to transactions cannot tell it: after a crash, they are used again.
        statements.append(
            Statement(
                """
                INSERT INTO writer(id, number, at) VALUES ($1, $2, $3)
                ON CONFLICT (id) DO UPDATE SET number = excluded.number, at = excluded.at
                """, [.integer(writer), .integer(number), .timetoken(changes.now)]))
        statements.append(Statement("COMMIT"))
        let results: [Rows]
        do throws(PostgresFailure) {
            results = try await connection.run(statements)
        } catch {
            throw StoreFailure(error, isCommitting: error.statementIndex.map { $0 == statements.count - 1 } ?? true)
        }
        // A transaction that has failed answers a COMMIT with a rollback, and not with an error.
        guard results.last?.tag == "COMMIT" else { throw .unavailable("the transaction was rolled back") }
        names.add(ids.new)
    }

    func rollback() async {
        do throws(PostgresFailure) {
            _ = try await connection.run([Statement("ROLLBACK")])
        } catch {
            // A connection in an unknown state must not be used again.
            await connection.close()
        }
    }

    func run(_ statements: [Statement]) async throws(StoreFailure) -> [Rows] {
        do throws(PostgresFailure) {
            return try await connection.run(statements)
        } catch {
            throw StoreFailure(error)
        }
    }

    // MARK: Numbers of channels

    /// Returns the numbers of channels, and assigns numbers to new ones. `new` are those that ``names`` does not know.
    private func numbers(
        of channels: Set<ChannelID>
    ) async throws(StoreFailure) -> (all: [ChannelID: Int64], new: [ChannelID: Int64]) {
        var (all, unknown) = names.numbers(of: channels)
        guard !unknown.isEmpty else { return (all, [:]) }
        let keys: [Value] = [.texts(unknown.map(\.app.name)), .texts(unknown.map(\.name))]
        let rows = try await run([
            Statement(
                """
                INSERT INTO channel(app, name) SELECT app, name FROM unnest($1::text[], $2::text[]) AS k(app, name)
                WHERE NOT EXISTS (SELECT 1 FROM channel c WHERE c.app = k.app AND c.name = k.name)
                """, keys),
            Statement(
                """
                SELECT c.id, c.app, c.name FROM unnest($1::text[], $2::text[]) AS k(app, name)
                JOIN channel c ON c.app = k.app AND c.name = k.name
                """, keys),
        ])[1]
        var new: [ChannelID: Int64] = [:]
        for row in 0..<rows.count {
            let channel = ChannelID(rows.text(row, 2) ?? "", in: AppID(rows.text(row, 1) ?? ""))
            new[channel] = rows.integer(row, 0)
        }
        all.merge(new) { $1 }
        return (all, new)
    }
}

extension StoreChanges {
    /// The statements that write everything except events, the head and the commit.
    fileprivate func statements(_ ids: [ChannelID: Int64]) -> [Statement] {
        var statements: [Statement] = []
        if !repeats.isEmpty {
            let rows = Array(repeats)
            statements.append(
                Statement(
                    """
                    INSERT INTO seen(ch, key, tt, until)
                    SELECT * FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::bigint[])
                    ON CONFLICT (ch, key) DO UPDATE SET tt = excluded.tt, until = excluded.until
                    """,
                    [
                        .integers(rows.map { ids[$0.key.channel] }), .texts(rows.map(\.key.key)),
                        .integers(rows.map(\.value.timetoken.stored)), .integers(rows.map(\.value.until.stored)),
                    ]))
        }
        for (claim, timetokens) in claims {
            statements.append(
                Statement(
                    """
                    INSERT INTO claim(app, key, print, tts, note, until) VALUES ($1, $2, $3, $4, $5, $6)
                    ON CONFLICT (app, key) DO UPDATE SET print = excluded.print, tts = excluded.tts,
                        note = excluded.note, until = excluded.until
                    """,
                    [
                        .text(claim.app.name), .bytes(claim.key), .bytes(claim.fingerprint),
                        .integers(timetokens.map(\.stored)), .bytes(claim.note.bytes), .timetoken(claim.until),
                    ]))
        }
        statements += recordStatements
        if !removedBodies.isEmpty {
            // Locks the rows in the order of QueueTransaction, so that neither waits for the other.
            statements.append(
                Statement(
                    """
                    WITH found AS (SELECT tt, ep FROM delivery WHERE tt = ANY($1) AND body IS NOT NULL
                        ORDER BY tt, ep FOR UPDATE)
                    UPDATE delivery d SET body = NULL FROM found f WHERE d.tt = f.tt AND d.ep = f.ep
                    """, [.integers(removedBodies.map(\.stored))]))
        }
        for (app, age) in retention {
            statements.append(
                Statement(
                    """
                    INSERT INTO app(name, retention) VALUES ($1, $2)
                    ON CONFLICT (name) DO UPDATE SET retention = excluded.retention
                    """, [.text(app.name), age.map { .integer($0) } ?? .null]))
        }
        if !notices.isEmpty {
            statements.append(
                Statement(
                    "INSERT INTO notice(commit, body, at) VALUES ($1, $2, $3)",
                    [.integer(Int64(head.commit)), .bytes(FrameCodec.encode(notices)), .timetoken(now)]))
        }
        return statements
    }

    private var recordStatements: [Statement] {
        var puts: [(Record, Int64, Revision)] = []
        var removals: [(RecordKey, Revision)] = []
        for (key, write) in records {
            switch write {
            case .put(let record, let tag, let revision): puts.append((record, tag, revision))
            case .remove(let revision): removals.append((key, revision))
            }
        }
        var statements: [Statement] = []
        if !puts.isEmpty {
            let (apps, kinds, ids) = PostgresStore.columns(puts.map(\.0.key))
            statements.append(
                Statement(
                    """
                    INSERT INTO record(app, kind, id, parent, revision, updated, body, tag)
                    SELECT * FROM unnest($1::text[], $2::bigint[], $3::text[], $4::text[], $5::bigint[],
                        $6::bigint[], $7::text[], $8::bigint[])
                    ON CONFLICT (app, kind, id) DO UPDATE SET parent = excluded.parent, revision = excluded.revision,
                        updated = excluded.updated, body = excluded.body, tag = excluded.tag
                    """,
                    [
                        apps, kinds, ids, .texts(puts.map(\.0.parent)), .integers(puts.map { Int64($0.2) }),
                        .integers(puts.map(\.0.updated.stored)), .texts(puts.map(\.0.body.description)),
                        .integers(puts.map(\.1)),
                    ]))
        }
        if !removals.isEmpty {
            let (apps, kinds, ids) = PostgresStore.columns(removals.map(\.0))
            statements.append(
                Statement(
                    """
                    DELETE FROM record r USING unnest($1::text[], $2::bigint[], $3::text[]) AS k(app, kind, id)
                    WHERE r.app = k.app AND r.kind = k.kind AND r.id = k.id
                    """, [apps, kinds, ids]))
            statements.append(
                Statement(
                    """
                    INSERT INTO removed(revision, app, kind, id, at)
                    SELECT revision, app, kind, id, $5 FROM unnest($1::text[], $2::bigint[], $3::text[], $4::bigint[])
                        AS k(app, kind, id, revision)
                    """, [apps, kinds, ids, .integers(removals.map { Int64($0.1) }), .timetoken(now)]))
        }
        return statements
    }
}

/// The numbers of channels that the writer used lately. Numbers never change.
final class ChannelNumbers: Sendable {
    private let known = Lock(GenerationCache<ChannelID, Int64>(capacity: 65_536))

    /// Returns the known numbers, and the channels whose numbers are not known.
    func numbers(of channels: Set<ChannelID>) -> (known: [ChannelID: Int64], unknown: [ChannelID]) {
        known.withLock { cache in
            var known: [ChannelID: Int64] = [:]
            var unknown: [ChannelID] = []
            for channel in channels {
                if let number = cache.value(of: channel) { known[channel] = number } else { unknown.append(channel) }
            }
            return (known, unknown)
        }
    }

    /// Adds numbers that are committed.
    func add(_ numbers: [ChannelID: Int64]) {
        guard !numbers.isEmpty else { return }
        known.withLock { cache in for (channel, number) in numbers { cache.insert(number, for: channel) } }
    }
}
