import ChatModel
import HTTPClient
import Locking
import Logging
import PostgresSupport
import TestSupport
import Testing

@testable import ClusterEngine
@testable import Gateway

@Suite("A node that starts", .enabled(if: PostgresServer.isInstalled, PostgresServer.installation))
struct StartupTests {
    /// A gateway that a test runs.
    private final class Node: Sendable {
        private let stops: AsyncStream<Never>
        private let stopping: AsyncStream<Never>.Continuation
        /// The addresses in the lines about waiting.
        let waiting = Observed<[String]>([])
        /// The address when the gateway is ready.
        let listening = Observed<[String]>([])

        init() { (stops, stopping) = AsyncStream.makeStream() }

        func run(_ url: String) async throws {
            var configuration = Configuration()
            configuration.listenPort = 0
            configuration.isDevelopment = true
            configuration.engineURL = url
            let folder = try TemporaryFolder()
            configuration.dataDirectory = folder.path + "/data"
            let logger = Logger(label: "test") { [waiting] _ in WaitingLog(addresses: waiting) }
            try await GatewayServer(configuration, logger: logger).run(
                whenListening: { [listening] in listening.append($0) }, until: { [stops] in for await _ in stops {} })
        }

        func stop() { stopping.finish() }
    }

    private struct WaitingLog: LogHandler {
        let addresses: Observed<[String]>
        var logLevel = Logger.Level.info
        var metadata: Logger.Metadata = [:]

        init(addresses: Observed<[String]>) { self.addresses = addresses }

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            guard let address = event.metadata?["address"] else { return }
            #expect("\(event.message)" == "the gateway waits for PostgreSQL, and is not ready")
            let failure = event.metadata?["failure"].map { "\($0)" }
            #expect(failure?.hasPrefix("the PostgreSQL store cannot be used") == true)
            addresses.append("\(address)")
        }
    }

    @Test("before PostgreSQL waits for it, is alive and not ready meanwhile, and then serves at the same address")
    func waits() async throws {
        let server = try await PostgresServer()
        let url = try await server.makeDatabaseURL()
        await server.stop()
        let node = Node()
        let client = try Client(options: ClientOptions(userAgent: "test", addressGuard: .disabled))
        @Sendable func get(_ url: String) async -> OutboundResult {
            await client.send(OutboundRequest(method: "GET", url: url))
        }
        try await withThrowingTaskGroup { group in
            group.addTask { try await node.run(url) }
            await node.waiting.wait(count: 1)
            let address = node.waiting.value[0]
            #expect(await get(address + "/livez").status == 200)
            for path in ["/readyz", "/v1/channels/demo/events"] {
                let refused = await get(address + path)
                #expect(refused.status == 503)
                #expect(refused.headers["Retry-After"] == "1")
            }
            #expect(node.listening.value.isEmpty)
            try await server.start()
            await node.listening.wait(count: 1)
            #expect(node.listening.value == [address])
            await waitUntil { await get(address + "/readyz").status == 200 }
            #expect(await get(address + "/v1/channels/demo/events").status == 401)
            node.stop()
            try await group.waitForAll()
        }
        await client.shutdown()
        await server.stop()
    }

    @Test("before PostgreSQL can be stopped")
    func stops() async throws {
        let node = Node()
        try await withThrowingTaskGroup { group in
            group.addTask { try await node.run("postgres://parley@127.0.0.1:1/parley") }
            await node.waiting.wait(count: 1)
            node.stop()
            try await group.waitForAll()
        }
        #expect(node.waiting.value.count == 1 && node.listening.value.isEmpty)
    }

    @Test("with a wrong password, or on tables that are too new, ends at once")
    func ends() async throws {
        let server = try await PostgresServer()
        try await server.execute("CREATE ROLE locked LOGIN PASSWORD 'right'")
        let url = try await server.makeDatabaseURL()
        func failure(_ url: String) async -> ClusterEngineFailure? {
            let node = Node()
            let failure = await #expect(throws: ClusterEngineFailure.self) { try await node.run(url) }
            #expect(node.waiting.value.isEmpty)
            return failure
        }
        let rejected = await failure("postgres://locked:wrong@/postgres?host=\(server.host)")
        #expect(rejected?.description.contains("password authentication failed") == true)
        _ = try await ClusterEngine.upgrade(url: url)
        let database = String(url.dropFirst("postgres:///".count).prefix { $0 != "?" })
        try await server.execute("UPDATE engine SET version = 99, oldest = 99", database: database)
        #expect(await failure(url)?.reason == .newerSchema(found: 99, known: ClusterSchema.current.known))
        await server.stop()
    }
}
