import ChatModel
import EngineConformance
import Glibc
import Locking
import Logging
import NATSSupport
import Postgres
import PostgresSupport
import Testing
import TestSupport

@testable import ClusterEngine

/// A cluster over an empty database of the shared PostgreSQL server.
actor ClusterUnderTest: EngineUnderTest {
    /// The bus between the nodes.
    enum Bus: Sendable {
        case none
        case local(LocalBus)
        /// The URL of a server.
        case nats(String)
    }

    /// The database.
    nonisolated let url: String
    private let settings: ClusterEngineSettings
    private let count: Int
    private let bus: Bus
    private let schemas: [ClusterSchema]
    private var engines: [ClusterEngine] = []
    private var blocker: Connection?
    nonisolated let survivesRestart = true

    /// - Parameters:
    ///   - count: the number of nodes.
    ///   - url: the database; nil for a new one on the shared server.
    ///   - schemas: the versions of the tables that the nodes know, in turn.
    init(
        nodes count: Int, bus: Bus = .none, url: String? = nil, schemas: [ClusterSchema] = [.current],
        _ limits: Limits = Limits(), _ clock: ManualClock = ManualClock()
    ) async throws {
        self.url = if let url { url } else { try await PostgresServer.shared().makeDatabase() }
        self.count = count
        self.bus = bus
        self.schemas = schemas
        settings = ClusterEngineSettings(limits: limits, clock: clock)
        try await open()
    }

    private func open() async throws {
        for number in 0..<count {
            var settings = settings
            settings.schema = schemas[number % schemas.count]
            let store = try await PostgresStore.open(
                ConnectionSettings(connectionInfo: url, applicationName: "test"), readers: 4, schema: settings.schema,
                logger: settings.logger)
            let bus: (any ClusterBus)? =
                switch bus {
                case .none: nil
                case .local(let bus): bus.connect()
                case .nats(let server):
                    try await NATSBus.open(
                        BusSettings(servers: [server]), installation: store.installation, deadline: .seconds(5),
                        logger: settings.logger)
                }
            engines.append(try await ClusterEngine(store: store, bus: bus, settings: settings))
        }
    }

    private func close() async {
        for engine in engines { await engine.close() }
        engines = []
    }

    /// The engines of the nodes.
    var clusterEngines: [ClusterEngine] { engines }

    var nodes: [any Engine] { engines }

    func restart() async throws {
        await close()
        try await open()
    }

    func block() async throws -> Bool {
        let connection = try await Connection.open(ConnectionSettings(connectionInfo: url))
        _ = try await connection.run([Statement("BEGIN"), Statement("SELECT * FROM head FOR UPDATE")])
        blocker = connection
        return true
    }

    func unblock() async throws {
        await blocker?.close()
        blocker = nil
    }

    func removeOutlived() async throws {
        for engine in engines { try await engine.removeOutlived() }
    }

    /// Ends all connections of the nodes to the server.
    func cutConnections() async throws {
        try await execute(
            """
            SELECT pg_terminate_backend(pid) FROM pg_stat_activity
            WHERE datname = current_database() AND pid <> pg_backend_pid()
            """)
    }

    /// Runs a statement on a connection of its own.
    @discardableResult
    func execute(_ text: String) async throws -> Rows {
        let connection = try await Connection.open(ConnectionSettings(connectionInfo: url))
        let rows = try await connection.run([Statement(text)])[0]
        await connection.close()
        return rows
    }

    /// The number that a query returns.
    func integer(_ text: String) async throws -> Int64? { try await execute(text).integer(0, 0) }

    func end() async { await close() }
}

extension ClusterEngineSettings {
    /// Settings of a test: its clock, no logging, and a cache small enough that reads from the store are tested as well.
    init(limits: Limits = Limits(), clock: ManualClock) {
        self.init(limits: limits, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        self.clock = ClusterClock(clock.wallClock, followsStore: false)
        uptime = { clock.uptime }
        tailBytes = 64 * 1024
    }
}

/// A bus between the nodes of this process. It drops the hints for which `drops` returns true.
final class LocalBus: Sendable {
    private struct State: Sendable {
        var receivers: [Int: @Sendable ([UInt8]) -> Void] = [:]
        var next = 0
        var published = 0
    }

    private let state = Lock(State())
    private let drops: @Sendable (Int) -> Bool

    /// - Parameter drops: called with the number of a hint, from zero.
    init(drops: @escaping @Sendable (Int) -> Bool = { _ in false }) { self.drops = drops }

    /// A node's connection to the bus.
    func connect() -> any ClusterBus {
        let number = state.withLock { state in
            state.next += 1
            return state.next
        }
        return Connection(bus: self, number: number)
    }

    private struct Connection: ClusterBus {
        let bus: LocalBus
        let number: Int
        let problem: String? = nil

        func publish(_ hint: [UInt8]) {
            let receivers = bus.state.withLock { state -> [@Sendable ([UInt8]) -> Void] in
                defer { state.published += 1 }
                return bus.drops(state.published) ? [] : state.receivers.filter { $0.key != number }.map(\.value)
            }
            for receiver in receivers { receiver(hint) }
        }

        func start(
            receive: @escaping @Sendable ([UInt8]) -> Void, lost: @escaping @Sendable () -> Void
        ) async {
            bus.state.withLock { $0.receivers[number] = receive }
        }

        func close() async { bus.state.withLock { $0.receivers[number] = nil } }
    }
}

@Suite(
    "The cluster engine conforms to the contract",
    .enabled(if: PostgresServer.isInstalled, PostgresServer.installation),
    .enabled(if: NATSServer.isInstalled, NATSServer.installation))
struct ConformanceTests {
    @Test(arguments: Behaviour.all)
    func oneNode(_ behaviour: Behaviour) async throws {
        try await behaviour.run { limits, clock in try await ClusterUnderTest(nodes: 1, limits, clock) }
    }

    @Test(arguments: isThorough ? Behaviour.all : Behaviour.ofLogAndDirectory)
    func threeNodes(_ behaviour: Behaviour) async throws {
        let server = try await Self.nats.value
        try await behaviour.run { limits, clock in
            try await ClusterUnderTest(nodes: 3, bus: .nats(server.url), limits, clock)
        }
    }

    @Test(arguments: PresenceBehaviour.all, [1, 3])
    func presence(_ behaviour: PresenceBehaviour, nodes: Int) async throws {
        let cluster = Lock<ClusterUnderTest?>(nil)
        try await behaviour.run { limits, clock in
            let made = try await ClusterUnderTest(nodes: nodes, limits, clock)
            cluster.withLock { $0 = made }
            return await made.clusterEngines.map(\.presence)
        }
        await cluster.withLock { $0 }?.end()
    }

    @Test(.enabled(if: Self.isThorough, Self.comment), arguments: Behaviour.all)
    func threeNodesWithoutBus(_ behaviour: Behaviour) async throws {
        try await behaviour.run { limits, clock in try await ClusterUnderTest(nodes: 3, limits, clock) }
    }

    @Test(.enabled(if: Self.isThorough, Self.comment), arguments: Behaviour.all)
    func threeNodesWithBusThatDropsHalf(_ behaviour: Behaviour) async throws {
        try await behaviour.run { limits, clock in
            try await ClusterUnderTest(nodes: 3, bus: .local(LocalBus { $0 % 2 == 0 }), limits, clock)
        }
    }

    /// True for the behaviours of more clusters, which take four more minutes.
    static let isThorough = getenv("PARLEY_CLUSTERS") != nil
    private static let comment: Comment = "set PARLEY_CLUSTERS, as `make chaos` does"

    private static let nats = Task { try await NATSServer() }
}
