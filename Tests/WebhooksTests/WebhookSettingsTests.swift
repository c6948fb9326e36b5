import ChatCore
import ChatModel
import HTTPClient
import JSON
import Signing
import Testing

@testable import Webhooks

@Suite("Settings of a webhook") struct WebhookSettingsTests {
    private static func document(_ text: String) throws -> JSONDocument { try JSONDocument(Array(text.utf8)) }

    private static let full = #"""
        {"url":"https://example.com/hook","types":["order.*"],"channels":["orders.eu"],"filter":"data.a > 1",
        "description":"x","concurrency":3,"format":"template","template":{"t":"{event/id}"},
        "headers":{"X-Api-Key":"s3cret","X-Other":"o"},"auth":{"type":"basic","username":"u","password":"pässword"},
        "signatures":["standard","hub_sha256"],"retry":{"delays_seconds":[1,0.5,3600]},"timeout_seconds":20,
        "rate_per_second":2.5,"ordering":"per_channel","batch":{"max_events":50,"max_bytes":65536},
        "verification":"echo"}
        """#

    private static func webhook(_ settings: WebhookSettings) -> Webhook {
        Webhook(
            id: "wh_1", app: WebhookFixture.app, settings: settings,
            secrets: [WebhookSecret(key: .generate(from: SystemRandomSource()))], since: 5, created: 6, updated: 7)
    }

    private static func record(_ body: JSONText) -> Record {
        Record(key: RecordKey(.webhook, "wh_1", in: WebhookFixture.app), body: body, etag: "1", updated: 7)
    }

    @Test("are read, and printed without their secrets")
    func printing() throws {
        let webhook = Self.webhook(try WebhookSettings(try Self.document(Self.full)))
        let text = webhook.printed()
        let root = try JSONDocument(text).root
        #expect(root["headers"]?.strings == ["X-Api-Key", "X-Other"])
        #expect(root["auth"]?["username"]?.string == "u")
        #expect(root["retry"]?["delays_seconds"]?.elements?.compactMap(\.double) == [1, 0.5, 3600])
        #expect(root["timeout_seconds"]?.integer == 20)
        #expect(root["rate_per_second"]?.double == 2.5)
        #expect(root["ordering"]?.string == "per_channel")
        #expect(root["batch"]?["max_events"]?.integer == 50)
        #expect(root["template"]?["t"]?.string == "{event/id}")
        #expect(root["verification"]?.string == "echo")
        for secret in ["s3cret", "pässword", "whsec_"] { #expect(!text.description.contains(secret)) }
    }

    @Test("that were printed can be sent back, and keep their secrets")
    func roundTrip() throws {
        let settings = try WebhookSettings(try Self.document(Self.full))
        let printed = try JSONDocument(Self.webhook(settings).printed()).root
        var patch = JSONWriter()
        patch.beginObject()
        for name in ["headers", "auth", "retry", "template", "batch"] {
            guard let text = Self.webhook(settings).printed().rawMember(name) else { continue }
            #expect(printed[name] != nil)
            patch.key(text: name)
            patch.raw(text)
        }
        patch.endObject()
        let merged = try settings.merging(try JSONDocument(patch.bytes))
        #expect(merged.headers == settings.headers)
        #expect(merged.auth == settings.auth)
        #expect(merged.batch == settings.batch)
    }

    @Test("lose what null names, one header alone too")
    func removal() throws {
        let settings = try WebhookSettings(try Self.document(Self.full))
        let fewer = try settings.merging(try Self.document(#"{"headers":{"x-api-key":null},"auth":null,"batch":null}"#))
        #expect(fewer.headers.map(\.name) == ["X-Other"])
        #expect(fewer.auth == nil)
        #expect(fewer.batch == nil)
        #expect(try settings.merging(try Self.document(#"{"format":"flat"}"#)).template == nil)
        var early = settings
        early.headers.append(HeaderField("traceparent", "taken before it was refused"))
        let late = try early.merging(try Self.document(#"{"headers":{"traceparent":null}}"#))
        #expect(late.headers == settings.headers)
        let kept = try settings.merging(try Self.document(#"{"headers":["X-Api-Key"]}"#))
        #expect(kept.headers == [HeaderField("X-Api-Key", "s3cret")])
        #expect(try settings.merging(try Self.document(#"{"headers":null}"#)).headers.isEmpty)
    }

    @Test("keep no secret for another address or name")
    func keptSecrets() throws {
        let oauth = #"{"type":"oauth2","token_url":"https://a.example/t","client_id":"c","client_secret":"s"}"#
        let settings = try WebhookSettings(try Self.document(#"{"url":"https://e.com","auth":\#(oauth)}"#))
        let same = #"{"auth":{"type":"oauth2","token_url":"https://a.example/t","client_id":"c","scope":"x"}}"#
        guard case .oauth2(let kept) = try settings.merging(try Self.document(same)).auth else {
            Issue.record("no OAuth")
            return
        }
        #expect(kept.clientSecret == "s" && kept.scope == "x")
        let elsewhere = #"{"auth":{"type":"oauth2","token_url":"https://evil.example/t","client_id":"c"}}"#
        #expect(throws: ChatError.self) { try settings.merging(try Self.document(elsewhere)) }
    }

    @Test(
        "are refused with the place of each mistake and the code emits answer",
        arguments: [
            (#"{"tpyes":1}"#, "#/tpyes", "unknown_member"), (#"{"url":1}"#, "#/url", "wrong_type"),
            (#"{"format":"template"}"#, "#/template", "member_missing"),
            (#"{"template":{"a":1}}"#, "#/template", "bad_member"),
            (#"{"format":"template","template":"{nowhere/x}"}"#, "#/template", "bad_member"),
            (#"{"headers":{"Host":"x"}}"#, "#/headers/Host", "bad_member"),
            (#"{"headers":{"webhook-id":"x"}}"#, "#/headers/webhook-id", "bad_member"),
            (#"{"headers":{"Content-Length":"1"}}"#, "#/headers/Content-Length", "bad_member"),
            (#"{"headers":{"Stripe-Signature":"1"}}"#, "#/headers/Stripe-Signature", "bad_member"),
            (#"{"headers":{"Traceparent":"1"}}"#, "#/headers/Traceparent", "bad_member"),
            (#"{"headers":{"tracestate":"a=b"}}"#, "#/headers/tracestate", "bad_member"),
            (#"{"headers":{"a b":"1"}}"#, "#/headers/a b", "bad_member"),
            (#"{"headers":{"X":"a\r\nEvil: 1"}}"#, "#/headers/X", "bad_member"),
            (#"{"headers":{"X":"a\nb"}}"#, "#/headers/X", "bad_member"),
            (#"{"headers":{"X":" a"}}"#, "#/headers/X", "bad_member"),
            (#"{"headers":["X"]}"#, "#/headers/0", "unknown_member"),
            (#"{"auth":{"type":"digest"}}"#, "#/auth/type", "bad_member"),
            (#"{"auth":{"type":"bearer"}}"#, "#/auth", "member_missing"),
            (#"{"auth":{"type":"bearer","token":"a\nb"}}"#, "#/auth/token", "bad_member"),
            (#"{"auth":{"type":"bearer","token":"tökén"}}"#, "#/auth/token", "bad_member"),
            (#"{"auth":{"type":"basic","username":"a:b","password":"c"}}"#, "#/auth/username", "bad_member"),
            (#"{"tls":{"certificate":"x"}}"#, "#/tls", "bad_member"),
            (#"{"signatures":[]}"#, "#/signatures", "bad_member"),
            (#"{"signatures":[1]}"#, "#/signatures/0", "wrong_type"),
            (#"{"types":["a",{}]}"#, "#/types/1", "wrong_type"),
            (#"{"tls":{"ca":1}}"#, "#/tls/ca", "wrong_type"),
            (#"{"auth":7}"#, "#/auth", "wrong_type"),
            (#"{"auth":{"type":"basic","pasword":"x"}}"#, "#/auth/pasword", "unknown_member"),
            (#"{"batch":{"max_bytes":1}}"#, "#/batch/max_bytes", "bad_member"),
            (#"{"signatures":["md5"]}"#, "#/signatures/0", "bad_member"),
            (#"{"retry":[1]}"#, "#/retry", "wrong_type"),
            (#"{"retry":{"delays_seconds":[2592001]}}"#, "#/retry/delays_seconds/0", "bad_member"),
            (#"{"timeout_seconds":4}"#, "#/timeout_seconds", "bad_member"),
            (#"{"timeout_seconds":31}"#, "#/timeout_seconds", "bad_member"),
            (#"{"rate_per_second":0}"#, "#/rate_per_second", "bad_member"),
            (#"{"ordering":"total"}"#, "#/ordering", "bad_member"),
            (#"{"batch":{"max_events":501}}"#, "#/batch/max_events", "bad_member"),
            (#"{"format":"cloudevents","batch":{"max_events":5}}"#, "#/batch", "bad_member"),
            (#"{"verification":"maybe"}"#, "#/verification", "bad_member"),
            (#"{"headers":{"Authorization":"x"},"auth":{"type":"bearer","token":"t"}}"#, "#/headers", "bad_member"),
        ])
    func mistakes(text: String, pointer: String, slug: String) throws {
        let whole = text == #"{"url":1}"# ? text : #"{"url":"https://e.com","# + text.dropFirst()
        do {
            _ = try WebhookSettings(try Self.document(whole))
            Issue.record("accepted: \(whole)")
        } catch let error as ChatError {
            #expect(error.faults.map(\.pointer).contains(pointer), "\(error.faults)")
            #expect(error.slug == slug)
        }
    }

    // MARK: TLS

    /// A self-signed certificate and its key.
    private static let certificate = """
        -----BEGIN CERTIFICATE-----
        MIIBdTCCARugAwIBAgIUT+CMPAT6QL7wo6A13Inw+ZVGlAMwCgYIKoZIzj0EAwIw
        DzENMAsGA1UEAwwEdGVzdDAgFw0yNjExMjEyMDEwMjFaGA8yMTI2MTAyODIwMTAy
        MVowDzENMAsGA1UEAwwEdGVzdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABPYY
        cIlEZbKUBcSZwQcHpcSnfXNkLdPqTis05bWRyoFXvj9jHrLOSbCfborhJju/LEQw
        Kh3TxwdKhLyTKHT/IxWjUzBRMB0GA1UdDgQWBBSUN0ralrxWfWAiy38Ni7mQ0q/U
        4DAfBgNVHSMEGDAWgBSUN0ralrxWfWAiy38Ni7mQ0q/U4DAPBgNVHRMBAf8EBTAD
        AQH/MAoGCCqGSM49BAMCA0gAMEUCIF8otpHZK/Mbs2QWQuBlBPEGGx/jqAy653Yy
        2uqfvFzkAiEA+I89nPQOMSNnk+Lk+wQ5mnO+01AWqbv0ma/HVtGCCL4=
        -----END CERTIFICATE-----
        """
    private static let key = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgjnXTNQTSw3jm5pMu
        JFXLuMHcoC1h667c/5+UNyjdeUuhRANCAAT2GHCJRGWylAXEmcEHB6XEp31zZC3T
        6k4rNOW1kcqBV74/Yx6yzkmwn26K4SY7vyxEMCod08cHSoS8kyh0/yMV
        -----END PRIVATE KEY-----
        """

    @Test("show a client certificate, keep its key to themselves, and check that they belong together")
    func clientCertificate() async throws {
        @Sendable func document(_ members: [(String, String)], url: String = "https://e.com") throws -> JSONDocument {
            var writer = JSONWriter()
            writer.beginObject()
            writer.member("url", url)
            writer.key("tls")
            writer.beginObject()
            for (name, value) in members {
                writer.key(text: name)
                writer.string(value)
            }
            writer.endObject()
            writer.endObject()
            return try JSONDocument(writer.bytes)
        }
        let pair = [("certificate", Self.certificate), ("private_key", Self.key)]
        let settings = try WebhookSettings(try document(pair))
        #expect(!Self.webhook(settings).printed().description.contains("PRIVATE KEY"))
        // The same certificate without its key keeps the stored key; another certificate does not.
        let kept = try settings.merging(try document([("certificate", Self.certificate), ("ca", Self.certificate)]))
        #expect(kept.tls?.privateKey == Self.key)
        #expect(throws: ChatError.self) {
            try settings.merging(try document([("certificate", Self.certificate + "\n")]))
        }
        let vault = try Vault([Secret(Array(repeating: 7, count: 32))])
        let body = Self.webhook(settings).body(vault)
        #expect(!body.description.contains("PRIVATE KEY"))
        let read = try #require(Webhook(Self.record(body), vault))
        #expect(read.settings.tls?.privateKey == Self.key)
        let plan = PostPlan(read, at: 10, WebhookOptions(), FormatTable(publicURL: ""))
        let request = try plan.request(
            PostContent(body: Array("{}".utf8)), id: "evt_1", attempt: 1, event: nil, at: 10)
        #expect(request.tls != nil)
        try await WebhookFixture.with { fixture in
            let plain = try WebhookSettings(try document(pair, url: "http://127.0.0.1:9/"))
            await #expect(throws: ChatError.self) {
                _ = try await fixture.registry.create(plain, by: WebhookFixture.owner)
            }
        }
    }

    @Test("have a certificate tried when a request brings it, and not whenever the record is read")
    func certificateIsTriedOnce() async throws {
        let broken = Self.key.replacing("MIGH", with: "MIGI")
        var settings = WebhookSettings(url: "https://127.0.0.1:8443/")
        settings.tls = try WebhookTLS(certificate: Self.certificate, privateKey: broken, authorities: nil)
        let read = try #require(Webhook(Self.record(Self.webhook(settings).body(Vault())), Vault()))
        #expect(read.settings.tls?.privateKey == broken)
        try await WebhookFixture.with { [settings] fixture in
            let refusal = await #expect(throws: ChatError.self) {
                _ = try await fixture.registry.create(settings, by: WebhookFixture.owner)
            }
            #expect(refusal?.faults.map(\.pointer) == ["#/tls"])
            let plain = WebhookSettings(url: settings.url)
            let id = try await fixture.registry.create(plain, by: WebhookFixture.owner).webhook.id
            await #expect(throws: ChatError.self) {
                let tls = #"{"tls":{"certificate":"\#(Self.certificate)","private_key":"\#(broken)"}}"#
                let patch = try Self.document(tls.replacing("\n", with: #"\n"#))
                _ = try await fixture.registry.patch(id, with: patch, by: WebhookFixture.owner)
            }
        }
    }

    // MARK: The record

    @Test("come back from the record, whose secrets are sealed", arguments: [false, true])
    func record(isSealed: Bool) throws {
        let vault = isSealed ? try Vault([Secret(Array(repeating: 7, count: 32))]) : Vault()
        let webhook = Self.webhook(try WebhookSettings(try Self.document(Self.full)))
        let body = webhook.body(vault)
        if isSealed {
            for secret in ["s3cret", "pässword", "whsec_"] { #expect(!body.description.contains(secret)) }
        }
        let read = try #require(Webhook(Self.record(body), vault))
        var written = webhook
        written.etag = read.etag
        #expect(read.printed() == written.printed())
        #expect(read.settings.headers == webhook.settings.headers)
        #expect(read.settings.auth == webhook.settings.auth)
        #expect(read.secrets.map(\.key.text) == webhook.secrets.map(\.key.text))
        // Unchanged secrets are not encrypted again, so the record keeps its etag.
        #expect(read.body(vault) == body)
        if isSealed { #expect(Webhook(Self.record(body), Vault()) == nil) }
    }

    @Test("of a record from before all this are read as they were")
    func oldRecord() throws {
        let old = #"""
            {"url":"https://example.com/hook","types":["order.*"],"channels":["*"],"filter":"data.a > 1","description":"x",
            "concurrency":3,"status":"disabled","status_reason":"by hand",
            "secrets":[{"key":"whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYX"},
            {"key":"whsec_GBkaGxwdHh8gISIjJCUmJygpKissLS4v","until":"17000000000000000"}],
            "since":"16999999999999999","created":"16999999999999998"}
            """#
        let webhook = try #require(Webhook(Self.record(JSONText(trusted: Array(old.utf8))), Vault()))
        #expect(webhook.settings.url == "https://example.com/hook")
        #expect(webhook.settings.types == [.below("order.")])
        #expect(webhook.settings.format == "envelope")
        #expect(webhook.settings.signatures == [.standard])
        #expect(webhook.settings.ordering == .none)
        #expect(webhook.status == .disabled)
        #expect(webhook.secrets.count == 2)
        #expect(webhook.secrets[0].key.text == "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYX")
        #expect(webhook.since == 16_999_999_999_999_999)
    }

    @Test("decide how the queue treats the webhook")
    func lane() async throws {
        try await WebhookFixture.with { fixture in
            var settings = WebhookSettings(url: "https://example.com/")
            settings.ordering = .strict
            settings.batch = WebhookBatch(events: 20)
            settings.ratePerSecond = 5
            settings.concurrency = 2
            var webhook = Self.webhook(settings)
            webhook.allowedPerMinute = 60
            let lane = fixture.registry.lane(of: webhook)
            #expect(lane.state == .open && lane.concurrency == 2 && lane.ordering == .strict)
            #expect(lane.deliveriesPerAttempt == 20 && lane.rate == 1)
        }
    }

    @Test(
        "are refused where this deployment cannot serve them",
        arguments: [
            #"{"url":"https://example.com/","format":"sendbird"}"#, #"{"url":"https://example.com/","format":"xml"}"#,
            #"{"url":"https://example.com/","auth":{"type":"oauth2","token_url":"http://10.0.0.1/t","client_id":"c","client_secret":"s"}}"#,
        ])
    func deployment(text: String) async throws {
        try await WebhookFixture.with { fixture in
            let settings = try WebhookSettings(try Self.document(text))
            await #expect(throws: ChatError.self) {
                _ = try await fixture.registry.create(settings, by: WebhookFixture.owner)
            }
        }
    }
}
