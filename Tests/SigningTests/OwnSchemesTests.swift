import Signing
import Testing
import Text

@Suite("Pusher's scheme") struct PusherTests {
    private static let body = Array(
        #"{"time_ms":1700000000000,"events":[{"name":"channel_occupied","channel":"general"}]}"#.utf8)
    private static let signature = "5975b1d79b6eb9733cb79d493be65f2db5680da950a5e507ffd3b5dde6466089"

    private func verdict(
        _ body: [UInt8] = body, signature: String? = nil, now: Int64 = vectorTime
    ) throws -> SignatureRejection? {
        let code = MessageAuthentication.code(.sha256, of: body, key: Secret(text: "psecret"))
        let message = SignedMessage(
            body: body, headers: [("X-Pusher-Key", "pkey"), ("X-Pusher-Signature", signature ?? Hex.encode(code))])
        let scheme = try SignatureSchemes.pusher.scheme(secrets: ["psecret"])
        return rejection { () throws(SignatureRejection) in _ = try scheme.verify(message, at: now) }
    }

    @Test("accepts the vector, and no other body")
    func vector() throws {
        #expect(try verdict(signature: Self.signature) == nil)
        #expect(try verdict(Self.body + [0x20], signature: Self.signature) == .mismatch)
    }

    @Test("takes the time from the body")
    func window() throws {
        #expect(try verdict(now: vectorTime + 300) == nil)
        #expect(try verdict(now: vectorTime + 301) == .outsideWindow(ageSeconds: 301))
        #expect(try verdict(now: vectorTime - 301) == .outsideWindow(ageSeconds: -301))
    }

    @Test(
        "finds the time only where it belongs, and only as a plain number",
        arguments: [
            (#"{ "a" : {"time_ms": 1}, "time_ms" : 1700000000000 }"#, true),
            (#"{"a":"\"time_ms\":1","b":["time_ms"],"time_ms":1700000000000}"#, true),
            (#"{"a":{"time_ms":1700000000000}}"#, false), (#"[{"time_ms":1700000000000}]"#, false),
            (#"{"time_ms":"1700000000000"}"#, false), (#"{"time_ms":1700000000000.5}"#, false),
            (#"{"time_ms":1700000000000e0}"#, false), (#"{"time_ms":-1700000000000}"#, false),
            (#"{"time_ms":1700000000000,"time_ms":1700000000000}"#, false),
            (#"{"time_ms":1700000000000,"time_ms":1}"#, false), (#"{"x":"time_ms":1700000000000"#, false), ("", false),
            (#""time_ms":1700000000000"#, false), (#"{"time_ms"#, false), (#"{"\"#, false),
        ])
    func time(_ body: String, _ isFound: Bool) throws {
        #expect(try (verdict(Array(body.utf8)) == nil) == isFound)
    }
}

@Suite("An Ed25519 scheme") struct Ed25519SchemeTests {
    private static let signature =
        "20fa3f3089d85c50e4d4bde71389a2c6656ebf41e597ddc92ae085bea9372b5226605426502b64ba24ff4a6ae10b02b7f71bdd0ee0a6db67b492fad023b04302"
    private static let key = "03a107bff3ce10be1d70dd18e74bc09967e4d6309ba50d5f1ddc8664125531b8"

    private func verdict(
        key: String = key, headers: [SignedMessage.Field] = headers, body: [UInt8] = vectorBody,
        now: Int64 = vectorTime, _ settings: SchemeSettings = SchemeSettings()
    ) throws -> SignatureRejection? {
        let scheme = try SignatureSchemes.ed25519.scheme(secrets: [key], settings: settings)
        let message = SignedMessage(body: body, headers: headers)
        return rejection { () throws(SignatureRejection) in _ = try scheme.verify(message, at: now) }
    }

    private static let headers: [SignedMessage.Field] = [
        ("X-Signature-Ed25519", signature), ("X-Signature-Timestamp", "1700000000"),
    ]

    @Test(
        "accepts Discord's vector, the key in any of its spellings",
        arguments: [
            key, key.uppercased(), "whpk_A6EHv/POEL4dcN0Y50vAmWfk1jCbpQ1fHdyGZBJVMbg=",
            "A6EHv/POEL4dcN0Y50vAmWfk1jCbpQ1fHdyGZBJVMbg=",
        ])
    func vector(_ key: String) throws { #expect(try verdict(key: key) == nil) }

    @Test("refuses what was changed, and what is too old or too new")
    func refused() throws {
        #expect(try verdict(body: vectorBody + [0x20]) == .mismatch)
        let moved: [SignedMessage.Field] = [Self.headers[0], ("X-Signature-Timestamp", "1700000001")]
        #expect(try verdict(headers: moved) == .mismatch)
        #expect(try verdict(headers: [Self.headers[0]]) == .headerMissing("X-Signature-Timestamp"))
        #expect(try verdict(now: vectorTime + 301) == .outsideWindow(ageSeconds: 301))
        for text in ["00", "zz", String(Self.signature.dropLast(2)), Self.signature + "00"] {
            let changed: [SignedMessage.Field] = [("X-Signature-Ed25519", text), Self.headers[1]]
            #expect(try verdict(headers: changed) == .headerMalformed("X-Signature-Ed25519"))
        }
    }

    @Test("takes headers and text of the owner's choice, but signs the time in any case")
    func settings() throws {
        var settings = SchemeSettings()
        settings.header = "X-Sig"
        settings.timestampHeader = "X-Time"
        settings.template = "{ts}{body}"
        settings.idHeader = "X-Id"
        let headers: [SignedMessage.Field] = [("X-Sig", Self.signature), ("X-Time", "1700000000")]
        #expect(try verdict(headers: headers, settings) == nil)
        settings.template = "{body}"
        #expect(throws: SignatureSchemeError.templateInvalid) {
            try SignatureSchemes.ed25519.scheme(secrets: [Self.key], settings: settings)
        }
    }

    @Test(
        "is not created with an invalid key", arguments: ["secret", String(key.dropLast(2)), "whsec_AAEC", "whpk_AAEC"])
    func keys(_ text: String) {
        #expect(throws: SignatureSchemeError.secretInvalid) { try SignatureSchemes.ed25519.scheme(secrets: [text]) }
    }
}

@Suite("A scheme of the owner's description") struct GenericSchemeTests {
    private static let timed: SchemeSettings = {
        var settings = SchemeSettings()
        settings.header = "X-Sign"
        settings.timestampHeader = "X-Time"
        return settings
    }()
    private static let headers: [SignedMessage.Field] = [
        ("X-Sign", "4da269e6bb016264bcf658ff8212bae83229bfde45b774cb6d147ce9669fd0f6"), ("X-Time", "1700000000"),
    ]

    private func verdict(
        _ settings: SchemeSettings, headers: [SignedMessage.Field] = headers, now: Int64 = vectorTime
    ) throws -> SignatureRejection? {
        let scheme = try SignatureSchemes.generic.scheme(secrets: ["topsecret"], settings: settings)
        let message = SignedMessage(body: vectorBody, headers: headers)
        return rejection { () throws(SignatureRejection) in _ = try scheme.verify(message, at: now) }
    }

    private func refusal(_ change: (inout SchemeSettings) -> Void) -> SignatureSchemeError? {
        var settings = SchemeSettings()
        change(&settings)
        do {
            _ = try SignatureSchemes.generic.scheme(secrets: ["topsecret"], settings: settings)
            return nil
        } catch { return error }
    }

    @Test("accepts the vector of time and body")
    func vector() throws {
        #expect(try verdict(Self.timed) == nil)
        #expect(try verdict(Self.timed, now: vectorTime + 301) == .outsideWindow(ageSeconds: 301))
        var settings = Self.timed
        settings.template = "{ts}:{body}"
        #expect(try verdict(settings) == .mismatch)
    }

    @Test("reads prefix, encoding and algorithm as described")
    func described() throws {
        var settings = SchemeSettings()
        settings.header = "X-Sign"
        settings.prefix = "v="
        settings.encoding = .base64
        settings.algorithm = .sha512
        let code = MessageAuthentication.code(.sha512, of: vectorBody, key: Secret(text: "topsecret"))
        #expect(try verdict(settings, headers: [("X-Sign", "v=" + Base64.encode(code))]) == nil)
        #expect(try verdict(settings, headers: [("X-Sign", Base64.encode(code))]) == .headerMalformed("X-Sign"))
    }

    @Test("is not created where it would check less than it declares")
    func incomplete() {
        #expect(refusal { _ in } == .settingMissing(.header))
        #expect(refusal { $0.header = "X Sign" } == .settingInvalid(.header))
        #expect(refusal { ($0.header, $0.idHeader) = ("X-Sign", "") } == .settingInvalid(.idHeader))
        #expect(refusal { ($0.header, $0.template) = ("X-Sign", "{ts}.{body}") } == .settingMissing(.timestampHeader))
        #expect(refusal { ($0.header, $0.template) = ("X-Sign", "{id}.{body}") } == .settingMissing(.idHeader))
        #expect(refusal { ($0.header, $0.template) = ("X-Sign", "{ts}") } == .templateInvalid)
        #expect(
            refusal { ($0.header, $0.timestampHeader, $0.template) = ("X-Sign", "X-Time", "{body}") }
                == .templateInvalid)
        #expect(refusal { $0.header = "X-Sign" } == nil)
    }
}

@Suite("A token sent along") struct TokenSchemeTests {
    private static func settings(_ prefix: String? = nil) -> SchemeSettings {
        var settings = SchemeSettings()
        settings.header = "X-Gitlab-Token"
        settings.prefix = prefix
        settings.idHeader = "X-Gitlab-Event-UUID"
        return settings
    }

    private func identity(_ value: String, prefix: String? = nil) throws -> DeliveryIdentity {
        let scheme = try SignatureSchemes.token.scheme(secrets: ["previous", "hush"], settings: Self.settings(prefix))
        let headers = [("X-Gitlab-Token", value), ("X-Gitlab-Event-UUID", "13792a34")]
        return try scheme.verify(SignedMessage(body: vectorBody, headers: headers), at: vectorTime)
    }

    @Test("is compared with every secret, after its prefix")
    func accepted() throws {
        #expect(try identity("hush") == .value("13792a34"))
        #expect(try identity("previous") == .value("13792a34"))
        #expect(try identity("Bearer hush", prefix: "Bearer ") == .value("13792a34"))
    }

    @Test(
        "is refused when it differs in any way",
        arguments: ["hus", "hush2", "HUSH", "h", "hush,previous", "Bearer hush"])
    func refused(_ value: String) {
        #expect(throws: SignatureRejection.mismatch) { try identity(value) }
        #expect(throws: SignatureRejection.self) { try identity(value, prefix: "Token ") }
    }

    @Test("needs to know its header")
    func header() {
        #expect(throws: SignatureSchemeError.settingMissing(.header)) {
            try SignatureSchemes.token.scheme(secrets: ["hush"])
        }
    }
}
