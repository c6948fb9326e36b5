import ChatCore
import ChatModel
import JSON
import SQLiteEngine
import Signing
import TestSupport
import Testing

@testable import InboundHooks

@Suite("The source registry") struct SourceRegistryTests {
    static let plain = #"{"scheme":"none","mapping":{"channel":"a","type":"t","data":{}}}"#
    static let stranger = Caller(app: AppID("other"), credential: "key_s", scopes: [.admin])

    @Test("never shows a secret, and keeps those a later document leaves out")
    func secrets() async throws {
        try await InboundFixture.with { fixture in
            let put = try await fixture.put("s", scheme: "github", secret: "topsecret")
            #expect(!put.printed().description.contains("topsecret"))
            let shown = try JSONDocument(put.printed()).root
            #expect(shown["secret_count"]?.integer == 1)
            #expect(shown["path"]?.string == "/in/s")
            #expect(shown["scheme"]?.string == "github")
            #expect(shown["mapping"]?["channel"]?.string == "in")

            // The displayed settings, sent back.
            let again = try await fixture.put("s", InboundFixture.writable(put.printed()))
            #expect(again.settings.secretCount == 1)
            _ = try await fixture.gate.accept(PostReceiverTests.github("{}"), for: "s")
        }
    }

    @Test("keeps its mapping when a patch contains only new secrets")
    func rotation() async throws {
        try await InboundFixture.with { fixture in
            let signed = #""scheme":"generic","scheme_options":{"header":"X-Sig"},"#
            let mapping = #""mapping":{"channel":"a","type":"t","data":{}}"#
            let put = try await fixture.put("s", "{\(signed)\(#""secrets":["one"],"#)\(mapping)}")
            let again = try await fixture.patch("s", #"{"secrets":["two"]}"#)
            #expect(again.settings.mapping.text == put.settings.mapping.text)
            #expect(again.mappingVersion == put.mappingVersion)
        }
    }

    @Test(
        "keeps members that a patch leaves out, resets those set to null, and keeps secrets when it is replaced"
    )
    func leftOut() async throws {
        try await InboundFixture.with { fixture in
            let made = try await fixture.put(
                "s",
                #"""
                {"scheme":"generic","secrets":["one"],"scheme_options":{"header":"X-Sig","prefix":"v="},
                 "window_seconds":60,"handshake":"meta","verify_token":"vt","description":"shop",
                 "mapping":{"channel":"a","type":"t","data":{}}}
                """#)
            func text(_ source: Source) -> String {
                var source = source
                source.updated = made.updated
                source.etag = made.etag
                return source.printed().description
            }
            let rotated = try await fixture.patch("s", #"{"scheme":"generic","secrets":["two"]}"#)
            #expect(text(rotated) == text(made))
            #expect(rotated.settings.secrets == ["two"] && rotated.settings.verifyToken == "vt")

            let mapping = #""mapping":{"channel":"a","type":"t","data":{}}"#
            let replaced = try await fixture.put(
                "s", #"{"scheme":"generic","scheme_options":{"header":"X-Sig"},"handshake":"meta",\#(mapping)}"#)
            #expect(replaced.settings.secrets == ["two"] && replaced.settings.verifyToken == "vt")
            #expect(replaced.settings.options.window.seconds == 300 && replaced.settings.options.prefix == nil)
            #expect(replaced.settings.description.isEmpty)
            let missing = try await failure { _ = try await fixture.patch("none", "{}") }
            #expect(missing.code == .notFound)

            let reset = try await fixture.patch(
                "s",
                #"{"scheme":"generic","window_seconds":null,"handshake":null,"description":null,"scheme_options":{"header":"X"}}"#
            )
            #expect(reset.settings.options.window.seconds == 300)
            #expect(reset.settings.options.prefix == nil)
            #expect(reset.settings.handshake == .none && reset.settings.verifyToken == nil)
            #expect(reset.settings.description.isEmpty)
        }
    }

    @Test("keeps no secrets for another scheme")
    func anotherScheme() async throws {
        try await InboundFixture.with { fixture in
            try await fixture.put("s", scheme: "github", secret: "topsecret")
            let error = try await failure { _ = try await fixture.patch("s", #"{"scheme":"slack"}"#) }
            #expect(error.faults.map(\.pointer) == ["#/secrets"])
            let slack = try await fixture.patch("s", #"{"scheme":"slack","secrets":["other"]}"#)
            #expect(slack.settings.handshake == .slack)
            let open = try await fixture.patch("s", #"{"scheme":"none"}"#)
            #expect(open.settings.secretCount == 0 && open.settings.handshake == .none)
        }
    }

    @Test(
        "refuses documents with mistakes, naming each",
        arguments: [
            ("[]", "#"), ("{}", "#"),
            (#"{"scheme":"magic","mapping":{"channel":"a","type":"t","data":{}}}"#, "#/scheme"),
            (#"{"scheme":"github","mapping":{"channel":"a","type":"t","data":{}}}"#, "#/secrets"),
            (#"{"scheme":"github","secrets":[],"mapping":{"channel":"a","type":"t","data":{}}}"#, "#/secrets"),
            (#"{"scheme":"github","secrets":[""],"mapping":{"channel":"a","type":"t","data":{}}}"#, "#/secrets/0"),
            (
                #"{"scheme":"standard","secrets":["whsec_%"],"mapping":{"channel":"a","type":"t","data":{}}}"#,
                "#/secrets"
            ),
            (#"{"scheme":"none","secrets":["x"],"mapping":{"channel":"a","type":"t","data":{}}}"#, "#/secrets"),
            (
                #"{"scheme":"none","window_seconds":5,"mapping":{"channel":"a","type":"t","data":{}}}"#,
                "#/window_seconds"
            ),
            (#"{"scheme":"none","mapping":{"channel":"a","type":"t"}}"#, "#/mapping"),
            (#"{"scheme":"none","mapping":{"type":"t","data":{}}}"#, "#/mapping"),
            (#"{"scheme":"none","mapping":[]}"#, "#/mapping"),
            (#"{"scheme":"none","mapping":{"channel":"a{","type":"t","data":{}}}"#, "#/mapping/channel"),
            (#"{"scheme":"none","mapping":{"channel":"a}","type":"t","data":{}}}"#, "#/mapping/channel"),
            (#"{"scheme":"none","mapping":{"channel":"{bdoy/x}","type":"t","data":{}}}"#, "#/mapping/channel"),
            (#"{"scheme":"none","mapping":{"channel":"{body/~2}","type":"t","data":{}}}"#, "#/mapping/channel"),
            (#"{"scheme":"none","mapping":{"channel":"a,b","type":"t","data":{}}}"#, "#/mapping/channel"),
            (#"{"scheme":"none","mapping":{"channel":"a","type":"message.created","data":{}}}"#, "#/mapping/type"),
            (#"{"scheme":"none","mapping":{"channel":"a","type":"t","data":{"$":"nowhere"}}}"#, "#/mapping/data/$"),
            (
                #"{"scheme":"none","mapping":{"channel":"a","type":"t","data":{"x":[{"$":"body","y":1}]}}}"#,
                "#/mapping/data/x/0/y"
            ),
            (#"{"scheme":"none","mapping":{"channel":"a","type":"t","data":{},"dta":1}}"#, "#/mapping/dta"),
            (#"{"scheme":"none","mapping":{"channel":"a","type":"t","data":{},"store":"no"}}"#, "#/mapping/store"),
            (#"{"scheme":"none","x":1,"mapping":{"channel":"a","type":"t","data":{}}}"#, "#/x"),
        ])
    func mistakes(document: String, pointer: String) async throws {
        try await InboundFixture.with { fixture in
            let error = try await failure { try await fixture.put("s", document) }
            #expect(error.code == .malformed)
            #expect(error.faults.map(\.pointer).contains(pointer), "\(error.faults)")
        }
    }

    @Test(
        "refuses ids that do not stand in a URL",
        arguments: ["", "a b", "a/b", "ü", "-a", String(repeating: "a", count: 65)])
    func ids(id: String) async throws {
        try await InboundFixture.with { fixture in
            let error = try await failure { try await fixture.put(id, Self.plain) }
            #expect(error.code == .malformed)
        }
    }

    @Test("separates ids by app: responses reveal no other app's source, and posts reach their own app only")
    func apart() async throws {
        try await InboundFixture.with { fixture in
            let other = Self.plain.replacing(#""a""#, with: #""b""#)
            let theirs = try await fixture.put("s", other, by: Self.stranger)
            #expect(theirs.path == "/in/other/s")
            await #expect(throws: ChatError.self) { _ = try await fixture.gate.accept(InboundPost(text: ""), for: "s") }
            let own = try await fixture.put("s", Self.plain)
            #expect(own.path == "/in/s")
            for app in [nil, "demo"] { _ = try await fixture.gate.accept(InboundPost(text: ""), for: "s", in: app) }
            #expect(try await fixture.events(on: "a").count == 2)
            let receipt = try await fixture.gate.accept(InboundPost(text: ""), for: "s", in: "other")
            #expect(receipt.events.map(\.event.channel) == [ChannelID("b", in: AppID("other"))])

            try await fixture.registry.delete("s", by: InboundFixture.owner)
            let gone = try await failure { _ = try await fixture.gate.accept(InboundPost(text: ""), for: "s") }
            let unknown = try await failure {
                _ = try await fixture.gate.accept(InboundPost(text: ""), for: "s", in: "nobody")
            }
            #expect(gone.code == .notFound && unknown.code == .notFound && gone.message == unknown.message)
            _ = try await fixture.gate.accept(InboundPost(text: ""), for: "s", in: "other")

            let operatorKey = Caller(
                app: InboundFixture.owner.app, credential: "key_operator", scopes: [.admin], isOperator: true)
            try await fixture.service.keyring.removeApp("other", by: operatorKey)
            #expect(
                try await failure { _ = try await fixture.gate.accept(InboundPost(text: ""), for: "s", in: "other") }
                    .code == .notFound)
        }
    }

    @Test("enforces the required version")
    func versions() async throws {
        try await InboundFixture.with { fixture in
            let first = try await fixture.put("s", Self.plain)
            let other = try JSONDocument(Array(Self.plain.replacing(#""a""#, with: #""b""#).utf8))
            let second = try await fixture.registry.put(
                "s", other, precondition: .etag(first.etag), by: InboundFixture.owner
            )
            .source
            #expect(second.etag != first.etag)
            #expect(
                try await failure {
                    _ = try await fixture.registry.put(
                        "s", other, precondition: .etag(first.etag), by: InboundFixture.owner)
                }.code == .stale)
            #expect(
                try await failure {
                    _ = try await fixture.registry.put("new", other, precondition: .present, by: InboundFixture.owner)
                }.code == .stale)
            #expect(
                try await failure {
                    try await fixture.registry.delete("s", ifMatch: first.etag, by: InboundFixture.owner)
                }.code
                    == .stale)
            try await fixture.registry.delete("s", ifMatch: second.etag, by: InboundFixture.owner)
        }
    }

    @Test("requires the right to manage, and grants no more than the caller has")
    func rights() async throws {
        try await InboundFixture.with { fixture in
            let reader = Caller(app: InboundFixture.app, credential: "key_r", scopes: [.read, .emit])
            #expect(try await failure { try await fixture.put("s", Self.plain, by: reader) }.code == .forbidden)
            #expect(
                try await failure { _ = try await fixture.registry.list(RecordList(limit: 10), by: reader) }.code
                    == .forbidden)
            let narrow = Caller(
                app: InboundFixture.app, credential: "key_n", scopes: [.manage], channels: [.below("orders.")])
            try await fixture.put(
                "s", #"{"scheme":"none","mapping":{"channel":"{body/c}","type":"t","data":{}}}"#, by: narrow)
            _ = try await fixture.gate.accept(InboundPost(text: #"{"c":"orders.eu"}"#), for: "s")
            let error = try await failure {
                _ = try await fixture.gate.accept(InboundPost(text: #"{"c":"secrets"}"#), for: "s")
            }
            #expect(error.code == .forbidden)
        }
    }

    @Test("holds no more than the limit, and lists what it holds")
    func limit() async throws {
        var limits = Limits()
        limits.sourcesPerApp = 2
        try await InboundFixture.with(limits: limits) { fixture in
            try await fixture.put("b", Self.plain)
            try await fixture.put("a", Self.plain)
            #expect(try await failure { try await fixture.put("c", Self.plain) }.slug == "too_many_sources")
            // An existing source can still be changed.
            try await fixture.put("a", Self.plain)
            let first = try await fixture.registry.list(RecordList(limit: 1), by: InboundFixture.owner)
            #expect(first.items.map(\.id) == ["a"])
            let second = try await fixture.registry.list(
                RecordList(limit: 1, cursor: first.cursor), by: InboundFixture.owner)
            #expect(second.items.map(\.id) == ["b"])
        }
    }
}

@Suite("A mapping") struct MappingTests {
    private static func render(
        _ mapping: String, body: String = "{}", headers: [InboundPost.Field] = [], query: [InboundPost.Field] = []
    ) throws -> EventDraft {
        let mapping = try Mapping(JSONText(trusted: Array(mapping.utf8)))
        let post = MappedPost(
            source: "src", message: .init(body: Array(body.utf8), headers: headers), query: query,
            body: PostBody(json: try JSONDocument(Array(body.utf8), numbers: .lenient).text))
        let first = try #require(mapping.render([post], limits: Limits()).first?.events.first)
        return try first.get()
    }

    private static func data(_ template: String, body: String) throws -> String {
        try render(#"{"channel":"a","type":"t","data":\#(template)}"#, body: body).data.description
    }

    @Test(
        "puts parts of the body in place, byte for byte",
        arguments: [
            (#"{"$":"body"}"#, #"{"a": 1e2,"b":[1, 2]}"#, #"{"a": 1e2,"b":[1, 2]}"#),
            (#"{"$":"body/b/1"}"#, #"{"b":[1, 100.10]}"#, "100.10"),
            (
                #"{"x":{"$":"body/a"},"y":[{"$":"body/b"},true,null,1.50]}"#, #"{"a":{},"b":"é"}"#,
                #"{"x":{},"y":["é",true,null,1.50]}"#
            ),
            (#"{"$":"body/a~1b/m~0n"}"#, #"{"a/b":{"m~n":7}}"#, "7"),
            (#"{"$":"body/"}"#, #"{"":3}"#, "3"),
            (#"{"$":"body/n"}"#, #"{"n":123456789012345678901234567890}"#, "123456789012345678901234567890"),
            (#"{"$":"body/missing","default":{"z":0.10}}"#, "{}", #"{"z":0.10}"#),
            (#"{"$":"body/n"}"#, #"{"n":null}"#, "null"),
            (
                #""{body/s}-{body/n}-{body/b}-{body/r}""#, #"{"s":"x\"y","n":5,"b":true,"r":100.10}"#,
                #""x\"y-5-true-100.10""#
            ),
            (#""{{literal}} {body/x|none}""#, "{}", #""{literal} none""#),
            (#"{"$":"source"}"#, "{}", #""src""#),
            (#"[]"#, "{}", "[]"),
            (#"{"a\nb":"c"}"#, "{}", #"{"a\nb":"c"}"#),
        ])
    func values(template: String, body: String, expected: String) throws {
        #expect(try Self.data(template, body: body) == expected)
    }

    @Test("reads headers without regard to case, and the query as it came")
    func fields() throws {
        let draft = try Self.render(
            #"{"channel":"{query/c}","type":"{header/x-type}","user":"{header/X-None|}","data":{"$":"header/X-TYPE"}}"#,
            headers: [("X-Type", " t ")], query: [("c", "first"), ("c", "second")])
        #expect(draft.channel.name == "first")
        #expect(draft.type == "t")
        #expect(draft.user == nil)
        #expect(draft.data.description == #""t""#)
    }

    @Test("takes objects, lists and null for no text", arguments: ["{}", "[]", "null"])
    func noText(value: String) {
        #expect(throws: ChatError.self) {
            try Self.render(#"{"channel":"{body/a}","type":"t","data":{}}"#, body: #"{"a":\#(value)}"#)
        }
    }

    @Test("has no more references than it may")
    func references() throws {
        func mapping(_ count: Int) -> JSONText {
            let list = Array(repeating: #"{"$":"body"}"#, count: count).joined(separator: ",")
            return JSONText(trusted: Array(#"{"channel":"a","type":"t","data":[\#(list)]}"#.utf8))
        }
        _ = try Mapping(mapping(256))
        #expect(throws: ChatError.self) { try Mapping(mapping(257)) }
    }
}

@Suite("The throttle") struct ThrottleTests {
    @Test("passes a few at once, then one at intervals, and counts those it drops")
    func counts() {
        let throttle = LogRateLimit(burst: 2, interval: .seconds(10))
        let now = ContinuousClock.now
        #expect(throttle.admit("a", at: now) == 0)
        #expect(throttle.admit("a", at: now) == 0)
        for _ in 0..<5 { #expect(throttle.admit("a", at: now) == nil) }
        #expect(throttle.admit("b", at: now) == 0)
        #expect(throttle.admit("a", at: now + .seconds(11)) == 5)
        #expect(throttle.admit("a", at: now + .seconds(12)) == nil)
    }
}
