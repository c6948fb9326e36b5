import ChatCore
import ChatModel
import JSON
import TestSupport
import Testing

@testable import Webhooks

@Suite("An answer that comes late", .timeLimit(.minutes(3))) struct LateAnswerTests {
    /// Lets posts to a webhook wait for their answer, and something be done to the webhook meanwhile.
    private static func with(
        _ status: Int, posts: Int, meanwhile: @escaping @Sendable (House, String) async throws -> Void,
        then: @escaping @Sendable (House, Webhook) async throws -> Void
    ) async throws {
        let gate = Latch()
        let receiver = try ScriptedServer { _ in .held(gate, then: .status(status)) }
        try await House.with { house in
            let webhook = try await house.webhook(receiver, concurrency: posts).webhook
            for _ in 0..<posts { try await house.emit() }
            await receiver.requests.wait(count: posts)
            try await meanwhile(house, webhook.id)
            gate.open()
            await house.recorded(posts)
            try await then(house, webhook)
        }
    }

    private static func move(_ house: House, _ id: String, to receiver: ScriptedServer) async throws {
        let patch = try JSONDocument(JSONText(trusted: Array(#"{"url":"\#(receiver.url())"}"#.utf8)))
        _ = try await house.registry.patch(id, with: patch, by: House.owner)
    }

    @Test("from an address the webhook no longer has does not disable it")
    func goneElsewhere() async throws {
        let receiver = try ScriptedServer()
        try await Self.with(410, posts: 1) { house, id in
            try await Self.move(house, id, to: receiver)
        } then: { (house, webhook) async throws -> Void in
            #expect(try await house.registry.webhook(webhook.id, by: House.owner).status == .enabled)
            #expect(try await house.notices().isEmpty)
            let delivery = try #require(try await house.deliveries().first)
            #expect(delivery.status == .failed && delivery.attempts == 1, "the attempt is recorded as ever")
        }
    }

    @Test("from an address the webhook no longer has does not open its circuit")
    func failedElsewhere() async throws {
        let receiver = try ScriptedServer()
        try await Self.with(500, posts: CircuitBreaker.failuresTolerated) { house, id in
            try await Self.move(house, id, to: receiver)
        } then: { (house, webhook) async throws -> Void in
            #expect(house.registry.circuits.openCount == 0)
            #expect(house.registry.figures.figures(of: webhook.endpoint) == nil)
            try await house.emit()
            await receiver.requests.wait(count: 1)
        }
    }

    @Test("for a webhook that is deleted leaves nothing behind")
    func deleted() async throws {
        try await Self.with(500, posts: CircuitBreaker.failuresTolerated) { house, id in
            try await house.registry.delete(id, by: House.owner)
        } then: { (house, webhook) async throws -> Void in
            #expect(house.registry.circuits.openCount == 0)
            #expect(house.registry.figures.figures(of: webhook.endpoint) == nil)
        }
    }

    @Test("does not disable a webhook that was enabled by hand meanwhile")
    func enabledMeanwhile() async throws {
        try await Self.with(410, posts: 1) { house, id in
            _ = try await house.registry.disable(id, by: House.owner)
            _ = try await house.registry.enable(id, by: House.owner)
        } then: { (house, webhook) async throws -> Void in
            #expect(try await house.registry.webhook(webhook.id, by: House.owner).status == .enabled)
            house.clock.advance(by: .seconds(10))
            await house.recorded(2)
            #expect(try await house.registry.webhook(webhook.id, by: House.owner).status == .disabled, "the next does")
        }
    }
}
