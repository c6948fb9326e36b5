import ChatModel
import JSON
import Locking
import Postgres
import PostgresSupport
import Testing
import TestSupport

@testable import ClusterEngine

@Suite("The presence of a cluster", .enabled(if: PostgresServer.isInstalled, PostgresServer.installation))
struct PresenceTests {
    /// Runs a test with a cluster.
    private func with(_ count: Int, _ body: (PresenceCluster) async throws -> Void) async throws {
        let cluster = try await PresenceCluster(nodes: count)
        try await cluster.watch()
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
            #expect(
                try await cluster.nodes[0].expire() == [PresenceChange(cluster.key("ana"), .joined, occupancy: 2)])
            #expect(try await cluster.nodes[0].expire().isEmpty)
            #expect(try await cluster.nodes[1].expire().isEmpty)
            #expect(try await cluster.users(on: 1) == ["ana", "ben"])
        }
    }

    @Test("returns from a request only the changes of its keys, although all users of the node begin again")
    func ownChanges() async throws {
        try await with(2) { cluster in
            _ = try await cluster.hold("ana", by: "a", on: 0)
            try await cluster.kill(cluster.nodes[0])
            #expect(try await cluster.nodes[1].expire().map(\.happening) == [.timedOut])
            let eve = try await cluster.hold("eve", by: "e", on: 0)
            #expect(eve.map(\.presenceKey) == [cluster.key("eve")])
            #expect(try await cluster.nodes[0].expire().map(\.presenceKey) == [cluster.key("ana")])
        }
    }

    @Test("takes no node for dead before the others had the time to renew their leases after an absence of all")
    func absence() async throws {
        try await with(3) { cluster in
            _ = try await cluster.hold("ana", by: "a", on: 1)
            _ = try await cluster.hold("ben", by: "b", on: 2)
            cluster.clock.advance(by: .seconds(30))
            for node in cluster.nodes { try await cluster.kill(node) }
            #expect(try await cluster.nodes[0].expire().isEmpty)
            try await cluster.revive(cluster.nodes[1])
            var changes: [PresenceChange] = []
            for _ in 0..<12 {
                #expect(changes.isEmpty)
                cluster.clock.advance(by: .seconds(1))
                changes += try await cluster.nodes[0].expire()
            }
            #expect(changes == [PresenceChange(cluster.key("ben"), .timedOut, occupancy: 1)])
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

    @Test("writes nothing for a heartbeat of a key that the node holds")
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
