import ChatModel
import HTTPServer
import JSON
import Testing

@testable import NativeAPI

/// A repeated request gets the first response, whatever was declared in between.
@Suite("A repeat after a change of the schema") struct EventTypesRepeatTests {
    private static let key: [(name: String, value: String)] = [("Idempotency-Key", "k")]
    private static let free = #""compatibility":"none""#
    private static let numbers = #"{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}"#
    private static let smallNumbers =
        #"{"type":"object","properties":{"n":{"type":"integer","maximum":5}},"required":["n"]}"#

    @Test(
        "gets the first answer, though it would be refused now",
        arguments: ["/v1/channels/shop/events", "/v1/events"])
    func single(target: String) async throws {
        try await APIFixture.run { api in
            await api.declare(Self.numbers)
            let body = #"{"type":"order.paid","data":{"n":7}}"#
            let text = target == "/v1/events" ? #"{"channel":"shop",\#(body.dropFirst())"# : body
            let first = await api.call(.post, target, text, headers: Self.key)
            #expect(first.status == 201, "\(first.text)")
            #expect(await api.addVersion(Self.smallNumbers, Self.free).status == 201)
            #expect(await api.call(.post, target, text).status == 422)
            let second = await api.call(.post, target, text, headers: Self.key)
            #expect(second.status == 201 && second.text == first.text, "\(second.text)")
            #expect(second.header("Idempotency-Replayed") == "true")
            let other = await api.call(.post, target, text.replacing("7", with: "8"), headers: Self.key)
            #expect(other.status == 422 && other.code == "idempotency_key_reused", "\(other.text)")
            #expect(await api.history("shop").count == 1)
        }
    }

    @Test("gets the first answer for each event of a batch", arguments: ["atomic", "each"])
    func batch(mode: String) async throws {
        try await APIFixture.run { api in
            await api.declare(Self.numbers)
            let values = mode == "each" ? [#""x""#, "7", "1", "9"] : ["7", "1", "9"]
            let events = values.map { #"{"channel":"shop-\#($0.count)","type":"order.paid","data":{"n":\#($0)}}"# }
            let body = #"{"mode":"\#(mode)","events":[\#(events.joined(separator: ","))]}"#
            let first = await api.call(.post, "/v1/events/batch", body, headers: Self.key)
            #expect(first.status == 200, "\(first.text)")
            #expect(await api.addVersion(Self.smallNumbers, Self.free).status == 201)
            let second = await api.call(.post, "/v1/events/batch", body, headers: Self.key)
            #expect(second.status == 200 && second.text == first.text, "\(second.text) after \(first.text)")
            #expect(second.header("Idempotency-Replayed") == "true")
            // An event that was refused is not accepted by a repeat, even if the new schema accepts it.
            #expect(await api.addVersion(#"{"type":"object"}"#, Self.free).status == 201)
            let third = await api.call(.post, "/v1/events/batch", body, headers: Self.key)
            #expect(third.text == first.text, "\(third.text)")
            #expect(await api.history("shop-1").count == 3)
            #expect(await api.history("shop-3").isEmpty)
        }
    }
}
