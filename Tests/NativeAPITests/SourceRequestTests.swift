import ChatModel
import HTTPServer
import JSON
import TestSupport
import Testing

@testable import NativeAPI

@Suite("Requests to sources over HTTP") struct SourceRequestTests {
    private static let open =
        #"{"scheme":"none","mapping":{"when":{"body/skip":{"exists":false}},"channel":"in","type":"posted","data":{"$":"body/a"}}}"#

    private static func put(_ api: APIFixture, _ document: String = open) async throws {
        #expect(await api.call(.put, "/v1/sources/s", document).status == 201)
    }

    @Test("keep a log of requests that can be read, filtered, paged and replayed")
    func requests() async throws {
        try await APIFixture.run { api in
            try await Self.put(api)
            for body in [#"{"a":1}"#, #"{"skip":1}"#, "{}", "nonsense"] {
                _ = await api.call(.post, "/in/s?token=x&page=2", body, key: nil)
                api.clock.advance(by: .seconds(1))
            }
            let all = await api.call(.get, "/v1/sources/s/requests")
            #expect(
                all["data"]?.elements?.map { $0["outcome"]?.string } == ["rejected", "rejected", "dropped", "accepted"])
            let rejected = await api.call(.get, "/v1/sources/s/requests?outcome=rejected&limit=1")
            #expect(rejected["has_more"]?.boolean == true)
            #expect(rejected["data"]?[0]?["body"]?.string == "nonsense")
            let bare = await api.call(.get, "/v1/sources/s/requests?outcome=none")
            #expect(bare.status == 400)

            let accepted = try #require(all["data"]?[3])
            #expect(accepted["query"]?[0]?["value"]?.string == "***")
            #expect(accepted["query"]?[1]?["value"]?.string == "2")
            let id = try #require(accepted["id"]?.string)
            let one = await api.call(.get, "/v1/sources/s/requests/\(id)")
            #expect(one["events"]?[0]?.string?.hasPrefix("evt_") == true)
            let replay = await api.call(.post, "/v1/sources/s/requests/\(id)/replay")
            #expect(replay.status == 202)
            #expect(replay["accepted"]?.integer == 1)
            #expect(await api.call(.get, "/v1/sources/s/requests/req_x").status == 404)
        }
    }

    @Test("report posts beyond the size limit")
    func tooLarge() async throws {
        var limits = Limits()
        limits.inboundBodyBytes = 1000
        try await APIFixture.run(limits: limits) { api in
            try await Self.put(api)
            let long = String(repeating: "x", count: 1001)
            #expect(await api.call(.post, "/in/s", long, key: nil, headers: [("X-Kind", "k")]).status == 413)
            #expect(await api.call(.post, "/in/unknown", long, key: nil).status == 413)
            let logged = await api.call(.get, "/v1/sources/s/requests?outcome=rejected")["data"]
            #expect(logged?.count == 1)
            #expect(logged?[0]?["reason"]?.string == "a post may have at most 1000 bytes")
            #expect(logged?[0]?["body"]?.string == "" && logged?[0]?["truncated"]?.boolean == true)
            #expect(logged?[0]?["headers"]?[0]?["name"]?.string == "X-Kind")
            #expect(
                await api.call(.get, "/metrics").text.contains(#"parley_inbound_posts_total{outcome="rejected"} 1"#))
        }
    }

    @Test("report signed posts with a content coding, whose signature cannot be checked")
    func encoded() async throws {
        try await APIFixture.run { api in
            let signed = Self.open.replacing(#""scheme":"none""#, with: #""scheme":"github","secrets":["x"]"#)
            try await Self.put(api, signed)
            let gzip = [(name: "Content-Encoding", value: "GZIP")]
            let refused = await api.call(.post, "/in/s", #"{"a":1}"#, key: nil, headers: gzip)
            #expect(refused.status == 415 && refused.code == "unsupported_content_encoding")
            #expect(refused.header("Accept-Encoding") == "identity")
            let logged = await api.call(.get, "/v1/sources/s/requests?outcome=rejected")["data"]?[0]
            #expect(logged?["reason"]?.string?.contains("Content-Encoding") == true)
            let plain = [(name: "Content-Encoding", value: "identity")]
            #expect(await api.call(.post, "/in/s", #"{"a":1}"#, key: nil, headers: plain).status == 401)
            #expect(await api.call(.post, "/in/nobody", "{}", key: nil, headers: gzip).status == 404)
            let trial = await api.call(
                .post, "/v1/sources/s/test", #"{"body":"{}","headers":{"Content-Encoding":"gzip"}}"#)
            #expect(trial["rejection"]?.string?.contains("Content-Encoding") == true)

            #expect(await api.call(.put, "/v1/sources/open", Self.open).status == 201)
            #expect(await api.call(.post, "/in/open", #"{"a":1}"#, key: nil, headers: gzip).status == 202)
        }
    }

    @Test("try posts and requests of the log out, with another mapping too")
    func trial() async throws {
        try await APIFixture.run { api in
            try await Self.put(api)
            let post = #"{"headers":[{"name":"X-A","value":"h"}],"body_base64":"eyJhIjo3fQ=="}"#
            let trial = await api.call(.post, "/v1/sources/s/test", post)
            #expect(trial["verified"]?.boolean == true)
            #expect(trial["mapping_version"]?.integer == 1)
            #expect(trial["events"]?[0]?["data"]?.integer == 7)
            #expect(trial["events"]?[0]?["valid"]?.boolean == true)
            #expect(trial["events"]?[0]?["would_reach"]?["webhooks"]?.count == 0)
            #expect(await api.call(.post, "/v1/sources/s/test", #"{"body":"{\"skip\":1}"}"#)["dropped"]?.integer == 1)

            _ = await api.call(.post, "/in/s", #"{"b":2}"#, key: nil)
            let logged = await api.call(.get, "/v1/sources/s/requests")["data"]?[0]?["id"]?.string
            let draft = #"{"channel":"in","type":"posted","data":{"$":"body/b"}}"#
            let again = await api.call(
                .post, "/v1/sources/s/test", #"{"request":"\#(logged ?? "")","mapping":\#(draft)}"#
            )
            #expect(again["events"]?[0]?["data"]?.integer == 2)
            #expect(again["mapping_version"]?.isNull == true)
            for mistake in [
                #"{"request":"\#(logged ?? "")","body":""}"#, #"{"body":"","body_base64":""}"#,
                #"{"body":"","method":"PUT"}"#,
                #"{"body":"","mapping":{"channel":"{x}","type":"t","data":1}}"#,
                #"{"body":"","headers":[{"value":"x"}]}"#, "{}",
            ] {
                #expect(await api.call(.post, "/v1/sources/s/test", mistake).status == 400, "\(mistake)")
            }
        }
    }

    @Test("list no more events of a trial than a dry run may explain, and count the others")
    func manyPairs() async throws {
        var limits = Limits()
        limits.dryRunMatches = 4
        try await APIFixture.run(limits: limits) { api in
            try await Self.put(api)
            for _ in 0..<2 {
                _ = await api.call(.post, "/v1/webhooks", #"{"url":"https://example.com/hook","types":["posted"]}"#)
            }
            let mapping =
                #"{"each":"body/a","as":"e","channel":"in","type":"posted","data":{"$":"e"},"user":"{e|}"}"#
            func trial(_ list: String) async -> Answer {
                await api.call(
                    .post, "/v1/sources/s/test", #"{"body":"{\"a\":\#(list)}","mapping":\#(mapping)}"#)
            }
            let all = await trial("[1,2]")
            #expect(all["events"]?.count == 2 && all["left_out"]?.integer == 0)
            let tooLong = String(repeating: "u", count: 93)
            let some = await trial(#"[1,2,3,\"\#(tooLong)\"]"#)
            #expect(some["events"]?.elements?.map { $0["would_reach"]?["webhooks"]?.count } == [2, 2])
            #expect(some["left_out"]?.integer == 2)
            #expect(some["errors"]?.count == 1)
        }
    }

    @Test("report the schema violations of a trial's events")
    func verdict() async throws {
        try await APIFixture.run { api in
            _ = await api.call(.put, "/v1/event-types/posted", #"{"mode":"enforce"}"#)
            _ = await api.call(.post, "/v1/event-types/posted/versions", #"{"schema":{"type":"integer"}}"#)
            try await Self.put(api)
            let good = await api.call(.post, "/v1/sources/s/test", #"{"body":"{\"a\":1}"}"#)
            #expect(good["events"]?[0]?["schema_version"]?.integer == 1)
            let bad = await api.call(.post, "/v1/sources/s/test", #"{"body":"{\"a\":\"x\"}"}"#)
            #expect(bad["events"]?[0]?["valid"]?.boolean == false)
            #expect(bad["events"]?[0]?["errors"]?[0]?["keyword"]?.string == "type")
            // In mode warn the event passes, and the schema's errors are reported anyway.
            _ = await api.call(.put, "/v1/event-types/posted", #"{"mode":"warn"}"#)
            let warned = await api.call(.post, "/v1/sources/s/test", #"{"body":"{\"a\":\"x\"}"}"#)
            #expect(warned["events"]?[0]?["valid"]?.boolean == true)
            #expect(warned["events"]?[0]?["errors"]?[0]?["keyword"]?.string == "type")
        }
    }

    @Test("list the mappings they have had")
    func mappings() async throws {
        try await APIFixture.run { api in
            try await Self.put(api)
            let second = #"{"scheme":"none","mapping":{"channel":"b","type":"t","data":0}}"#
            #expect(await api.call(.put, "/v1/sources/s", second)["mapping_version"]?.integer == 2)
            let listed = await api.call(.get, "/v1/sources/s/mappings")["data"]?.elements
            #expect(listed?.map { $0["version"]?.integer } == [2, 1])
            #expect(listed?.first?["mapping"]?["channel"]?.string == "b")
        }
    }

    @Test("answer providers' questions and nothing else that is no post")
    func greetings() async throws {
        try await APIFixture.run { api in
            try await Self.put(api)
            #expect(await api.call(.get, "/in/s", key: nil).status == 405)
            #expect(await api.call(.options, "/in/s", key: nil).header("Allow") == "POST, OPTIONS")
            let meta =
                #"{"scheme":"none","handshake":"meta","verify_token":"vt","mapping":{"channel":"b","type":"t","data":0}}"#
            _ = await api.call(.put, "/v1/sources/m", meta)
            let question = "/in/m?hub.mode=subscribe&hub.challenge=42&hub.verify_token="
            let answer = await api.call(.get, question + "vt", key: nil)
            #expect(answer.text == "42")
            #expect(await api.call(.get, question + "x", key: nil).status == 403)
            #expect(await api.call(.get, "/in/nobody", key: nil).status == 404)
        }
    }

    @Test(
        "have the words of all routes for mistakes in their documents",
        arguments: [
            (#"{"scheme":"none","no_such_member":1}"#, "unknown_member"), ("[]", "wrong_type"),
            (#"{"mapping":{"channel":"b","type":"t","data":0}}"#, "member_missing"), (#"{"a":"#, "malformed_request"),
        ])
    func codes(document: String, code: String) async throws {
        try await APIFixture.run { api in
            #expect(await api.call(.put, "/v1/sources/s", document).code == code)
        }
    }
}
