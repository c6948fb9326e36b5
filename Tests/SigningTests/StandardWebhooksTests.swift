import Signing
import Testing

private let id = "msg_2YtVJk0aQ9dWc7"
private let current = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYX"
private let previous = "whsec_GBkaGxwdHh8gISIjJCUmJygpKissLS4v"
private let currentToken = "v1,5WYEnpahgWVNIuhRfh76nygQvFc5PCkBLIXqaeDRYq8="
private let previousToken = "v1,Y9gijgglX4wdi8UOGM8rxpJ8lBvBrhEPZDtl1x69Dz8="
private let seed = "whsk_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
private let pair = "whsk_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8DoQe/884Qvh1w3RjnS8CZZ+TWMJulDV8d3IZkElUxuA=="
private let publicKey = "whpk_A6EHv/POEL4dcN0Y50vAmWfk1jCbpQ1fHdyGZBJVMbg="
private let ed25519Token =
    "v1a,Bgri+dognZGmfSPwI1osji7fjY2nhoBgbveFxFnQjPUj2tuhPgyySBQehSPdHDBb0uHtb0cdmAJgGS8lLQbbDw=="

@Suite("Signing Standard Webhooks") struct StandardSignerTests {
    private func signature(_ keys: [String]) throws -> String {
        let signer = StandardSigner(try keys.map { try StandardSigningKey($0) })
        return try signer.signature(id: id, timestamp: vectorTime, body: vectorBody)
    }

    @Test("gives the vectors' signatures")
    func vectors() throws {
        #expect(try signature([current]) == currentToken)
        #expect(try signature([previous]) == previousToken)
        #expect(try signature([seed]) == ed25519Token)
        #expect(try signature([pair]) == ed25519Token)
    }

    @Test("puts one token for each key, separated by one space, during rotation")
    func rotation() throws {
        #expect(try signature([current, previous]) == "\(currentToken) \(previousToken)")
        #expect(try signature([current, pair]) == "\(currentToken) \(ed25519Token)")
    }

    @Test("refuses ids that would blur where they end or leave their line", arguments: ["", "a.b", "a b", "a\n", "é"])
    func ids(_ id: String) throws {
        let signer = StandardSigner([try StandardSigningKey(current)])
        #expect(throws: StandardSigningError.invalidID) {
            try signer.signature(id: id, timestamp: vectorTime, body: vectorBody)
        }
    }

    @Test("refuses a time before 1970 and having no key")
    func preconditions() throws {
        let signer = StandardSigner([try StandardSigningKey(current)])
        #expect(throws: StandardSigningError.invalidTimestamp) {
            try signer.signature(id: id, timestamp: -1, body: [])
        }
        #expect(throws: StandardSigningError.noKeys) {
            try StandardSigner([]).signature(id: id, timestamp: 0, body: [])
        }
    }
}

@Suite("Keys of Standard Webhooks") struct StandardKeyTests {
    @Test("are exported as the vectors spell them, an Ed25519 key with both halves")
    func text() throws {
        #expect(try StandardSigningKey(current).text == current)
        #expect(try StandardSigningKey(seed).text == pair)
        #expect(try StandardSigningKey(pair).text == pair)
        #expect(try StandardVerificationKey(publicKey).text == publicKey)
    }

    @Test(
        "are refused when they cannot sign",
        arguments: [
            ("", StandardKeyError.unknownPrefix), ("AAECAwQFBgcICQoLDA0ODxAREhMUFRYX", .unknownPrefix),
            ("whpk_A6EHv/POEL4dcN0Y50vAmWfk1jCbpQ1fHdyGZBJVMbg=", .unknownPrefix), ("whsec_", .wrongLength),
            ("whsec_AAEC", .wrongLength), ("whsec_!!!!", .notBase64), ("whsk_", .wrongLength),
            ("whsk_AAEC", .wrongLength),
            (
                "whsk_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8AoQe/884Qvh1w3RjnS8CZZ+TWMJulDV8d3IZkElUxuA==",
                .mismatchedHalves
            ),
        ])
    func refusedForSigning(_ text: String, _ error: StandardKeyError) {
        #expect(throws: error) { try StandardSigningKey(text) }
    }

    @Test(
        "are refused when they cannot verify",
        arguments: [
            ("", StandardKeyError.wrongLength), ("whsec_", .wrongLength), ("whsec_!", .notBase64),
            ("whpk_AAEC", .wrongLength),
            ("whsk_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=", .unknownPrefix),
        ])
    func refusedForVerifying(_ text: String, _ error: StandardKeyError) {
        #expect(throws: error) { try StandardVerificationKey(text) }
    }

    @Test("are made of 24 random bytes")
    func generation() throws {
        #expect(StandardSigningKey.generate(from: CountingRandomSource()).text == current)
    }

    @Test("of others may be short, and base64 alone")
    func ofOthers() throws {
        #expect(try StandardVerificationKey("whsec_AAEC").text == "whsec_AAEC")
        #expect(try StandardVerificationKey("AAECAwQFBgcICQoLDA0ODxAREhMUFRYX").text == current)
    }

    @Test("never print their secret")
    func silence() throws {
        #expect(!"\(try StandardSigningKey(current))".contains("AAEC"))
        #expect(!"\(StandardSigner([try StandardSigningKey(current)]))".contains("1, 2, 3"))
    }
}

@Suite("Verifying Standard Webhooks") struct StandardVerifierTests {
    private func verify(
        keys: [String] = [current], id: String = id, timestamp: String = "1700000000", signature: String = currentToken,
        body: [UInt8] = vectorBody, now: Int64 = vectorTime + 10
    ) throws -> SignatureRejection? {
        let verifier = StandardVerifier(try keys.map { try StandardVerificationKey($0) })
        return rejection { () throws(SignatureRejection) in
            try verifier.verify(id: id, timestamp: timestamp, signature: signature, body: body, at: now)
        }
    }

    @Test("accepts the vectors")
    func vectors() throws {
        #expect(try verify() == nil)
        #expect(try verify(keys: [publicKey], signature: ed25519Token) == nil)
    }

    @Test("accepts either key while a rotation lasts, whoever changed first")
    func rotation() throws {
        let both = "\(currentToken) \(previousToken)"
        #expect(try verify(keys: [current], signature: both) == nil)
        #expect(try verify(keys: [previous], signature: both) == nil)
        #expect(try verify(keys: [previous, current], signature: currentToken) == nil)
        #expect(try verify(keys: [publicKey], signature: "\(both) \(ed25519Token)") == nil)
    }

    @Test("takes its window from both sides, the last second included")
    func window() throws {
        #expect(try verify(now: vectorTime + 300) == nil)
        #expect(try verify(now: vectorTime - 300) == nil)
        #expect(try verify(now: vectorTime + 301) == .outsideWindow(ageSeconds: 301))
        #expect(try verify(now: vectorTime - 301) == .outsideWindow(ageSeconds: -301))
        #expect(try verify(now: vectorTime - 400) == .outsideWindow(ageSeconds: -400))
    }

    @Test(
        "refuses timestamps that are not plain digits, even when signed as sent",
        arguments: [
            "1700000000.0", "01700000000", " 1700000000", "1700000000 ", "+1700000000", "-1700000000", "", "0x65",
            "١٧٠٠٠٠٠٠٠٠",
            "99999999999999999999999",
        ])
    func timestamps(_ text: String) throws {
        var code = MessageAuthentication(.sha256, key: Secret(countingUp(0...0x17)))
        code.update("\(id).\(text).")
        code.update(vectorBody)
        let signature = "v1," + Base64.encode(code.finish())
        #expect(try verify(timestamp: text, signature: signature) == .headerMalformed("webhook-timestamp"))
    }

    @Test("refuses altered messages")
    func altered() throws {
        #expect(try verify(id: "msg_other") == .mismatch)
        #expect(try verify(timestamp: "1700000001") == .mismatch)
        #expect(try verify(body: vectorBody + [0x20]) == .mismatch)
        #expect(try verify(keys: [previous]) == .mismatch)
        #expect(try verify(keys: [publicKey], signature: currentToken) == .mismatch)
        #expect(try verify(keys: [current], signature: ed25519Token) == .mismatch)
        #expect(try verify(keys: [publicKey], signature: ed25519Token, body: []) == .mismatch)
    }

    @Test("refuses an id with a dot: the signed text could be cut elsewhere")
    func dottedID() throws {
        #expect(try verify(id: "msg.1") == .headerMalformed("webhook-id"))
        #expect(try verify(id: "") == .headerMalformed("webhook-id"))
    }

    @Test(
        "takes a malformed or unknown token for no match",
        arguments: [
            "", " ", "garbage", ",", "v1", "v1,", "v1,!!!", "v1,AAEC",
            "v2,5WYEnpahgWVNIuhRfh76nygQvFc5PCkBLIXqaeDRYq8=",
            "V1,5WYEnpahgWVNIuhRfh76nygQvFc5PCkBLIXqaeDRYq8=", "v1a,5WYEnpahgWVNIuhRfh76nygQvFc5PCkBLIXqaeDRYq8=",
            "5WYEnpahgWVNIuhRfh76nygQvFc5PCkBLIXqaeDRYq8=",
        ])
    func malformedTokens(_ token: String) throws {
        #expect(try verify(signature: token) == .mismatch)
        #expect(try verify(signature: "\(token) \(currentToken)") == nil)
        #expect(try verify(keys: [publicKey], signature: "\(token)  \(ed25519Token)") == nil)
    }

    @Test("accepts a signature without padding")
    func unpadded() throws {
        #expect(try verify(signature: "v1,5WYEnpahgWVNIuhRfh76nygQvFc5PCkBLIXqaeDRYq8") == nil)
    }

    @Test("looks at a bounded number of tokens")
    func bounded() throws {
        let many = String(repeating: "\(previousToken) ", count: 100)
        #expect(try verify(signature: many + currentToken) == .mismatch)
    }
}
