import ChatCore
import ChatModel
import JSON
import SQLiteEngine
import Signing
import Testing

@testable import InboundHooks

@Suite("A source's record") struct SourceRecordTests {
    private static let document =
        #"{"scheme":"generic","secrets":["topsecret"],"scheme_options":{"header":"X-Sig","prefix":"sha256=","template":"{ts}.{body}","timestamp_header":"X-Time","id_header":"X-Id"},"handshake":"meta","verify_token":"asked","mapping":{"channel":"in","type":"t","data":{"$":"body/type"}}}"#

    @Test("hides its secrets from readers of the directory, and from gateways without the key")
    func sealed() async throws {
        try await InboundFixture.with { fixture in
            let source = try await fixture.put("s", Self.document)
            let key = try Vault([Secret(Array(repeating: 7, count: 32))])
            let body = source.body(sealedBy: key)
            #expect(!body.description.contains("topsecret"))
            #expect(!body.description.contains("asked"))
            let record = Record(key: source.recordKey, body: body, etag: "1", updated: InboundFixture.start)
            let opened = try #require(Source(record, key))
            #expect(opened.settings.secrets == ["topsecret"])
            #expect(opened.settings.verifyToken == "asked")
            #expect(opened.settings.options == source.settings.options)
            #expect(opened.settings.handshake == .meta)
            #expect(Source(record, try Vault([Secret(Array(repeating: 8, count: 32))])) == nil)
            // A secret that is encrypted for one source is not valid for another.
            let moved = Record(
                key: RecordKey(.source, "other", in: InboundFixture.app), body: body, etag: "1",
                updated: InboundFixture.start)
            #expect(Source(moved, key) == nil)
        }
    }

    @Test("keeps its scheme's options: a generic signature is checked and its delivery remembered")
    func options() async throws {
        try await InboundFixture.with { fixture in
            try await fixture.put("s", Self.document)
            // A published signature vector.
            let post = InboundPost(
                [
                    ("X-Sig", "sha256=4da269e6bb016264bcf658ff8212bae83229bfde45b774cb6d147ce9669fd0f6"),
                    ("X-Time", "1700000000"), ("X-Id", "d-1"),
                ], text: PostReceiverTests.body)
            #expect(try await fixture.gate.accept(post, for: "s").events.map(\.isDuplicate) == [false])
            #expect(try await fixture.gate.accept(post, for: "s").events.map(\.isDuplicate) == [true])
            let shown = try await fixture.registry.source("s", by: InboundFixture.owner).printed().description
            #expect(shown.contains(#""timestamp_header":"X-Time""#))
            for hidden in ["topsecret", "asked", "verify_token"] { #expect(!shown.contains(hidden)) }
            // The displayed settings can be sent back and keep the secrets. The document's token is never displayed.
            try await fixture.put("s", InboundFixture.writable(JSONText(trusted: Array(shown.utf8))))
            #expect(try await fixture.gate.accept(post, for: "s").events.map(\.isDuplicate) == [true])
        }
    }

    @Test(
        "is refused with settings that its scheme does not have",
        arguments: [
            (#"{"scheme":"github","secrets":["k"],"scheme_options":{"header":"X"},"#, "#/scheme_options/header"),
            (#"{"scheme":"generic","secrets":["k"],"#, "#/scheme_options"),
            (#"{"scheme":"generic","secrets":["k"],"scheme_options":{"header":"a b"},"#, "#/scheme_options/header"),
            (
                #"{"scheme":"generic","secrets":["k"],"scheme_options":{"header":"X","encoding":"b64"},"#,
                "#/scheme_options/encoding"
            ),
            (
                #"{"scheme":"generic","secrets":["k"],"scheme_options":{"header":"X","template":"{ts}"},"#,
                "#/scheme_options/template"
            ),
            (#"{"scheme":"none","handshake":"meta","#, "#/verify_token"),
            (#"{"scheme":"none","handshake":"x","#, "#/handshake"),
            (#"{"scheme":"github","secrets":["k"],"handshake":"x","#, "#/handshake"),
            (
                #"{"scheme":"generic","secrets":["k"],"scheme_options":{"header":"X","template":"a{body}"},"handshake":"x","#,
                "#/handshake"
            ),
            (
                #"{"scheme":"generic","secrets":["k"],"scheme_options":{"header":"X","timestamp_header":"T"},"handshake":"x","#,
                "#/handshake"
            ),
            (#"{"scheme":"none","handshake":"hello","#, "#/handshake"),
            (#"{"scheme":"none","verify_token":1,"#, "#/verify_token"),
        ])
    func mistakes(beginning: String, pointer: String) async throws {
        try await InboundFixture.with { fixture in
            let error = try await failure {
                try await fixture.put("s", beginning + #""mapping":{"channel":"in","type":"t","data":{}}}"#)
            }
            #expect(error.faults.map(\.pointer).contains(pointer), "\(error.faults)")
        }
    }
}
