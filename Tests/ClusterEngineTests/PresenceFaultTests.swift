import ChatModel
import Locking
import Postgres
import PostgresSupport
import Testing
import TestSupport

@testable import ClusterEngine

/// Two nodes over one database. The leases of the nodes are not renewed regularly.
private struct TwoNodes {
    /// Never wakes the task that renews the lease.
    private struct Scheduler: ClusterScheduler {
        let renewal: Duration

        func run(_ body: @escaping @Sendable () async -> Void) -> Task<Void, Never> { Task(operation: body) }

        func sleep(_ duration: Duration) async {
            try? await Task.sleep(for: duration == renewal ? .seconds(1_000_000) : duration)
        }
    }

    let clock: ManualClock
    let engines: [ClusterEngine]
    private let url: String
    private let app = AppID("app")

    init(on server: PostgresServer, _ pace: ManualClock.Pace = .still) async throws {
        clock = ManualClock(pace)
        url = try await server.makeDatabase()
        var settings = ClusterEngineSettings(clock: clock)
        settings.scheduler = Scheduler(renewal: settings.nodeLease.renewal)
        var engines: [ClusterEngine] = []
        for _ in 0..<2 {
            let store = try await PostgresStore.open(
                ConnectionSettings(connectionInfo: url, applicationName: "test"), readers: 4, logger: settings.logger)
            engines.append(try await ClusterEngine(store: store, bus: nil, settings: settings))
        }
        self.engines = engines
    }

    func end() async { for engine in engines { await engine.close() } }

    /// Runs a statement and returns the number that it selects.
    @discardableResult func run(_ text: String) async throws -> Int64? {
        let connection = try await Connection.open(ConnectionSettings(connectionInfo: url))
        let rows = try await connection.run([Statement(text)])[0]
        await connection.close()
        return rows.count > 0 ? rows.integer(0, 0) : nil
    }

    func key(_ user: String) -> PresenceKey { PresenceKey(.occupant, of: user, on: ChannelID("room", in: app)) }

    /// Begins a connection of a user, whose name is also the name of the connection.
    func hold(_ user: String, on node: Int) async throws -> [String] {
        texts(try await engines[node].presence.hold([key(user)], of: UserID(user, in: app), by: HolderID(user)))
    }

    func expire(on node: Int) async throws -> [String] { texts(try await engines[node].presence.expire()) }

    func users(on node: Int) async throws -> [String] {
        let scope = key("").presenceScope
        return try await engines[node].presence.occupants(of: scope, after: nil, limit: 100).occupants.map(\.user)
    }

    func texts(_ changes: [PresenceChange]) -> [String] { changes.map { "\($0.happening) \($0.presenceKey.user)" } }
}

@Suite(
    "The presence of a cluster under faults", .enabled(if: PostgresServer.isInstalled, PostgresServer.installation),
    .timeLimit(.minutes(2)))
struct PresenceFaultTests {
    @Test("returns without new connections when a node whose lease had ended comes back, with the lease of the queue")
    func pausedNode() async throws {
        let nodes = try await TwoNodes(on: .shared())
        #expect(try await nodes.hold("ana", on: 0) == ["joined ana"])
        for _ in 0...3 {
            for node in 0..<2 { #expect(try await nodes.expire(on: node).isEmpty) }
            nodes.clock.advance(by: .seconds(4))
        }
        #expect(try await nodes.expire(on: 1).isEmpty)
        try await nodes.run("UPDATE node SET lease_until = 0 WHERE id = (SELECT min(id) FROM node)")
        #expect(try await nodes.expire(on: 1) == ["timedOut ana"])
        #expect(try await nodes.expire(on: 0) == ["joined ana"])
        #expect(try await nodes.expire(on: 1).isEmpty)
        #expect(try await nodes.users(on: 1) == ["ana"])
        #expect(try await nodes.run("SELECT count(*) FROM node WHERE lease_until > 0") == 2)
        await nodes.end()
    }

    @Test("survives a kill of PostgreSQL longer than the leases, and reports afterwards what happened meanwhile")
    func killedPostgreSQL() async throws {
        let server = try await PostgresServer(isDurable: true)
        let nodes = try await TwoNodes(on: server, .running)
        #expect(try await nodes.hold("ana", on: 0) == ["joined ana"])
        #expect(try await nodes.hold("ben", on: 1) == ["joined ben"])
        #expect(try await nodes.hold("zoe", on: 0) == ["joined zoe"])
        #expect(try await nodes.hold("zoe", on: 1).isEmpty)
        await server.kill()
        await unavailable { _ = try await nodes.users(on: 0) }
        await unavailable { _ = try await nodes.expire(on: 0) }
        await unavailable { _ = try await nodes.hold("eve", on: 0) }
        await unavailable { _ = try await nodes.engines[1].presence.release(nil, by: HolderID("ben")) }
        await unavailable { _ = try await nodes.engines[0].presence.release(nil, by: HolderID("zoe")) }
        #expect(try await nodes.hold("ana", on: 0).isEmpty, "the key is held, so PostgreSQL is not needed")
        try await server.start()
        try await nodes.run("UPDATE node SET lease_until = 0")
        var changes: [String] = []
        for node in [0, 1, 0, 1] { changes += try await nodes.expire(on: node) }
        #expect(changes.sorted() == ["joined eve", "left ben"])
        for node in 0..<2 { #expect(try await nodes.users(on: node) == ["ana", "eve", "zoe"]) }
        await nodes.end()
        await server.stop()
    }

    private func unavailable(_ location: SourceLocation = #_sourceLocation, _ body: () async throws -> Void) async {
        let error = await #expect(throws: ChatError.self, sourceLocation: location) { try await body() }
        #expect(error?.code == .unavailable, sourceLocation: location)
    }

    @Test("stays while a node closes, until its users have had the time to connect elsewhere")
    func closedNode() async throws {
        let nodes = try await TwoNodes(on: .shared())
        #expect(try await nodes.hold("ana", on: 0) == ["joined ana"])
        #expect(try await nodes.expire(on: 1).isEmpty)
        await nodes.engines[0].close()
        #expect(try await nodes.run("SELECT count(*) FROM node") == 1)
        #expect(try await nodes.run("SELECT count(*) FROM presence_node WHERE until IS NOT NULL") == 1)
        #expect(try await nodes.expire(on: 1).isEmpty)
        #expect(try await nodes.users(on: 1) == ["ana"])
        await unavailable { _ = try await nodes.hold("eve", on: 0) }
        await nodes.end()
    }

    @Test("two nodes with new entries do not wait for each other after the server has lost the rows")
    func lostRowsBeforeFirstTransaction() async throws {
        let cluster = try await PresenceCluster(nodes: 2)
        try await cluster.loseRows()
        var changes = try await cluster.hold("ana", by: "a", on: 0)
        changes += try await cluster.hold("ben", by: "b", on: 1)
        for node in cluster.nodes { changes += try await node.expire() }
        #expect(changes.map(\.happening) == [.joined, .joined])
        await cluster.end()
    }
}
