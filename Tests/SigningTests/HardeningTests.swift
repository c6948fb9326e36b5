import Signing
import TestSupport
import Testing

@Suite("A forged post to a scheme") struct HardeningTests {
    private static let url = "https://example.com/hook?x=1"
    private static let settings: SchemeSettings = {
        var settings = SchemeSettings()
        settings.header = "signature"
        settings.timestampHeader = "x-time"
        return settings
    }()
    /// Parts of real headers, so that random headers pass the first check.
    private static let pieces = [
        "sig1", "=", "(", ")", "\"@method\"", "\"@target-uri\"", "\"content-digest\"", ";created=1700000000", ";alg=",
        "\"ed25519\"", ":", "sha-256=:sg1IKUIVPwWjk8h4/Qfq0m8sk1RV+5gJXZqctpNauRY=:", ",", " ", "\\", "\"", "AAEC", "é",
        "t=1700000000", "v1=", "v1,", "v0=", "sha256=", "00ff", "1700000000", ";", "*", "\t", "=?", "%", "{", "}",
        "\"time_ms\"", "1e5", "[",
    ]

    private static func text(_ draw: inout SeededGenerator) -> String {
        (0..<Int.random(in: 0...12, using: &draw)).map { _ in pieces.randomElement(using: &draw) ?? "" }.joined()
    }

    @Test("is refused, whatever it is, and never stops the gateway", arguments: SignatureSchemes.allCases)
    func random(_ name: SignatureSchemes) throws {
        var draw = SeededGenerator()
        let secret =
            name == .ed25519
            ? "whpk_A6EHv/POEL4dcN0Y50vAmWfk1jCbpQ1fHdyGZBJVMbg=" : "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYX"
        let scheme = try name.scheme(secrets: [secret], settings: Self.settings)
        let headers = [
            "signature", "signature-input", "content-digest", "content-type", "x-time", "webhook-id",
            "webhook-timestamp", "webhook-signature", "x-signature-timestamp", "x-signature-ed25519",
            "stripe-signature",
            "x-hub-signature-256", "x-slack-signature", "x-slack-request-timestamp", "x-shopify-hmac-sha256",
            "x-twilio-signature", "x-pusher-key", "x-pusher-signature", "x-sendbird-signature", "x-signature",
        ]
        for _ in 0..<300 {
            let fields = headers.map { ($0, Self.text(&draw)) }
            let (body, url) = (Array(Self.text(&draw).utf8), Bool.random(using: &draw) ? Self.url : Self.text(&draw))
            let message = SignedMessage(body: body, url: url, headers: fields, form: { _ in [("a", "b")] })
            #expect(throws: SignatureRejection.self, "seed \(draw.seed)") { try scheme.verify(message, at: vectorTime) }
        }
    }

    @Test("is refused when one byte of a signed message differs, wherever it stands")
    func oneByte() throws {
        let signer = OutboundSigner(
            [.standard, .stripe, .rfc9421], keys: [.symmetric(Secret(countingUp(0...0x17)))])
        let body = Array(#"{"id":"evt_1","n":1}"#.utf8)
        let fields =
            try signer.fields(id: "msg_1", timestamp: vectorTime, url: Self.url, body: body)
            + [("webhook-id", "msg_1"), ("webhook-timestamp", String(vectorTime))]
        for name in [SignatureSchemes.standard, .stripe, .rfc9421] {
            let scheme = try name.scheme(secrets: ["whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYX"])
            func isAccepted(_ body: [UInt8], _ url: String) -> Bool {
                let message = SignedMessage(body: body, url: url, headers: fields)
                return rejection { () throws(SignatureRejection) in _ = try scheme.verify(message, at: vectorTime) }
                    == nil
            }
            #expect(isAccepted(body, Self.url))
            for index in body.indices {
                var changed = body
                changed[index] ^= 1
                #expect(!isAccepted(changed, Self.url), "\(name): byte \(index)")
            }
            #expect(isAccepted(body, Self.url + "y") == (name != .rfc9421))
        }
    }
}
