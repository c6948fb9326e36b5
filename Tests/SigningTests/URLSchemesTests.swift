import Signing
import Testing
import Text

@Suite("Twilio's scheme") struct TwilioTests {
    private static let url = "https://mycompany.com/myapp.php?foo=1&bar=2"
    private static let fields: [SignedMessage.Field] = [
        ("CallSid", "CA1234567890ABCDE"), ("Caller", "+14158675310"), ("Digits", "1234"), ("From", "+14158675310"),
        ("To", "+18005551212"),
    ]
    private static let signature = "GvWf1cFY/Q7PnoempGyD5oXAezc="
    private static let digest = "b20d482942153f05a393c878fd07ead26f2c935455fb98095d9a9cb6935ab916"
    private static let jsonURL = "https://mycompany.com/myapp.php?bodySHA256=\(digest)"
    private static let jsonSignature = "aUk2YTrKyPPP6SAT8ny/7Bo3UAE="

    private func verdict(
        url: String? = url, fields: [SignedMessage.Field]? = fields, body: [UInt8] = Array("form".utf8),
        signature: String = signature, secrets: [String] = ["12345"]
    ) throws -> SignatureRejection? {
        let message = SignedMessage(
            body: body, url: url, headers: [("x-twilio-signature", signature), ("I-Twilio-Idempotency-Token", "t1")],
            form: { _ in fields })
        let scheme = try SignatureSchemes.twilio.scheme(secrets: secrets)
        return rejection { () throws(SignatureRejection) in
            #expect(try scheme.verify(message, at: vectorTime) == .value("t1"))
        }
    }

    @Test("accepts the vector of a form, its fields in any order")
    func form() throws {
        #expect(try verdict() == nil)
        #expect(try verdict(fields: Self.fields.reversed()) == nil)
        #expect(try verdict(secrets: ["other", "12345"]) == nil)
    }

    @Test("counts a field that is there twice once, as the provider's own verifier does")
    func twice() throws { #expect(try verdict(fields: Self.fields + [Self.fields[2]]) == nil) }

    @Test("refuses a form with a field changed, added or gone")
    func alteredForm() throws {
        #expect(try verdict(fields: Array(Self.fields.dropLast())) == .mismatch)
        #expect(try verdict(fields: Self.fields + [("Extra", "1")]) == .mismatch)
        #expect(try verdict(fields: Self.fields + [("Digits", "12345")]) == .mismatch)
        #expect(try verdict(secrets: ["123456"]) == .mismatch)
    }

    @Test("refuses another URL, and wants to know the public one")
    func otherURL() throws {
        #expect(try verdict(url: "https://mycompany.com/myapp.php?foo=1&bar=3") == .mismatch)
        #expect(try verdict(url: "https://mycompany.com.evil.example/myapp.php?foo=1&bar=2") == .mismatch)
        #expect(try verdict(url: nil) == .urlUnknown)
    }

    @Test("accepts a URL that was signed with the standard port, or without the port it is reached at")
    func ports() throws {
        #expect(try verdict(url: "https://mycompany.com:443/myapp.php?foo=1&bar=2") == nil)
        #expect(try verdict(url: "https://mycompany.com:8443/myapp.php?foo=1&bar=2") == nil)
        #expect(try verdict(url: "https://[::1]/myapp.php?foo=1&bar=2") == .mismatch)
    }

    @Test("accepts the vector of a body with its digest in the URL, and that body alone")
    func json() throws {
        func verdict(_ body: [UInt8], url: String = Self.jsonURL) throws -> SignatureRejection? {
            try self.verdict(url: url, fields: nil, body: body, signature: Self.jsonSignature)
        }
        #expect(try verdict(vectorBody) == nil)
        #expect(try verdict(vectorBody + [0x20]) == .digestMismatch)
        #expect(try verdict([]) == .digestMismatch)
        let other = "https://mycompany.com/myapp.php?bodySHA256=\(Hex.encode(sha256([])))"
        #expect(try verdict([], url: other) == .mismatch)
    }

    @Test("refuses a body that nothing signs: neither a form nor with its digest in the URL")
    func unsigned() throws {
        var code = MessageAuthentication(.sha1, key: Secret(text: "12345"))
        code.update(Self.url)
        let signature = Base64.encode(code.finish())
        #expect(try verdict(fields: nil, body: [], signature: signature) == nil)
        #expect(try verdict(fields: nil, body: vectorBody, signature: signature) == .headerMalformed("Content-Type"))
    }

    @Test("treats a malformed signature as missing", arguments: ["", "!", "AAEC", "1234"])
    func malformed(_ text: String) throws { #expect(try verdict(signature: text) != nil) }
}

@Suite("HTTP message signatures") struct MessageSignatureTests {
    static let url = "https://example.com/hook?x=1"
    static let digest = "sha-256=:sg1IKUIVPwWjk8h4/Qfq0m8sk1RV+5gJXZqctpNauRY=:"
    static let publicKey = "whpk_A6EHv/POEL4dcN0Y50vAmWfk1jCbpQ1fHdyGZBJVMbg="
    static let sharedKey = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYX"

    struct Message {
        var input: String
        var signature: String
        var digest = MessageSignatureTests.digest
        var method = "POST"
        var url: String? = MessageSignatureTests.url
        var body = vectorBody
        var contentType = "application/json"
        var others: [SignedMessage.Field] = []

        var signed: SignedMessage {
            SignedMessage(
                body: body, url: url, method: method,
                headers: [
                    ("content-type", contentType), ("content-digest", digest), ("signature-input", input),
                    ("signature", signature),
                ].filter { !$0.1.isEmpty } + others)
        }
    }

    static let ed25519 = Message(
        input:
            #"sig1=("@method" "@target-uri" "content-type" "content-digest");created=1700000000;keyid="gw-ed25519-1";alg="ed25519""#,
        signature: "sig1=:wGbADJg+K5FT11BQ9ehrwJo/0O8GVR1prUcAvULlSMCeNwzdGlvZ405iZXElXZxECF292NUo4oHd0tioi0XUBQ==:")
    static let hmac = Message(
        input:
            #"sig1=("@method" "@target-uri" "content-digest");created=1700000000;keyid="gw-hmac-1";alg="hmac-sha256""#,
        signature: "sig1=:337fNX+4r7+PbMr8Ow13HN9UVxd8kUt362hIQffUetY=:")

    private func verdict(
        _ message: Message, secrets: [String] = [publicKey, sharedKey], now: Int64 = vectorTime,
        _ change: (inout Message) -> Void = { _ in }
    ) throws -> SignatureRejection? {
        var message = message
        change(&message)
        let scheme = try SignatureSchemes.rfc9421.scheme(secrets: secrets)
        return rejection { () throws(SignatureRejection) in _ = try scheme.verify(message.signed, at: now) }
    }

    /// The message with a signature by the shared key over these components and parameters.
    private func made(_ components: String, _ values: [String], parameters: String) -> Message {
        let input = "(\(components))\(parameters)"
        let names = components.split(separator: " ")
        let lines = zip(names, values).map { "\($0): \($1)\n" }.joined()
        let key = Secret(countingUp(0...0x17))
        let code = MessageAuthentication.code(
            .sha256, of: Array("\(lines)\"@signature-params\": \(input)".utf8), key: key)
        return Message(input: "sig1=\(input)", signature: "sig1=:\(Base64.encode(code)):")
    }

    private static let required = #""@method" "@target-uri" "content-digest""#

    @Test("are accepted with either algorithm, and with the key alone that made them")
    func vectors() throws {
        #expect(try verdict(Self.ed25519) == nil)
        #expect(try verdict(Self.hmac) == nil)
        #expect(try verdict(Self.hmac, secrets: [Self.publicKey]) == .mismatch)
        #expect(try verdict(Self.ed25519, secrets: [Self.sharedKey]) == .mismatch)
        #expect(try verdict(Self.hmac, secrets: ["whsec_GBkaGxwdHh8gISIjJCUmJygpKissLS4v"]) == .mismatch)
    }

    @Test("are refused when anything they cover was changed", arguments: [ed25519, hmac])
    func altered(_ message: Message) throws {
        #expect(try verdict(message) { $0.body.append(0x20) } == .digestMismatch)
        #expect(try verdict(message) { $0.method = "PUT" } == .mismatch)
        #expect(try verdict(message) { $0.method = "post" } == .mismatch)
        #expect(try verdict(message) { $0.url = "https://example.com/hook?x=2" } == .mismatch)
        #expect(try verdict(message) { $0.url = nil } == .urlUnknown)
        #expect(
            try verdict(message) {
                $0.body = []
                $0.digest = "sha-256=:\(Base64.encode(sha256([]))):"
            } == .mismatch)
        #expect(try verdict(message) { $0.input = $0.input.replacing("1700000000", with: "1700000001") } == .mismatch)
        #expect(try verdict(message) { $0.signature = "sig1=:AAEC:" } == .mismatch)
    }

    @Test("cover the headers they name and no others")
    func coveredHeader() throws {
        #expect(try verdict(Self.ed25519) { $0.contentType = "text/plain" } == .mismatch)
        #expect(try verdict(Self.ed25519) { $0.contentType = "" } == .headerMissing("content-type"))
        #expect(try verdict(Self.hmac) { $0.contentType = "text/plain" } == nil)
    }

    @Test("are refused when too old, too new or expired, and without the time they were made")
    func time() throws {
        for age in [-301, 301] as [Int64] {
            #expect(try verdict(Self.hmac, now: vectorTime + age) == .outsideWindow(ageSeconds: age))
        }
        #expect(try verdict(Self.hmac, now: vectorTime + 300) == nil)
        let values = ["POST", Self.url, Self.digest]
        let expired = made(Self.required, values, parameters: ";created=1700000000;expires=1700000010")
        #expect(try verdict(expired, now: vectorTime + 9) == nil)
        #expect(try verdict(expired, now: vectorTime + 10) == .outsideWindow(ageSeconds: 0))
        let timeless = made(Self.required, values, parameters: #";keyid="k""#)
        #expect(try verdict(timeless) == .headerMalformed("Signature-Input"))
        let text = made(Self.required, values, parameters: #";created="1700000000""#)
        #expect(try verdict(text) == .headerMalformed("Signature-Input"))
    }

    @Test("must cover method, URL and digest", arguments: [0, 1, 2])
    func required(_ left: Int) throws {
        var names = Self.required.split(separator: " ").map(String.init)
        var values = ["POST", Self.url, Self.digest]
        names.remove(at: left)
        values.remove(at: left)
        let message = made(names.joined(separator: " "), values, parameters: ";created=1700000000")
        #expect(try verdict(message) == .headerMalformed("Signature-Input"))
    }

    @Test("may cover the parts of the URL too, as the standard spells them")
    func parts() throws {
        let message = made(
            Self.required + #" "@scheme" "@authority" "@path" "@query""#,
            ["POST", Self.url, Self.digest, "https", "example.com", "/hook", "?x=1"], parameters: ";created=1700000000")
        #expect(try verdict(message) == nil)
        var bare = made(
            Self.required + #" "@authority" "@path" "@query""#,
            ["POST", "https://Example.com:443", Self.digest, "example.com", "/", "?"], parameters: ";created=1700000000"
        )
        bare.url = "https://Example.com:443"
        #expect(try verdict(bare) == nil)
        let unknown = made(
            Self.required + #" "@status""#, ["POST", Self.url, Self.digest, "200"], parameters: ";created=1700000000")
        #expect(try verdict(unknown) == .headerMalformed("Signature-Input"))
    }

    @Test("may be several, of which one has to hold")
    func several() throws {
        let both = try verdict(Self.hmac) {
            $0.input = Self.ed25519.input.replacing("sig1", with: "proxy") + ", " + Self.hmac.input
            $0.signature = "proxy=:\(Base64.encode([UInt8](repeating: 0, count: 64))):, " + $0.signature
        }
        #expect(both == nil)
        #expect(try verdict(Self.hmac) { $0.input = $0.input.replacing("sig1=", with: "sig2=") } == .mismatch)
    }

    @Test("need a digest of the body that is known and right")
    func digests() throws {
        let values = ["POST", Self.url]
        func verdict(_ digest: String) throws -> SignatureRejection? {
            let message = made(Self.required, values + [digest], parameters: ";created=1700000000")
            return try self.verdict(message) { $0.digest = digest }
        }
        let wrong = Base64.encode([UInt8](repeating: 0, count: 32))
        #expect(try verdict(Self.digest) == nil)
        #expect(try verdict("md5=:AAEC:, \(Self.digest)") == nil)
        #expect(try verdict("md5=:AAEC:") == .headerMalformed("Content-Digest"))
        #expect(try verdict("sha-512=:AAEC:, \(Self.digest)") == .digestMismatch)
        #expect(try verdict("sha-256=:\(wrong):") == .digestMismatch)
        #expect(try verdict("sha-256=\(wrong)") == .headerMalformed("Content-Digest"))
        #expect(try self.verdict(Self.hmac) { $0.digest = "" } == .headerMissing("Content-Digest"))
    }

    @Test(
        "that are malformed are refused without failing otherwise",
        arguments: [
            "", "sig1", "sig1=", "sig1=(", "sig1=()", "sig1=(\"@method\"", "sig1=(\"@method\" \"@target-uri\"x)",
            "sig1=(\"@method\"\"@target-uri\" \"content-digest\");created=1700000000",
            "sig1=(\"@method\" \"@target-uri\" \"content-digest\" \"content-digest\");created=1700000000",
            "sig1=(\"@method\" \"@target-uri\" \"Content-Digest\");created=1700000000",
            "sig1=(\"@method\" \"@target-uri\" \"content-digest\";sf);created=1700000000",
            "sig1=(\"@method\" \"@target-uri\" \"content-digest\");created=99999999999999999999", "sig1=:AAEC:",
            "é=(\"\\",
            "sig1=(\"@method\" \"@target-uri\" \"content-digest\");created=1700000000,",
        ])
    func malformed(_ input: String) throws {
        #expect(try verdict(Self.hmac) { $0.input = input } != nil)
        #expect(try verdict(Self.hmac) { $0.signature = input } != nil)
        #expect(try verdict(Self.hmac) { $0.digest = input } != nil)
    }
}
