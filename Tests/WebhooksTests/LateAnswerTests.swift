import ChatCore
import ChatModel
import JSON
import TestSupport
import Testing

@testable import Webhooks

@Suite("An answer that comes late", .timeLimit(.minutes(2))) struct LateAnswerTests {
    /// Holds the responses to a webhook's posts while `body` changes the webhook.
    private static func with(
        _ status: Int, posts: Int, meanwhile: @escaping @Sendable (WebhookFixture, String) async throws -> Void,
        then: @escaping @Sendable (WebhookFixture, Webhook) async throws -> Void
    ) async throws {
        let gate = Latch()
        let receiver = try ScriptedServer { _ in .held(gate, then: .status(status)) }
        try await WebhookFixture.with { fixture in
            let webhook = try await fixture.webhook(receiver, concurrency: posts).webhook
            for _ in 0..<posts { try await fixture.emit() }
            await receiver.requests.wait(count: posts)
            try await meanwhile(fixture, webhook.id)
            gate.open()
            await fixture.recorded(posts)
            try await then(fixture, webhook)
        }
    }

    private static func move(_ fixture: WebhookFixture, _ id: String, to receiver: ScriptedServer) async throws {
        let patch = try JSONDocument(JSONText(trusted: Array(#"{"url":"\#(receiver.url())"}"#.utf8)))
        _ = try await fixture.registry.patch(id, with: patch, by: WebhookFixture.owner)
    }

    @Test("from an address the webhook no longer has does not disable it")
    func goneElsewhere() async throws {
        let receiver = try ScriptedServer()
        try await Self.with(410, posts: 1) { fixture, id in
            try await Self.move(fixture, id, to: receiver)
        } then: { (fixture, webhook) async throws -> Void in
            #expect(try await fixture.registry.webhook(webhook.id, by: WebhookFixture.owner).status == .enabled)
            #expect(try await fixture.notices().isEmpty)
            let delivery = try #require(try await fixture.deliveries().first)
            #expect(delivery.status == .failed && delivery.attempts == 1, "the attempt is recorded as ever")
        }
    }

    @Test("from an address the webhook no longer has does not open its circuit")
    func failedElsewhere() async throws {
        let receiver = try ScriptedServer()
        try await Self.with(500, posts: CircuitBreaker.failuresTolerated) { fixture, id in
            try await Self.move(fixture, id, to: receiver)
        } then: { (fixture, webhook) async throws -> Void in
            #expect(fixture.webhooks.metrics.openCircuits == 0)
            #expect(fixture.registry.runtime(of: webhook.subscriber)?.statistics == nil)
            try await fixture.emit()
            await receiver.requests.wait(count: 1)
        }
    }

    @Test("for a webhook that is deleted leaves nothing behind")
    func deleted() async throws {
        try await Self.with(500, posts: CircuitBreaker.failuresTolerated) { fixture, id in
            try await fixture.registry.delete(id, by: WebhookFixture.owner)
        } then: { (fixture, webhook) async throws -> Void in
            #expect(fixture.webhooks.metrics.openCircuits == 0)
            #expect(fixture.registry.runtime(of: webhook.subscriber) == nil)
        }
    }

    @Test("does not disable a webhook that was enabled by hand meanwhile")
    func enabledMeanwhile() async throws {
        try await Self.with(410, posts: 1) { fixture, id in
            _ = try await fixture.registry.disable(id, by: WebhookFixture.owner)
            _ = try await fixture.registry.enable(id, by: WebhookFixture.owner)
        } then: { (fixture, webhook) async throws -> Void in
            #expect(try await fixture.registry.webhook(webhook.id, by: WebhookFixture.owner).status == .enabled)
            fixture.clock.advance(by: .seconds(10))
            await fixture.recorded(2)
            #expect(
                try await fixture.registry.webhook(webhook.id, by: WebhookFixture.owner).status == .disabled,
                "the next does")
        }
    }
}
