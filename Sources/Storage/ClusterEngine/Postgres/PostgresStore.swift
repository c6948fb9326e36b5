import ChatModel
import JSON
import Locking
import Logging
import Postgres
import StorageCore

/// The store of a cluster in a PostgreSQL database.
final class PostgresStore: ClusterStore {
    let pool: ConnectionPool
    /// The connection of the follower, which must not wait for the reads of callers.
    private let followerPool: ConnectionPool
    /// The identity of the installation.
    let installation: String
    private let settings: ConnectionSettings
    private let names = ChannelNumbers()
    /// The identity of this store among the writers of the database.
    private let writerID = Int64.random(in: .min ... .max)
    private struct Writer: Sendable {
        /// The writer's connection; nil until it is needed, and after it was lost.
        var connection: Connection?
        /// The number of the last transaction.
        var transactions: Int64 = 0
        var isClosed = false
    }
    private let writer = Lock(Writer())

    /// Creates a store whose tables exist.
    ///
    /// - Parameter readers: the maximum number of connections that read.
    init(_ settings: ConnectionSettings, installation: String, readers: Int, logger: Logger) {
        self.installation = installation
        self.settings = settings
        pool = ConnectionPool(settings, size: readers, logger: logger)
        followerPool = ConnectionPool(settings, size: 1, logger: logger)
    }

    var database: ClusterDatabase { ClusterDatabase(settings: settings, pool: pool) }

    func begin() async throws(StoreFailure) -> any StoreTransaction {
        let (known, number, isClosed) = writer.withLock { writer in
            writer.transactions += 1
            return (writer.connection, writer.transactions, writer.isClosed)
        }
        guard !isClosed else { throw .unavailable("the engine is closed") }
        do throws(PostgresFailure) {
            if let known {
                do throws(PostgresFailure) {
                    return try await PostgresTransaction.begin(known, number: number, of: writerID, names)
                } catch {
                    // 25006: the server only reads since a failover.
                    if error.isConnectionUsable, error.sqlState != "25006" {
                        _ = try await known.run([Statement("ROLLBACK")])
                        throw error
                    }
                    // The connection was lost since the last transaction. Nothing was sent, so a new one may be tried.
                    writer.withLock { $0.connection = nil }
                    await known.close()
                    guard error.kind == .connectionLost || error.sqlState == "25006" else { throw error }
                }
            }
            let connection = try await Connection.open(settings)
            let isTaken = writer.withLock { writer in
                if !writer.isClosed { writer.connection = connection }
                return !writer.isClosed
            }
            guard isTaken else {
                await connection.close()
                throw PostgresFailure(kind: .unreachable, message: "the engine is closed")
            }
            do throws(PostgresFailure) {
                return try await PostgresTransaction.begin(connection, number: number, of: writerID, names)
            } catch {
                if error.isConnectionUsable { _ = try await connection.run([Statement("ROLLBACK")]) }
                throw error
            }
        } catch {
            throw StoreFailure(error)
        }
    }

    func isCommitted(_ transaction: any StoreTransaction) async throws(StoreFailure) -> Bool {
        // The transaction held the lock of the head. So it has ended when this one holds that lock.
        guard let transaction = transaction as? PostgresTransaction,
            let next = try await begin() as? PostgresTransaction
        else { return false }
        // The update makes this a commit that waits for a synchronous standby, and so for the transaction before it. A
        // server that restarts shows a transaction that the standby may not have.
        let rows: [Rows]
        do throws(StoreFailure) {
            rows = try await next.run([
                Statement(
                    "UPDATE writer SET number = number WHERE id = $1 RETURNING number", [.integer(transaction.writer)]),
                Statement("COMMIT"),
            ])
        } catch {
            await next.rollback()
            throw error
        }
        return rows[0].count > 0 && rows[0].integer(0, 0) == transaction.number
    }

    func close() async {
        let connection = writer.withLock { writer in
            writer.isClosed = true
            return writer.connection
        }
        await connection?.close()
        await followerPool.close()
        await pool.close()
    }

    // MARK: The head

    static let selectHead = """
        SELECT commit, tt, revision, (extract(epoch FROM clock_timestamp()) * 10000000)::bigint FROM head WHERE lane = 0
        """

    static func head(_ rows: Rows) -> Head {
        Head(
            commit: UInt64(rows.integer(0, 0) ?? 0), timetoken: rows.timetoken(0, 1) ?? .zero,
            revision: Revision(rows.integer(0, 2) ?? 0), time: rows.timetoken(0, 3) ?? .zero)
    }

    /// The number of events or changes that are read at once.
    private static let stride = 1000

    func follow(after have: Head, _ body: @Sendable (Frame) async -> Void) async throws(StoreFailure) -> Head {
        let head = Self.head(try await followerPool.run([Statement(Self.selectHead)])[0])
        guard head != have else { return head }
        return try await followerPool.with { (connection) throws(PostgresFailure) in
            let start = try await connection.run([
                ConnectionPool.beginSnapshot, Statement(Self.selectHead),
                Statement("SELECT body FROM notice WHERE commit > $1 ORDER BY commit", [.integer(Int64(have.commit))]),
            ])
            let head = Self.head(start[1])
            var part = Frame(after: have.commit, head: have, covered: head.commit)
            while part.head.revision < head.revision {
                var rows = try await connection.run([Self.selectChanges(after: part.head.revision, Self.stride)])[0]
                part.head.revision = rows.count < Self.stride ? head.revision : rows.lastRevision
                // All rows may belong to one large commit, whose other rows are missing.
                if rows.count == Self.stride, rows.changes.count == 1 {
                    rows = try await connection.run([Self.selectChanges(of: part.head.revision)])[0]
                }
                part.changes = rows.changes.filter { $0.revision <= part.head.revision }
                await body(part)
            }
            part.changes = []
            while part.head.timetoken < head.timetoken {
                let rows = try await connection.run([
                    Self.selectEverything(after: part.head.timetoken, upTo: head.timetoken, Self.stride)
                ])[0]
                part.events = EventColumns.read(rows)
                part.head.timetoken =
                    part.events.count < Self.stride ? head.timetoken : part.events.last?.timetoken ?? head.timetoken
                await body(part)
            }
            part.events = []
            // After the events, because an event may have been deleted after it was sent to this node.
            part.notices = (0..<start[2].count).flatMap { FrameCodec.notices(start[2].bytes($0, 0) ?? []) }
            if !part.notices.isEmpty { await body(part) }
            _ = try await connection.run([ConnectionPool.endSnapshot])
            return head
        }
    }

    // MARK: Records

    private static let recordColumns = "r.app, r.kind, r.id, r.parent, r.tag, r.updated, r.body"

    static func columns(_ keys: [RecordKey]) -> (apps: Value, kinds: Value, ids: Value) {
        (
            .texts(keys.map(\.app.name)), .integers(keys.map { Int64($0.kind.rawValue) }), .texts(keys.map(\.id))
        )
    }

    static func selectRecords(_ keys: [RecordKey]) -> Statement {
        let (apps, kinds, ids) = columns(keys)
        return Statement(
            """
            SELECT \(recordColumns) FROM unnest($1::text[], $2::bigint[], $3::text[]) AS k(app, kind, id)
            JOIN record r ON r.app = k.app AND r.kind = k.kind AND r.id = k.id
            """, [apps, kinds, ids])
    }

    func records(_ keys: [RecordKey]) async throws(StoreFailure) -> [Record?] {
        guard !keys.isEmpty else { return [] }
        let rows = try await pool.run([Self.selectRecords(Array(Set(keys)))])[0]
        var found: [RecordKey: Record] = [:]
        for row in 0..<rows.count {
            let record = rows.record(row)
            found[record.key] = record
        }
        return keys.map { found[$0] }
    }

    /// The changes after a revision, one row for each record, in the order of revisions.
    private static func selectChanges(after revision: Revision, _ limit: Int) -> Statement {
        Statement(
            """
            SELECT app, kind, id, revision FROM record WHERE revision > $1
            UNION ALL SELECT app, kind, id, revision FROM removed WHERE revision > $1
            ORDER BY revision LIMIT $2
            """, [.integer(Int64(clamping: revision)), .integer(Int64(limit))])
    }

    /// The number of keys after which no further commit is added to the result.
    private static let changesMost = 1000

    func changes(after revision: Revision) async throws(StoreFailure) -> RecordChanges? {
        let rows = try await pool.run([Self.selectChanges(after: revision, Self.changesMost)])[0]
        guard rows.count > 0 else { return nil }
        var changes = rows.changes
        // The last commit may be cut off, unless it is the only one.
        if rows.count == Self.changesMost, changes.count > 1 { changes.removeLast() }
        if rows.count == Self.changesMost, changes.count == 1 {
            let whole = try await pool.run([Self.selectChanges(of: changes[0].revision)])[0]
            return whole.changes.first
        }
        return RecordChanges(keys: changes.flatMap(\.keys), revision: changes.last?.revision ?? 0)
    }

    private static func selectChanges(of revision: Revision) -> Statement {
        Statement(
            """
            SELECT app, kind, id, revision FROM record WHERE revision = $1
            UNION ALL SELECT app, kind, id, revision FROM removed WHERE revision = $1
            """, [.integer(Int64(clamping: revision))])
    }

    // MARK: Claims

    static func selectClaims(_ apps: [String], _ keys: [[UInt8]]) -> Statement {
        Statement(
            """
            SELECT c.app, c.key, c.print, c.tts, c.note, c.until FROM unnest($1::text[], $2::bytea[]) AS k(app, key)
            JOIN claim c ON c.app = k.app AND c.key = k.key
            """, [.texts(apps), .byteStrings(keys)])
    }

    static func claim(_ rows: Rows, _ row: Int) -> (ClaimKey, StoredClaim) {
        let key = ClaimKey(app: AppID(rows.text(row, 0) ?? ""), key: rows.bytes(row, 1) ?? [])
        let timetokens = (rows.integers(row, 3) ?? []).map { Timetoken(UInt64(clamping: $0 ?? 0)) }
        return (
            key,
            StoredClaim(
                fingerprint: rows.bytes(row, 2) ?? [], timetokens: timetokens,
                note: JSONText(trusted: rows.bytes(row, 4) ?? []), until: rows.timetoken(row, 5) ?? .zero)
        )
    }

    func earlier(_ claim: Claim, now: Timetoken) async throws(StoreFailure) -> StoredClaim? {
        let rows = try await pool.run([Self.selectClaims([claim.app.name], [claim.key])])[0]
        guard rows.count > 0 else { return nil }
        var stored = Self.claim(rows, 0).1
        guard stored.until > now else { return nil }
        let events = EventColumns.read(try await pool.run([Self.selectEvents(at: stored.timetokens)])[0])
        stored.events = stored.timetokens.map { timetoken in
            events.first { $0.timetoken == timetoken && $0.channel.app == claim.app }
        }
        return stored
    }

    // MARK: Retention

    func retentions() async throws(StoreFailure) -> [AppID: RetentionTable.Entry] {
        let rows = try await pool.run([Statement("SELECT name, retention, floor, swept FROM app")])[0]
        var entries: [AppID: RetentionTable.Entry] = [:]
        for row in 0..<rows.count {
            var entry = RetentionTable.Entry()
            entry.age = rows.integer(row, 1).map { Duration(timetokenTicks: $0) }
            entry.newestLoss = rows.timetoken(row, 2) ?? .zero
            entry.swept = rows.timetoken(row, 3) ?? .zero
            entries[AppID(rows.text(row, 0) ?? "")] = entry
        }
        return entries
    }

    func restored() async throws(StoreFailure) -> Timetoken {
        try await pool.run([Statement("SELECT restored FROM head WHERE lane = 0")])[0].timetoken(0, 0) ?? .zero
    }
}

extension Rows {
    /// The record key in the first three columns of a row; nil for a kind that this version does not know.
    func recordKey(_ row: Int) -> RecordKey? {
        guard let kind = RecordKind(rawValue: Int(integer(row, 1) ?? 0)) else { return nil }
        return RecordKey(kind, text(row, 2) ?? "", in: AppID(text(row, 0) ?? ""))
    }

    /// The changes of records, joined by revision.
    fileprivate var changes: [RecordChanges] {
        var changes: [RecordChanges] = []
        for row in 0..<count {
            let revision = Revision(integer(row, 3) ?? 0)
            if changes.last?.revision != revision { changes.append(RecordChanges(keys: [], revision: revision)) }
            if let key = recordKey(row) { changes[changes.count - 1].keys.append(key) }
        }
        return changes
    }

    /// The last revision whose rows are surely complete when the read was cut off. If all rows have one revision, that
    /// one.
    fileprivate var lastRevision: Revision {
        let last = Revision(integer(count - 1, 3) ?? 0)
        for row in (0..<count).reversed() {
            let revision = Revision(integer(row, 3) ?? 0)
            if revision < last { return revision }
        }
        return last
    }
}
