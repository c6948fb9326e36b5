import Signing
import Testing
import Text

@Suite("Digests") struct DigestTests {
    @Test("of the vectors' body are as published")
    func sha256OfBody() {
        #expect(vectorBody.count == 123)
        #expect(
            Hex.encode(sha256(vectorBody)) == "b20d482942153f05a393c878fd07ead26f2c935455fb98095d9a9cb6935ab916")
    }

    /// RFC 2202, case 2 (SHA-1); RFC 4231, case 2 (SHA-2).
    @Test(
        "with a key match the standards' vectors",
        arguments: [
            (HashAlgorithm.sha1, "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79"),
            (.sha256, "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"),
            (
                .sha512,
                "164b7a7bfcf819e2e395fbe73b56e0a387bd64222e831fd610270cd7ea2505549758bf75c05a994a6d034f65f8f0e6fdcaeab1a34d4a6b4b636e070a38bce737"
            ),
        ])
    func hmac(_ algorithm: HashAlgorithm, _ expected: String) {
        let key = Secret(text: "Jefe")
        let message = Array("what do ya want for nothing?".utf8)
        let code = MessageAuthentication.code(algorithm, of: message, key: key)
        #expect(Hex.encode(code) == expected)
    }

    @Test("do not depend on how the message was cut")
    func pieces() {
        var code = MessageAuthentication(.sha256, key: Secret(text: "Jefe"))
        code.update("what do ya ")
        code.update(Array("want for ".utf8))
        code.update([])
        code.update("nothing?")
        #expect(Hex.encode(code.finish()) == "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843")
    }

    @Test("are equal only if every byte and the length are")
    func equality() {
        #expect(constantTimeEqual([], []))
        #expect(constantTimeEqual([1, 2, 3], [1, 2, 3]))
        #expect(!constantTimeEqual([1, 2, 3], [1, 2]))
        #expect(!constantTimeEqual([1, 2, 3], [1, 2, 2]))
        #expect(!constantTimeEqual([0x80, 2, 3], [0, 2, 3]))
    }
}

@Suite("A secret") struct SecretTests {
    private struct Holder { let secret: Secret }

    @Test("never prints")
    func silence() {
        let secret = Secret(text: "hunter2")
        var dumped = ""
        dump(Holder(secret: secret), to: &dumped)
        for text in ["\(secret)", String(reflecting: secret), "\(Holder(secret: secret))", "\([secret])", dumped] {
            #expect(text.contains("…"))
            #expect(!text.contains("hunter2") && !text.contains("104"))
        }
    }

    @Test("equals another of the same bytes")
    func equality() {
        #expect(Secret(text: "a") == Secret([0x61]))
        #expect(Secret(text: "a") != Secret(text: "b"))
    }
}

@Suite("Random identifiers") struct RandomTests {
    @Test("carry their prefix and 128 bits in characters that are safe in a URL")
    func form() {
        #expect(CountingRandomSource().identifier(prefix: "wh_") == "wh_AAECAwQFBgcICQoLDA0ODw")
        #expect(CountingRandomSource().token(prefix: "parley_") == "parley_AAECAwQFBgcICQoLDA0ODxAREhMUFRYX")
    }

    @Test("from the system do not repeat and have the length asked for")
    func system() {
        let random = SystemRandomSource()
        for length in [0, 1, 7, 8, 9, 24, 100] { #expect(random.bytes(length).count == length) }
        #expect(Set((0..<1000).map { _ in random.identifier(prefix: "") }).count == 1000)
    }
}

/// The time of all vectors: 2023-11-14T22:13:20Z.
let vectorTime: Int64 = 1_700_000_000

/// The body of all vectors, unless they name another: 123 bytes with a two-byte é.
let vectorBody = Array(
    """
    {"type":"message.created","timestamp":"2023-11-14T22:13:20.000Z","data":{"channel":"general","user":"u_1","text":"héllo"}}
    """.utf8)

/// Bytes that count up, as in the vectors' keys.
func countingUp(_ range: ClosedRange<UInt8>) -> [UInt8] { Array(range) }

/// Random bytes that a test can predict.
struct CountingRandomSource: RandomSource {
    func bytes(_ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: $0) } }
}

/// The rejection that a verification throws; nil if it accepts.
func rejection(_ body: () throws(SignatureRejection) -> Void) -> SignatureRejection? {
    do {
        try body()
        return nil
    } catch {
        return error
    }
}
