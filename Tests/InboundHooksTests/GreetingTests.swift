import ChatCore
import ChatModel
import JSON
import Signing
import Testing
import Text

@testable import InboundHooks

@Suite("A provider's question") struct GreetingTests {
    @Test("of Slack is answered once its signature holds, and becomes no event")
    func slack() async throws {
        try await InboundFixture.with { fixture in
            try await fixture.put("s", scheme: "slack", secret: "k")
            let text = #"{"type":"url_verification","token":"x","challenge":"3eZb"}"#
            let signed = Array("v0:1700000000:\(text)".utf8)
            let code = MessageAuthentication.code(.sha256, of: signed, key: Secret(text: "k"))
            var post = InboundPost(
                [("X-Slack-Request-Timestamp", "1700000000"), ("X-Slack-Signature", "v0=" + Hex.encode(code))],
                text: text)
            let receipt = try await fixture.gate.accept(post, for: "s")
            #expect(receipt.handshake?.body == "3eZb")
            #expect(receipt.events.isEmpty)
            #expect(fixture.gate.metrics == ["handshake": 1])
            post.headers[1].value = "v0=00"
            #expect(try await failure { _ = try await fixture.gate.accept(post, for: "s") }.code == .unauthorized)
        }
    }

    @Test("of Meta is answered only with its token, which is never shown")
    func meta() async throws {
        try await InboundFixture.with { fixture in
            let source = try await fixture.put(
                "s",
                #"{"scheme":"github","secrets":["k"],"handshake":"meta","verify_token":"vt","mapping":{"channel":"a","type":"t","data":{}}}"#
            )
            #expect(!source.printed().description.contains("vt"))
            func ask(_ token: String) throws -> HandshakeResponse? {
                var post = InboundPost(
                    query: [("hub.mode", "subscribe"), ("hub.verify_token", token), ("hub.challenge", "42")], text: "")
                post.method = "GET"
                return try fixture.gate.answerChallenge(post, for: "s")
            }
            #expect(try ask("vt")?.body == "42")
            #expect(try ask("other")?.status == 403)
            // A mapping that is left out stays.
            try await fixture.put(
                "s",
                #"{"scheme":"github","handshake":"meta","mapping":{"channel":"a","type":"t","data":{}}}"#)
            #expect(try ask("vt")?.body == "42")
            let outcomes = try await fixture.gate.requests(of: "s", by: InboundFixture.owner).map(\.outcome)
            #expect(outcomes.count == 3)
            #expect(outcomes.count { $0 == .signatureInvalid } == 1)
        }
    }

    @Test("of X returns no signature that a post could have")
    func forged() async throws {
        try await InboundFixture.with { fixture in
            try await fixture.put(
                "x",
                #"{"scheme":"generic","secrets":["k"],"scheme_options":{"header":"X-Sig","encoding":"base64","prefix":"sha256=","template":"{body}"},"handshake":"x","mapping":{"channel":"in","type":"posted","data":{"$":"body"}}}"#
            )
            func signature(of token: String) throws -> String? {
                var question = InboundPost(query: [("crc_token", token)], text: "")
                question.method = "GET"
                let answer = try fixture.gate.answerChallenge(question, for: "x")
                return try answer.flatMap { try JSONDocument(Array($0.body.utf8)).root["response_token"]?.string }
            }
            #expect(try signature(of: #"{"a":1}"#) == nil)
            // This body is signed JSON as well; X posts objects.
            let stolen = try #require(try signature(of: "12345"))
            let error = try await failure {
                _ = try await fixture.gate.accept(InboundPost([("X-Sig", stolen)], text: "12345"), for: "x")
            }
            #expect(error.slug == "signature_invalid")
            let code = MessageAuthentication.code(.sha256, of: Array(#"{"a":1}"#.utf8), key: Secret(text: "k"))
            let own = InboundPost([("X-Sig", "sha256=" + Base64.encode(code))], text: #"{"a":1}"#)
            #expect(try await fixture.gate.accept(own, for: "x").events.count == 1)
        }
    }

    @Test("of X and of CloudEvents is answered where the source is made for it")
    func others() async throws {
        try await InboundFixture.with { fixture in
            let mapping = #"{"channel":"a","type":"t","data":{}}"#
            try await fixture.put(
                "x",
                #"{"scheme":"generic","secrets":["k"],"scheme_options":{"header":"X-Sig","encoding":"base64","prefix":"sha256="},"handshake":"x","mapping":\#(mapping)}"#
            )
            try await fixture.put("c", #"{"scheme":"none","handshake":"cloudevents","mapping":\#(mapping)}"#)
            try await fixture.put("n", #"{"scheme":"none","mapping":\#(mapping)}"#)
            var crc = InboundPost(query: [("crc_token", "c")], text: "")
            crc.method = "GET"
            #expect(
                try fixture.gate.answerChallenge(crc, for: "x")?.body.hasPrefix(#"{"response_token":"sha256="#) == true)
            #expect(try fixture.gate.answerChallenge(crc, for: "n") == nil)
            var options = InboundPost([("WebHook-Request-Origin", "e.example")], text: "")
            options.method = "OPTIONS"
            let answer = try fixture.gate.answerChallenge(options, for: "c")
            #expect(answer?.headers.first?.value == "e.example")
            #expect(try fixture.gate.answerChallenge(options, for: "n") == nil)
        }
    }
}
