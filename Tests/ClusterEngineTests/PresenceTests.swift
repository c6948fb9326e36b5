import ChatModel
import EngineConformance
import JSON
import Locking
import Logging
import Postgres
import PostgresSupport
import StorageCore
import Testing
import TestSupport

@testable import ClusterEngine

/// The presence stores of several nodes over an empty database of the shared server. The leases of the nodes last until
/// ``kill(_:)``.
struct PresenceCluster: Sendable {
    let nodes: [ClusterPresence]
    let clock: ManualClock
    private let url: String
    private let pools: [ConnectionPool]
    private let app = AppID("app")

    init(
        nodes count: Int, url: String? = nil, _ limits: Limits = Limits(), _ clock: ManualClock = ManualClock()
    ) async throws {
        self.url = if let url { url } else { try await PostgresServer.shared().makeDatabase() }
        self.clock = clock
        let settings = ConnectionSettings(connectionInfo: self.url, applicationName: "test")
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let connection = try await Connection.open(settings)
        _ = try await ClusterSchema.migrate(connection)
        await connection.close()
        var (nodes, pools): ([ClusterPresence], [ConnectionPool]) = ([], [])
        for _ in 0..<count {
            let rows = try await Self.run(
                "INSERT INTO node(lease_until) VALUES (9000000000000000000) RETURNING id", self.url)
            let reads = ConnectionPool(settings, size: 2, logger: logger)
            let writes = ConnectionPool(settings, size: 1, logger: logger)
            nodes.append(
                ClusterPresence(node: rows.integer(0, 0) ?? 0, reads: reads, writes: writes, limits: limits) {
                    clock.uptime
                })
            pools.append(reads)
        }
        (self.nodes, self.pools) = (nodes, pools)
    }

    func end() async {
        for node in nodes { await node.close() }
        for pool in pools { await pool.close() }
    }

    static func run(_ text: String, _ url: String) async throws -> Rows {
        let connection = try await Connection.open(ConnectionSettings(connectionInfo: url))
        let rows = try await connection.run([Statement(text)])[0]
        await connection.close()
        return rows
    }

    /// Runs a statement on a connection of its own.
    @discardableResult func run(_ text: String) async throws -> Rows { try await Self.run(text, url) }

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

@Suite(
    "The presence store of a cluster conforms to the contract",
    .enabled(if: PostgresServer.isInstalled, PostgresServer.installation))
struct PresenceConformanceTests {
    @Test(arguments: PresenceBehaviour.all, [1, 3])
    func nodes(_ behaviour: PresenceBehaviour, count: Int) async throws {
        let cluster = Lock<PresenceCluster?>(nil)
        try await behaviour.run { limits, clock in
            let made = try await PresenceCluster(nodes: count, limits, clock)
            cluster.withLock { $0 = made }
            return made.nodes
        }
        await cluster.withLock { $0 }?.end()
    }
}

@Suite("The presence of a cluster", .enabled(if: PostgresServer.isInstalled, PostgresServer.installation))
struct PresenceTests {
    /// Runs a test with a cluster.
    private func with(_ count: Int, _ body: (PresenceCluster) async throws -> Void) async throws {
        let cluster = try await PresenceCluster(nodes: count)
        for node in cluster.nodes { #expect(try await node.expire().isEmpty) }
        try await body(cluster)
        await cluster.end()
    }

    @Test("ends what only a dead node held, once")
    func deadNode() async throws {
        try await with(3) { cluster in
            _ = try await cluster.hold("ana", by: "a", on: 0)
            _ = try await cluster.hold("ben", by: "b", on: 0)
            _ = try await cluster.hold("ben", by: "c", on: 1)
            _ = try await cluster.nodes[0].setState(JSONText(string: "busy"), of: cluster.key("ana"))
            #expect(try await cluster.nodes[1].expire().isEmpty)
            try await cluster.kill(cluster.nodes[0])
            async let first = cluster.nodes[1].expire()
            async let second = cluster.nodes[2].expire()
            let gone = PresenceChange(cluster.key("ana"), .timedOut, occupancy: 1, state: JSONText(string: "busy"))
            let changes = try await first + second
            #expect(changes == [gone])
            #expect(try await cluster.users() == ["ben"])
            let last = try await cluster.nodes[1].release(nil, by: HolderID("c"))
            #expect(last == [PresenceChange(cluster.key("ben"), .left, occupancy: 0)])
            let nodes = try await cluster.run("SELECT node FROM presence_node ORDER BY node")
            #expect(nodes.count == 2)
        }
    }

    @Test("ends more than one batch of keys of a dead node")
    func deadNodeWithManyKeys() async throws {
        try await with(2) { cluster in
            let keys = (0..<1203).map { cluster.key("user\($0)", "room\($0 % 7)") }
            #expect(try await cluster.nodes[0].renew(keys, for: .seconds(300)).count == 1203)
            try await cluster.kill(cluster.nodes[0])
            #expect(try await cluster.nodes[1].expire().count == 1203)
            #expect(try await cluster.nodes[1].expire().isEmpty)
        }
    }

    @Test("lets a node that was taken for dead begin its entries again")
    func revivedNode() async throws {
        try await with(2) { cluster in
            _ = try await cluster.hold("ana", by: "a", on: 0)
            _ = try await cluster.hold("ben", by: "b", on: 0)
            _ = try await cluster.hold("ben", by: "c", on: 1)
            try await cluster.kill(cluster.nodes[0])
            #expect(try await cluster.nodes[1].expire().map(\.happening) == [.timedOut])
            try await cluster.run("UPDATE node SET lease_until = 9000000000000000000")
            #expect(
                try await cluster.nodes[0].expire() == [PresenceChange(cluster.key("ana"), .joined, occupancy: 2)])
            #expect(try await cluster.nodes[0].expire().isEmpty)
            #expect(try await cluster.nodes[1].expire().isEmpty)
            #expect(try await cluster.users(on: 1) == ["ana", "ben"])
        }
    }

    @Test("keeps the users of a node that has closed for the grace period")
    func closedNode() async throws {
        try await with(2) { cluster in
            _ = try await cluster.hold("ana", by: "a", on: 0)
            await cluster.nodes[0].close()
            try await cluster.run("DELETE FROM node WHERE id = \(cluster.nodes[0].node)")
            #expect(try await cluster.nodes[1].expire().isEmpty)
            #expect(try await cluster.hold("ana", by: "a again", on: 1).isEmpty)
            try await cluster.run("UPDATE presence_node SET until = 0 WHERE until > 0")
            #expect(try await cluster.nodes[1].expire().isEmpty)
            #expect(try await cluster.nodes[1].release(nil, by: HolderID("a again")).map(\.happening) == [.left])
        }
    }

    @Test("writes its rows again without changes when the server has lost them")
    func lostRows() async throws {
        try await with(2) { cluster in
            let state = JSONText(string: "busy")
            _ = try await cluster.hold("ana", by: "a", on: 0)
            _ = try await cluster.hold("ben", by: "b", on: 0)
            _ = try await cluster.hold("ben", by: "c", on: 1)
            _ = try await cluster.nodes[0].setState(state, of: cluster.key("ben"))
            #expect(try await cluster.nodes[1].expire().isEmpty)  // learns the state
            try await cluster.loseRows()
            // Node 0 does not know yet that node 1 holds ben, so it reports nothing before node 1 has written its rows.
            #expect(try await cluster.hold("eve", by: "e", on: 0).isEmpty)
            #expect(try await cluster.nodes[0].release(nil, by: HolderID("b")).isEmpty)
            #expect(try await cluster.nodes[1].expire().isEmpty)
            #expect(
                try await cluster.nodes[0].expire() == [PresenceChange(cluster.key("eve"), .joined, occupancy: 3)])
            #expect(try await cluster.users() == ["ana", "ben", "eve"])
            #expect(try await cluster.nodes[0].occupant(cluster.key("ben"))?.state == state)
            #expect(try await cluster.nodes[1].release(nil, by: HolderID("c")).map(\.happening) == [.left])
        }
    }

    @Test("lets a user leave on a node that does not hold the key")
    func leaveElsewhere() async throws {
        try await with(2) { cluster in
            _ = try await cluster.hold("ana", by: "a", on: 0)
            #expect(
                try await cluster.nodes[1].leave([cluster.key("ana")]) == [
                    PresenceChange(cluster.key("ana"), .left, occupancy: 0)
                ])
            #expect(try await cluster.users().isEmpty)
            #expect(try await cluster.nodes[0].expire().isEmpty)
            #expect(!cluster.nodes[0].isTaken(cluster.key("ana")))
            #expect(try await cluster.nodes[0].release(nil, by: HolderID("a")).isEmpty)
            #expect(try await cluster.hold("ana", by: "a", on: 0).map(\.happening) == [.joined])
        }
    }

    @Test("makes a user present again whose connection began after the user left on another node")
    func returnAfterLeaveElsewhere() async throws {
        try await with(2) { cluster in
            _ = try await cluster.hold("ana", by: "old page", on: 0)
            #expect(try await cluster.nodes[0].expire().isEmpty)
            _ = try await cluster.nodes[1].leave([cluster.key("ana")])
            #expect(try await cluster.hold("ana", by: "new page", on: 0).isEmpty)
            #expect(try await cluster.nodes[0].expire().map(\.happening) == [.joined])
            #expect(try await cluster.nodes[0].release(nil, by: HolderID("old page")).isEmpty)
            #expect(try await cluster.nodes[0].release(nil, by: HolderID("new page")).map(\.happening) == [.left])
        }
    }

    @Test("sets the state of a user whom only another node holds")
    func stateElsewhere() async throws {
        try await with(3) { cluster in
            let state = JSONText(string: "busy")
            _ = try await cluster.hold("ana", by: "a", on: 0)
            let change = PresenceChange(cluster.key("ana"), .stateChanged, occupancy: 1, state: state)
            #expect(try await cluster.nodes[1].setState(state, of: cluster.key("ana")) == [change])
            #expect(try await cluster.nodes[2].setState(state, of: cluster.key("ana")).isEmpty)
            // A second node takes the state over, and keeps it when the first node no longer holds the key.
            #expect(try await cluster.hold("ana", by: "b", on: 2).isEmpty)
            #expect(try await cluster.nodes[0].release(nil, by: HolderID("a")).isEmpty)
            #expect(try await cluster.nodes[1].occupant(cluster.key("ana"))?.state == state)
            let last = try await cluster.nodes[2].release(nil, by: HolderID("b"))
            #expect(last == [PresenceChange(cluster.key("ana"), .left, occupancy: 0, state: state)])
        }
    }

    @Test("begins and ends each entry once while users connect to three nodes, leave, and connections are cut")
    func concurrentNodes() async throws {
        try await with(3) { cluster in
            let changes = Lock<[PresenceChange]>([])
            // A call whose connection was cut fails. Its changes are returned by a later call.
            @Sendable func record(_ body: () async throws -> [PresenceChange]) async {
                guard let new = try? await body() else { return }
                changes.withLock { $0 += new }
            }
            await withTaskGroup(of: Void.self) { group in
                for task in 0..<6 {
                    group.addTask {
                        let node = cluster.nodes[task % 3]
                        for round in 0..<40 {
                            let user = "user\((task + round) % 5)"
                            let (key, holder) = (cluster.key(user), HolderID("\(task)/\(round)"))
                            await record { try await node.hold([key], of: cluster.user(user), by: holder) }
                            if round % 7 == 0 { await record { try await node.leave([key]) } }
                            if round % 3 == 0 { await record { try await node.expire() } }
                            if task == 0, round % 10 == 5 { try? await cluster.cutConnections() }
                            await record { try await node.release(nil, by: holder) }
                        }
                    }
                }
            }
            for _ in 0..<2 {
                for node in cluster.nodes { await record { try await node.expire() } }
            }
            let all = changes.withLock { $0 }
            for user in (0..<5).map({ "user\($0)" }) {
                let own = all.filter { $0.presenceKey.user == user }.map(\.happening)
                #expect(own.count(where: { $0 == .joined }) == own.count(where: { $0 != .joined }), "\(user)")
            }
            let rest = try await cluster.run("SELECT member FROM presence UNION ALL SELECT channel FROM presence_scope")
            #expect(rest.count == 0)
        }
    }

    @Test("touches only memory for a heartbeat of a key that the node holds")
    func heartbeat() async throws {
        try await with(1) { cluster in
            _ = try await cluster.nodes[0].renew([cluster.key("ana")], for: .seconds(10))
            let before = try await cluster.run("SELECT change FROM presence_node").integer(0, 0)
            _ = try await cluster.nodes[0].renew([cluster.key("ana")], for: .seconds(10))
            let after = try await cluster.run("SELECT change FROM presence_node").integer(0, 0)
            #expect(after == before)
        }
    }
}
