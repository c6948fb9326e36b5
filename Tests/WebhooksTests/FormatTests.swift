import ChatCore
import ChatModel
import ChatSupport
import HTTPClient
import JSON
import Signing
import TestSupport
import Testing

@testable import Webhooks

@Suite("A webhook's format") struct FormatTests {
    private static let subscriber = SubscriberID("wh_1", in: AppID("demo"))
    private static let event: Event = {
        var draft = EventDraft(
            channel: ChannelID("Euro € 😀", in: subscriber.app), type: "order.paid",
            data: JSONText(trusted: Array(#"{"amount":100.10,"user":"forged","note":"a\"b"}"#.utf8)), user: "ana")
        draft.schema = SchemaReference(type: "order.paid", version: 3)
        return Event(timetoken: WebhookFixture.start, draft: draft)
    }()

    private static func content(
        _ name: BuiltInFormat, _ event: Event = event, trace: TraceContext? = nil
    ) throws -> PostContent {
        let format = try #require(
            FormatTable(publicURL: "https://gw.example").format(of: WebhookSettings(url: "", format: name)))
        return try format.content(of: event.envelope.bytes, trace: trace, for: subscriber)
    }

    @Test("envelope is the event byte for byte")
    func envelope() throws {
        let content = try Self.content(.envelope)
        #expect(content.body == Self.event.envelope.bytes)
        #expect(content.contentType == "application/json")
    }

    @Test("flat has the payload's members at the top, and its facts cannot be forged by them")
    func flat() throws {
        let text = String(decoding: try Self.content(.flat).body, as: UTF8.self)
        #expect(
            text
                == #"{"event_id":"evt_17000000000000000","event_type":"order.paid","channel":"Euro € 😀","user":"ana","timetoken":"17000000000000000","amount":100.10,"note":"a\"b"}"#
        )
        let draft = EventDraft(
            channel: ChannelID("c", in: Self.subscriber.app), type: "t", data: JSONText(trusted: Array("[1]".utf8)))
        let list = try Self.content(.flat, Event(timetoken: WebhookFixture.start, draft: draft))
        #expect(String(decoding: list.body, as: UTF8.self).hasSuffix(#""data":[1]}"#))
    }

    @Test("cloudevents names app, channel and schema, and keeps the payload's bytes")
    func structured() throws {
        let content = try Self.content(.cloudevents)
        #expect(content.contentType == "application/cloudevents+json")
        let root = try JSONDocument(content.body).root
        #expect(root["specversion"]?.string == "1.0")
        #expect(root["id"]?.string == "evt_17000000000000000")
        #expect(root["source"]?.string == "/apps/demo/channels/Euro%20%E2%82%AC%20%F0%9F%98%80")
        #expect(root["type"]?.string == "order.paid")
        #expect(root["time"]?.string == Self.event.timetoken.timestamp)
        #expect(root["subject"]?.string == "Euro € 😀")
        #expect(root["partitionkey"]?.string == "Euro € 😀")
        #expect(root["dataschema"]?.string == "https://gw.example/v1/event-types/order.paid/versions/3")
        #expect(root["user"]?.string == "ana")
        #expect(JSONText(trusted: content.body).rawMember("data") == Self.event.data)
    }

    @Test("cloudevents_binary has the attributes as fields, percent-encoded, and the payload alone as body")
    func binary() throws {
        let content = try Self.content(.cloudeventsBinary)
        #expect(content.contentType == "application/json")
        #expect(content.body == Self.event.data.bytes)
        let fields = Dictionary(uniqueKeysWithValues: content.headers.map { ($0.name, $0.value) })
        #expect(fields["ce-specversion"] == "1.0")
        #expect(fields["ce-subject"] == "Euro%20%E2%82%AC%20%F0%9F%98%80")
        #expect(fields["ce-id"] == "evt_17000000000000000")
        #expect(fields["ce-user"] == "ana")
    }

    @Test("cloudevents carry the trace of an event that stands in one")
    func traced() throws {
        let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
        let trace = try #require(TraceContext(traceparent: parent, state: "v=1"))
        let root = try JSONDocument(try Self.content(.cloudevents, trace: trace).body).root
        #expect(root["traceparent"]?.string == parent && root["tracestate"]?.string == "v=1")
        let fields = try Self.content(.cloudeventsBinary, trace: trace).headers
        #expect(fields.first { $0.name == "ce-traceparent" }?.value == parent)
        #expect(try JSONDocument(try Self.content(.cloudevents).body).root["traceparent"] == nil)
    }

    @Test("template makes what its owner declared")
    func template() throws {
        var settings = WebhookSettings(url: "", format: .template)
        settings.template = try WebhookTemplate(
            JSONText(trusted: Array(#"{"text":"{event/type} on {event/channel}","hook":{"$":"webhook/id"}}"#.utf8)))
        let format = try #require(FormatTable(publicURL: "").format(of: settings))
        let content = try format.content(of: Self.event.envelope.bytes, trace: nil, for: Self.subscriber)
        #expect(
            String(decoding: content.body, as: UTF8.self) == #"{"text":"order.paid on Euro € 😀","hook":"wh_1"}"#)
    }

    @Test("comes back from the queue as it was sent", arguments: BuiltInFormat.allCases.filter { $0 != .template })
    func stored(name: BuiltInFormat) throws {
        let content = try Self.content(name)
        #expect(!PostContent.isEnvelope(content.stored))
        #expect(PostContent(stored: content.stored) == content)
    }

    @Test("of damaged bytes is refused", arguments: ["", "x", "a: b\r\n\r\n{}", "\r\n{}", "content-type: a\r\nb"])
    func damaged(text: String) { #expect(PostContent(stored: Array(text.utf8)) == nil) }

    // MARK: On the wire

    @Test("is what receivers get, signed over the bytes they get")
    func onTheWire() async throws {
        let receiver = try ScriptedServer()
        try await WebhookFixture.with { fixture in
            var settings = WebhookSettings(url: receiver.url(), format: .cloudeventsBinary)
            settings.signatures = [.standard, .standardEd25519, .hub, .stripe, .rfc9421]
            let issued = try await fixture.registry.create(settings, by: WebhookFixture.owner)
            let event = try await fixture.emit(data: #"{"a":1}"#)
            let request = try #require(await receiver.requests.wait(count: 1).first)
            #expect(request.text == #"{"a":1}"#)
            #expect(request["ce-id"] == event.id)
            let publicKey = try #require(try JSONDocument(issued.webhook.printed()).root["ed25519_public_key"]?.string)
            for key in [issued.secret, publicKey] {
                try StandardVerifier([StandardVerificationKey(key)]).verify(
                    id: event.id, timestamp: "1700000000", signature: try #require(request["webhook-signature"]),
                    body: request.body, at: 1_700_000_000)
            }
            for name in ["x-hub-signature-256", "stripe-signature", "signature", "signature-input", "content-digest"] {
                #expect(request[name] != nil, "\(name)")
            }
            #expect(try await fixture.registry.publishedKeys().count == 1)
            #expect(
                try await fixture.registry.publishedKeys(of: WebhookFixture.app).first?.contains(#""kty":"OKP""#)
                    == true)
        }
    }

    @Test("that changes does not affect attempted deliveries")
    func changed() async throws {
        let receiver = try ScriptedServer { $0["webhook-attempt"] == "1" ? .status(500) : .status(204) }
        try await WebhookFixture.with { fixture in
            let id = try await fixture.registry.create(
                WebhookSettings(url: receiver.url(), format: .flat), by: WebhookFixture.owner
            ).webhook.id
            try await fixture.emit(data: #"{"a":1}"#)
            await fixture.recorded(1)
            let patch = try JSONDocument(Array(#"{"format":"cloudevents_binary"}"#.utf8))
            _ = try await fixture.registry.patch(id, with: patch, by: WebhookFixture.owner)
            fixture.clock.advance(by: .seconds(10))
            await fixture.recorded(2)
            let bodies = receiver.requests.value
            #expect(bodies.count == 2)
            #expect(bodies.first?.body == bodies.last?.body)
            #expect(bodies.last?["ce-id"] == nil)
        }
    }

    @Test("that cannot represent an event fails the attempt, and continues when it is corrected")
    func mended() async throws {
        let receiver = try ScriptedServer()
        try await WebhookFixture.with { fixture in
            var settings = WebhookSettings(url: receiver.url(), format: .template)
            settings.template = try WebhookTemplate(JSONText(trusted: Array(#"{"t":"{event/data/missing}"}"#.utf8)))
            let id = try await fixture.registry.create(settings, by: WebhookFixture.owner).webhook.id
            let event = try await fixture.emit()
            await fixture.recorded(1)
            #expect(receiver.requests.value.isEmpty)
            let patch = try JSONDocument(Array(#"{"template":{"t":"{event/id}"}}"#.utf8))
            _ = try await fixture.registry.patch(id, with: patch, by: WebhookFixture.owner)
            fixture.clock.advance(by: .seconds(10))
            await fixture.recorded(2)
            #expect(receiver.requests.value.map(\.text) == [#"{"t":"\#(event.id)"}"#])
        }
    }

    // MARK: Batches

    private static func trial(_ number: Int64, _ webhook: Webhook, _ data: String = "{}") -> PreparedDelivery {
        let draft = EventDraft(
            channel: ChannelID("c", in: webhook.app), type: "t", data: JSONText(trusted: Array(data.utf8)))
        return Deliveries.preview(
            of: Event(timetoken: Timetoken(WebhookFixture.start.rawValue + UInt64(number)), draft: draft), for: webhook)
    }

    private static func webhook(_ format: BuiltInFormat, bytes: Int = 1024 * 1024) -> Webhook {
        var settings = WebhookSettings(url: "https://example.com/", format: format)
        settings.batch = WebhookBatch(events: 10, bytes: bytes)
        let key = StandardSigningKey.generate(from: SystemRandomSource())
        return Webhook(
            id: "wh_1", app: subscriber.app, settings: settings, secrets: [WebhookSecret(key: key)], since: 1,
            created: 1, updated: 1)
    }

    @Test(
        "puts several events into one array",
        arguments: [
            (BuiltInFormat.envelope, "application/json"), (.flat, "application/json"),
            (.cloudeventsBatch, "application/cloudevents-batch+json"),
        ])
    func batch(format: BuiltInFormat, contentType: String) throws {
        let webhook = Self.webhook(format)
        var run = PostRun(at: WebhookFixture.start)
        run.add((0..<3).map { Self.trial($0, webhook) }, to: webhook)
        let request = try #require(run.requests.first)
        #expect(run.requests.count == 1)
        #expect(run.posts.map(\.deliveries.count) == [3])
        #expect(request.headers.first { $0.name == "content-type" }?.value == contentType)
        #expect(try JSONDocument(request.body).root.count == 3)
        var again = PostRun(at: WebhookFixture.start.adding(.seconds(60)))
        again.add((0..<3).map { Self.trial($0, webhook) }, to: webhook)
        func id(_ request: OutboundRequest?) -> String? { request?.headers.first { $0.name == "webhook-id" }?.value }
        #expect(id(again.requests.first) == id(request))
        #expect(again.requests.first?.body == request.body)
    }

    @Test("ends a batch before it gets too long, and before a delivery that was sent in another form")
    func split() throws {
        let webhook = Self.webhook(.envelope, bytes: 400)
        var run = PostRun(at: WebhookFixture.start)
        #expect(run.add((0..<5).map { Self.trial($0, webhook) }, to: webhook) == 2)
        #expect(run.posts.map(\.deliveries.count) == [2])
        var mixed = (0..<3).map { Self.trial($0, webhook) }
        let earlier = PostContent(contentType: PostContent.cloudEvent, body: Array("{}".utf8))
        mixed[1] = PreparedDelivery(lease: mixed[1].lease, body: earlier.stored)
        var types: [String?] = []
        for first in 0..<3 {
            var other = PostRun(at: WebhookFixture.start)
            #expect(other.add(Array(mixed[first...]), to: webhook) == 1)
            types += other.requests.map { $0.headers.first { $0.name == "content-type" }?.value }
        }
        #expect(types == ["application/json", "application/cloudevents-batch+json", "application/json"])
    }

    @Test("leaves an event alone whose attributes are fields, also when others could follow it")
    func fields() throws {
        let webhook = Self.webhook(.envelope)
        var mixed = (0..<2).map { Self.trial($0, webhook) }
        let earlier = PostContent(headers: [HeaderField("ce-id", "1")], body: Array("{}".utf8))
        mixed[0] = PreparedDelivery(lease: mixed[0].lease, body: earlier.stored)
        var run = PostRun(at: WebhookFixture.start)
        #expect(run.add(mixed, to: webhook) == 1)
        #expect(run.requests.first?.headers.first { $0.name == "ce-id" }?.value == "1")
        #expect(run.requests.first?.body == Array("{}".utf8))
    }

    @Test("keeps events from overtaking one that it cannot represent", arguments: [true, false])
    func gap(isOrdered: Bool) throws {
        var webhook = Self.webhook(.template)
        webhook.settings.template = try WebhookTemplate(JSONText(trusted: Array(#"{"x":{"$":"event/data/x"}}"#.utf8)))
        webhook.settings.ordering = isOrdered ? .perChannel : .none
        let events = [#"{"x":1}"#, "{}", #"{"x":3}"#].enumerated().map { Self.trial(Int64($0), webhook, $1) }
        var run = PostRun(at: WebhookFixture.start)
        #expect(run.add(events, to: webhook) == (isOrdered ? 1 : 3))
        #expect(run.posts.map(\.deliveries.count) == [isOrdered ? 1 : 2])
        #expect(run.unsent.count == (isOrdered ? 0 : 1))
        var rest = PostRun(at: WebhookFixture.start)
        #expect(rest.add(Array(events[1...]), to: webhook) == (isOrdered ? 1 : 2))
        #expect(rest.unsent.count == 1)
        #expect(rest.requests.count == (isOrdered ? 0 : 1))
    }
}

extension PostRun {
    /// Composes an attempt at several deliveries as the sender does.
    /// - Returns: The number of deliveries in the attempt, counted from the first.
    @discardableResult
    fileprivate mutating func add(_ several: [PreparedDelivery], to webhook: Webhook) -> Int {
        var composition = PostComposition(PostPlans(WebhookOptions()).plan(for: webhook, at: start))
        let count = several.firstIndex { !composition.add($0) } ?? several.count
        add(composition)
        return count
    }
}

extension WebhookSettings {
    init(url: String, format: BuiltInFormat) {
        self.init(url: url)
        self.format = format.rawValue
    }
}
