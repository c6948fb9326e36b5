import Signing
import Testing
import Text

@Suite("Signature schemes of other services") struct SignatureSchemesTests {
    struct Vector: Sendable, CustomTestStringConvertible {
        var scheme: SignatureSchemes
        var secret: String
        var headers: [(name: String, value: String)]
        var body = vectorBody
        var identity: DeliveryIdentity
        var testDescription: String { scheme.rawValue }

        /// The message of a vector; the header with the signature is first.
        func message(changing change: (inout Vector) -> Void = { _ in }) -> SignedMessage {
            var vector = self
            change(&vector)
            return SignedMessage(body: vector.body, headers: vector.headers)
        }
    }

    static let vectors: [Vector] = [
        // The provider's published vector.
        Vector(
            scheme: .github, secret: "It's a Secret to Everybody",
            headers: [
                ("X-Hub-Signature-256", "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"),
                ("X-GitHub-Delivery", "72d3162e-cc78-11e3-81ab-4c9367dc0958"),
            ], body: Array("Hello, World!".utf8), identity: .value("72d3162e-cc78-11e3-81ab-4c9367dc0958")),
        Vector(
            scheme: .github, secret: "topsecret",
            headers: [
                ("X-Hub-Signature-256", "sha256=6cc3ed3859853871c6b36b52ebed4167173507dde1216fe99a723e9787a16f92")
            ], identity: .none),
        Vector(
            scheme: .stripe, secret: "whsec_test_4eC39HqLyjWDarjtT1zdp7dc",
            headers: [
                (
                    "Stripe-Signature",
                    "t=1700000000,v1=d66f9fe9265a4baf3be1cb276470f98892992c70a7524e151cb3ed26e1d3d5a2"
                )
            ], identity: .bodyPointer("/id")),
        Vector(
            scheme: .slack, secret: "8f742231b10e8888abcd99baac85a5aa",
            headers: [
                ("X-Slack-Signature", "v0=e3a275f043aa71e000f2309192ead2029657a492c090cc9b38cb74717b3c6010"),
                ("X-Slack-Request-Timestamp", "1700000000"),
            ], body: Array("token=x&team_id=T1DC2JH3J&command=%2Fweather&text=94070".utf8),
            identity: .bodyPointer("/event_id")),
        Vector(
            scheme: .shopify, secret: "hush",
            headers: [
                ("X-Shopify-Hmac-Sha256", "UW0q0v7aKt828sdg6Xo7VwPyjqDUe8GnnB0gcFSfH/M="),
                ("X-Shopify-Webhook-Id", "b54"),
            ], identity: .value("b54")),
        Vector(
            scheme: .sendbird, secret: "sb_api_token",
            headers: [
                ("x-sendbird-signature", "4115c704044bd1ad96ed4a833ba2f13a6127cef5c76a1aa2fb08cdb1b68bc589")
            ], identity: .none),
        Vector(
            scheme: .stream, secret: "st_api_secret",
            headers: [
                ("X-Signature", "ca2c0984d64785725940ef39b21868a43df6f9e9932b95bfdd734f89dc33ebef"),
                ("X-Webhook-Id", "w1"),
            ], identity: .value("w1")),
        Vector(
            scheme: .standard, secret: "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYX",
            headers: [
                ("webhook-signature", "v1,5WYEnpahgWVNIuhRfh76nygQvFc5PCkBLIXqaeDRYq8="),
                ("webhook-id", "msg_2YtVJk0aQ9dWc7"), ("webhook-timestamp", "1700000000"),
            ], identity: .value("msg_2YtVJk0aQ9dWc7")),
        Vector(
            scheme: .standard, secret: "whpk_A6EHv/POEL4dcN0Y50vAmWfk1jCbpQ1fHdyGZBJVMbg=",
            headers: [
                (
                    "svix-signature",
                    "v1a,Bgri+dognZGmfSPwI1osji7fjY2nhoBgbveFxFnQjPUj2tuhPgyySBQehSPdHDBb0uHtb0cdmAJgGS8lLQbbDw=="
                ),
                ("svix-id", "msg_2YtVJk0aQ9dWc7"), ("svix-timestamp", "1700000000"),
            ], identity: .value("msg_2YtVJk0aQ9dWc7")),
    ]

    private func verdict(
        _ vector: Vector, _ message: SignedMessage, secrets: [String]? = nil, now: Int64 = vectorTime + 5
    ) throws -> SignatureRejection? {
        let scheme = try vector.scheme.scheme(secrets: secrets ?? [vector.secret])
        return rejection { () throws(SignatureRejection) in _ = try scheme.verify(message, at: now) }
    }

    @Test("accept their vectors and name the delivery", arguments: vectors)
    func accepted(_ vector: Vector) throws {
        let scheme = try vector.scheme.scheme(secrets: [vector.secret])
        #expect(try scheme.verify(vector.message(), at: vectorTime + 5) == vector.identity)
    }

    @Test("accept the previous secret while a rotation lasts", arguments: vectors)
    func rotation(_ vector: Vector) throws {
        let other = vector.scheme == .standard ? "whsec_AAEC" : "another"
        #expect(try verdict(vector, vector.message(), secrets: [other, vector.secret]) == nil)
        #expect(try verdict(vector, vector.message(), secrets: [other]) == .mismatch)
    }

    @Test("refuse a body with one byte changed, added or gone", arguments: vectors)
    func alteredBody(_ vector: Vector) throws {
        #expect(try verdict(vector, vector.message { $0.body[3] ^= 1 }) == .mismatch)
        #expect(try verdict(vector, vector.message { $0.body.append(0x0a) }) == .mismatch)
        #expect(try verdict(vector, vector.message { $0.body.removeLast() }) == .mismatch)
    }

    @Test("refuse a message without one of the headers they need", arguments: vectors)
    func missingHeader(_ vector: Vector) throws {
        for index in vector.headers.indices where !vector.headers[index].name.hasSuffix("Delivery") {
            let name = vector.headers[index].name
            // The id in these headers is only passed on, not signed.
            if ["X-Webhook-Id", "X-Shopify-Webhook-Id"].contains(name) { continue }
            #expect(try verdict(vector, vector.message { $0.headers.remove(at: index) }) != nil, "\(name)")
            #expect(try verdict(vector, vector.message { $0.headers[index].value = " " }) != nil, "\(name)")
        }
    }

    @Test(
        "refuse every malformed signature without failing otherwise",
        arguments: vectors,
        ["", "x", "=", ",", "sha256=", "v0=", "t=", "v1=", "t=1700000000", "t=1700000000,v1=zz", "é", "v1,"])
    func malformed(_ vector: Vector, _ text: String) throws {
        #expect(try verdict(vector, vector.message { $0.headers[0].value = text }) != nil)
    }

    @Test("read header names and hex in either case", arguments: vectors.filter { $0.scheme == .github })
    func spelling(_ vector: Vector) throws {
        let message = vector.message {
            $0.headers[0].name = "x-hub-signature-256"
            $0.headers[0].value = "sha256=" + $0.headers[0].value.dropFirst(7).uppercased()
        }
        #expect(try verdict(vector, message) == nil)
    }

    @Test("with a timestamp refuse what is too old or too new", arguments: vectors)
    func window(_ vector: Vector) throws {
        let signsTime = [.stripe, .slack, .standard].contains(vector.scheme)
        for age in [-301, 301] as [Int64] {
            let expected: SignatureRejection? = signsTime ? .outsideWindow(ageSeconds: age) : nil
            #expect(try verdict(vector, vector.message(), now: vectorTime + age) == expected)
        }
        for age in [-300, 300] as [Int64] {
            #expect(try verdict(vector, vector.message(), now: vectorTime + age) == nil)
        }
    }

    @Test("refuse a timestamp other than the signed one", arguments: vectors.filter { $0.scheme == .slack })
    func movedTimestamp(_ vector: Vector) throws {
        #expect(try verdict(vector, vector.message { $0.headers[1].value = "1700000001" }) == .mismatch)
    }

    @Test("take any of Stripe's v1 values and none of its other versions")
    func stripeAlternatives() throws {
        let vector = Self.vectors[2]
        let good = "d66f9fe9265a4baf3be1cb276470f98892992c70a7524e151cb3ed26e1d3d5a2"
        let bad = String(repeating: "0", count: 64)
        func verdict(_ header: String) throws -> SignatureRejection? {
            try self.verdict(vector, vector.message { $0.headers[0].value = header })
        }
        #expect(try verdict("t=1700000000,v1=\(bad),v1=\(good),v0=\(bad)") == nil)
        #expect(try verdict("v1=\(good), t=1700000000") == nil)
        #expect(try verdict("t=1700000000,v0=\(good)") == .headerMalformed("Stripe-Signature"))
        #expect(try verdict("t=1700000000,v1=\(bad)") == .mismatch)
        #expect(try verdict("v1=\(good)") == .headerMalformed("Stripe-Signature"))
        #expect(try verdict("t=1700000000,t=1,v1=\(good)") == .headerMalformed("Stripe-Signature"))
    }

    @Test("do not mix the header families of Standard Webhooks")
    func families() throws {
        let vector = Self.vectors.last { $0.scheme == .standard }!
        #expect(try verdict(vector, vector.message { $0.headers[1].name = "webhook-id" }) == .headerMissing("svix-id"))
    }

    @Test("are not set up without a secret")
    func noSecret() {
        var settings = SchemeSettings()
        settings.header = "X-Sign"
        for scheme in SignatureSchemes.allCases {
            #expect(throws: SignatureSchemeError.noSecret) { try scheme.scheme(secrets: [], settings: settings) }
            #expect(throws: SignatureSchemeError.secretInvalid) {
                try scheme.scheme(secrets: ["topsecret", ""], settings: settings)
            }
        }
        #expect(throws: SignatureSchemeError.secretInvalid) {
            try SignatureSchemes.standard.scheme(secrets: ["whsec_"])
        }
    }
}

@Suite("A scheme by template") struct TemplateSchemeTests {
    private func scheme(
        _ template: String, prefix: String = "", encoding: HMACScheme.Encoding = .hex,
        algorithm: HashAlgorithm = .sha256, timestampHeader: String? = "X-Time"
    ) throws -> HMACScheme {
        HMACScheme(
            [Secret(text: "topsecret")], signatureHeader: "X-Sign", prefix: prefix, encoding: encoding,
            algorithm: algorithm, template: try SignedTemplate(template), timestampHeader: timestampHeader,
            idHeader: "X-Id")
    }

    @Test("accepts the vector of timestamp and body")
    func vector() throws {
        let message = SignedMessage(
            body: vectorBody,
            headers: [
                ("X-Sign", "4da269e6bb016264bcf658ff8212bae83229bfde45b774cb6d147ce9669fd0f6"),
                ("X-Time", "1700000000"),
            ])
        #expect(try scheme("{ts}.{body}").verify(message, at: vectorTime) == .none)
        #expect(throws: SignatureRejection.mismatch) { try scheme("{ts}:{body}").verify(message, at: vectorTime) }
    }

    @Test("fills in every placeholder, with any hash and encoding")
    func placeholders() throws {
        let text = "a 7 1700000000 https://gw.example/in/x v {\"x\":1} z"
        for algorithm in HashAlgorithm.allCases {
            let scheme = try scheme(
                "a {id} {ts} {url} {header:X-Other} {body} z", prefix: "p:", encoding: .base64, algorithm: algorithm)
            let digest = MessageAuthentication.code(algorithm, of: Array(text.utf8), key: Secret(text: "topsecret"))
            let message = SignedMessage(
                body: Array("{\"x\":1}".utf8), url: "https://gw.example/in/x",
                headers: [
                    ("X-Sign", "p:" + Base64.encode(digest)), ("X-Time", "1700000000"), ("X-Id", "7"), ("X-Other", "v"),
                ])
            #expect(try scheme.verify(message, at: vectorTime) == .value("7"))
        }
    }

    @Test("refuses a message that lacks what the template asks for", arguments: ["{id}", "{url}", "{header:X-Other}"])
    func lacking(_ placeholder: String) throws {
        // Signed as if the value were an empty string.
        let digest = MessageAuthentication.code(.sha256, of: vectorBody, key: Secret(text: "topsecret"))
        let message = SignedMessage(body: vectorBody, headers: [("X-Sign", Hex.encode(digest))])
        #expect(throws: SignatureRejection.self) {
            try scheme(placeholder + "{body}", timestampHeader: nil).verify(message, at: vectorTime)
        }
    }

    @Test(
        "is refused when malformed or without the body",
        arguments: ["", "x", "{ts}", "{body", "{what}{body}", "{header:}{body}"])
    func malformed(_ text: String) {
        #expect(throws: SignatureSchemeError.templateInvalid) { try SignedTemplate(text) }
    }
}

@Suite("A replay window") struct ReplayWindowTests {
    @Test(
        "stays between half a minute and an hour", arguments: [(0, 30), (30, 30), (301, 301), (9999, 3600), (-5, 30)])
    func bounds(_ seconds: Int64, _ kept: Int64) {
        #expect(ReplayWindow(seconds: seconds).seconds == kept)
    }
}
