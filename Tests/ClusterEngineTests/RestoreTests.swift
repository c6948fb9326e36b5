import ChatModel
import JSON
import Postgres
import PostgresSupport
import StorageCore
import TestSupport
import Testing

@testable import ClusterEngine

@Suite("A restored database", .enabled(if: PostgresServer.isInstalled, PostgresServer.installation))
struct RestoreTests {
    private let room = ChannelID("room", in: AppID("app"))
    private var all: ChannelSet { ChannelSet(app: room.app, isAll: true) }

    private func open(_ url: String) async throws -> ClusterEngine {
        try await ClusterEngine(url: url, settings: ClusterEngineSettings(logger: LogMessages().logger))
    }

    /// Stores an event, and returns its timetoken.
    private func append(_ url: String) async throws -> Timetoken {
        let engine = try await open(url)
        let draft = EventDraft(channel: room, type: "t", data: JSONText(string: "x"))
        let appended = try await engine.log.append([draft], claim: nil).events
        await engine.close()
        return try #require(appended.first).event.timetoken
    }

    /// Copies a database without sessions, as a dump and its restore do.
    private func copy(_ url: String) async throws -> String {
        let server = try await PostgresServer.shared()
        let original = String(url.split(separator: "=").last ?? "")
        try await server.execute("CREATE DATABASE copy_of_\(original) TEMPLATE \(original)")
        return server.connectionInfo(database: "copy_of_\(original)")
    }

    private func query(_ text: String, _ url: String) async throws -> Rows {
        let connection = try await Connection.open(ConnectionSettings(connectionInfo: url, deadline: waitLimit))
        let rows = try await connection.run([Statement(text)])[0]
        await connection.close()
        return rows
    }

    private func identity(_ url: String) async throws -> String? {
        try await query("SELECT installation FROM engine", url).text(0, 0)
    }

    private func refusal(_ url: String, isComplete: Bool = false) async -> String? {
        await #expect(throws: ClusterEngineFailure.self) {
            try await ClusterRestore(url: url).record(isComplete: isComplete)
        }?.description
    }

    @Test("has a new identity, reports the lost events as a gap, and gives later timetokens to new events")
    func gap() async throws {
        let original = try await PostgresServer.shared().makeDatabase()
        let kept = try await append(original)
        let restored = try await copy(original)
        let lost = try await append(original)
        let interval = try #require(try await ClusterRestore(url: restored).record(isComplete: false))
        #expect(interval.after == kept && interval.upTo > lost)
        #expect(try await identity(restored) != identity(original))

        let engine = try await open(restored)
        for cursor in [kept, lost] {
            let loss = try await engine.log.loss(in: all, types: [.all], after: cursor)
            #expect(loss == Loss(upTo: interval.upTo, cause: .restore))
        }
        #expect(try await engine.log.loss(in: all, types: [.all], after: interval.upTo) == nil)
        #expect(try await engine.log.events(in: all, after: .zero, limit: 9).items.map(\.timetoken) == [kept])
        await engine.close()
        #expect(try await append(restored) > interval.upTo)
    }

    @Test("reports no gap if it is a complete copy")
    func complete() async throws {
        let original = try await PostgresServer.shared().makeDatabase()
        let kept = try await append(original)
        let moved = try await copy(original)
        #expect(try await ClusterRestore(url: moved).record(isComplete: true) == nil)
        let engine = try await open(moved)
        #expect(try await engine.log.loss(in: all, types: [.all], after: kept) == nil)
        await engine.close()
    }

    @Test("serves no node before its restore is recorded, unless it is in the place of the original")
    func forgottenCommand() async throws {
        let original = try await PostgresServer.shared().makeDatabase()
        _ = try await append(original)
        let restored = try await copy(original)
        let refused = await #expect(throws: ClusterEngineFailure.self) { try await open(restored) }
        #expect(refused?.description.contains("run 'parley engine restored' before a node starts") == true)
        let findings = await ClusterInspection(url: restored, bus: nil).findings()
        #expect(findings.first { $0.check == "identity" }?.severity == .failure)

        _ = try await append(original)
        _ = try await ClusterRestore(url: restored).record(isComplete: false)
        _ = try await append(restored)
    }

    @Test("is not confused with a promoted standby")
    func promotion() async throws {
        let primary = try await PostgresServer()
        let database = try await primary.makeDatabase()
        let kept = try await append(database)
        let standby = try await PostgresServer(standbyOf: primary)
        await primary.stop()
        try await standby.execute("SELECT pg_promote()")
        let name = String(database.split(separator: "=").last ?? "")
        #expect(try await append(standby.connectionInfo(database: name)) > kept)
        await standby.stop()
    }

    @Test("is not changed while a node uses it", arguments: ["", " application_name=other"])
    func running(_ parameter: String) async throws {
        let url = try await PostgresServer.shared().makeDatabase() + parameter
        let engine = try await open(url)
        let before = try await identity(url)
        #expect(await refusal(url)?.contains("a node uses the database: stop all nodes") == true)
        #expect(try await identity(url) == before)
        await engine.close()
        #expect(try await ClusterRestore(url: url).record(isComplete: false) != nil)
    }

    @Test("keeps nothing of the former nodes")
    func formerNodes() async throws {
        let url = try await PostgresServer.shared().makeDatabase()
        _ = try await append(url)
        for statement in [
            "INSERT INTO node(id, lease_until, version) OVERRIDING SYSTEM VALUE VALUES (99, 1 << 62, 1)",
            "INSERT INTO subscriber(app, name, state, concurrency, owner, wanted) VALUES ('app', 's', 0, 1, 99, 98)",
            "INSERT INTO lease VALUES (1, 1, 1, 1, 1, 1, 1, false)",
            "INSERT INTO presence(app, kind, channel, member, node, entered) VALUES ('app', 0, 'room', 'ana', 99, 1)",
            "INSERT INTO presence_scope VALUES ('app', 0, 'room', 1)",
            "INSERT INTO presence_node(node, ready) VALUES (99, true)",
        ] { _ = try await query(statement, url) }
        #expect(try await ClusterRestore(url: url).record(isComplete: false) != nil)
        for table in ["node", "lease", "presence", "presence_scope", "presence_node"] {
            #expect(try await query("SELECT count(*) FROM \(table)", url).integer(0, 0) == 0, "\(table)")
        }
        let rows = try await query("SELECT count(*) FROM subscriber WHERE owner IS NULL AND wanted IS NULL", url)
        #expect(rows.integer(0, 0) == 1)
    }

    @Test("must have tables of the version of the program")
    func tables() async throws {
        let url = try await PostgresServer.shared().makeDatabase()
        #expect(await refusal(url)?.contains("there are no tables: restore the database first") == true)
        _ = try await ClusterEngine.upgrade(url: url, logger: LogMessages().logger)
        _ = try await query("UPDATE engine SET version = 0", url)
        #expect(await refusal(url)?.contains("run 'parley engine upgrade' first") == true)
        _ = try await query("UPDATE engine SET version = 99, oldest = 99", url)
        #expect(await refusal(url)?.contains("run a newer version") == true)
    }
}
