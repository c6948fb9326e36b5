import ChatModel
import JSON
import Locking
import Logging
import NATSSupport
import Postgres
import PostgresSupport
import StorageCore
import TestSupport
import Testing

@testable import ClusterEngine

@Suite(
    "The check of the servers", .enabled(if: PostgresServer.isInstalled, PostgresServer.installation),
    .enabled(if: NATSServer.isInstalled, NATSServer.installation))
struct InspectionTests {
    private func inspect(_ url: String, bus: BusSettings? = nil) async -> [String: ClusterFinding] {
        let findings = await ClusterInspection(url: url, bus: bus, deadline: waitLimit).findings()
        #expect(Set(findings.map(\.check)).count == findings.count)
        return Dictionary(findings.map { ($0.check, $0) }) { $1 }
    }

    @Test("has a finding for each part of a running cluster")
    func running() async throws {
        let nats = try await NATSServer()
        let bus = BusSettings(servers: [nats.url])
        let url = try await PostgresServer.shared().makeDatabase()
        #expect(await inspect(url)["schema"]?.text == "there are no tables")
        let engine = try await ClusterEngine(url: url, bus: bus)
        _ = try await engine.log.append(
            [EventDraft(channel: ChannelID("room", in: AppID("app")), type: "t", data: JSONText(string: "x"))],
            claim: nil)
        let findings = await inspect(url, bus: bus)
        let warned = findings.values.filter { $0.severity != .ok }.map(\.check).sorted()
        // The test server does not write to the disk, and its role is a superuser.
        #expect(warned == ["durability", "rights"], "\(findings)")
        for check in [
            "connection", "version", "encoding", "session", "connections", "schema", "identity", "size", "head",
            "nodes", "deliveries", "replication", "clock", "bus",
        ] { #expect(findings[check]?.severity == .ok, "\(check)") }
        #expect(findings["nodes"]?.text == "1 node runs")
        #expect(findings["connections"]?.text.hasPrefix("a node needs 9 connections") == true)
        await engine.close()
    }

    @Test("reports a synchronous standby, and commits that wait for a missing one")
    func replication() async throws {
        let primary = try await PostgresServer()
        let url = primary.connectionInfo()
        await (try ClusterEngine(url: url)).close()
        #expect(await inspect(url)["replication"]?.text.hasPrefix("no standby is connected") == true)
        let standby = try await PostgresServer(standbyOf: primary)
        await waitUntil { await inspect(url)["replication"]?.text.hasPrefix("connected standbys: 1") == true }
        try await primary.execute("CREATE ROLE plain LOGIN")
        try await primary.execute("GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO plain")
        let plain = url.replacing("user=postgres", with: "user=plain")
        try await primary.execute("ALTER SYSTEM SET synchronous_standby_names = '*'")
        try await primary.execute("SELECT pg_reload_conf()")
        await waitUntil { await inspect(url)["replication"]?.text == "commits wait for 1 of 1 standbys" }
        #expect(await inspect(plain)["replication"]?.severity == .warning, "the role may not read it")
        await standby.stop()
        await waitUntil { await inspect(url)["replication"]?.severity == .failure }
        #expect(await inspect(plain)["replication"]?.severity == .failure)
        await primary.stop()
    }

    @Test("of a server that cannot be reached and of missing NATS servers has a failure without the password")
    func unreachable() async throws {
        let findings = await ClusterInspection(
            url: "postgresql://parley:secret-word@127.0.0.1:1/parley",
            bus: BusSettings(servers: ["nats://127.0.0.1:1"]), deadline: waitLimit
        ).findings()
        #expect(findings.map(\.check) == ["connection", "bus"])
        #expect(findings.allSatisfy { $0.severity == .failure && !$0.text.contains("secret-word") })
    }
}

@Suite(
    "The settings of the server", .enabled(if: PostgresServer.isInstalled, PostgresServer.installation))
struct ServerSettingsTests {
    @Test("that would weaken a node or make its statements fail are replaced in its sessions")
    func defaults() async throws {
        let server = try await PostgresServer.shared()
        let url = try await server.makeDatabase()
        let database = String(url.split(separator: "=").last ?? "")
        for setting in [
            "synchronous_commit = off", "statement_timeout = '1ms'", "lock_timeout = '1ms'",
            "default_transaction_isolation = serializable", "standard_conforming_strings = off",
            "idle_session_timeout = '1ms'", "idle_in_transaction_session_timeout = '1ms'", "extra_float_digits = 0",
        ] { try await server.execute("ALTER DATABASE \(database) SET \(setting)") }
        let store = try await PostgresStore.open(
            ConnectionSettings(connectionInfo: "\(url) options='-c synchronous_commit=off'"), readers: 1,
            logger: LogMessages().logger)
        let rows = try await store.pool.run([
            Statement(
                """
                SELECT current_setting('synchronous_commit'), current_setting('statement_timeout'),
                    current_setting('default_transaction_isolation'), current_setting('lock_timeout')
                """)
        ])[0]
        #expect((0..<4).map { rows.text(0, $0) } == ["on", "5s", "read committed", "0"])
        let engine = try await ClusterEngine(
            store: store, bus: nil, settings: ClusterEngineSettings(logger: LogMessages().logger))
        _ = try await engine.log.append(
            [EventDraft(channel: ChannelID("room", in: AppID("app")), type: "t", data: JSONText(string: "x"))],
            claim: nil)
        await engine.close()
    }

    @Test("that endanger the data are logged")
    func durability() async throws {
        let log = LogMessages()
        let url = try await PostgresServer.shared().makeDatabase()
        await (try ClusterEngine(url: url, settings: ClusterEngineSettings(logger: log.logger))).close()
        #expect(log.lines.value.count == 1, "\(log.lines.value)")
        #expect(log.lines.value.first?.contains("the server has fsync = off and full_page_writes = off") == true)
    }

    @Test("of the encoding are refused unless it is UTF8")
    func encoding() async throws {
        let server = try await PostgresServer.shared()
        try await server.execute("CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0")
        let refused = await #expect(throws: ClusterEngineFailure.self) {
            try await ClusterEngine(url: server.connectionInfo(database: "latin"))
        }
        #expect(refused?.description.contains("the database 'latin' has the encoding LATIN1") == true)
    }

    @Test("about connections are compared with the number that the nodes need")
    func connections() async throws {
        let server = try await PostgresServer.shared()
        let url = try await server.makeDatabase()
        try await server.execute("CREATE ROLE few LOGIN CONNECTION LIMIT 6")
        let connection = try await Connection.open(
            ConnectionSettings(connectionInfo: url.replacing("user=postgres", with: "user=few")))
        let facts = try await ServerFacts.read(connection)
        await connection.close()
        let finding = facts.findings(nodes: 1, readers: 4).first { $0.check == "connections" }
        #expect(finding?.severity == .warning)
        #expect(finding?.text == "a node needs 9 connections, and the server permits 6")
        #expect(facts.findings(nodes: 1, readers: 1).first { $0.check == "connections" }?.severity == .ok)
    }

    @Test("of the collation have no effect on the indexes")
    func collation() async throws {
        let server = try await PostgresServer.shared()
        try await server.execute(
            "CREATE DATABASE english LOCALE_PROVIDER icu ICU_LOCALE 'en-US' TEMPLATE template0")
        let url = server.connectionInfo(database: "english")
        await (try ClusterEngine(url: url)).close()
        let connection = try await Connection.open(ConnectionSettings(connectionInfo: url))
        let rows = try await connection.run([
            Statement(
                """
                SELECT i.indexrelid::regclass::text FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid
                WHERE c.relnamespace = 'public'::regnamespace AND EXISTS (
                    SELECT 1 FROM unnest(i.indcollation) AS k(id)
                    WHERE k.id NOT IN (0, 'pg_catalog."C"'::regcollation))
                """)
        ])[0]
        await connection.close()
        #expect((0..<rows.count).compactMap { rows.text($0, 0) } == [])
    }
}

@Suite(
    "A pooler", .enabled(if: PostgresServer.isInstalled, PostgresServer.installation),
    .enabled(if: Pooler.isInstalled, Pooler.installation))
struct PoolerTests {
    @Test("is refused with the advice to connect to PostgreSQL itself", arguments: ["transaction", "session"])
    func refused(_ mode: String) async throws {
        for ignored in ["", "options"] {
            let pooler = try await Pooler(to: try await PostgresServer.shared(), mode: mode, ignoring: ignored)
            let refused = await #expect(throws: ClusterEngineFailure.self) {
                try await ClusterEngine(url: pooler.connectionInfo)
            }
            #expect(refused?.description.hasSuffix(PoolerCheck.advice) == true, "\(refused?.description ?? "")")
            let lost = mode == "session" ? "settings of the session" : "shares the sessions"
            let reason = ignored.isEmpty ? "unsupported startup parameter" : lost
            #expect(refused?.description.contains(reason) == true, "\(refused?.description ?? "")")
            let findings = await ClusterInspection(url: pooler.connectionInfo, bus: nil).findings()
            #expect(findings.contains { $0.severity == .failure })
            await pooler.stop()
        }
    }
}

@Suite("Credentials of the store", .enabled(if: PostgresServer.isInstalled, PostgresServer.installation))
struct StoreCredentialTests {
    @Test("are neither logged nor part of an error")
    func passwords() async throws {
        let server = try await PostgresServer.shared()
        try await server.execute(
            "DO $$ BEGIN CREATE ROLE stranger LOGIN PASSWORD 'right'; EXCEPTION WHEN duplicate_object THEN END $$")
        let log = LogMessages()
        for url in [
            "postgresql://stranger:secret-word@/postgres?host=\(server.host)",
            "postgresql:///postgres?host=\(server.host)&user=stranger&password=secret-word",
            "host=\(server.host) dbname=postgres user=stranger password=secret-word",
            "postgresql://parley:secret-word@127.0.0.1:1/parley",
            "postgresql://parley:secret-word@nowhere.invalid/parley",
            "postgresql://parley:secret-word@127.0.0.1:1/parley?unknown=1",
        ] {
            let refused = await #expect(throws: ClusterEngineFailure.self) {
                try await ClusterEngine(url: url, settings: ClusterEngineSettings(logger: log.logger))
            }
            let text = refused.map { "\($0.description) \($0)" } ?? "secret-word"
            #expect(!text.contains("secret-word") && !text.isEmpty)
        }
        #expect(!log.lines.value.contains { $0.contains("secret-word") })
    }
}
