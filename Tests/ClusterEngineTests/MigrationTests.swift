import ChatModel
import EngineConformance
import JSON
import Locking
import Postgres
import PostgresSupport
import SQLite
import StorageCore
import TestSupport
import Testing

@testable import ClusterEngine
@testable import SQLiteEngine

@Suite(
    "A migration from a file to a cluster", .enabled(if: PostgresServer.isInstalled, PostgresServer.installation))
struct MigrationTests {
    let folder: TemporaryFolder
    let clock = ManualClock()
    let room = ChannelID("room", in: AppID("app"))

    init() throws { folder = try TemporaryFolder() }

    @Test(
        "keeps what the behaviours of the contract have stored",
        arguments: ConformanceTests.isThorough ? Behaviour.all : Behaviour.all.filter(\.needsRestart))
    func behaviours(_ behaviour: Behaviour) async throws {
        try await behaviour.run { limits, clock in try await MigratedUnderTest(limits, clock) }
    }

    private func draft(_ text: String, in channel: ChannelID? = nil) -> EventDraft {
        EventDraft(channel: channel ?? room, type: "t", data: JSONText(string: text))
    }

    /// Fills a store with 5,000 events and one record.
    private func fill() async throws {
        let engine = try await SQLiteEngine(.test(folder.database, Limits(), clock))
        _ = try await engine.log.append((0..<5000).map { draft("\($0)") }, claim: nil)
        _ = try await engine.directory.write([RecordChange(RecordKey(.user, "u", in: room.app), body: .null)])
        await engine.close()
    }

    private func open(_ database: String) async throws -> ClusterEngine {
        try await ClusterEngine(url: database, settings: ClusterEngineSettings(clock: clock))
    }

    private func execute(_ text: String, in database: String) async throws -> Rows {
        let connection = try await Connection.open(ConnectionSettings(connectionInfo: database))
        let rows = try await connection.run([Postgres.Statement(text)])[0]
        await connection.close()
        return rows
    }

    /// Returns the error of a migration that must fail.
    private func failure(to database: String) async -> String {
        do {
            try await migrate(folder.database, to: database)
            return "no error"
        } catch {
            return "\(error)"
        }
    }

    /// Returns the error of a migration that is disturbed within the events.
    private func failure(
        to database: String, disturbing: @escaping () async throws(MigrationFailure) -> Void
    ) async -> String {
        do {
            let contents = DisturbedContents(try SQLiteContents(path: folder.database), disturbing: disturbing)
            _ = try await ClusterMigration(to: database).copy(from: contents) { _ in }
            return "no error"
        } catch {
            return "\(error)"
        }
    }

    @Test("counts the rows of each table, and reports its progress")
    func progress() async throws {
        try await fill()
        let database = try await PostgresServer.shared().makeDatabase()
        let steps = Lock<[MigrationProgress]>([])
        let rows = try await ClusterMigration(to: database).copy(from: SQLiteContents(path: folder.database)) { step in
            steps.withLock { $0.append(step) }
        }
        #expect(rows.first { $0.table == .event }?.rows == 5000)
        #expect(rows.first { $0.table == .record }?.rows == 1)
        #expect(rows.map(\.table) == ContentTable.allCases)
        let events = steps.withLock { $0 }
        #expect(events.contains(.copying(.event, done: 2000, of: 5000)))
        #expect(
            events.last(where: { if case .comparing(.event, _, _) = $0 { true } else { false } })
                == .comparing(.event, done: 5000, of: 5000))
    }

    @Test("numbers new channels, subscribers and events after the copied ones")
    func numbering() async throws {
        try await fill()
        let database = try await PostgresServer.shared().makeDatabase()
        try await migrate(folder.database, to: database)
        let engine = try await open(database)
        let before = try await engine.log.watermark(of: room.app)
        let other = ChannelID("other", in: room.app)
        let new = try await engine.log.append([draft("new", in: other), draft("new")], claim: nil).events
        #expect(new.allSatisfy { $0.event.timetoken > before })
        #expect(try await engine.log.counts([HistoryRequest(channel: other, limit: 9)]) == [1])
        let planned = ["x", "y"].map {
            PlannedDelivery(
                id: "dlv_\($0)", subscriber: SubscriberID($0, in: room.app), event: before, type: "t", channel: "room")
        }
        try await engine.deliveries.plan(planned, cursor: CursorName("c"), from: .zero, to: before)
        #expect(try await engine.deliveries.list(DeliveryQuery(app: room.app, limit: 9)).items.count == 2)
        await engine.close()
    }

    @Test("tells readers of the gap of an earlier restore")
    func restored() async throws {
        try await fill()
        let moment = Timetoken(clock.now.rawValue + 1_000_000_000)
        try StoreFile(at: folder.database).recordRestore(at: moment)
        let database = try await PostgresServer.shared().makeDatabase()
        try await migrate(folder.database, to: database)
        let engine = try await open(database)
        let all = ChannelSet(app: room.app, isAll: true)
        #expect(try await engine.log.loss(in: all, types: [.all], after: 5) == Loss(upTo: moment, cause: .restore))
        #expect(try await engine.log.loss(in: all, types: [.all], after: moment) == nil)
        await engine.close()
    }

    @Test("that is interrupted leaves the database as it was", arguments: [false, true])
    func interruption(_ hasTables: Bool) async throws {
        try await fill()
        let database = try await PostgresServer.shared().makeDatabase()
        if hasTables { await (try open(database)).close() }
        let failure = await failure(to: database) { () throws(MigrationFailure) in
            throw MigrationFailure("the disk fails")
        }
        #expect(failure == "the disk fails")
        let engine = try await open(database)
        #expect(
            try await engine.log.events(in: ChannelSet(app: room.app, isAll: true), after: .zero, limit: 9).items
                .isEmpty)
        await engine.close()
        #expect(try await migrate(folder.database, to: database).first { $0.table == .event }?.rows == 5000)
    }

    @Test("whose connection is lost leaves the database as it was")
    func lostConnection() async throws {
        try await fill()
        let database = try await PostgresServer.shared().makeDatabase()
        let failure = await failure(to: database) {
            _ = try? await execute(
                """
                SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                WHERE application_name = 'parley engine migrate' AND datname = current_database()
                """, in: database)
        }
        #expect(failure.contains("the events cannot be stored"))
        #expect(try await migrate(folder.database, to: database).first { $0.table == .event }?.rows == 5000)
    }

    @Test("stores nothing if the copy differs from the original")
    func comparison() async throws {
        try await fill()
        let database = try await PostgresServer.shared().makeDatabase()
        await (try open(database)).close()
        _ = try await execute(
            """
            CREATE FUNCTION change() RETURNS trigger LANGUAGE plpgsql AS
            $$ BEGIN IF new.body = '"77"' THEN new.body := '"78"'; END IF; RETURN new; END $$
            """, in: database)
        _ = try await execute(
            "CREATE TRIGGER change BEFORE INSERT ON event FOR EACH ROW EXECUTE FUNCTION change()", in: database)
        #expect(await failure(to: database).contains("the copy of the events differs from the original"))
        #expect(try await execute("SELECT count(*) FROM event", in: database).integer(0, 0) == 0)
    }

    @Test("refuses a database with content, with tables of another version, or in use")
    func wrongTargets() async throws {
        try await fill()
        let server = try await PostgresServer.shared()
        let used = try await server.makeDatabase()
        let node = try await open(used)
        #expect(await failure(to: used).contains("a gateway uses the database: stop it"))
        _ = try await node.log.append([draft("first")], claim: nil)
        await node.close()
        #expect(await failure(to: used).contains("is not empty, it has channels, events: create an empty database"))

        let newer = try await server.makeDatabase()
        await (try open(newer)).close()
        _ = try await execute("UPDATE engine SET version = 99", in: newer)
        #expect(await failure(to: newer).contains("tables of version 99"))

        #expect(await failure(to: "host=/nowhere user=x").contains("the PostgreSQL store cannot be used"))
    }

    @Test("refuses a file that does not exist, is in use, or has another version")
    func wrongSources() async throws {
        let database = try await PostgresServer.shared().makeDatabase()
        #expect(await failure(to: database).contains("no database exists at"))
        let engine = try await SQLiteEngine(.test(folder.database, Limits(), clock))
        #expect(await failure(to: database).contains("is in use by another gateway: stop it"))
        await engine.close()
        let file = try Database(path: folder.database, mode: .readWrite)
        try file.execute("PRAGMA user_version = 99")
        #expect(await failure(to: database).contains("has schema version 99"))
    }

    @Test("names the value that PostgreSQL cannot store")
    func zeroCharacter() async throws {
        let engine = try await SQLiteEngine(.test(folder.database, Limits(), clock))
        _ = try await engine.log.append([draft("x", in: ChannelID("a\0b", in: room.app))], claim: nil)
        await engine.close()
        let database = try await PostgresServer.shared().makeDatabase()
        #expect(await failure(to: database).contains(#"no character U+0000, as in the name 'a\u0000b'"#))
    }

    @Test("keeps nodes out until it has ended")
    func nodes() async throws {
        try await fill()
        let database = try await PostgresServer.shared().makeDatabase()
        let message = Lock("")
        let failure = await failure(to: database) {
            do {
                await (try open(database)).close()
            } catch {
                message.withLock { $0 = "\(error)" }
            }
        }
        #expect(failure == "no error")
        #expect(message.withLock { $0 }.contains("wait until it has ended, for instance 'parley engine migrate'"))
    }
}

/// The content of a file. `disturbing` is called before the second batch of the events is read.
private final class DisturbedContents: StoreContents {
    private let contents: SQLiteContents
    private let disturbing: () async throws(MigrationFailure) -> Void
    private var eventBatches = 0

    init(_ contents: SQLiteContents, disturbing: @escaping () async throws(MigrationFailure) -> Void) {
        self.contents = contents
        self.disturbing = disturbing
    }

    func head() throws(MigrationFailure) -> ContentHead { try contents.head() }
    func count(_ table: ContentTable) throws(MigrationFailure) -> Int { try contents.count(table) }

    func next(_ table: ContentTable) async throws(MigrationFailure) -> ContentRows? {
        if table == .event { eventBatches += 1 }
        if table == .event, eventBatches == 2 { try await disturbing() }
        return try contents.next(table)
    }
}
