import ChatCore
import ChatModel
import ChatSupport
import HTTPClient
import JSON
import Locking
import Signing
import TestSupport
import Testing

@testable import Webhooks

@Suite("A webhook with credentials", .timeLimit(.minutes(2))) struct CredentialTests {
    private static func create(
        _ fixture: WebhookFixture, _ receiver: ScriptedServer, _ members: String
    ) async throws -> Webhook {
        let body = try JSONDocument(Array(#"{"url":"\#(receiver.url())",\#(members)}"#.utf8))
        return try await fixture.registry.create(try WebhookSettings(body), by: WebhookFixture.owner).webhook
    }

    private static func oauth(_ tokens: ScriptedServer, _ more: String = "") -> String {
        #""auth":{"type":"oauth2","token_url":"\#(tokens.url("/token"))","client_id":"id:1","client_secret":"s&t"\#(more)}"#
    }

    /// Gives out `t1`, `t2`, …
    private static func tokenServer(life: Int = 3600) throws -> ScriptedServer {
        let count = Lock(0)
        return try ScriptedServer { _ in
            let number = count.withLock { count in
                count += 1
                return count
            }
            let body = #"{"access_token":"t\#(number)","token_type":"Bearer","expires_in":\#(life)}"#
            return .status(200, body: Array(body.utf8))
        }
    }

    @Test(
        "sends its header fields and its credentials",
        arguments: [
            (
                #""auth":{"type":"basic","username":"Aladdin","password":"open sesame"}"#,
                "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="
            ),
            (#""auth":{"type":"bearer","token":"abc"}"#, "Bearer abc"),
        ])
    func fixed(auth: String, expected: String) async throws {
        let receiver = try ScriptedServer()
        try await WebhookFixture.with { fixture in
            _ = try await Self.create(fixture, receiver, #"\#(auth),"headers":{"X-Api-Key":"k e y"}"#)
            try await fixture.emit()
            let request = try #require(await receiver.requests.wait(count: 1).first)
            #expect(request["authorization"] == expected)
            #expect(request["x-api-key"] == "k e y")
        }
    }

    @Test("gets a token once for many deliveries, and another one when it ends")
    func token() async throws {
        let (receiver, tokens) = (try ScriptedServer(), try Self.tokenServer())
        try await WebhookFixture.with { fixture in
            _ = try await Self.create(fixture, receiver, Self.oauth(tokens, #","scope":"a b","audience":"x""#))
            for _ in 0..<8 { try await fixture.emit() }
            await fixture.recorded(8)
            #expect(Set(receiver.requests.value.map { $0["authorization"] }) == ["Bearer t1"])
            let request = try #require(tokens.requests.value.first)
            #expect(tokens.requests.value.count == 1)
            #expect(request.text == "grant_type=client_credentials&scope=a%20b&audience=x")
            #expect(request["authorization"] == "Basic " + Base64.encode(Array("id%3A1:s%26t".utf8)))
            fixture.clock.advance(by: .seconds(3571))
            try await fixture.emit()
            await fixture.recorded(9)
            #expect(receiver.requests.value.last?["authorization"] == "Bearer t2")
        }
    }

    @Test("does not wait for a token that is being got with other credentials")
    func changedMeanwhile() async throws {
        let gate = Latch()
        defer { gate.open() }
        let first = try ScriptedServer { _ in
            .held(gate, then: .status(200, body: Array(#"{"access_token":"old"}"#.utf8)))
        }
        let second = try Self.tokenServer()
        let (before, after) = (try ScriptedServer(), try ScriptedServer())
        try await WebhookFixture.with { fixture in
            let webhook = try await Self.create(fixture, before, Self.oauth(first))
            try await fixture.emit()
            await first.requests.wait(count: 1)
            let patch = try JSONDocument(Array(#"{"url":"\#(after.url())",\#(Self.oauth(second))}"#.utf8))
            _ = try await fixture.registry.patch(webhook.id, with: patch, by: WebhookFixture.owner)
            try await fixture.emit()
            let request = await after.requests.wait(count: 1).first
            #expect(request?["authorization"] == "Bearer t1")
            gate.open()
        }
    }

    @Test("replaces a token that the receiver no longer accepts, within the attempt")
    func replaced() async throws {
        let tokens = try Self.tokenServer()
        let isRevoked = Lock(false)
        let receiver = try ScriptedServer { request in
            let isRefused = isRevoked.withLock { $0 } && request["authorization"] == "Bearer t1"
            return isRefused ? .status(401) : .status(204)
        }
        try await WebhookFixture.with { fixture in
            _ = try await Self.create(fixture, receiver, Self.oauth(tokens, #","client_auth":"body""#))
            try await fixture.emit()
            await fixture.recorded(1)
            isRevoked.withLock { $0 = true }
            fixture.clock.advance(by: .seconds(60))
            try await fixture.emit()
            await fixture.recorded(2)
            let delivery = try #require(try await fixture.deliveries().last)
            #expect(delivery.status == .delivered)
            #expect(delivery.attempts == 1)
            #expect(receiver.requests.value.count == 3)
            #expect(
                tokens.requests.value.first?.text
                    == "grant_type=client_credentials&client_id=id%3A1&client_secret=s%26t")
        }
    }

    @Test("asks for no other token when the receiver refuses one that is new")
    func refusedAlways() async throws {
        let (tokens, receiver) = (try Self.tokenServer(), try ScriptedServer { _ in .status(401) })
        try await WebhookFixture.with { fixture in
            _ = try await Self.create(fixture, receiver, Self.oauth(tokens))
            for _ in 0..<3 { try await fixture.emit() }
            await fixture.recorded(3)
            #expect(receiver.requests.value.count == 3)
            #expect(tokens.requests.value.count == 1)
            // The first refusal may be caused by the token, so time passes.
            fixture.clock.advance(by: .seconds(60))
            await fixture.recorded(6)
            #expect(tokens.requests.value.count == 2)
        }
    }

    @Test("counts the time for getting a token as part of the attempt")
    func oneDeadline() async throws {
        let gate = Latch()
        defer { gate.open() }
        let tokens = try ScriptedServer { _ in .held(gate, then: .status(200)) }
        let receiver = try ScriptedServer()
        try await WebhookFixture.with { fixture in
            let webhook = try await Self.create(fixture, receiver, Self.oauth(tokens))
            var request = OutboundRequest(method: "POST", url: receiver.url())
            request.totalTimeout = .milliseconds(200)
            let posts = PostTokens(client: fixture.client, clock: fixture.clock.wallClock)
            let result = await posts.send(request, to: webhook)
            #expect(result.failure?.reason == .timeout)
            #expect(result.failure?.sentence?.hasPrefix("The token endpoint") == true)
            #expect(receiver.requests.value.isEmpty)
        }
    }

    @Test("does not send one receiver's credentials to another")
    func movedReceiver() async throws {
        let other = "https://other.example/hook"
        @Sendable func patch(_ settings: WebhookSettings, _ members: String) throws -> WebhookSettings {
            try settings.merging(try JSONDocument(Array("{\(members)}".utf8)))
        }
        let secrets = #""headers":{"X-Key":"k"},"auth":{"type":"basic","username":"u","password":"p"}"#
        let settings = try patch(WebhookSettings(url: "https://one.example/hook"), secrets)
        for members in [
            #""url":"\#(other)""#, #""url":"http://one.example/hook""#, #""url":"https://one.example:8443/hook""#,
            #""url":"\#(other)","headers":["X-Key"],"auth":{"type":"basic","username":"u"}"#,
        ] {
            let refusal = try #require(throws: ChatError.self) { try patch(settings, members) }
            #expect(refusal.slug == "member_missing")
            #expect(refusal.faults.map(\.pointer) == ["#/headers/X-Key", "#/auth"], "\(members)")
        }
        #expect(try patch(settings, #""url":"\#(other)",\#(secrets)"#).url == other)
        #expect(try patch(settings, #""url":"\#(other)","headers":{"x-key":null},"auth":null"#).auth == nil)
        // The same receiver with another spelling or path.
        for url in ["https://one.example/other", "HTTPS://One.Example:443/hook", "https://one.example?a=1"] {
            #expect(try patch(settings, #""url":"\#(url)""#).headers.count == 1, "\(url)")
        }
    }

    @Test("fails the attempt when there is no token to be had, and tries again")
    func noToken() async throws {
        let isBroken = Lock(true)
        let tokens = try ScriptedServer { _ in
            isBroken.withLock { $0 }
                ? .status(400, body: Array(#"{"error":"invalid_client"}"#.utf8))
                : .status(200, body: Array(#"{"access_token":"t"}"#.utf8))
        }
        let receiver = try ScriptedServer()
        try await WebhookFixture.with { fixture in
            _ = try await Self.create(fixture, receiver, Self.oauth(tokens))
            try await fixture.emit()
            await fixture.recorded(1)
            #expect(receiver.requests.value.isEmpty)
            let failed = try #require(try await fixture.deliveries().first)
            let attempts = try await fixture.webhooks.deliveries.delivery(failed.id, by: WebhookFixture.owner).attempts
            #expect(attempts.first?.error == "response_invalid")
            #expect(
                attempts.first?.sentence
                    == "The token endpoint responded with 400, invalid_client. Nothing was sent to the receiver.")
            let log = try #require(attempts.first?.details).description
            #expect(log.contains(#""request_headers":[]"#), "no request was made")
            isBroken.withLock { $0 = false }
            fixture.clock.advance(by: .seconds(10))
            await fixture.recorded(2)
            #expect(receiver.requests.value.first?["authorization"] == "Bearer t")
        }
    }

    @Test("shows in a preview what would be sent, without its secrets")
    func preview() async throws {
        let receiver = try ScriptedServer()
        try await WebhookFixture.with { fixture in
            let webhook = try await Self.create(
                fixture, receiver,
                #""format":"flat","headers":{"X-Api-Key":"s3cret"},"auth":{"type":"bearer","token":"t0ken"}"#)
            let event = try await fixture.emit(data: #"{"a":1.10}"#)
            let request = try #require(await receiver.requests.wait(count: 1).first)
            let preview = try await fixture.registry.preview(webhook.id, of: event, by: WebhookFixture.owner)
            #expect(preview.method == "POST")
            #expect(preview.url == receiver.url())
            #expect(preview.body == request.body)
            let fields = Dictionary(preview.headers.map { ($0.name.lowercased(), $0.value) }, uniquingKeysWith: { $1 })
            #expect(fields["x-api-key"] == DeliveryAttempt.masked)
            #expect(fields["authorization"] == DeliveryAttempt.masked)
            for name in ["content-type", "webhook-id", "webhook-event-type", "webhook-channel"] {
                #expect(fields[name] == request[name], "\(name)")
            }
        }
    }

    @Test("shows in a preview the form of its signatures and none that is valid")
    func previewedSignatures() async throws {
        let receiver = try ScriptedServer()
        try await WebhookFixture.with { fixture in
            let webhook = try await Self.create(
                fixture, receiver,
                #""signatures":["standard","standard_ed25519","hub_sha256","stripe","rfc9421"]"#)
            let event = try await fixture.emit()
            let request = try #require(await receiver.requests.wait(count: 1).first)
            let preview = try await fixture.registry.preview(webhook.id, of: event, by: WebhookFixture.owner)
            let fields = Dictionary(preview.headers.map { ($0.name, $0.value) }, uniquingKeysWith: { $1 })
            #expect(fields["webhook-signature"] == "v1,(masked) v1a,(masked)")
            #expect(fields["x-hub-signature-256"] == "sha256=(masked)")
            #expect(fields["stripe-signature"]?.hasSuffix(",v1=(masked)") == true)
            #expect(fields["stripe-signature"]?.hasPrefix("t=1700000") == true)
            #expect(fields["signature"] == "sig1=:(masked):, sig2=:(masked):")
            #expect(fields["content-digest"] == request["content-digest"])
        }
    }

    @Test("is previewed only for channels and types the caller reaches")
    func previewedReach() async throws {
        let receiver = try ScriptedServer()
        try await WebhookFixture.with { fixture in
            let settings = WebhookSettings(
                url: receiver.url(), types: [.below("order.")], channels: [.below("orders.")])
            let webhook = try await fixture.registry.create(settings, by: WebhookFixture.owner).webhook
            let narrow = Caller(
                app: WebhookFixture.app, credential: "key_narrow", scopes: [.manage], channels: [.below("orders.")],
                types: [.below("order.")])
            _ = try await fixture.registry.preview(webhook.id, of: fixture.emit(), by: narrow)
            for (type, channel) in [("user.made", "orders.eu"), ("order.paid", "rooms.a"), ("order.paid", "$system")] {
                let draft = EventDraft(
                    channel: ChannelID(channel, in: WebhookFixture.app), type: type, data: .emptyObject)
                let event = Event(timetoken: fixture.clock.now, draft: draft)
                await #expect(throws: ChatError.self, "\(type) on \(channel)") {
                    _ = try await fixture.registry.preview(webhook.id, of: event, by: narrow)
                }
            }
        }
    }

    @Test("is tried with all it has")
    func test() async throws {
        let (receiver, tokens) = (try ScriptedServer(), try Self.tokenServer())
        try await WebhookFixture.with { fixture in
            let webhook = try await Self.create(fixture, receiver, #"\#(Self.oauth(tokens)),"format":"cloudevents""#)
            let attempt = try await fixture.webhooks.deliveries.test(webhook: webhook.id, by: WebhookFixture.owner)
            #expect(attempt.status == 204)
            let request = try #require(receiver.requests.value.first)
            #expect(request["authorization"] == "Bearer t1")
            #expect(request["content-type"] == "application/cloudevents+json")
        }
    }

    @Test("signs with every secret that is active, in every way, and not longer")
    func rotation() async throws {
        let receiver = try ScriptedServer()
        try await WebhookFixture.with { fixture in
            let issued = try await fixture.registry.create(
                WebhookSettings(url: receiver.url()), by: WebhookFixture.owner)
            let rotated = try await fixture.registry.rotateSecret(
                of: issued.webhook.id, overlap: .seconds(60), by: WebhookFixture.owner)
            try await fixture.emit()
            await fixture.recorded(1)
            fixture.clock.advance(by: .seconds(100))
            try await fixture.emit()
            await fixture.recorded(2)
            func accepts(_ secret: String, _ request: ReceivedRequest, at now: Int64) throws -> Bool {
                do throws(SignatureRejection) {
                    let key: StandardVerificationKey
                    do { key = try StandardVerificationKey(secret) } catch { return false }
                    try StandardVerifier([key]).verify(
                        id: request["webhook-id"] ?? "", timestamp: request["webhook-timestamp"] ?? "",
                        signature: request["webhook-signature"] ?? "", body: request.body, at: now)
                    return true
                } catch {
                    return false
                }
            }
            let requests = receiver.requests.value
            #expect(try requests.allSatisfy { try accepts(rotated.secret, $0, at: 1_700_000_050) })
            #expect(try requests.map { try accepts(issued.secret, $0, at: 1_700_000_050) } == [true, false])
        }
    }
}
