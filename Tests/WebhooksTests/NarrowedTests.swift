import ChatCore
import ChatModel
import JSON
import SQLiteEngine
import TestSupport
import Testing

@testable import Webhooks

@Suite("A webhook whose settings became narrower", .timeLimit(.minutes(2))) struct NarrowedTests {
    private static let narrow = Caller(
        app: WebhookFixture.app, credential: "key_narrow", scopes: [.manage], channels: [.below("rooms.")])

    private static func patch(_ fixture: WebhookFixture, _ id: String, _ text: String, by caller: Caller) async throws {
        _ = try await fixture.registry.patch(id, with: JSONDocument(Array(text.utf8)), by: caller)
    }

    @Test("is not redirected by a caller who does not reach its waiting deliveries")
    func turned() async throws {
        let receiver = try ScriptedServer { _ in .status(500) }
        try await WebhookFixture.with { fixture in
            let id = try await fixture.webhook(receiver).webhook.id
            try await fixture.emit()
            await fixture.recorded(1)
            try await Self.patch(fixture, id, #"{"channels":["rooms.*"]}"#, by: WebhookFixture.owner)
            let elsewhere = #"{"url":"\#(receiver.url("/elsewhere"))"}"#
            let bearer = #"{"auth":{"type":"bearer","token":"x"}}"#
            for change in [elsewhere, bearer] {
                await #expect(throws: ChatError.self) {
                    try await Self.patch(fixture, id, change, by: Self.narrow)
                }
            }
            try await Self.patch(fixture, id, #"{"description":"till"}"#, by: Self.narrow)
            let manager = Caller(app: WebhookFixture.app, credential: "key_manager", scopes: [.manage])
            try await Self.patch(fixture, id, bearer, by: manager)
            // No delivery is waiting.
            try await fixture.engine.deliveries.skip(
                SubscriberID(id, in: WebhookFixture.app),
                through: fixture.engine.log.watermark(of: WebhookFixture.app))
            try await Self.patch(fixture, id, elsewhere, by: Self.narrow)
        }
    }
}

@Suite("A retry by hand", .timeLimit(.minutes(2))) struct RetryByHandTests {
    private static func refusal(_ delivery: Delivery, in fixture: WebhookFixture) async throws -> ChatError? {
        do throws(ChatError) {
            _ = try await fixture.webhooks.deliveries.retry(delivery.id, by: WebhookFixture.owner)
            return nil
        } catch {
            return error
        }
    }

    private static func settings() -> WebhookFixture.Settings {
        var settings = WebhookFixture.Settings()
        settings.limits.deliveryAttempts = 1
        settings.limits.deliveriesHeld = 1
        return settings
    }

    @Test("says that the webhook is deleted, and does not ask to come again")
    func deleted() async throws {
        let receiver = try ScriptedServer { _ in .status(500) }
        try await WebhookFixture.with(Self.settings()) { fixture in
            let id = try await fixture.webhook(receiver).webhook.id
            try await fixture.emit()
            await fixture.recorded(1)
            try await fixture.registry.delete(id, by: WebhookFixture.owner)
            let delivery = try #require(try await fixture.deliveries().first)
            let refusal = try #require(try await Self.refusal(delivery, in: fixture))
            #expect(refusal.code == .conflict && refusal.retryAfter == nil)
            #expect(refusal.message.contains("deleted"))
        }
    }

    @Test("says that a disabled webhook holds as much as it may")
    func full() async throws {
        let receiver = try ScriptedServer { _ in .status(500) }
        try await WebhookFixture.with(Self.settings()) { fixture in
            let id = try await fixture.webhook(receiver).webhook.id
            for _ in 0..<2 { try await fixture.emit() }
            await fixture.recorded(2)
            _ = try await fixture.registry.disable(id, by: WebhookFixture.owner)
            let dead = try await fixture.deliveries()
            #expect(try await Self.refusal(dead[0], in: fixture) == nil)
            let refusal = try #require(try await Self.refusal(dead[1], in: fixture))
            #expect(refusal.code == .conflict && refusal.retryAfter == nil)
            #expect(refusal.message.contains("limit of held deliveries"))
        }
    }
}
