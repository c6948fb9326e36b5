import Signing
import Testing

@Suite("A post to a receiver") struct OutboundSignerTests {
    private static let current = StandardSigningKey.symmetric(Secret(countingUp(0...0x17)))
    private static let previous = StandardSigningKey.symmetric(Secret(countingUp(0x18...0x2f)))
    private static let app = Ed25519PrivateKey(countingUp(0...31))!
    private static let url = "https://example.com/hook?x=1"

    private func fields(
        _ signatures: [OutboundSigner.Signature], keys: [StandardSigningKey] = [current], url: String = url
    ) throws -> [SignedMessage.Field] {
        try OutboundSigner(signatures, keys: keys, ed25519: [Self.app]).fields(
            id: "msg_2YtVJk0aQ9dWc7", timestamp: vectorTime, url: url, body: vectorBody)
    }

    /// True when an inbound scheme accepts the signature with this secret.
    private func accepts(
        _ scheme: SignatureSchemes, _ secret: String, _ fields: [SignedMessage.Field], url: String = url
    ) throws -> Bool {
        let names: [SignedMessage.Field] = [("webhook-id", "msg_2YtVJk0aQ9dWc7"), ("webhook-timestamp", "1700000000")]
        let message = SignedMessage(body: vectorBody, url: url, headers: names + fields)
        let scheme = try scheme.scheme(secrets: [secret])
        return rejection { () throws(SignatureRejection) in _ = try scheme.verify(message, at: vectorTime) } == nil
    }

    @Test("is signed as in the vectors, in as many ways as wanted")
    func vectors() throws {
        let fields = try fields([.standard, .standardEd25519, .hub, .stripe])
        #expect(fields.map(\.name) == ["webhook-signature", "x-hub-signature-256", "stripe-signature"])
        #expect(
            fields[0].value
                == "v1,5WYEnpahgWVNIuhRfh76nygQvFc5PCkBLIXqaeDRYq8= v1a,Bgri+dognZGmfSPwI1osji7fjY2nhoBgbveFxFnQjPUj2tuhPgyySBQehSPdHDBb0uHtb0cdmAJgGS8lLQbbDw=="
        )
        let secret = Self.current.text
        #expect(secret == "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYX")
        #expect(try accepts(.github, secret, fields))
        #expect(try accepts(.stripe, secret, fields))
        #expect(try !accepts(.github, Self.previous.text, fields))
        #expect(try !accepts(.stripe, Self.previous.text, fields))
    }

    @Test("carries no signature that was not asked for", arguments: OutboundSigner.Signature.allCases)
    func single(_ signature: OutboundSigner.Signature) throws {
        let names = try fields([signature]).map(\.name)
        let expected: [OutboundSigner.Signature: [String]] = [
            .standard: ["webhook-signature"], .standardEd25519: ["webhook-signature"], .hub: ["x-hub-signature-256"],
            .stripe: ["stripe-signature"], .rfc9421: ["content-digest", "signature-input", "signature"],
        ]
        #expect(names == expected[signature])
        #expect(try fields([signature, signature]).map(\.name) == names)
        #expect(try fields([]).isEmpty)
    }

    @Test("is signed with every active secret, so that a receiver may change over at any moment")
    func rotation() throws {
        let fields = try fields([.standard, .stripe, .rfc9421], keys: [Self.current, Self.previous])
        for key in [Self.current, Self.previous] {
            for scheme in [SignatureSchemes.standard, .stripe, .rfc9421] {
                #expect(try accepts(scheme, key.text, fields), "\(scheme)")
            }
        }
    }

    @Test("has room for one signature in GitHub's header: that of the secret its receiver is sure to know")
    func hubRotation() throws {
        let fields = try fields([.hub], keys: [Self.current, Self.previous])
        #expect(try accepts(.github, Self.previous.text, fields))
        #expect(try !accepts(.github, Self.current.text, fields))
    }

    @Test("is signed with an app's own key too, where a receiver verifies with its public half")
    func publicKey() throws {
        let text = StandardVerificationKey.ed25519(Self.app.publicKey).text
        let fields = try fields([.standardEd25519, .rfc9421])
        #expect(try accepts(.standard, text, fields))
        #expect(try accepts(.rfc9421, text, fields))
        #expect(try accepts(.rfc9421, Self.current.text, fields))
        #expect(try !accepts(.standard, Self.current.text, fields))
        let input = fields.first { $0.name == "signature-input" }?.value ?? ""
        #expect(input.contains("keyid=\"\(Self.app.publicKey.thumbprint)\";alg=\"ed25519\""))
    }

    @Test(
        "is signed for the URL that the receiver sees",
        arguments: [
            ("https://example.com", "https://example.com/"), ("https://example.com:443/a?b", "https://example.com/a?b"),
            ("https://example.com:8443?b", "https://example.com:8443/?b"), ("http://h:80/a", "http://h/a"),
            ("http://h:443/a", "http://h:443/a"),
        ])
    func urls(_ posted: String, _ seen: String) throws {
        let fields = try fields([.rfc9421], url: posted)
        #expect(try accepts(.rfc9421, Self.current.text, fields, url: seen))
    }

    @Test("is not posted unsigned: a key that is missing is an error")
    func missingKeys() throws {
        func failure(
            _ signatures: [OutboundSigner.Signature], _ keys: [StandardSigningKey], id: String = "msg_1",
            timestamp: Int64 = vectorTime
        ) -> StandardSigningError? {
            do throws(StandardSigningError) {
                _ = try OutboundSigner(signatures, keys: keys)
                    .fields(id: id, timestamp: timestamp, url: Self.url, body: vectorBody)
                return nil
            } catch { return error }
        }
        for signature in OutboundSigner.Signature.allCases { #expect(failure([signature], []) == .noKeys) }
        #expect(failure([.standard, .standardEd25519], [Self.current]) == .noKeys)
        // A private key is no shared secret, so it cannot sign for receivers that share one.
        #expect(failure([.hub], [.ed25519(Self.app)]) == .noKeys)
        #expect(failure([.stripe], [.ed25519(Self.app)]) == .noKeys)
        #expect(failure([.standard, .rfc9421], [.ed25519(Self.app)]) == nil)
        #expect(failure([.standard], [Self.current], id: "msg.1") == .invalidID)
        #expect(failure([.stripe], [Self.current], timestamp: -1) == .invalidTimestamp)
    }
}

@Suite("A public key") struct JSONWebKeyTests {
    /// RFC 8037, appendix A.3.
    @Test("is named by the standard's thumbprint")
    func thumbprint() throws {
        let bytes = try #require(Base64.decodeURL("11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"))
        let key = try #require(Ed25519PublicKey(bytes))
        #expect(key.thumbprint == "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k")
        #expect(
            key.jwk
                == #"{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo","kid":"kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k","use":"sig","alg":"EdDSA"}"#
        )
    }

    @Test("belongs to a key drawn from the source of randomness handed in")
    func generated() {
        let key = Ed25519PrivateKey.generate(from: CountingRandomSource())
        #expect(key.bytes.prefix(32) == countingUp(0...31)[...])
        #expect(key.publicKey.bytes == Ed25519PrivateKey(countingUp(0...31))?.publicKey.bytes)
    }
}
