import ChatCore
import ChatModel
import JSON
import SQLiteEngine
import TestSupport
import Testing

@testable import Webhooks

@Suite("A webhook whose settings became narrower", .timeLimit(.minutes(3))) struct NarrowedTests {
    private static let narrow = Caller(
        space: House.space, credential: "key_narrow", scopes: [.manage], channels: [.below("rooms.")])

    private static func patch(_ house: House, _ id: String, _ text: String, by caller: Caller) async throws {
        _ = try await house.registry.patch(id, with: JSONDocument(Array(text.utf8)), by: caller)
    }

    @Test("is not turned elsewhere by who does not reach what still waits for it")
    func turned() async throws {
        let receiver = try ScriptedServer { _ in .status(500) }
        try await House.with { house in
            let id = try await house.webhook(receiver).webhook.id
            try await house.emit()
            await house.recorded(1)
            try await Self.patch(house, id, #"{"channels":["rooms.*"]}"#, by: House.owner)
            let elsewhere = #"{"url":"\#(receiver.url("/elsewhere"))"}"#
            let bearer = #"{"auth":{"type":"bearer","token":"x"}}"#
            for change in [elsewhere, bearer] {
                await #expect(throws: ChatError.self) {
                    try await Self.patch(house, id, change, by: Self.narrow)
                }
            }
            try await Self.patch(house, id, #"{"description":"till"}"#, by: Self.narrow)
            let manager = Caller(space: House.space, credential: "key_manager", scopes: [.manage])
            try await Self.patch(house, id, bearer, by: manager)
            // Nothing waits any more.
            try await house.engine.deliveries.skip(
                EndpointID(id, in: House.space), through: house.engine.log.watermark(of: House.space))
            try await Self.patch(house, id, elsewhere, by: Self.narrow)
        }
    }
}

@Suite("A retry by hand", .timeLimit(.minutes(3))) struct RetryByHandTests {
    private static func refusal(_ delivery: Delivery, in house: House) async throws -> ChatError? {
        do throws(ChatError) {
            _ = try await house.webhooks.deliveries.retry(delivery.id, by: House.owner)
            return nil
        } catch {
            return error
        }
    }

    private static func settings() -> House.Settings {
        var settings = House.Settings()
        settings.limits.deliveryAttempts = 1
        settings.limits.deliveriesHeld = 1
        return settings
    }

    @Test("says that the webhook is deleted, and does not ask to come again")
    func deleted() async throws {
        let receiver = try ScriptedServer { _ in .status(500) }
        try await House.with(Self.settings()) { house in
            let id = try await house.webhook(receiver).webhook.id
            try await house.emit()
            await house.recorded(1)
            try await house.registry.delete(id, by: House.owner)
            let delivery = try #require(try await house.deliveries().first)
            let refusal = try #require(try await Self.refusal(delivery, in: house))
            #expect(refusal.code == .conflict && refusal.retryAfter == nil)
            #expect(refusal.message.contains("deleted"))
        }
    }

    @Test("says that a disabled webhook holds as much as it may")
    func full() async throws {
        let receiver = try ScriptedServer { _ in .status(500) }
        try await House.with(Self.settings()) { house in
            let id = try await house.webhook(receiver).webhook.id
            for _ in 0..<2 { try await house.emit() }
            await house.recorded(2)
            _ = try await house.registry.disable(id, by: House.owner)
            let dead = try await house.deliveries()
            #expect(try await Self.refusal(dead[0], in: house) == nil)
            let refusal = try #require(try await Self.refusal(dead[1], in: house))
            #expect(refusal.code == .conflict && refusal.retryAfter == nil)
            #expect(refusal.message.contains("holds"))
        }
    }
}
