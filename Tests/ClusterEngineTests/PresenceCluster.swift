import ChatModel
import Locking
import Postgres
import PostgresSupport
import StorageCore
import Testing
import TestSupport

@testable import ClusterEngine

/// The presence stores of several nodes over an empty database of the shared server, without engines. The leases of the
/// nodes last until ``kill(_:)``.
struct PresenceCluster: Sendable {
    let nodes: [ClusterPresence]
    let clock: ManualClock
    private let url: String
    private let pools: [ConnectionPool]
    private let app = AppID("app")

    init(nodes count: Int) async throws {
        url = try await PostgresServer.shared().makeDatabase()
        clock = ManualClock()
        let settings = ConnectionSettings(connectionInfo: url, applicationName: "test")
        let engineSettings = ClusterEngineSettings(clock: clock)
        let connection = try await Connection.open(settings)
        _ = try await ClusterSchema.current.prepare(connection, role: "postgres")
        await connection.close()
        var (nodes, pools): ([ClusterPresence], [ConnectionPool]) = ([], [])
        for _ in 0..<count {
            let reads = ConnectionPool(settings, size: 2, logger: engineSettings.logger)
            let database = ClusterDatabase(settings: settings, pool: reads)
            let node = try await database.register(
                lease: .seconds(1_000_000_000), version: ClusterSchema.current.known)
            nodes.append(
                ClusterPresence(node: node, database: database, settings: engineSettings) {
                    () async throws(StoreFailure) in _ = try await reads.run([Statement(Self.renewal(of: node))])
                })
            pools.append(reads)
        }
        (self.nodes, self.pools) = (nodes, pools)
    }

    func end() async {
        for node in nodes { await node.close() }
        for pool in pools { await pool.close() }
    }

    /// Polls on all nodes until each of them has watched the leases for as long as a lease lasts.
    func watch() async throws {
        for _ in 0...3 {
            for node in nodes { #expect(try await node.expire().isEmpty) }
            clock.advance(by: .seconds(4))
        }
    }

    /// Runs a statement on a connection of its own.
    @discardableResult func run(_ text: String) async throws -> Rows {
        let connection = try await Connection.open(ConnectionSettings(connectionInfo: url))
        let rows = try await connection.run([Statement(text)])[0]
        await connection.close()
        return rows
    }

    private static func renewal(of node: Int64) -> String {
        "UPDATE node SET lease_until = 9000000000000000000 WHERE id = \(node)"
    }

    /// Renews the lease of a node.
    func revive(_ node: ClusterPresence) async throws { try await run(Self.renewal(of: node.node)) }

    /// Ends the lease of a node.
    func kill(_ node: ClusterPresence) async throws {
        try await run("UPDATE node SET lease_until = 0 WHERE id = \(node.node)")
    }

    /// Empties the tables of presence, as a crash of the server does.
    func loseRows() async throws {
        try await run("TRUNCATE presence, presence_scope, presence_node, presence_epoch")
    }

    /// Ends all connections of the nodes to the server.
    func cutConnections() async throws {
        try await run(
            """
            SELECT pg_terminate_backend(pid) FROM pg_stat_activity
            WHERE datname = current_database() AND pid <> pg_backend_pid()
            """)
    }

    func key(_ user: String, _ channel: String = "room") -> PresenceKey {
        PresenceKey(.occupant, of: user, on: ChannelID(channel, in: app))
    }

    func user(_ name: String) -> UserID { UserID(name, in: app) }

    /// Begins a connection of a user to a channel on a node.
    func hold(
        _ user: String, _ channel: String = "room", by holder: String, on node: Int
    ) async throws -> [PresenceChange] {
        try await nodes[node].hold([key(user, channel)], of: self.user(user), by: HolderID(holder))
    }

    /// The users on a channel.
    func users(_ channel: String = "room", on node: Int = 0) async throws -> [String] {
        let scope = PresenceScope(.occupant, ChannelID(channel, in: app))
        let page = try await nodes[node].occupants(of: scope, after: nil, limit: 100)
        #expect(page.count == page.occupants.count)
        return page.occupants.map(\.user)
    }
}
