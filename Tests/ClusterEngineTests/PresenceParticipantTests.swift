import ChatModel
import PostgresSupport
import TestSupport
import Testing

@testable import ClusterEngine

@Suite("Open channels of a cluster", .enabled(if: PostgresServer.isInstalled, PostgresServer.installation))
struct ParticipantTests {
    private func key(_ user: String) -> PresenceKey {
        PresenceKey(.participant, of: user, on: ChannelID("lobby", in: AppID("app")))
    }

    @Test(
        "keep a user who entered on another node than that of the user's connection, while the connection lasts",
        arguments: [true, false])
    func connectionElsewhere(isConnectedFirst: Bool) async throws {
        let cluster = try await PresenceCluster(nodes: 3)
        let ana = cluster.user("ana")
        func connect() async throws {
            #expect(try await cluster.nodes[1].hold([], of: ana, by: HolderID("phone")).isEmpty)
        }
        for node in cluster.nodes { #expect(try await node.expire().isEmpty) }
        if isConnectedFirst { try await connect() }
        #expect(try await cluster.nodes[1].expire().isEmpty)
        let entered = try await cluster.nodes[0].renew([key("ana"), key("ben")], for: .seconds(10))
        #expect(entered.map(\.happening) == [.joined, .joined])
        if !isConnectedFirst { try await connect() }
        #expect(try await cluster.nodes[1].expire().isEmpty)
        #expect(cluster.nodes[1].isTaken(key("ana")) && !cluster.nodes[1].isTaken(key("ben")))
        cluster.clock.advance(by: .seconds(3600))
        #expect(try await cluster.nodes[0].expire() == [PresenceChange(key("ben"), .timedOut, occupancy: 1)])
        #expect(try await cluster.nodes[1].expire().isEmpty)
        let last = try await cluster.nodes[1].release(nil, by: HolderID("phone"))
        #expect(last == [PresenceChange(key("ana"), .left, occupancy: 0)])
        await cluster.end()
    }

    @Test("end on all nodes when the user leaves on any")
    func leaving() async throws {
        let cluster = try await PresenceCluster(nodes: 2)
        let ana = cluster.user("ana")
        _ = try await cluster.nodes[0].renew([key("ana")], for: .seconds(10))
        _ = try await cluster.nodes[1].hold([], of: ana, by: HolderID("phone"))
        _ = try await cluster.nodes[1].expire()
        #expect(try await cluster.nodes[1].channels(of: ana, as: .participant).count == 1)
        #expect(try await cluster.nodes[0].leave([key("ana")]).map(\.happening) == [.left])
        #expect(try await cluster.nodes[1].expire().isEmpty)
        #expect(!cluster.nodes[1].isTaken(key("ana")))
        #expect(try await cluster.nodes[1].release(nil, by: HolderID("phone")).isEmpty)
        await cluster.end()
    }
}
