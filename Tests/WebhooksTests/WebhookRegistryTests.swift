import ChatCore
import ChatModel
import HTTPClient
import JSON
import SQLiteEngine
import TestSupport
import Testing

@testable import Webhooks

@Suite("The webhook registry") struct WebhookRegistryTests {
    private static let url = "https://example.com/hook"

    private static func document(_ text: String) throws -> JSONDocument { try JSONDocument(Array(text.utf8)) }

    private func expect(
        _ code: ChatError.Code, slug: String? = nil, _ body: () async throws -> Void,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async {
        do {
            try await body()
            Issue.record("nothing was thrown", sourceLocation: sourceLocation)
        } catch let error as ChatError {
            #expect(error.code == code, sourceLocation: sourceLocation)
            if let slug { #expect(error.slug == slug, sourceLocation: sourceLocation) }
        } catch {
            Issue.record(error, sourceLocation: sourceLocation)
        }
    }

    @Test("shows the secret once, and the settings as they were given")
    func create() async throws {
        try await WebhookFixture.with { fixture in
            let body = try Self.document(
                #"{"url":"https://example.com/hook","types":["order.*","order.*"],"channels":["orders.eu"],"filter":"data.a > 1","description":"x","concurrency":3}"#
            )
            let issued = try await fixture.registry.create(try WebhookSettings(body), by: WebhookFixture.owner)
            #expect(issued.secret.hasPrefix("whsec_"))
            #expect(issued.secret.utf8.count == "whsec_".utf8.count + 32)
            let shown = try JSONDocument(issued.webhook.printed(secret: issued.secret)).root
            #expect(shown["id"]?.string?.hasPrefix("wh_") == true)
            #expect(shown["types"]?.strings == ["order.*"])
            #expect(shown["channels"]?.strings == ["orders.eu"])
            #expect(shown["filter"]?.string == "data.a > 1")
            #expect(shown["status"]?.string == "enabled")
            #expect(shown["concurrency"]?.integer == 3)
            #expect(shown["secret"]?.string == issued.secret)
            let read = try await fixture.registry.webhook(issued.webhook.id, by: WebhookFixture.owner)
            #expect(!read.printed().description.contains("whsec_"))
            #expect(read.etag == issued.webhook.etag)
        }
    }

    @Test(
        "refuses documents with mistakes, naming each",
        arguments: [
            (#"[]"#, "#"), (#"{}"#, "#"), (#"{"url":7}"#, "#/url"),
            (#"{"url":"https://e.com","types":[]}"#, "#/types"),
            (#"{"url":"https://e.com","types":"order.*"}"#, "#/types"),
            (#"{"url":"https://e.com","types":["or*der"]}"#, "#/types/0"),
            (#"{"url":"https://e.com","types":["a b"]}"#, "#/types/0"),
            (#"{"url":"https://e.com","channels":["a,b"]}"#, "#/channels/0"),
            (#"{"url":"https://e.com","channels":["$other"]}"#, "#/channels/0"),
            (#"{"url":"https://e.com","filter":"type =="}"#, "#/filter"),
            (#"{"url":"https://e.com","concurrency":0}"#, "#/concurrency"),
            (#"{"url":"https://e.com","concurrency":1.5}"#, "#/concurrency"),
            (#"{"url":"https://e.com","tpyes":["*"]}"#, "#/tpyes"),
        ])
    func mistakes(text: String, pointer: String) throws {
        let body = try Self.document(text)
        do {
            _ = try WebhookSettings(body)
            Issue.record("accepted: \(text)")
        } catch {
            #expect(error.code == .malformed)
            if !pointer.isEmpty { #expect(error.faults.map(\.pointer).contains(pointer)) }
        }
    }

    @Test("ignores read-only members in a whole document, and refuses them in a patch")
    func readOnly() throws {
        let body = try Self.document(#"{"url":"https://e.com","id":"wh_x","status":"disabled","created_at":"…"}"#)
        let settings = try WebhookSettings(body)
        #expect(settings.url == "https://e.com")
        #expect(throws: ChatError.self) { try settings.merging(try Self.document(#"{"status":"disabled"}"#)) }
    }

    @Test(
        "refuses URLs that lead where nothing of ours may go",
        arguments: [
            "http://example.com/", "https://10.0.0.1/", "https://[::1]/", "https://127.1/", "https://0x7f.1/",
            "https://user:pw@example.com/", "https://example.com/#x", "https://example.com:22/", "ftp://example.com/",
            "example.com", "https://exa mple.com/", "https://169.254.169.254/latest", "https://[64:ff9b::a9fe:a9fe]/",
        ])
    func urls(url: String) async throws {
        var settings = WebhookFixture.Settings()
        settings.registrationGuard = AddressGuard()
        try await WebhookFixture.with(settings) { fixture in
            await expect(.malformed, slug: "url_refused") {
                _ = try await fixture.registry.create(WebhookSettings(url: url), by: WebhookFixture.owner)
            }
            let good = try await fixture.registry.create(WebhookSettings(url: Self.url), by: WebhookFixture.owner)
                .webhook
            await expect(.malformed, slug: "url_refused") {
                let patch = try Self.document(#"{"url":"\#(url)"}"#)
                _ = try await fixture.registry.patch(good.id, with: patch, by: WebhookFixture.owner)
            }
        }
    }

    @Test("changes members that a patch names, and restores defaults for null")
    func patch() async throws {
        try await WebhookFixture.with { fixture in
            let created = try await fixture.registry.create(
                WebhookSettings(url: Self.url, types: [.exact("a")], description: "old", concurrency: 5),
                by: WebhookFixture.owner
            ).webhook
            let patched = try await fixture.registry.patch(
                created.id, with: try Self.document(#"{"types":null,"description":"new","concurrency":null}"#),
                by: WebhookFixture.owner)
            #expect(patched.settings.types == [.all])
            #expect(patched.settings.description == "new")
            #expect(patched.settings.concurrency == nil)
            #expect(patched.settings.url == Self.url)
            #expect(patched.etag != created.etag)
            await expect(.stale) {
                _ = try await fixture.registry.patch(
                    created.id, with: try Self.document("{}"), ifMatch: created.etag, by: WebhookFixture.owner)
            }
            await expect(.stale) {
                try await fixture.registry.delete(created.id, ifMatch: created.etag, by: WebhookFixture.owner)
            }
            try await fixture.registry.delete(created.id, ifMatch: patched.etag, by: WebhookFixture.owner)
            await expect(.notFound) { try await fixture.registry.delete(created.id, by: WebhookFixture.owner) }
        }
    }

    @Test("takes effect on the next event")
    func effect() async throws {
        let receiver = try ScriptedServer()
        try await WebhookFixture.with { fixture in
            let id = try await fixture.webhook(receiver, types: [.exact("a")]).webhook.id
            try await fixture.emit("b")
            try await fixture.emit("a")
            await fixture.recorded(1)
            _ = try await fixture.registry.patch(
                id, with: try Self.document(#"{"types":["b"]}"#), by: WebhookFixture.owner)
            try await fixture.emit("a")
            try await fixture.emit("b")
            await fixture.recorded(2)
            #expect(receiver.requests.value.compactMap { $0["webhook-event-type"] } == ["a", "b"])
        }
    }

    @Test("gives a caller only what it may manage, and only of its app")
    func rights() async throws {
        try await WebhookFixture.with { fixture in
            let webhook = try await fixture.registry.create(WebhookSettings(url: Self.url), by: WebhookFixture.owner)
                .webhook
            let reader = Caller(app: WebhookFixture.app, credential: "key_r", scopes: [.read, .emit])
            await expect(.forbidden) { _ = try await fixture.registry.list(RecordList(limit: 10), by: reader) }
            await expect(.forbidden) { _ = try await fixture.registry.webhook(webhook.id, by: reader) }
            await expect(.forbidden) {
                _ = try await fixture.webhooks.deliveries.list(Deliveries.Query(RecordList(limit: 10)), by: reader)
            }
            let stranger = Caller(app: AppID("other"), credential: "key_s", scopes: [.admin])
            await expect(.notFound) { _ = try await fixture.registry.webhook(webhook.id, by: stranger) }
            await expect(.notFound) { try await fixture.registry.delete(webhook.id, by: stranger) }
            #expect(try await fixture.registry.list(RecordList(limit: 10), by: stranger).items.isEmpty)
        }
    }

    @Test("refuses a webhook for events that its caller may not read")
    func reach() async throws {
        try await WebhookFixture.with { fixture in
            let narrow = Caller(
                app: WebhookFixture.app, credential: "key_n", scopes: [.manage], channels: [.below("orders.")],
                types: [.below("order.")])
            for settings in [
                WebhookSettings(url: Self.url, types: [.below("order.")]),
                WebhookSettings(url: Self.url, types: [.all], channels: [.exact("orders.eu")]),
                WebhookSettings(url: Self.url, types: [.exact("order.a")], channels: [.exact("$system")]),
            ] {
                await expect(.forbidden) { _ = try await fixture.registry.create(settings, by: narrow) }
            }
            let manager = Caller(app: WebhookFixture.app, credential: "key_m", scopes: [.manage])
            await expect(.forbidden) {
                _ = try await fixture.registry.create(
                    WebhookSettings(url: Self.url, channels: [.exact("$system")]), by: manager)
            }
            _ = try await fixture.registry.create(
                WebhookSettings(url: Self.url, types: [.exact("order.a")], channels: [.below("orders.eu.")]), by: narrow
            )
        }
    }

    @Test("lists a webhook with an unreadable record, with its readable parts")
    func unreadable() async throws {
        let receiver = try ScriptedServer()
        try await WebhookFixture.with { fixture in
            let webhook = try await fixture.webhook(receiver, types: [.exact("order.paid")]).webhook
            let sealed = webhook.body(fixture.service.vault).description.replacing(
                #""secrets":[{"key":""#, with: #""secrets":[{"key":"damaged"#)
            let key = Webhook.recordKey(of: webhook.subscriber)
            for (body, url) in [(sealed, webhook.settings.url), ("{}", "")] {
                _ = try await fixture.engine.directory.write([
                    RecordChange(key, body: JSONText(trusted: Array(body.utf8)), precondition: .present)
                ])
                let listed = try #require(
                    try await fixture.registry.list(RecordList(limit: 10), by: WebhookFixture.owner).items.first)
                #expect(listed.id == webhook.id && listed.status == .unreadable && listed.settings.url == url)
                #expect(listed.statusReason?.contains("cannot be read") == true)
            }
        }
    }

    @Test("lists one whose filter no longer compiles, without compiling it")
    func brokenFilter() async throws {
        let receiver = try ScriptedServer()
        try await WebhookFixture.with { fixture in
            var webhook = try await fixture.webhook(receiver, types: [.exact("order.paid")]).webhook
            webhook.settings.filter = Filter(uncompiled: "data.n ==")
            let body = webhook.body(fixture.service.vault)
            _ = try await fixture.engine.directory.write([
                RecordChange(Webhook.recordKey(of: webhook.subscriber), body: body, precondition: .present)
            ])
            await waitUntil { fixture.webhooks.metrics.unreadableWebhooks == 1 }
            let listed = try #require(
                try await fixture.registry.list(RecordList(limit: 10), by: WebhookFixture.owner).items.first)
            #expect(listed.status == .unreadable && listed.settings.filter?.text == "data.n ==")
            #expect(listed.settings.types == [.exact("order.paid")])
        }
    }

    @Test("holds no more than the limit")
    func limit() async throws {
        var settings = WebhookFixture.Settings()
        settings.limits.webhooksPerApp = 2
        try await WebhookFixture.with(settings) { fixture in
            for _ in 0..<2 {
                _ = try await fixture.registry.create(WebhookSettings(url: Self.url), by: WebhookFixture.owner)
            }
            await expect(.invalid, slug: "too_many_webhooks") {
                _ = try await fixture.registry.create(WebhookSettings(url: Self.url), by: WebhookFixture.owner)
            }
            #expect(try await fixture.registry.list(RecordList(limit: 1), by: WebhookFixture.owner).hasMore)
            let first = try await fixture.registry.list(RecordList(limit: 1), by: WebhookFixture.owner)
            let second = try await fixture.registry.list(
                RecordList(limit: 1, cursor: first.cursor), by: WebhookFixture.owner)
            #expect(first.items[0].id < second.items[0].id)
        }
    }

    @Test("explains for every webhook whether it receives an event")
    func explain() async throws {
        try await WebhookFixture.with { fixture in
            func create(_ settings: WebhookSettings) async throws -> String {
                try await fixture.registry.create(settings, by: WebhookFixture.owner).webhook.id
            }
            let all = try await create(WebhookSettings(url: Self.url))
            let types = try await create(WebhookSettings(url: Self.url, types: [.exact("x")]))
            let channels = try await create(WebhookSettings(url: Self.url, channels: [.below("x.")]))
            let filter = try await create(WebhookSettings(url: Self.url, filter: try Filter("user == 'bo'")))
            let event = try await fixture.emit()
            let matches = fixture.registry.explain(event, to: WebhookFixture.owner)
            func why(_ id: String) -> WebhookMatch? { matches.first { $0.webhook == id } }
            #expect(why(all)?.matches == true)
            #expect(why(types)?.why.contains("not among the webhook's types") == true)
            #expect(why(channels)?.why.contains("not among the webhook's channels") == true)
            #expect(why(filter)?.why.contains("filter") == true)
            #expect(matches.count(where: \.matches) == 1)
        }
    }
}

@Suite("The matcher") struct WebhookMatcherTests {
    private static func entry(_ number: Int, _ settings: WebhookSettings) -> WebhookMatcher.Entry {
        WebhookMatcher.Entry(
            Webhook(
                id: "wh_\(number)", app: WebhookFixture.app, settings: settings, secrets: [], since: 100, created: 1,
                updated: 1))
    }

    /// Two ways to the same result: the index, and matching every webhook in turn.
    @Test("finds what asking each webhook finds, also after changes", arguments: [UInt64](1...20))
    func index(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let names = [
            "a", "a.b", "a.b.c", "b", "typing.started", "channel.x_count.updated", "order.paid", "$system",
            "channel.activity",
        ]
        func patterns() -> [NamePattern] {
            (0..<Int.random(in: 1...3, using: &random)).map { _ in
                let name = names.randomElement(using: &random) ?? "a"
                switch Int.random(in: 0..<6, using: &random) {
                case 0: return .all
                case 1, 2: return .below(name + ".")
                case 3: return .below(String(name.prefix(1)) + ".")
                default: return .exact(name)
                }
            }
        }
        let filter = try Filter("type == 'order.paid'")
        func drawn(_ number: Int) -> WebhookMatcher.Entry {
            Self.entry(
                number,
                WebhookSettings(
                    url: "", types: patterns(), channels: patterns(),
                    filter: Int.random(in: 0..<5, using: &random) == 0 ? filter : nil))
        }
        var entries = Dictionary(uniqueKeysWithValues: (0..<60).map(drawn).map { ($0.id, $0) })
        var matcher = WebhookMatcher(Array(entries.values))
        for changes in [0, 100] {
            for _ in 0..<changes {
                let new = drawn(Int.random(in: 0..<80, using: &random))
                entries[new.id] = Bool.random(using: &random) ? new : nil
                matcher.set(entries[new.id], of: new.id)
            }
            #expect(matcher.entries.map(\.id) == entries.keys.sorted())
            for (type, channel) in names.flatMap({ type in names.map { (type, $0) } }) {
                let event = Event(
                    timetoken: 101,
                    draft: EventDraft(
                        channel: ChannelID(channel, in: WebhookFixture.app), type: type, data: .emptyObject))
                var found: [String] = []
                matcher.visit(event) { found.append($0) }
                let expected = matcher.explain(event).filter(\.matches).map(\.webhook)
                #expect(found.sorted() == expected, "seed \(seed), \(changes) changes, \(type) in \(channel)")
            }
        }
    }

    @Test("passes over what is for the readers of another service's wire alone") func wire() {
        let matcher = WebhookMatcher([Self.entry(1, WebhookSettings(url: ""))])
        for (audience, isFound) in [(Audience.subscribers, true), (.webhooks, true), (.wire, false)] {
            var draft = EventDraft(channel: ChannelID("a", in: WebhookFixture.app), type: "t", data: .emptyObject)
            draft.audience = audience
            var found = false
            matcher.visit(Event(timetoken: 101, draft: draft)) { _ in found = true }
            #expect(found == isFound)
        }
    }

    @Test("passes over events older than the webhook") func since() {
        let matcher = WebhookMatcher([Self.entry(1, WebhookSettings(url: ""))])
        for (timetoken, isFound) in [(Timetoken(100), false), (101, true)] {
            let event = Event(
                timetoken: timetoken,
                draft: EventDraft(channel: ChannelID("a", in: WebhookFixture.app), type: "t", data: .emptyObject))
            var found = false
            matcher.visit(event) { _ in found = true }
            #expect(found == isFound)
        }
    }
}
