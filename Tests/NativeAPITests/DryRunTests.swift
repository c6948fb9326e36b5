import ChatModel
import HTTPServer
import JSON
import Testing

@Suite("A dry run") struct DryRunTests {
    @Test(
        "returns the result of every emit, and stores nothing",
        arguments: [
            ("channels/a/events", #"{"type":"t","data":1}"#, "t"),
            ("channels/a/messages", #"{"text":"hi"}"#, "message.created"),
            ("channels/a/signals", #"{"data":1}"#, "signal.sent"), ("channels/a/fire", #"{"data":1}"#, "custom"),
            ("events", #"{"channel":"a","type":"t","data":1}"#, "t"),
        ])
    func dryRunResult(_ route: String, _ body: String, _ type: String) async throws {
        try await APIFixture.run { api in
            let answer = await api.call(.post, "/v1/\(route)?dry_run=true", body)
            #expect(answer.status == 200)
            #expect(answer["valid"]?.boolean == true)
            #expect(answer["type"]?.string == type)
            #expect(answer["version"]?.isNull == true)
            #expect(answer["errors"]?.count == 0)
            #expect(answer["would_reach"]?["streams"]?.integer == 0)
            #expect(await api.history("a").isEmpty)
        }
    }

    @Test("lists the webhooks that would receive the event, with the reason")
    func webhooks() async throws {
        try await APIFixture.run { api in
            for type in ["order.*", "other"] {
                let made = await api.call(
                    .post, "/v1/webhooks", #"{"url":"https://example.com/hook","types":["\#(type)"]}"#)
                #expect(made.status == 201)
            }
            let answer = await api.call(
                .post, "/v1/events/validate", #"{"channel":"a","type":"order.paid","data":1}"#)
            let matches = try #require(answer["would_reach"]?["webhooks"]?.elements)
            #expect(matches.count == 2)
            #expect(Set(matches.compactMap { $0["match"]?.boolean }) == [true, false])
            #expect(matches.allSatisfy { $0["why"]?.string?.isEmpty == false })
        }
    }

    @Test("names no webhook to a key that may not list them")
    func rights() async throws {
        try await APIFixture.run { api in
            _ = await api.call(.post, "/v1/webhooks", #"{"url":"https://example.com/hook","types":["*"]}"#)
            let sender = try await api.key([.emit])
            for body in [#"{"channel":"a","type":"t","data":1}"#, #"{"channel":"a","type":"user.muted","data":1}"#] {
                let answer = await api.call(.post, "/v1/events/validate", body, key: sender)
                #expect(answer.status == 200)
                #expect(answer["would_reach"]?["webhooks"] == nil)
                #expect(answer["would_reach"]?["streams"]?.integer == 0)
            }
        }
    }

    @Test("of an event that would be refused is an answer")
    func invalid() async throws {
        try await APIFixture.run { api in
            let narrow = try await api.key([.emit], channels: ["b"])
            for (body, key, keyword) in [
                (#"{"type":"message.created","data":1}"#, api.adminKey, "type_reserved"),
                (#"{"type":"t","data":1}"#, narrow, "forbidden"),
            ] {
                let answer = await api.call(.post, "/v1/channels/a/events?dry_run=true", body, key: key)
                #expect(answer.status == 200)
                #expect(answer["valid"]?.boolean == false)
                #expect(answer["errors"]?[0]?["keyword"]?.string == keyword)
            }
        }
    }

    @Test("of several events gives a result for each, unreadable ones in mode each too")
    func several() async throws {
        try await APIFixture.run { api in
            let channels = await api.call(.post, "/v1/events?dry_run=true", #"{"channels":["a","b"],"data":1}"#)
            #expect(channels["results"]?.elements?.compactMap { $0["valid"]?.boolean } == [true, true])
            let batch = await api.call(
                .post, "/v1/events/batch?dry_run=true",
                #"{"mode":"each","events":[{"channel":"a","data":1},{"channel":"a"},{"channel":"a","type":"","data":1}]}"#
            )
            #expect(batch["results"]?.elements?.compactMap { $0["valid"]?.boolean } == [true, false, false])
            #expect(batch["results"]?[1]?["type"]?.isNull == true)
            #expect(await api.history("a").isEmpty)
        }
    }

    @Test("of a batch explains no more pairs of event and webhook than the limit")
    func pairs() async throws {
        var limits = Limits()
        limits.dryRunMatches = 4
        try await APIFixture.run(limits: limits) { api in
            for _ in 0..<2 {
                _ = await api.call(.post, "/v1/webhooks", #"{"url":"https://example.com/hook","types":["t"]}"#)
            }
            func dryRun(_ events: Int, key: String) async -> Answer {
                let event = #"{"channel":"a","type":"t","data":1}"#
                let list = Array(repeating: event, count: events).joined(separator: ",")
                return await api.call(
                    .post, "/v1/events/batch?dry_run=true", #"{"mode":"each","events":[\#(list)]}"#, key: key)
            }
            #expect(await dryRun(2, key: api.adminKey)["results"]?.count == 2)
            let refused = await dryRun(3, key: api.adminKey)
            #expect(refused.status == 413 && refused.code == "too_many_events")
            // A caller without the right to list webhooks sees none.
            let sender = try await api.key([.emit])
            #expect(await dryRun(3, key: sender).status == 200)
        }
    }

    @Test("shows the beginning of a long filter that does not hold")
    func longFilter() async throws {
        try await APIFixture.run { api in
            let filter = "data.a == '\(String(repeating: "é", count: 2000))'"
            _ = await api.call(
                .post, "/v1/webhooks",
                #"{"url":"https://example.com/hook","types":["t"],"filter":"\#(filter)"}"#)
            let answer = await api.call(.post, "/v1/events/validate", #"{"channel":"a","type":"t","data":1}"#)
            let why = answer["would_reach"]?["webhooks"]?[0]?["why"]?.string ?? ""
            #expect(why == "the filter does not match: \(filter.prefix(200))…")
        }
    }

    @Test("does not spend an Idempotency-Key")
    func key() async throws {
        try await APIFixture.run { api in
            let headers: [(name: String, value: String)] = [("Idempotency-Key", "k")]
            _ = await api.call(.post, "/v1/channels/a/events?dry_run=true", #"{"data":1}"#, headers: headers)
            let real = await api.call(.post, "/v1/channels/a/events", #"{"data":1}"#, headers: headers)
            #expect(real.status == 201)
        }
    }

    @Test("is requested only by true or false")
    func flag() async throws {
        try await APIFixture.run { api in
            #expect(await api.call(.post, "/v1/channels/a/events?dry_run=1", #"{"data":1}"#).status == 400)
            #expect(await api.call(.post, "/v1/channels/a/events?dry_run=false", #"{"data":1}"#).status == 201)
        }
    }
}
