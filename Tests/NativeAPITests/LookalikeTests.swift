import ChatModel
import JSON
import TestSupport
import Testing

/// Names are bytes: "é" as one code point and as two is the same to a reader's eye and to Swift's `String`.
@Suite("Channels whose names look alike", .timeLimit(.minutes(2))) struct LookalikeTests {
    private let composed = "caf%C3%A9"
    private let decomposed = "cafe%CC%81"

    @Test("have each its own events, history and streams")
    func apart() async throws {
        try await StreamHarness.run { gateway in
            let (first, _, _) = try await gateway.openReady("channel=\(composed)")
            let (second, _, _) = try await gateway.openReady("channel=\(decomposed)")
            let (both, _, _) = try await gateway.openReady("channel=\(composed)&channel=\(decomposed)")
            for (number, name) in [composed, decomposed, composed].enumerated() {
                let body = #"{"type":"order.paid","data":{"n":\#(number)}}"#
                #expect(try await gateway.call("POST", "/v1/channels/\(name)/events", body).status == 201)
            }
            #expect(await first.numbers(2) == [0, 2])
            #expect(await second.numbers(1) == [1])
            #expect(await both.numbers(3) == [0, 1, 2])
            #expect(try await count(composed, gateway) == 2)
            #expect(try await count(decomposed, gateway) == 1)
        }
    }

    @Test("may stand side by side in one request")
    func sideBySide() async throws {
        try await StreamHarness.run { gateway in
            let channels = #"["caf\u00e9","cafe\u0301"]"#
            let emitted = try await gateway.call(
                "POST", "/v1/events", #"{"channels":\#(channels),"type":"order.paid","data":{}}"#)
            #expect(emitted.status == 201)
            let histories = try await gateway.call("POST", "/v1/history", #"{"channels":\#(channels)}"#)
            #expect(histories.json?["channels"]?.members?.count == 2)
            #expect(try await count(composed, gateway) == 1)
            #expect(try await count(decomposed, gateway) == 1)
        }
    }

    private func count(_ channel: String, _ gateway: StreamHarness) async throws -> Int64? {
        let history = try await gateway.call("GET", "/v1/channels/\(channel)/events")
        return history.json?["data"].map { Int64($0.count) }
    }
}
