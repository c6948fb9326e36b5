import HTTPServer
import Testing

@testable import PubNubAPI

@Suite("An unknown path") struct UnknownPathTests {
    @Test(
        "that begins as PubNub's do is answered in PubNub's format",
        arguments: ["/publish/pub-demo", "/v2/subscribe/sub-demo", "/v3/history", "/time", "/v1/message-actions/x"])
    func wire(_ path: String) async throws {
        try await PubNubHarness.run { gateway in
            let answer = try await gateway.get(path)
            #expect(answer.status == 404)
            #expect(answer.text == #"{"message":"Not Found","error":true,"service":"Balancer","status":404}"#)
        }
    }

    @Test(
        "of no interface has no members of PubNub's errors",
        arguments: ["/", "/nothing", "/v1", "/v1/nothing", "/v2/nothing", "/publisher"])
    func native(_ path: String) async throws {
        try await PubNubHarness.run { gateway in
            let answer = try await gateway.get(path)
            #expect(answer.status == 404 && answer.text.contains(#""code":"unknown_route""#))
            #expect(!answer.text.contains("Balancer") && !answer.text.contains(#""message""#))
        }
    }
}
