import ChatModel
import HTTPServer
import JSON
import TestSupport
import Testing

@testable import NativeAPI

/// Every interface uses the same validator: an event that a schema rejects is refused by each, and nothing of it is
/// stored.
@Suite("The schema validator behind the API") struct EventTypesGateTests {
    private static let mapping = #"{"channel":"shop","type":"order.paid","data":{"$":"body"}}"#

    /// An interface by which `order.paid` reaches the channel `shop`.
    private struct MatchStrategy: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let target: String
        let body: @Sendable (_ data: String) -> String
        var headers: [(name: String, value: String)] = []
    }

    private static let ways: [MatchStrategy] = [
        MatchStrategy(testDescription: "an event", target: "/v1/channels/shop/events") {
            #"{"type":"order.paid","data":\#($0)}"#
        },
        MatchStrategy(testDescription: "a fire", target: "/v1/channels/shop/fire") {
            #"{"type":"order.paid","data":\#($0)}"#
        },
        MatchStrategy(testDescription: "any channel", target: "/v1/events") {
            #"{"channel":"shop","type":"order.paid","data":\#($0)}"#
        },
        MatchStrategy(testDescription: "several channels", target: "/v1/events") {
            #"{"channels":["shop","other"],"type":"order.paid","data":\#($0)}"#
        },
        MatchStrategy(testDescription: "an atomic batch", target: "/v1/events/batch") {
            #"{"events":[{"channel":"shop","type":"t","data":1},{"channel":"shop","type":"order.paid","data":\#($0)}]}"#
        },
        MatchStrategy(
            testDescription: "a structured CloudEvent", target: "/v1/events?channel=shop",
            body: { #"{"specversion":"1.0","id":"1","source":"s","type":"order.paid","data":\#($0)}"# },
            headers: [("Content-Type", "application/cloudevents+json")]),
        MatchStrategy(
            testDescription: "a batch of CloudEvents", target: "/v1/events?channel=shop",
            body: { #"[{"specversion":"1.0","id":"1","source":"s","type":"order.paid","data":\#($0)}]"# },
            headers: [("Content-Type", "application/cloudevents-batch+json")]),
        MatchStrategy(
            testDescription: "a binary CloudEvent", target: "/v1/events?channel=shop", body: { $0 },
            headers: [
                ("ce-specversion", "1.0"), ("ce-id", "1"), ("ce-source", "s"), ("ce-type", "order.paid"),
                ("Content-Type", "application/json"),
            ]),
        MatchStrategy(testDescription: "a source", target: "/in/shop") { $0 },
    ]

    @Test("is used by every interface", arguments: ways)
    private func everywhere(_ way: MatchStrategy) async throws {
        try await APIFixture.run { api in
            await api.declare(EventTypesTests.schema)
            let source = await api.call(
                .put, "/v1/sources/shop", #"{"scheme":"none","mapping":\#(Self.mapping)}"#)
            #expect(source.status == 201)
            let wrong = await api.call(
                .post, way.target, way.body(#"{"amount":"1","currency":"EUR"}"#), headers: way.headers)
            #expect(wrong.status == 422 && wrong.code == "schema_violation", "\(wrong.text)")
            #expect(wrong["errors"]?[0]?["pointer"]?.string?.hasSuffix("/amount") == true)
            #expect(wrong["event_type"]?.string == "order.paid")
            #expect(await api.history("shop").isEmpty)
            #expect(await api.history("other").isEmpty)
            let right = await api.call(
                .post, way.target, way.body(#"{"amount":1,"currency":"EUR"}"#), headers: way.headers)
            #expect((200..<300).contains(right.status), "\(right.text)")
            for event in await api.history("shop") where event["type"]?.string == "order.paid" {
                #expect(event["schema"]?["version"]?.integer == 1)
            }
        }
    }

    @Test("refuses only the events of a batch in mode each that it must")
    func each() async throws {
        try await APIFixture.run { api in
            await api.declare(EventTypesTests.schema)
            let events = [#"{"amount":1,"currency":"EUR"}"#, #"{"amount":0,"currency":"EUR"}"#, "{}"].map {
                #"{"channel":"shop","type":"order.paid","data":\#($0)}"#
            }
            let answer = await api.call(
                .post, "/v1/events/batch", #"{"mode":"each","events":[\#(events.joined(separator: ","))]}"#)
            let results = try #require(answer["results"]?.elements)
            #expect(results.compactMap { $0["status"]?.integer } == [201, 422, 422])
            #expect(results[1]["problem"]?["code"]?.string == "schema_violation")
            #expect(results[1]["problem"]?["errors"]?[0]?["pointer"]?.string == "#/amount")
            #expect(results[1]["problem"]?["schema_version"]?.integer == 1)
            #expect(await api.history("shop").count == 1)
        }
    }

    @Test("says which event of an atomic batch it refuses")
    func atomic() async throws {
        try await APIFixture.run { api in
            await api.declare(EventTypesTests.schema)
            let answer = await api.call(
                .post, "/v1/events/batch",
                #"{"events":[{"channel":"a","data":1},{"channel":"a","type":"order.paid","data":{"amount":"x","currency":"EUR"}}]}"#
            )
            #expect(answer.status == 422)
            #expect(answer["errors"]?[0]?["pointer"]?.string == "#/events/1/data/amount")
            #expect(await api.history("a").isEmpty)
        }
    }

    @Test("lets messages and signals carry any JSON, their schemas say so")
    func anything() async throws {
        try await APIFixture.run { api in
            #expect(await api.call(.post, "/v1/channels/shop/messages", #"{"data":[1,"two"]}"#).status == 201)
            #expect(await api.call(.post, "/v1/channels/shop/signals", #"{"data":12345678901234567890}"#).status == 202)
            #expect(await api.history("shop").allSatisfy { $0["schema"] == nil })
        }
    }

    @Test("accepts a violation of a type that only warns, and reports it to the operators")
    func warns() async throws {
        try await APIFixture.run { api in
            await api.declare(EventTypesTests.schema, settings: #"{"mode":"warn"}"#)
            let stored = await api.emit(#"{"amount":"1","currency":"EUR"}"#)
            #expect(stored.status == 201)
            #expect(await api.history("shop")[0]["schema"] == nil)
            // The report is sent after the sender's response.
            await waitUntil { await !api.history("$system").isEmpty }
            let reports = await api.history("$system")
            let report = try #require(reports.first)
            #expect(report["type"]?.string == "schema.violated")
            #expect(report["data"]?["event"]?.string == stored["id"]?.string)
            #expect(report["data"]?["errors"]?[0]?["pointer"]?.string == "#/amount")
        }
    }

    @Test("refuses numbers that cannot be validated, and only where there is a schema")
    func numbers() async throws {
        try await APIFixture.run { api in
            await api.declare(#"{"type":"object"}"#)
            let refused = await api.emit(#"{"amount":12345678901234567890}"#)
            #expect(refused.status == 400 && refused.code == "number_out_of_range")
            #expect(await api.emit(#"{"amount":12345678901234567890}"#, type: "free").status == 201)
            // The number is returned unchanged, beyond the range of this test's parser.
            #expect(await api.call(.get, "/v1/channels/shop/events/count")["count"]?.integer == 1)
            #expect(await api.call(.get, "/v1/channels/shop/events").text.contains("12345678901234567890"))
        }
    }
}
