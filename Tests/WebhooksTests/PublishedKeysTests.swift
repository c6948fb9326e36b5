import ChatCore
import ChatModel
import ChatSupport
import JSON
import SQLiteEngine
import Signing
import TestSupport
import Testing

@testable import Webhooks

@Suite("The published keys", .timeLimit(.minutes(3))) struct PublishedKeysTests {
    private static func secondApp(_ house: House) async throws -> SpaceID {
        let space = SpaceID("second")
        let app = AppRecord(
            space: space, name: "second", publishKey: "pub2", subscribeKey: "sub2", secretKey: "sec2", isFirst: false,
            created: house.clock.now)
        _ = try await house.service.keyring.establish(app, keyText: nil)
        return space
    }

    @Test("are there for all apps but the one whose record is damaged")
    func damaged() async throws {
        try await House.with { house in
            let other = try await Self.secondApp(house)
            let key = try await house.registry.signingKey(of: House.space)
            _ = try await house.registry.signingKey(of: other)
            #expect(try await house.registry.publishedKeys().count == 2)
            let record = RecordKey(.setting, "webhook-signing-key/second", in: .gateway)
            _ = try await house.engine.directory.write([RecordChange(record, body: .emptyObject, demand: .present)])
            house.clock.advance(by: PublishedKeys.life)
            #expect(try await house.registry.publishedKeys() == [key.key.publicKey.jwk])
            #expect(try await house.registry.publishedKeys(of: other) == [])
        }
    }

    @Test("are two while a rotation lasts, and both sign; then the new one alone")
    func rotated() async throws {
        let receiver = try ScriptedServer()
        let clock = House.newClock()
        let folder = try TemporaryFolder()
        var settings = House.Settings()
        settings.path = folder.path + "/chat.db"
        let kept = Observed<[Webhook]>()
        try await House.with(settings, clock: clock) { house in
            let body = #"{"url":"\#(receiver.url())","signatures":["standard_ed25519"]}"#
            let webhook = try await house.registry.create(
                try WebhookSettings(try JSONDocument(Array(body.utf8))), by: House.owner
            ).webhook
            let old = try #require(webhook.appKey)
            let rotated = try await house.registry.rotateSigningKey(overlap: .seconds(60), by: House.owner)
            #expect(rotated.id != old.id && rotated.previous?.id == old.id)
            #expect(try await house.registry.publishedKeys().count == 2)
            try await house.emit()
            let both = try #require(await receiver.requests.wait(count: 1).last)
            #expect(try Self.accepts(rotated.publicText, both, at: clock))
            #expect(try Self.accepts(old.publicText, both, at: clock))

            clock.advance(by: .seconds(61))
            #expect(try await house.registry.publishedKeys().count == 1)
            try await house.emit()
            let one = try #require(await receiver.requests.wait(count: 2).last)
            #expect(try Self.accepts(rotated.publicText, one, at: clock))
            #expect(try !Self.accepts(old.publicText, one, at: clock))

            let last = try await house.registry.rotateSigningKey(overlap: .zero, by: House.owner)
            #expect(last.previous == nil)
            let narrow = Caller(
                space: House.space, credential: "key_n", scopes: [.manage], channels: [.exact("a")], types: [.all])
            await #expect(throws: ChatError.self) { _ = try await house.registry.rotateSigningKey(by: narrow) }
            // As a crash between the key and its holders leaves them.
            var stale = try await house.registry.webhook(webhook.id, by: House.owner)
            stale.appKey = old
            kept.append(try await house.registry.write(stale, demand: .present))
            await house.recorded(2)
        }
        try await House.with(settings, clock: clock) { house in
            let webhook = try await house.registry.webhook(kept.value[0].id, by: House.owner)
            #expect(webhook.appKey == (try await house.registry.signingKey(of: House.space)))
        }
    }

    private static func accepts(
        _ publicText: String, _ request: ReceivedRequest, at clock: ManualClock
    ) throws -> Bool {
        let verifier = StandardVerifier([try StandardVerificationKey(publicText)])
        do {
            try verifier.verify(
                id: request["webhook-id"] ?? "", timestamp: request["webhook-timestamp"] ?? "",
                signature: request["webhook-signature"] ?? "", body: request.body,
                at: Int64(clock.now.rawValue / Timetoken.ticksPerSecond))
            return true
        } catch {
            return false
        }
    }

    @Test("are read from memory, whoever asks, and a new one is among them at once")
    func kept() async throws {
        try await House.with { house in
            #expect(try await house.registry.publishedKeys() == [])
            let key = try await house.registry.signingKey(of: House.space)
            #expect(try await house.registry.publishedKeys() == [key.key.publicKey.jwk])
            house.refusals.refuseLists(of: [.setting])
            #expect(try await house.registry.publishedKeys().count == 1)
            #expect(house.refusals.refusedLists == 0)
            house.clock.advance(by: PublishedKeys.life)
            await #expect(throws: ChatError.self) { _ = try await house.registry.publishedKeys() }
        }
    }
}
