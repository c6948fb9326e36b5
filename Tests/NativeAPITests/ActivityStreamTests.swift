import ChatCore
import ChatModel
import LongPolling
import JSON
import Testing
import TestSupport

@testable import NativeAPI

@Suite("channel.activity over HTTP", .timeLimit(.minutes(2))) struct ActivityStreamTests {
    private func say(_ text: String, in channel: String, _ gateway: StreamHarness) async throws {
        let body = #"{"text":"\#(text)","user":"jim"}"#
        #expect(try await gateway.call("POST", "/v1/channels/\(channel)/messages", body).status == 201)
    }

    private func data(_ event: EventStreamParser.Event?) throws -> JSONValue? {
        try event.flatMap { try JSONDocument(Array($0.data.utf8)).root["data"] }
    }

    @Test("sends a device that names it last messages and its user's unread counts, and no other device")
    func device() async throws {
        try await StreamHarness.run { gateway in
            try await gateway.channel("crew", .group)
            for user in ["jo", "jim"] { try await gateway.member(user, of: "crew") }
            gateway.clock.advance(by: .seconds(1))
            let (other, _, _) = try await gateway.openReady("user=jo&device=desk&type=channel.*&type=order.paid")
            let (phone, _, _) = try await gateway.openReady("user=jo&device=phone&type=channel.activity")
            try await say("hello", in: "crew", gateway)
            var rest: Set = ["last_message", "unread_count"]
            while !rest.isEmpty, let event = await phone.next() {
                #expect(event.type == "channel.activity")
                let told = try #require(try data(event))
                #expect(told["channel"]?["id"]?.string == "crew" && told["channel"]?["kind"]?.string == "group")
                if let message = told["last_message"] {
                    #expect(message["data"]?["text"]?.string == "hello")
                    rest.remove("last_message")
                } else {
                    #expect(told["unread_count"]?.integer == 1)
                    rest.remove("unread_count")
                }
            }
            try await gateway.tell("crew", 7, for: .rule(.joined))
            let next = await other.next()
            #expect(next?.type == "order.paid")
            let history = try await gateway.call("GET", "/v1/channels/crew/events?type=channel.activity")
            #expect(history.json?["data"]?.count == 0)
        }
    }

    @Test("is found by the next poll when it was sent between two")
    func polls() async throws {
        try await StreamHarness.run { gateway in
            let path = "/v1/poll?channel=a&type=channel.activity&cursor="
            async let first = gateway.call("GET", path + "latest")
            await gateway.until { !$0.polls.assumeIsolated { $0.isEmpty } }
            try await say("1", in: "a", gateway)
            var cursor = "latest"
            for text in ["1", "2"] {
                let answer = if text == "1" { try await first } else { try await gateway.call("GET", path + cursor) }
                let events = try #require(answer.json?["data"]?.elements)
                #expect(events.map { $0["data"]?["last_message"]?["data"]?["text"]?.string } == [text])
                cursor = try #require(answer.json?["cursor"]?.string)
                await gateway.until { $0.polls.assumeIsolated { $0.isEmpty } }
                if text == "1" { try await say("2", in: "a", gateway) }
                gateway.clock.advance(by: .seconds(1))
            }
        }
    }

    @Test("is a type that no sender can use")
    func reserved() async throws {
        try await StreamHarness.run { gateway in
            let body = #"{"type":"channel.activity","data":{}}"#
            let answer = try await gateway.call("POST", "/v1/channels/a/events", body)
            #expect(answer.json?["code"]?.string == "type_reserved")
        }
    }
}
