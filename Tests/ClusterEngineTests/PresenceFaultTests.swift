import ChatModel
import PostgresSupport
import Testing

@testable import ClusterEngine

@Suite(
    "The presence of a cluster under faults", .enabled(if: PostgresServer.isInstalled, PostgresServer.installation))
struct PresenceFaultTests {
    @Test("survives a kill of PostgreSQL, and reports afterwards what happened meanwhile")
    func killedPostgreSQL() async throws {
        let server = try await PostgresServer(isDurable: true)
        let cluster = try await PresenceCluster(nodes: 2, url: try await server.makeDatabase())
        _ = try await cluster.hold("ana", by: "a", on: 0)
        _ = try await cluster.hold("ben", by: "b", on: 1)
        await server.kill()
        await #expect(throws: ChatError.self) { try await cluster.hold("eve", by: "e", on: 0) }
        await #expect(throws: ChatError.self) { try await cluster.nodes[1].release(nil, by: HolderID("b")) }
        try await server.start()
        var changes: [PresenceChange] = []
        for _ in 0..<2 {
            for node in cluster.nodes { changes += try await node.expire() }
        }
        let expected: Set = ["joined eve", "left ben"]
        #expect(Set(changes.map { "\($0.happening) \($0.presenceKey.user)" }) == expected && changes.count == 2)
        #expect(try await cluster.users() == ["ana", "eve"])
        await cluster.end()
        await server.stop()
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
