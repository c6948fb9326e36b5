import ChatModel
import EngineConformance
import SQLite
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

    @Test("lets an attempt be recorded once, also when nobody could tell whether it was, and it is handed in again")
    func recordedOnce() async throws {
        let engine = try await SQLiteEngine(SQLiteEngineSettings(path: ":memory:", clock: ManualClock()))
        let queue = try #require(engine.deliveries as? SQLiteDeliveries)
        let endpoint = EndpointID("wh", in: SpaceID("app"))
        let item = PlannedDelivery(id: "dlv_1", endpoint: endpoint, event: 1, type: "t", channel: "c")
        try await queue.plan([item], cursor: CursorName("c"), from: .zero, to: 1)
        let lease = try #require(try await queue.take(1, wait: .zero).first)
        let attempt = DeliveryAttempt(at: 5, status: 500, error: "http_5xx", durationMilliseconds: 1)
        let handedIn = [(lease: lease, outcome: DeliveryOutcome(.retry(at: 9), attempt: attempt))]
        let first = queue.board.beginFinish(handedIn)
        queue.board.abandonFinish(first)
        let second = queue.board.beginFinish(handedIn)
        var recorded: [Bool] = []
        for keys in [first, second] {
            recorded += try await queue.writing.run { [board = queue.board] (writer) throws(SQLiteFailure) in
                .success(try writer.finish(handedIn, keys, board: board))
            }
        }
        #expect(recorded == [true, false])
        let (delivery, attempts) = try #require(try await queue.delivery("dlv_1", in: endpoint.space))
        #expect(delivery.attempts == 1 && attempts.count == 1)
        await engine.close()
    }
}
