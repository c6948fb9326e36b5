import ChatModel
import EngineConformance
import FoundationEssentials
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
    "The rights of a node", .enabled(if: PostgresServer.isInstalled, PostgresServer.installation),
    .enabled(if: NATSServer.isInstalled, NATSServer.installation))
struct RightsTests {
    /// A file of `packaging/cluster`.
    static func packaged(_ name: String) throws -> String {
        let top = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        return try String(contentsOf: top.appending(path: "packaging/cluster/\(name)"), encoding: .utf8)
    }

    /// A server with the packaged roles.
    private struct Installation {
        let server: PostgresServer

        init() async throws {
            server = try await PostgresServer()
            for role in try Self.statements where role.contains("CREATE ROLE") { try await server.execute(role) }
        }

        private static var statements: [String] {
            get throws {
                try RightsTests.packaged("roles.sql").split(separator: "\n").filter { !$0.hasPrefix("--") }
                    .joined(separator: " ").split(separator: ";").map(String.init)
            }
        }

        /// Creates a database with the packaged rights, and returns its name.
        func makeDatabase() async throws -> String {
            let name = String(try await server.makeDatabase().split(separator: "=").last ?? "")
            for right in try Self.statements where !right.contains("CREATE ROLE") {
                try await server.execute(right, database: name)
            }
            return name
        }

        func url(_ database: String, _ role: String) -> String {
            "host=\(server.host) dbname=\(database) user=\(role)"
        }
    }

    @Test("are those of the packaged file: the owner creates the tables, and the other role serves")
    func leastPrivilege() async throws {
        let installation = try await Installation()
        // Each group of behaviours uses other tables, and a few of each group suffice.
        for number in stride(from: 0, to: Behaviour.all.count, by: 24) {
            let behaviour = Behaviour.all[number]
            try await behaviour.run { limits, clock in
                let database = try await installation.makeDatabase()
                _ = try await ClusterEngine.upgrade(url: installation.url(database, "parley_owner"))
                return try await ClusterUnderTest(
                    nodes: 1, url: installation.url(database, "parley"), limits, clock)
            }
        }
        await installation.server.stop()
    }

    @Test("suffice to record a restore")
    func restore() async throws {
        let installation = try await Installation()
        let database = try await installation.makeDatabase()
        _ = try await ClusterEngine.upgrade(url: installation.url(database, "parley_owner"))
        let url = installation.url(database, "parley")
        let engine = try await ClusterEngine(url: url)
        // The role of the command may be another one than that of the nodes.
        for role in ["parley", "parley_owner"] {
            let refused = await #expect(throws: ClusterEngineFailure.self) {
                try await ClusterRestore(url: installation.url(database, role)).record(isComplete: false)
            }
            #expect(refused?.description.contains("a node uses the database") == true)
        }
        await engine.close()
        #expect(try await ClusterRestore(url: url).record(isComplete: false) != nil)
        await installation.server.stop()
    }

    @Test("that do not suffice for missing or old tables are an error that names the remedy")
    func missingTables() async throws {
        let installation = try await Installation()
        let database = try await installation.makeDatabase()
        func refusal() async -> String? {
            await #expect(throws: ClusterEngineFailure.self) {
                try await ClusterEngine(url: installation.url(database, "parley"))
            }?.description
        }
        let missing = await refusal()
        #expect(missing?.contains("the tables are missing, and the role 'parley' may not change that") == true)
        #expect(missing?.contains("as the role that owns the tables, or that may create them") == true)

        let owner = installation.url(database, "parley_owner")
        #expect(try await ClusterEngine.upgrade(url: owner).version == ClusterSchema.current.known)
        let engine = try await ClusterEngine(url: installation.url(database, "parley"))
        await engine.close()

        try await installation.server.execute("UPDATE engine SET version = 0", database: database)
        #expect(await refusal()?.contains("the tables have version 0, but this version of Parley needs") == true)

        try await installation.server.execute(
            "UPDATE engine SET version = \(ClusterSchema.current.known)", database: database)
        try await installation.server.execute("REVOKE DELETE ON event, claim FROM parley", database: database)
        #expect(await refusal()?.contains("'parley' may not read and change the tables claim, event") == true)
        await installation.server.stop()
    }

    @Test("on the bus are those of the packaged file")
    func busPermissions() async throws {
        let server = try await NATSServer(
            try Self.packaged("nats.conf").replacing("$PARLEY_NATS_PASSWORD", with: "correct"))
        let folder = try TemporaryFolder()
        try "parley:correct\n".write(toFile: folder.path + "/bus", atomically: true, encoding: .utf8)
        var settings = BusSettings(servers: [server.url])
        settings.credentialsFile = folder.path + "/bus"
        let heard = Observed<[[UInt8]]>([])
        let log = LogMessages()
        var buses: [NATSBus] = []
        for _ in 0..<2 {
            let bus = try await NATSBus.open(settings, installation: "i", deadline: waitLimit, logger: log.logger)
            await bus.start {
                heard.append($0)
            } lost: {
            }
            buses.append(bus)
        }
        buses[0].publish([1, 2])
        await heard.wait(count: 2)
        let finding = await BusCheck(settings: settings, deadline: waitLimit).finding(installation: "i")
        #expect(finding.severity == .ok, "\(finding)")
        for bus in buses {
            #expect(bus.problem == nil)
            await bus.close()
        }
        #expect(log.lines.value.isEmpty)
    }

    @Test("on the bus that are missing are logged and degrade the node until they are granted")
    func deniedSubject() async throws {
        func configuration(_ subject: String) -> String {
            """
            authorization { users: [ { user: parley, password: pw,
              permissions: { publish: { allow: ["\(subject)"] }, subscribe: { allow: ["\(subject)"] } } } ] }
            """
        }
        let server = try await NATSServer(configuration("other.>"))
        let folder = try TemporaryFolder()
        try "parley:pw".write(toFile: folder.path + "/bus", atomically: true, encoding: .utf8)
        var settings = BusSettings(servers: [server.url])
        settings.credentialsFile = folder.path + "/bus"
        let log = LogMessages()
        let store = try await PostgresStore.open(
            ConnectionSettings(connectionInfo: try await PostgresServer.shared().makeDatabase()), readers: 1,
            logger: log.logger)
        let bus = try await NATSBus.open(
            settings, installation: store.installation, deadline: waitLimit, denialRetry: .milliseconds(20),
            logger: log.logger)
        let engine = try await ClusterEngine(
            store: store, bus: bus, settings: ClusterEngineSettings(logger: log.logger))
        await log.lines.wait { $0.contains { $0.contains("error: NATS denies a subject") && $0.contains("parley.") } }
        await waitUntil { await engine.health().isDegraded }
        let finding = await BusCheck(settings: settings, deadline: waitLimit).finding(installation: "i")
        #expect(finding.severity == .failure && finding.text.contains("parley.i.check"), "\(finding)")

        try server.reload(configuration("parley.>"))
        await waitUntil { await engine.health() == .ready }
        await engine.close()
    }

    @Test("on the bus with wrong credentials are logged and degrade the node, and no secret is shown")
    func refusedBus() async throws {
        let server = try await NATSServer("authorization { user: parley, password: correct-word }")
        let folder = try TemporaryFolder()
        try "parley:wrong-word".write(toFile: folder.path + "/bus", atomically: true, encoding: .utf8)
        var settings = BusSettings(servers: [server.url])
        settings.credentialsFile = folder.path + "/bus"
        let log = LogMessages()
        let bus = try await NATSBus.open(settings, installation: "i", deadline: waitLimit, logger: log.logger)
        await log.lines.wait { $0.contains { $0.contains("NATS refuses the connection") } }
        #expect(bus.problem?.contains("Authorization") == true, "\(bus.problem ?? "")")
        #expect(!log.lines.value.contains { $0.contains("word") } && bus.problem?.contains("word") == false)
        await bus.close()
    }

    @Test("on a bus with TLS need the certificates of the settings")
    func busTLS() async throws {
        let authority = try await CertificateAuthority()
        let own = try await authority.sign("server", name: "IP:127.0.0.1")
        let client = try await authority.sign("node", name: "DNS:node")
        let server = try await NATSServer(
            """
            tls { cert_file: "\(own.certificate)", key_file: "\(own.key)", ca_file: "\(authority.certificate)",
                  verify: true }
            """)
        var settings = BusSettings(servers: [server.url])
        settings.authoritiesFile = authority.certificate
        settings.certificateFile = client.certificate
        settings.keyFile = client.key
        let bus = try await NATSBus.open(
            settings, installation: "i", deadline: waitLimit, logger: LogMessages().logger)
        #expect(bus.problem == nil)
        await bus.close()
    }
}

extension EngineHealth {
    fileprivate var isDegraded: Bool { if case .degraded = self { true } else { false } }
}

/// The messages of a logger, each with its level and its metadata.
final class LogMessages: Sendable {
    let lines = Observed<[String]>([])

    var logger: Logger { Logger(label: "test") { [lines] _ in Handler(lines: lines) } }

    private struct Handler: LogHandler {
        let lines: Observed<[String]>
        var logLevel = Logger.Level.warning
        var metadata: Logger.Metadata = [:]

        init(lines: Observed<[String]>) { self.lines = lines }

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            lines.append("\(event.level): \(event.message) \(event.metadata ?? [:])")
        }
    }
}
