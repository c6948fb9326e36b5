import ChatModel
import ChatSupport
import Locking
import SQLiteEngine
import TestSupport
import Testing

@testable import ChatCore

/// Two nodes of a cluster, over one store and with one clock.
struct TwoNodes: Sendable {
    struct Node: Sendable {
        let engine: LaggingEngine
        let service: ChatService

        /// The app with the rights of its admin.
        var chat: ChatAccess { service.chat(for: ChatFixture.owner) }
        var keyring: Keyring { service.keyring }

        /// The store as the other node's operations and tests see it.
        func room(_ clock: ManualClock) -> Room { Room(service: service, clock: clock) }
    }

    let first: Node
    let second: Node
    let clock: ManualClock

    static func run(
        limits: Limits = Limits(), _ body: @Sendable (_ nodes: TwoNodes) async throws -> Void
    ) async throws {
        let clock = ManualClock()
        let engine = try await SQLiteEngine(
            SQLiteEngineSettings(path: ":memory:", limits: limits, clock: clock.wallClock, logger: ChatFixture.quiet))
        let fronts = (LaggingEngine(engine), LaggingEngine(engine))
        let house = try await ChatFixture(on: engine, behind: fronts.0, limits: limits, clock: clock.wallClock)
        let executor = try #require(ThreadExecutor(name: "test-hub-2"))
        let other = ChatService(engine: fronts.1, limits: limits, clock: clock.wallClock, executor: executor)
        let nodes = TwoNodes(
            first: Node(engine: fronts.0, service: house.service), second: Node(engine: fronts.1, service: other),
            clock: clock)
        try await house.run([{ ready in try await other.run(whenReady: ready) }]) { try await body(nodes) }
    }

    /// Waits until both nodes have seen all commits.
    func settle() async throws {
        for node in [first, second] {
            node.engine.follow()
            let revision = try await node.service.catchUp()
            await node.service.restrictionEnds.reach(revision)
            #expect(await node.service.hub.reach(try await node.service.engine.log.watermark(of: .gateway)))
        }
    }

    /// The events of a channel and a type, including those that are not kept.
    func events(_ type: String, on channel: String) async throws -> [Event] {
        try await first.chat.events(on: channel).filter { $0.type == type }
    }
}
