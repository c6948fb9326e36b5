import ChatModel
import ChatSupport
import Signing
import Testing

@testable import ChatCore

@Suite("The keyring", .timeLimit(.minutes(1))) struct KeyringTests {
    @Test("finds the caller of each key, when keys are used in turn")
    func turns() async throws {
        try await withChat { chat in
            let keyring = chat.service.keyring
            var keys: [IssuedKey] = []
            for _ in 0..<3 { keys.append(try await keyring.issueKey(scopes: [.read], by: ChatFixture.owner)) }
            for key in keys + keys + keys.reversed() {
                for _ in 0..<2 { #expect(keyring.caller(of: Secret(text: key.text))?.credential == key.key.id) }
                #expect(keyring.caller(of: Secret(text: key.text + "x")) == nil)
                #expect(keyring.caller(of: Secret(text: "")) == nil)
            }
        }
    }

    @Test("rejects a key from its removal on, even if no other key was used in between")
    func removal() async throws {
        try await withChat { chat in
            let keyring = chat.service.keyring
            let key = try await keyring.issueKey(scopes: [.read], by: ChatFixture.owner)
            let text = Secret(text: key.text)
            #expect(keyring.caller(of: text) != nil)
            try await keyring.removeKey(key.key.id, by: ChatFixture.owner)
            #expect(keyring.caller(of: text) == nil)
        }
    }
}
