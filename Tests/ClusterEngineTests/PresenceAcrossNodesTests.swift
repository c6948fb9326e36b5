import ChatModel
import PostgresSupport
import Testing
import TestSupport

@testable import ClusterEngine

/// Users whose requests reach one node after the other, before the nodes have polled.
@Suite(
    "A user of a cluster who changes nodes", .enabled(if: PostgresServer.isInstalled, PostgresServer.installation))
struct PresenceAcrossNodesTests {
    private func with(_ count: Int = 2, _ body: (PresenceCluster) async throws -> Void) async throws {
        let cluster = try await PresenceCluster(nodes: count)
        try await body(cluster)
        await cluster.end()
    }

    @Test("joins with the first heartbeat after a departure on another node, and stays")
    func heartbeatAfterDeparture() async throws {
        try await with { cluster in
            let ana = cluster.key("ana")
            _ = try await cluster.nodes[0].renew([ana, cluster.key("ben")], for: .seconds(300))
            for (leaving, returning) in [(1, 0), (1, 0), (0, 0), (0, 1)] {
                let left = try await cluster.nodes[leaving].leave([ana])
                #expect(left == [PresenceChange(ana, .left, occupancy: 1)])
                let joined = try await cluster.nodes[returning].renew([ana], for: .seconds(300))
                #expect(joined == [PresenceChange(ana, .joined, occupancy: 2)])
                for node in cluster.nodes { #expect(try await node.expire().isEmpty) }
                #expect(try await cluster.users() == ["ana", "ben"])
                #expect(cluster.nodes[returning].isTaken(ana))
            }
        }
    }

    @Test("joins with a new connection after a departure on another node, which ended the older connection")
    func connectionAfterDeparture() async throws {
        try await with { cluster in
            _ = try await cluster.hold("ana", by: "old page", on: 0)
            _ = try await cluster.nodes[1].leave([cluster.key("ana")])
            #expect(try await cluster.hold("ana", by: "new page", on: 0).map(\.happening) == [.joined])
            #expect(try await cluster.nodes[0].expire().isEmpty)
            #expect(try await cluster.nodes[0].release(nil, by: HolderID("old page")).isEmpty)
            #expect(try await cluster.nodes[0].release(nil, by: HolderID("new page")).map(\.happening) == [.left])
        }
    }

    @Test("joins in each of many channels, more than one transaction has")
    func manyChannels() async throws {
        try await with { cluster in
            let keys = (0..<1203).map { cluster.key("ana", "room\($0)") }
            _ = try await cluster.nodes[0].renew(keys, for: .seconds(300))
            #expect(try await cluster.nodes[1].leave(keys).count == keys.count)
            let last = Array(keys.suffix(1))
            #expect(try await cluster.nodes[0].renew(last, for: .seconds(300)).map(\.presenceKey) == last)
            #expect(!cluster.nodes[0].isTaken(keys[0]))
        }
    }

    @Test("is looked up in PostgreSQL once for all calls of a round, which sees all departures before the round")
    func rounds() async throws {
        try await with { cluster in
            let (ana, node) = (cluster.key("ana"), cluster.nodes[0])
            _ = try await node.renew([ana], for: .seconds(300))
            await node.beginRound()
            #expect(try await node.renew([ana], for: .seconds(300)).isEmpty)
            #expect(try await cluster.nodes[1].leave([ana]).map(\.happening) == [.left])
            #expect(try await node.renew([ana], for: .seconds(300)).isEmpty)
            await node.beginRound()
            #expect(try await node.renew([ana], for: .seconds(300)).map(\.happening) == [.joined])
        }
    }

    @Test("joins after a failure of PostgreSQL if the user came back during the failure", arguments: [true, false])
    func returnDuringFailure(isConnected: Bool) async throws {
        try await with { cluster in
            let (ana, node) = (cluster.key("ana"), cluster.nodes[0])
            _ = try await node.renew([ana], for: .seconds(300))
            _ = try await cluster.nodes[1].leave([ana])
            try await cluster.run("ALTER TABLE presence RENAME TO lost")
            for _ in 0..<2 {
                if isConnected {
                    #expect(try await cluster.hold("ana", by: "page", on: 0).isEmpty)
                } else {
                    #expect(try await node.renew([ana], for: .seconds(300)).isEmpty)
                }
            }
            try await cluster.run("ALTER TABLE lost RENAME TO presence")
            #expect(try await node.expire() == [PresenceChange(ana, .joined, occupancy: 1)])
            for node in cluster.nodes { #expect(try await node.expire().isEmpty) }
            #expect(try await cluster.users() == ["ana"])
        }
    }

    /// How a sign of life reaches a node.
    enum Sign: CaseIterable { case heartbeat, poll }

    private func send(_ sign: Sign, _ cluster: PresenceCluster, to node: Int) async throws -> [PresenceChange] {
        guard sign == .poll else {
            return try await cluster.nodes[node].renew([cluster.key("ana")], for: .seconds(20))
        }
        let changes = try await cluster.hold("ana", by: "poll", on: node)
        return changes + (try await cluster.nodes[node].conclude(HolderID("poll"), for: .seconds(20)))
    }

    /// Lets seconds pass. Returns the changes that all nodes report meanwhile.
    private func pass(_ seconds: Int, _ cluster: PresenceCluster) async throws -> [PresenceChange] {
        var changes: [PresenceChange] = []
        for _ in 0..<seconds {
            cluster.clock.advance(by: .seconds(1))
            for node in cluster.nodes { changes += try await node.expire() }
        }
        return changes
    }

    @Test(
        "joins once and times out once if the heartbeats alternate, also if each node misses its own",
        arguments: Sign.allCases, [9, 15, 19])
    func alternatingHeartbeats(_ sign: Sign, interval: Int) async throws {
        try await with { cluster in
            let ana = cluster.key("ana")
            let first = try await send(sign, cluster, to: 0)
            #expect(first == [PresenceChange(ana, .joined, occupancy: 1)])
            for number in 1...8 {
                #expect(try await pass(interval, cluster).isEmpty)
                #expect(try await send(sign, cluster, to: number % 2).isEmpty)
                #expect(try await cluster.users(on: number % 2) == ["ana"])
            }
            #expect(try await pass(19, cluster).isEmpty)
            #expect(try await pass(1, cluster) == [PresenceChange(ana, .timedOut, occupancy: 0)])
            #expect(try await send(sign, cluster, to: 0).map(\.happening) == [.joined])
        }
    }
}
