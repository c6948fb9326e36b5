import Signing
import Testing

@Suite("The vault") struct VaultTests {
    private let first = Secret(countingUp(0...31))
    private let second = Secret(countingUp(32...63))
    private let place = "webhook/wh_1"

    private func failure(_ body: () throws(VaultError) -> Void) -> VaultError? {
        do {
            try body()
            return nil
        } catch { return error }
    }

    @Test("returns what was stored, and reveals nothing of it")
    func roundTrip() throws {
        let vault = try Vault([first])
        for secret in ["", "whsec_AAECAwQF", "héllo", String(repeating: "x", count: 10_000)] {
            let text = vault.seal(secret, context: place)
            #expect(text.hasPrefix("sealed:v1:"))
            #expect(secret.isEmpty || !text.contains(secret))
            #expect(try vault.openText(text, context: place) == secret)
        }
        let bytes = countingUp(0...255)
        #expect(try vault.open(vault.seal(bytes, context: place), context: place) == bytes)
    }

    @Test("writes the same text only for the same bytes in the same place")
    func repetition() throws {
        let vault = try Vault([first])
        #expect(vault.seal("hush", context: place) == vault.seal("hush", context: place))
        let texts = [("hush", place), ("hush", "webhook/wh_2"), ("husk", place), ("", place), ("", "webhook/wh_2")]
            .map { vault.seal($0, context: $1) }
        #expect(Set(texts).count == texts.count)
        // Nonces differ too: a repeated nonce would reveal the keystream.
        #expect(Set(texts.map { $0.split(separator: ":")[3].prefix(16) }).count == texts.count)
    }

    @Test("opens text that another library encrypted with AES-256-GCM: nonce, text and tag in order")
    func vector() throws {
        // Computed with `cryptography` (AESGCM), nonce 000102030405060708090a0b.
        let text = "sealed:v1:\(try keyID(first)):AAECAwQFBgcICQoLL3elc6KVRwBSApS8w7e7YtqVYC8="
        #expect(try Vault([first]).openText(text, context: place) == "hush")
    }

    @Test("without a key stores plain text, and opens it")
    func withoutKey() throws {
        let text = Vault().seal("hush", context: place)
        #expect(text == "plain:v1:aHVzaA==")
        #expect(try Vault().openText(text, context: place) == "hush")
        #expect(!Vault().seals)
        #expect(try Vault([first]).openText(text, context: place) == "hush")
    }

    @Test(
        "returns unencrypted text from before the vault unchanged",
        arguments: ["whsec_AAEC", "", "sealed", "plain:"])
    func clearText(_ text: String) throws {
        #expect(try Vault().openText(text, context: place) == text)
        #expect(try Vault([first]).openText(text, context: place) == text)
    }

    @Test("opens with any of its keys and seals with the first")
    func rotation() throws {
        let old = try Vault([first]).seal("hush", context: place)
        let both = try Vault([second, first])
        #expect(try both.openText(old, context: place) == "hush")
        #expect(!both.isCurrent(old))
        let new = both.seal("hush", context: place)
        #expect(both.isCurrent(new))
        #expect(try Vault([second]).openText(new, context: place) == "hush")
        let id = try keyID(first)
        #expect(
            failure { () throws(VaultError) in _ = try Vault([second]).open(old, context: place) }
                == .keyUnknown(id: id))
        #expect(failure { () throws(VaultError) in _ = try Vault().open(old, context: place) } == .keyUnknown(id: id))
    }

    @Test("opens nothing in another place than it was sealed for")
    func otherContext() throws {
        let vault = try Vault([first])
        let text = vault.seal("hush", context: place)
        #expect(failure { () throws(VaultError) in _ = try vault.open(text, context: "webhook/wh_2") } == .damaged)
    }

    @Test("opens nothing that was changed by one character or cut")
    func altered() throws {
        let vault = try Vault([first])
        let text = vault.seal("hush", context: place)
        for index in text.indices.dropFirst("sealed:v1:".count) {
            var changed = text
            changed.replaceSubrange(index...index, with: text[index] == "A" ? "B" : "A")
            #expect(
                failure { () throws(VaultError) in _ = try vault.open(changed, context: place) } != nil, "\(changed)")
            // Padding alone may be left out, as in every other base64 input.
            guard text[index] != "=" else { continue }
            let cut = String(text[..<index])
            #expect(failure { () throws(VaultError) in _ = try vault.open(cut, context: place) } != nil, "\(cut)")
        }
    }

    @Test("reads keys in base64 of either alphabet, separated by commas, and refuses others")
    func keyTexts() throws {
        let tricky = Secret([UInt8](repeating: 0xFB, count: 32))
        let text = try Vault([tricky]).seal("hush", context: place)
        for spelling in [Base64.encode(tricky.bytes), Base64.encodeURL(tricky.bytes)] {
            #expect(try Vault(keys: spelling).openText(text, context: place) == "hush")
            #expect(
                try Vault(keys: " \(Base64.encode(first.bytes)) ,\n\(spelling)\n").openText(text, context: place)
                    == "hush")
        }
        #expect(try !Vault(keys: " ").seals)
        for wrong in ["short", Base64.encode(countingUp(0...30)), Base64.encode(countingUp(0...32)), "é"] {
            #expect(failure { () throws(VaultError) in _ = try Vault(keys: wrong) } == .keyInvalid)
        }
    }

    private func keyID(_ key: Secret) throws -> String {
        String(try Vault([key]).seal("", context: "").split(separator: ":")[2])
    }
}
