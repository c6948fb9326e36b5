import ChatCore
import ChatModel
import JSON
import SQLiteEngine
import Signing
import Testing

@testable import Webhooks

@Suite("The published keys", .timeLimit(.minutes(1))) struct PublishedKeysTests {
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
