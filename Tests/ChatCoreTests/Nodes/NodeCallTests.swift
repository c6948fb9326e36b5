import ChatModel
import ChatSupport
import JSON
import SQLiteEngine
import TestSupport
import Testing

@testable import ChatCore

@Suite("Calls between nodes", .timeLimit(.minutes(1))) struct NodeCallTests {
    private static let (one, other) = (AppID("one"), AppID("other"))
    private static let answer = JSONText(string: "answer")

    /// Runs `body` with an engine and three nodes that live.
    private static func run(
        _ body: (_ engine: SQLiteEngine, _ nodes: NodeEngine.Nodes, _ clock: ManualClock) async throws -> Void
    ) async throws {
        let clock = ManualClock()
        let engine = try await SQLiteEngine(
            SQLiteEngineSettings(path: ":memory:", clock: clock.wallClock, logger: ChatFixture.quiet))
        try await body(engine, NodeEngine.Nodes([1, 2, 3]), clock)
        await engine.close()
    }

    private static func records(_ engine: SQLiteEngine, _ kind: RecordKind) async throws -> Int {
        try await engine.directory.list(RecordQuery(kind, in: .gateway, limit: 1000)).items.count
    }

    @Test("of one app that wait for a slow node leave room for those of another app")
    func fairness() async throws {
        try await Self.run { engine, nodes, clock in
            let caller = NodeCalls(
                engine: NodeEngine(engine, node: 1, of: nodes), clock: clock.wallClock, patience: waitLimit)
            let third = NodeCalls(engine: NodeEngine(engine, node: 3, of: nodes), clock: clock.wallClock)
            third.answer("test") { _ in Self.answer }
            let answering = Task { [runner = caller] in
                async let own: Void = runner.run()
                await third.run()
                await own
            }
            // Node 2 does not answer.
            let waiting = (0..<NodeCalls.mostOfApp).map { _ in
                Task { _ = try? await caller.call("test", of: 2, .null, for: Self.one) }
            }
            try await waitUntil { try await Self.records(engine, .nodeCall) == NodeCalls.mostOfApp }
            let refusal = await #expect(throws: ChatError.self) {
                try await caller.call("test", of: 3, .null, for: Self.one)
            }
            #expect(refusal?.code == .overloaded && refusal?.retryAfter != nil)
            #expect(try await caller.call("test", of: 3, .null, for: Self.other) == Self.answer)
            for call in waiting { call.cancel() }
            for call in waiting { await call.value }
            #expect(try await caller.call("test", of: 3, .null, for: Self.one) == Self.answer)
            answering.cancel()
            await answering.value
        }
    }

    @Test("of all nodes tell of a node that lives and has no answer, but not of one that has stopped")
    func partial() async throws {
        try await Self.run { engine, nodes, clock in
            let caller = NodeCalls(
                engine: NodeEngine(engine, node: 1, of: nodes), clock: clock.wallClock, patience: waitLimit)
            let others = [Int64(2), 3].map {
                NodeCalls(engine: NodeEngine(engine, node: $0, of: nodes), clock: clock.wallClock)
            }
            others[0].answer("test") { _ in throw ChatError(.unavailable, "failed") }
            others[1].answer("test") { _ in Self.answer }
            let answering = others.map { node in Task { await node.run() } }
            let answers = try await caller.callAll("test", .null, for: Self.one)
            #expect(answers.all.map(\.node) == [3] && answers.isPartial)
            let error = #expect(throws: ChatError.self) { try answers.requireComplete() }
            #expect(error?.code == .unavailable && error?.retryAfter != nil)
            others[0].answer("test") { _ in throw ChatError(.notFound, "nothing here") }
            #expect(try await !caller.callAll("test", .null, for: Self.one).isPartial)
            others[0].answer("test") { _ in throw ChatError(.unavailable, "failed") }
            nodes.end(2)
            let complete = try await caller.callAll("test", .null, for: Self.one)
            #expect(complete.all.map(\.node) == [3] && !complete.isPartial)
            for task in answering { task.cancel() }
            for task in answering { await task.value }
        }
    }

    @Test("leave records behind when their node fails, which a running node removes a minute later")
    func leftovers() async throws {
        try await Self.run { engine, nodes, clock in
            let keys = [RecordKind.nodeCall, .nodeAnswer].map { RecordKey($0, parts: ["2", "id"], in: .gateway) }
            let running = NodeCalls(
                engine: NodeEngine(engine, node: 1, of: nodes), clock: clock.wallClock,
                sweepInterval: .milliseconds(1))
            let task = Task { await running.run() }
            _ = try await engine.directory.write(keys.map { RecordChange($0, body: .emptyObject) })
            clock.advance(by: .seconds(59))
            _ = try await engine.directory.write([
                RecordChange(RecordKey(.nodeCall, parts: ["2", "young"], in: .gateway), body: .emptyObject)
            ])
            clock.advance(by: .seconds(2))
            try await waitUntil { try await engine.directory.read(keys).allSatisfy { $0 == nil } }
            #expect(try await Self.records(engine, .nodeCall) == 1)
            task.cancel()
            await task.value
        }
    }
}
