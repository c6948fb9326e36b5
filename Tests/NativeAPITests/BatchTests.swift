import ChatCore
import ChatModel
import HTTPServer
import JSON
import Testing

@Suite("A batch") struct BatchTests {
    private static let mixed =
        #"{"channel":"a","type":"t","data":{}},{"channel":"a","type":"message.created","data":1},{"channel":"a","data":1,"usr":"x"},{"channel":"b","data":2}"#

    @Test("that is atomic stores all events in their order")
    func atomic() async throws {
        try await APIFixture.run { api in
            let answer = await api.call(
                .post, "/v1/events/batch",
                #"{"mode":"atomic","events":[{"channel":"a","data":1},{"channel":"a","data":2}]}"#)
            #expect(answer.status == 200)
            #expect(answer["results"]?.elements?.compactMap { $0["status"]?.integer } == [201, 201])
            #expect(await api.history("a").compactMap { $0["data"]?.integer } == [1, 2])
        }
    }

    @Test("that is atomic stores nothing when one event is refused, and says which")
    func atomicRefused() async throws {
        try await APIFixture.run { api in
            let answer = await api.call(.post, "/v1/events/batch", #"{"events":[\#(Self.mixed)]}"#)
            #expect(answer.status == 400)
            #expect(answer["errors"]?[0]?["pointer"]?.string == "#/events/2/usr")
            let meaning = await api.call(
                .post, "/v1/events/batch",
                #"{"events":[{"channel":"a","data":1},{"channel":"a","type":"message.created","data":1}]}"#)
            #expect(meaning.status == 400)
            #expect(meaning["errors"]?[0]?["pointer"]?.string == "#/events/1/type")
            #expect(await api.history("a").isEmpty)
        }
    }

    @Test("in mode each stores the valid events, with a problem in the place of each other")
    func each() async throws {
        try await APIFixture.run { api in
            let answer = await api.call(.post, "/v1/events/batch", #"{"mode":"each","events":[\#(Self.mixed)]}"#)
            let results = try #require(answer["results"]?.elements)
            #expect(results.compactMap { $0["status"]?.integer } == [201, 400, 400, 201])
            #expect(results[1]["problem"]?["errors"]?[0]?["pointer"]?.string == "#/events/1/type")
            #expect(results[2]["problem"]?["code"]?.string == "unknown_member")
            #expect(results[2]["problem"]?["type"]?.string == "https://gw.example/problems/unknown-member")
            #expect(results[3]["id"]?.string?.hasPrefix("evt_") == true)
            #expect(await api.history("a").count == 1)
            #expect(await api.history("b").count == 1)
        }
    }

    @Test("is answered alike when it is repeated with its key, refusals included")
    func repeated() async throws {
        try await APIFixture.run { api in
            func post() async -> Answer {
                await api.call(
                    .post, "/v1/events/batch", #"{"mode":"each","events":[\#(Self.mixed)]}"#,
                    headers: [("Idempotency-Key", "k")])
            }
            let first = await post()
            let second = await post()
            #expect(second.header("Idempotency-Replayed") == "true")
            #expect(second.bytes == first.bytes)
            #expect(await api.history("a").count == 1)
        }
    }

    @Test("of 500 events passes, of 501 is 413")
    func count() async throws {
        try await APIFixture.run { api in
            func status(_ count: Int) async -> Answer {
                let events = Array(repeating: #"{"channel":"a","data":1}"#, count: count).joined(separator: ",")
                return await api.call(.post, "/v1/events/batch", #"{"events":[\#(events)]}"#)
            }
            #expect(await status(500).status == 200)
            let over = await status(501)
            #expect(over.status == 413)
            #expect(over.code == "too_many_events")
        }
    }

    @Test("comes from the device that X-Device-Id names")
    func device() async throws {
        try await APIFixture.run { api in
            let body = #"{"events":[{"channel":"a","data":1}]}"#
            let long = String(repeating: "x", count: 200)
            #expect(await api.call(.post, "/v1/events/batch", body, headers: [("X-Device-Id", long)]).status == 400)
            let answer = await api.call(.post, "/v1/events/batch", body, headers: [("X-Device-Id", "phone")])
            let place = try #require(answer["results"]?[0]?["timetoken"]?.string.flatMap { UInt64($0) })
            let event = try await api.service.engine.log.event(at: Timetoken(place), in: api.app.id)
            #expect(event?.draft.originDevice == "phone")
        }
    }

    @Test(
        "that is no batch is refused",
        arguments: [
            (#"{}"#, "member_missing"), (#"{"events":[]}"#, "bad_member"), (#"{"events":{}}"#, "wrong_type"),
            (#"{"events":[1]}"#, "wrong_type"), (#"{"mode":"some","events":[{"channel":"a","data":1}]}"#, "bad_member"),
            (#"{"events":[{"data":1}]}"#, "member_missing"), (#"{"evnts":[]}"#, "unknown_member"),
        ])
    func malformed(_ body: String, _ code: String) async throws {
        try await APIFixture.run { api in
            let answer = await api.call(.post, "/v1/events/batch", body)
            #expect(answer.status == 400)
            #expect(answer.code == code)
        }
    }
}
