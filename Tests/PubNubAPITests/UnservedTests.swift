import ChatModel
import JSON
import Testing

@testable import PubNubAPI

@Suite("A service of PubNub's that the gateway has not", .timeLimit(.minutes(2))) struct UnservedTests {
    @Test("is refused in the words of its own")
    func refusals() async throws {
        try await PubNubHarness.run { gateway in
            let file = try await gateway.call("POST", "/v1/files/sub-demo/channels/a/generate-upload-url", "{}")
            #expect(file.status == 402)
            #expect(
                file.text
                    == #"{"status":402,"error":{"message":"Files service not enabled for subkey","source":"Files","code":3005}}"#
            )
            for path in ["/v1/push/sub-key/sub-demo/devices/x", "/v2/push/sub-key/sub-demo/devices-apns2/x/remove"] {
                let push = try await gateway.get(path)
                #expect(push.status == 403)
                #expect(push["error"]?.string?.hasPrefix("Use of the mobile push notifications API") == true)
            }
        }
    }

    @Test("still may be announced: a file that lies elsewhere is a message of its own kind")
    func announcements() async throws {
        try await PubNubHarness.run { gateway in
            let poller = try WirePoller(gateway)
            let start = try await poller.batch("a", "0").cursor
            let payload = PubNubHarness.escaped(#"{"message":"look","file":{"id":"1","name":"a.png"}}"#)
            let sent = try await gateway.get(
                "/v1/files/publish-file/pub-demo/sub-demo/0/a/0/\(payload)?uuid=ana")
            #expect(sent.shape == #"[1,"Sent","<tt>"]"#)
            let batch = try await poller.batch("a", start)
            #expect(batch.items[0]["e"]?.integer == 4)
            let history = try await gateway.history("a", "&include_message_type=true")
            #expect(history["channels"]?["a"]?[0]?["message_type"]?.integer == 4)
        }
    }
}
