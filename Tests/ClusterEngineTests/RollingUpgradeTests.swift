import ChatModel
import EngineConformance
import JSON
import Postgres
import PostgresSupport
import TestSupport
import Testing

@testable import ClusterEngine

extension ClusterSchema {
    /// The tables of this program with one more column in each table, which the version after it does not need.
    static let outgoing: ClusterSchema = {
        var versions = current.versions
        versions[versions.count - 1].expansion.append(inEachTable("ADD COLUMN outdated text NOT NULL DEFAULT 'x'"))
        return ClusterSchema(versions: versions)
    }()

    /// A made-up version after ``outgoing``: each table has a new column, and the outdated one goes.
    static let incoming = ClusterSchema(
        versions: outgoing.versions + [
            SchemaVersion(
                expansion: [
                    inEachTable("ADD COLUMN added integer NOT NULL DEFAULT 7"),
                    "CREATE INDEX event_added ON event(added)",
                ], contraction: [inEachTable("DROP COLUMN outdated")])
        ])

    private static func inEachTable(_ change: String) -> String {
        """
        DO $$ DECLARE name regclass; BEGIN
            FOR name IN SELECT c.oid FROM pg_class c JOIN pg_class e ON e.oid = to_regclass('engine')
                WHERE c.relnamespace = e.relnamespace AND c.relkind = 'r'
            LOOP EXECUTE format('ALTER TABLE %s \(change.replacing("'", with: "''"))', name); END LOOP;
        END $$
        """
    }
}

@Suite("A rolling upgrade", .enabled(if: PostgresServer.isInstalled, PostgresServer.installation))
struct RollingUpgradeTests {
    private let channel = ChannelID("room", in: AppID("app"))
    private let old = ClusterSchema.outgoing.known
    private let new = ClusterSchema.incoming.known

    private func open(_ url: String, _ schema: ClusterSchema) async throws(ClusterEngineFailure) -> ClusterEngine {
        var settings = ClusterEngineSettings(logger: LogMessages().logger)
        settings.schema = schema
        return try await ClusterEngine(url: url, settings: settings)
    }

    private func append(_ type: String, to node: ClusterEngine) async throws {
        let draft = EventDraft(channel: channel, type: type, data: JSONText(string: type))
        _ = try await node.log.append([draft], claim: nil)
    }

    /// The types of the events that a node knows from its memory and the notifications of others, and requires that the
    /// store has the same.
    private func events(_ node: ClusterEngine) async throws -> [String] {
        let found = try await node.log.events(
            in: ChannelSet(app: channel.app, patterns: [.all]), after: .zero, limit: 100)
        let stored = try await node.store.everything(after: .zero, upTo: .distantFuture, limit: 100)
        #expect(stored.items.map(\.draft.type) == found.items.map(\.draft.type))
        return found.items.map(\.draft.type)
    }

    private func finish(_ url: String, _ schema: ClusterSchema = .incoming) async -> String? {
        do throws(ClusterEngineFailure) {
            _ = try await ClusterEngine.upgrade(
                url: url, isLast: true, schema: schema, logger: LogMessages().logger)
            return nil
        } catch {
            return error.description
        }
    }

    private func refusal(_ url: String, _ schema: ClusterSchema) async -> ClusterEngineFailure? {
        await #expect(throws: ClusterEngineFailure.self) { try await open(url, schema) }
    }

    private func execute(_ text: String, _ url: String) async throws -> Rows {
        let connection = try await Connection.open(ConnectionSettings(connectionInfo: url))
        let rows = try await connection.run([Statement(text)])[0]
        await connection.close()
        return rows
    }

    /// The number of tables with a column.
    private func tables(with column: String, _ url: String) async throws -> Int64? {
        try await execute(
            "SELECT count(*) FROM information_schema.columns WHERE column_name = '\(column)'", url
        ).integer(0, 0)
    }

    @Test("runs nodes of two versions side by side, and ends when no old node is left")
    func sideBySide() async throws {
        let url = try await PostgresServer.shared().makeDatabase()
        let oldNode = try await open(url, .outgoing)
        let lasting = try await open(url, .outgoing)
        for node in [oldNode, lasting] {
            try await append("before", to: node)
            _ = try await events(node)
        }
        let newNode = try await open(url, .incoming)
        #expect(try await tables(with: "added", url) ?? 0 > 10)
        try await append("old", to: oldNode)
        try await append("new", to: newNode)
        for node in [oldNode, newNode, lasting] {
            #expect(try await events(node) == ["before", "before", "old", "new"])
        }
        await oldNode.close()
        let restarted = try await open(url, .outgoing)
        try await append("restarted", to: restarted)
        #expect(try await events(newNode).last == "restarted")

        #expect(await finish(url)?.contains("node \(restarted.node) with version \(old)") == true)
        #expect(await finish(url, .outgoing)?.contains("the tables have version \(new), but") == true)
        await restarted.close()
        await lasting.close()
        #expect(try await tables(with: "outdated", url) ?? 0 > 10)
        #expect(await finish(url) == nil)
        #expect(try await tables(with: "outdated", url) == 0)
        #expect(await finish(url) == nil)
        let refused = await refusal(url, .outgoing)
        #expect(refused?.reason == .newerSchema(found: new, known: old))
        #expect(
            refused?.description
                == "the tables have version \(new), but this version of Parley supports at most \(old): start a newer version"
        )
        try await append("after", to: newNode)
        #expect(try await events(newNode).suffix(2) == ["restarted", "after"])
        await newNode.close()
    }

    @Test("does not end under an old node that has lost its lease, or its connections")
    func unseenNodes() async throws {
        let url = try await PostgresServer.shared().makeDatabase()
        let store = try await PostgresStore.open(
            ConnectionSettings(connectionInfo: url), readers: 1, schema: .outgoing, logger: LogMessages().logger)
        await (try open(url, .incoming)).close()
        // A session without a lease, like that of a paused node.
        await (try store.begin()).rollback()
        #expect(await finish(url)?.contains("sessions of nodes with version \(old)") == true)
        await store.close()
        // A lease without a session, like that of a node while PostgreSQL restarts.
        let lease = "INSERT INTO node(lease_until, version) VALUES (9000000000000000000, \(old)) RETURNING id"
        let node = try await execute(lease, url).integer(0, 0) ?? 0
        #expect(await finish(url)?.contains("node \(node) with version \(old)") == true)
        _ = try await execute("DELETE FROM node WHERE id = \(node)", url)
        #expect(await finish(url) == nil)
    }

    @Test("that has ended lets no session of an old node begin")
    func lateSession() async throws {
        let url = try await PostgresServer.shared().makeDatabase()
        let store = try await PostgresStore.open(
            ConnectionSettings(connectionInfo: url), readers: 1, schema: .outgoing, logger: LogMessages().logger)
        await (try open(url, .incoming)).close()
        await (try store.begin()).rollback()
        _ = try await execute(
            """
            SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity
            WHERE datname = current_database() AND pid <> pg_backend_pid()
            """, url)
        #expect(await finish(url) == nil)
        let refused = await #expect(throws: StoreFailure.self) { try await store.begin() }
        let reason = "the tables have version \(new), but this version of Parley supports at most \(old)"
        #expect(refused?.description.contains(reason) == true)
        await #expect(throws: StoreFailure.self) { try await store.pool.run([Statement("SELECT tt FROM head")]) }
        await store.close()
    }

    @Test("by two versions waits until the nodes of the first one are gone, and ends the upgrade in between")
    func skippedVersion() async throws {
        let url = try await PostgresServer.shared().makeDatabase()
        let third = ClusterSchema(
            versions: ClusterSchema.incoming.versions + [SchemaVersion(expansion: ["CREATE TABLE third(n integer)"])])
        let oldNode = try await open(url, .outgoing)
        let refused = await refusal(url, third)
        #expect(refused?.description.contains("node \(oldNode.node) with version \(old)") == true)
        #expect(try await execute("SELECT version FROM engine", url).integer(0, 0) == Int64(old))
        await oldNode.close()
        let newest = try await open(url, third)
        #expect(try await tables(with: "outdated", url) == 0)
        #expect(await refusal(url, .outgoing)?.reason == .newerSchema(found: new + 1, known: old))
        let between = try await open(url, .incoming)
        try await append("between", to: between)
        #expect(try await events(newest) == ["between"])
        await between.close()
        await newest.close()
    }

    @Test("is visible in the check of the servers, with the next step")
    func findings() async throws {
        let url = try await PostgresServer.shared().makeDatabase()
        func finding(_ schema: ClusterSchema) async -> ClusterFinding? {
            var inspection = ClusterInspection(url: url, bus: nil, deadline: waitLimit)
            inspection.schema = schema
            return await inspection.findings().first { $0.check == "schema" }
        }
        let oldNode = try await open(url, .outgoing)
        #expect(await finding(.outgoing)?.severity == .ok)
        #expect(
            await finding(.incoming)?.text
                == "the tables have version \(old), and the next node upgrades them to \(new)")
        let newNode = try await open(url, .incoming)
        for schema in [ClusterSchema.outgoing, .incoming] {
            let pending = await finding(schema)
            #expect(pending?.severity == .warning)
            #expect(pending?.text == "the tables have version \(new), and also serve nodes of version \(old)")
            #expect(pending?.advice?.hasPrefix("such a node runs: upgrade it") == true)
        }
        await oldNode.close()
        #expect(await finding(.incoming)?.advice?.hasPrefix("no such node runs") == true)
        #expect(await finish(url) == nil)
        #expect(await finding(.incoming)?.severity == .ok)
        #expect(await finding(.outgoing)?.severity == .failure)
        await newNode.close()
    }

    @Test(
        "changes no behaviour of an old and a new node",
        arguments: stride(from: 0, to: Behaviour.all.count, by: 6).map { Behaviour.all[$0] })
    func behaviours(_ behaviour: Behaviour) async throws {
        try await behaviour.run { limits, clock in
            try await ClusterUnderTest(nodes: 2, schemas: [.outgoing, .incoming], limits, clock)
        }
    }
}
