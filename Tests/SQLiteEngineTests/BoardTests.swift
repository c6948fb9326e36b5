import ChatModel
import Testing

@testable import SQLiteEngine

@Suite("The board of the queue") struct BoardTests {
    @Test("has a place free again when an attempt was recorded after all, whose outcome had been given up")
    func lateCommit() throws {
        var state = BoardState(fence: 0)
        let endpoint = EndpointID("wh", in: SpaceID("app"))
        state.become(
            StoredEndpoint(
                number: 1, endpoint: endpoint, settings: LaneSettings(concurrency: 1), reordering: .done))
        for event in [1, 2] as [Timetoken] {
            state.add(
                PlannedDelivery(id: "dlv_\(event)", endpoint: endpoint, event: event, type: "t", channel: "c"),
                due: 1, to: 1)
        }
        let demand = Board.Demand(limit: 9, capacity: 9)
        let first = try #require(state.grant(demand, now: 1, uptime: 1).0.first)
        // As the call that records it begins, and as it ends when nobody can tell what became of it.
        state.leases[first.key]?.isFinishing = true
        state.stop(first.key, try #require(state.leases[first.key]))
        state.resume(first.key, try #require(state.leases[first.key]))
        #expect(state.grant(demand, now: 1, uptime: 1).0.isEmpty)
        state.settle([(first.key, .over)])
        #expect(state.shares.isEmpty && state.attempts == 0)
        #expect(state.grant(demand, now: 1, uptime: 1).0.map(\.key.event) == [2])
    }
}
