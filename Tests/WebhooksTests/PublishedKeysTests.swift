import ChatCore
import ChatModel
import ChatSupport
import JSON
import SQLiteEngine
import Signing
import TestSupport
import Testing

@testable import Webhooks

@Suite("The published keys", .timeLimit(.minutes(2))) struct PublishedKeysTests {
    private static func secondApp(_ fixture: WebhookFixture) async throws -> AppID {
        let app = AppRecord(
            id: AppID("second"), name: "second", publishKey: "pub2", subscribeKey: "sub2", secretKey: "sec2",
            isFirst: false,
            created: fixture.clock.now)
        _ = try await fixture.service.keyring.establish(app, keyText: nil)
        return app.id
    }

    @Test("are there for all apps but the one whose record is damaged")
    func damaged() async throws {
        try await WebhookFixture.with { fixture in
            let other = try await Self.secondApp(fixture)
            let key = try await fixture.registry.signingKey(of: WebhookFixture.app)
            _ = try await fixture.registry.signingKey(of: other)
            #expect(try await fixture.registry.publishedKeys().count == 2)
            let record = RecordKey(.setting, "webhook-signing-key/second", in: .gateway)
            _ = try await fixture.engine.directory.write([
                RecordChange(record, body: .emptyObject, precondition: .present)
            ])
            fixture.clock.advance(by: PublishedKeys.life)
            #expect(try await fixture.registry.publishedKeys() == [key.key.publicKey.jwk])
            #expect(try await fixture.registry.publishedKeys(of: other) == [])
        }
    }

    @Test("are two while a rotation lasts, and both sign; then the new one alone")
    func rotated() async throws {
        let receiver = try ScriptedServer()
        let clock = WebhookFixture.newClock()
        let folder = try TemporaryFolder()
        var settings = WebhookFixture.Settings()
        settings.path = folder.path + "/chat.db"
        let kept = Observed<[Webhook]>()
        try await WebhookFixture.with(settings, clock: clock) { fixture in
            let body = #"{"url":"\#(receiver.url())","signatures":["standard_ed25519"]}"#
            let webhook = try await fixture.registry.create(
                try WebhookSettings(try JSONDocument(Array(body.utf8))), by: WebhookFixture.owner
            ).webhook
            let old = try #require(webhook.appKey)
            let rotated = try await fixture.registry.rotateSigningKey(overlap: .seconds(60), by: WebhookFixture.owner)
            #expect(rotated.id != old.id && rotated.previous?.id == old.id)
            #expect(try await fixture.registry.publishedKeys().count == 2)
            try await fixture.emit()
            let both = try #require(await receiver.requests.wait(count: 1).last)
            #expect(try Self.accepts(rotated.publicText, both, at: clock))
            #expect(try Self.accepts(old.publicText, both, at: clock))

            clock.advance(by: .seconds(61))
            #expect(try await fixture.registry.publishedKeys().count == 1)
            try await fixture.emit()
            let one = try #require(await receiver.requests.wait(count: 2).last)
            #expect(try Self.accepts(rotated.publicText, one, at: clock))
            #expect(try !Self.accepts(old.publicText, one, at: clock))

            let last = try await fixture.registry.rotateSigningKey(overlap: .zero, by: WebhookFixture.owner)
            #expect(last.previous == nil)
            let narrow = Caller(
                app: WebhookFixture.app, credential: "key_n", scopes: [.manage], channels: [.exact("a")],
                types: [.all])
            await #expect(throws: ChatError.self) { _ = try await fixture.registry.rotateSigningKey(by: narrow) }
            // The state after a crash between writing the key and writing its holders.
            var stale = try await fixture.registry.webhook(webhook.id, by: WebhookFixture.owner)
            stale.appKey = old
            kept.append(try await fixture.registry.write(stale, precondition: .present))
            await fixture.recorded(2)
        }
        try await WebhookFixture.with(settings, clock: clock) { fixture in
            let webhook = try await fixture.registry.webhook(kept.value[0].id, by: WebhookFixture.owner)
            #expect(webhook.appKey == (try await fixture.registry.signingKey(of: WebhookFixture.app)))
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
        try await WebhookFixture.with { fixture in
            #expect(try await fixture.registry.publishedKeys() == [])
            let key = try await fixture.registry.signingKey(of: WebhookFixture.app)
            #expect(try await fixture.registry.publishedKeys() == [key.key.publicKey.jwk])
            fixture.refusals.refuseLists(of: [.setting])
            #expect(try await fixture.registry.publishedKeys().count == 1)
            #expect(fixture.refusals.refusedLists == 0)
            fixture.clock.advance(by: PublishedKeys.life)
            await #expect(throws: ChatError.self) { _ = try await fixture.registry.publishedKeys() }
        }
    }
}
