import ChatCore
import ChatModel
import JSON
import Testing

@testable import PubNubAPI

/// The calls that a Chat SDK makes for its features, in order.
@Suite("A Chat SDK's application", .timeLimit(.minutes(2))) struct ChatWalkTests {
    private static let objects = "/v2/objects/sub-demo"

    private func patch(_ path: String, _ body: String, _ gateway: PubNubHarness) async throws -> WireAnswer {
        try await gateway.call("PATCH", Self.objects + path, body)
    }

    private func only(_ filter: String) -> String { "filter=" + PubNubHarness.escaped(filter) }

    @Test("logs in, makes a channel, joins it, and asks another user in")
    func joining() async throws {
        try await PubNubHarness.run { gateway in
            #expect(try await gateway.get(Self.objects + "/uuids/ana?include=custom").status == 404)
            _ = try await patch("/uuids/ana?include=custom", #"{"name":"Ana"}"#, gateway)
            let seen = try await gateway.get(Self.objects + "/uuids/ana?include=custom")
            let tag = seen["data"]?["eTag"]?.string ?? ""
            let active = try await gateway.call(
                "PATCH", Self.objects + "/uuids/ana", #"{"custom":{"lastActiveTimestamp":"1732412345678"}}"#,
                headers: [("If-Match", tag)])
            #expect(active.status == 200)
            #expect(try await gateway.get(Self.objects + "/channels/support").status == 404)
            _ = try await patch("/channels/support", #"{"name":"Support","type":"group"}"#, gateway)
            let own = try await patch(
                "/uuids/ana/channels?include=channel,custom&" + only("channel.id == 'support'"),
                #"{"set":[{"channel":{"id":"support"},"custom":{"lastReadMessageTimetoken":"1"},"status":""}]}"#,
                gateway)
            #expect(own["data"]?[0]?["channel"]?["name"]?.string == "Support")
            let asked = try await gateway.get(Self.objects + "/channels/support/uuids?" + only("uuid.id == 'bob'"))
            #expect(asked["data"]?.count == 0)
            _ = try await patch(
                "/uuids/bob/channels", #"{"set":[{"channel":{"id":"support"},"status":"pending"}]}"#, gateway)
            let poller = try WirePoller(gateway)
            let start = try await poller.batch("bob", "0").cursor
            let invitation = #"{"type":"invite","channelType":"group","channelId":"support"}"#
            try await gateway.publish("bob", invitation)
            let invited = try await poller.batch("bob", start)
            #expect(invited.text.contains(#""d":\#(invitation)"#))
            #expect(try await gateway.events("bob").map(\.type) == ["member.invited"])
            let pending = try await gateway.get(
                Self.objects + "/channels/support/uuids?count=true&"
                    + only("(uuid.id LIKE 'b*') && status == 'pending'"))
            #expect(pending["totalCount"]?.integer == 1)
        }
    }

    @Test("sends a message, counts unread messages, and marks it read")
    func reading() async throws {
        try await PubNubHarness.run { gateway in
            _ = try await patch("/uuids/bob/channels", #"{"set":[{"channel":{"id":"room"}}]}"#, gateway)
            let text = #"{"type":"text","text":"Hello","files":[]}"#
            let first = try await gateway.publish("room", text).timetoken
            let second = try await gateway.publish("room", text).timetoken
            func unread(_ since: String) async throws -> Int64? {
                let counts = "/v3/history/sub-key/sub-demo/message-counts/room?channelsTimetoken=\(since)"
                return try await gateway.get(counts)["channels"]?["room"]?.integer
            }
            #expect(try await unread("0") == 2)
            #expect(try await unread(first) == 1)
            _ = try await patch(
                "/uuids/bob/channels",
                #"{"set":[{"channel":{"id":"room"},"custom":{"lastReadMessageTimetoken":"\#(second)"}}]}"#, gateway)
            let poller = try WirePoller(gateway)
            let start = try await poller.batch("room", "0").cursor
            let receipt = #"{"type":"receipt","messageTimetoken":"\#(second)"}"#
            try await gateway.signal("room", receipt)
            #expect(try await poller.batch("room", start).text.contains(#""d":\#(receipt)"#))
            let members = try await gateway.get(Self.objects + "/channels/room/uuids?include=custom")
            #expect(members["data"]?[0]?["custom"]?["lastReadMessageTimetoken"]?.string == second)
        }
    }

    @Test("finds one message, edits it, hides it, brings it back and removes it for good")
    func editing() async throws {
        try await PubNubHarness.run { gateway in
            let message = try await gateway.publish("room", #"{"type":"text","text":"Hello"}"#).timetoken
            let after = String((UInt64(message) ?? 0) + 1)
            let before = String((UInt64(message) ?? 0) - 1)
            func found() async throws -> JSONValue? {
                let target =
                    "/v3/history-with-actions/sub-key/sub-demo/channel/room?start=\(after)&end=\(message)&max=1"
                return try await gateway.get(target)["channels"]?["room"]?[0]
            }
            let actions = "/v1/message-actions/sub-demo/channel/room/message/\(message)"
            func act(_ body: String) async throws -> String {
                let answer = try await gateway.call("POST", actions + "?uuid=ana", body)
                return answer["data"]?["actionTimetoken"]?.string ?? ""
            }
            #expect(try await found()?["actions"] == nil)
            _ = try await act(#"{"type":"edited","value":"Hello!"}"#)
            #expect(try await found()?["actions"]?["edited"]?["Hello!"]?.count == 1)
            let hidden = try await act(#"{"type":"deleted","value":"deleted"}"#)
            #expect(try await found()?["actions"]?["deleted"]?["deleted"]?[0]?["actionTimetoken"]?.string == hidden)
            #expect(try await found()?["message"]?["text"]?.string == "Hello")
            let restored = try await gateway.call("DELETE", actions + "/action/\(hidden)?uuid=ana")
            #expect(restored.status == 200)
            #expect(try await found()?["actions"]?["deleted"] == nil)
            let history = "/v3/history/sub-key/sub-demo/channel/room?start=\(before)&end=\(message)"
            #expect(try await gateway.call("DELETE", history).status == 200)
            #expect(try await found() == nil)
        }
    }

    @Test("opens a thread, pins a message, and receives typing signals")
    func threads() async throws {
        try await PubNubHarness.run { gateway in
            let message = try await gateway.publish("room", #"{"type":"text","text":"Hello"}"#).timetoken
            let thread = "PUBNUB_INTERNAL_THREAD_room_\(message)"
            _ = try await patch("/channels/\(thread)", #"{"description":"Thread on room"}"#, gateway)
            let opened = try await gateway.call(
                "POST", "/v1/message-actions/sub-demo/channel/room/message/\(message)?uuid=ana",
                #"{"type":"threadRootId","value":"\#(thread)"}"#)
            #expect(opened.status == 200)
            #expect(try await gateway.publish(thread, #"{"type":"text","text":"Reply"}"#).status == 200)
            let pin = #"{"custom":{"pinnedMessageTimetoken":"\#(message)","pinnedMessageChannelID":"room"}}"#
            let pinned = try await patch("/channels/room?include=custom", pin, gateway)
            #expect(pinned["data"]?["custom"]?["pinnedMessageTimetoken"]?.string == message)
            let poller = try WirePoller(gateway)
            let start = try await poller.batch("room", "0").cursor
            try await gateway.signal("room", #"{"type":"typing","value":true}"#)
            let typing = try await poller.batch("room", start)
            #expect(typing.items[0]["e"]?.integer == 1 && typing.items[0]["d"]?["value"]?.boolean == true)
        }
    }

    @Test("restricts a user and reports a message, on the channels that SDKs keep for it")
    func moderation() async throws {
        try await PubNubHarness.run { gateway in
            let moderation = "PUBNUB_INTERNAL_MODERATION_room"
            _ = try await patch("/channels/\(moderation)", #"{"type":"pn.prv"}"#, gateway)
            let ban = #"{"set":[{"uuid":{"id":"eve"},"custom":{"ban":true,"mute":false,"reason":"spam"}}]}"#
            let members = Self.objects + "/channels/\(moderation)/uuids"
            let signed = AccessTests().signed("PATCH", members, body: ban, at: gateway)
            #expect(try await gateway.call("PATCH", signed, ban).status == 200)
            let word = #"{"type":"moderation","channelId":"\#(moderation)","restriction":"banned","reason":"spam"}"#
            try await gateway.publish("PUBNUB_INTERNAL_MODERATION.eve", word, "&custom_message_type=moderated")
            #expect(try await gateway.events("PUBNUB_INTERNAL_MODERATION.eve").isEmpty)
            #expect(try await gateway.events("room").map(\.type) == ["user.banned"])
            let list = try await gateway.get(
                Self.objects + "/uuids/eve/channels?include=custom&"
                    + only("channel.id LIKE 'PUBNUB_INTERNAL_MODERATION_*'"))
            #expect(list["data"]?[0]?["custom"]?["ban"]?.boolean == true)
            let report =
                #"{"type":"report","text":"bad","reason":"offensive","reportedMessageTimetoken":"17324123456799999","reportedMessageChannelId":"room","reportedUserId":"eve"}"#
            try await gateway.publish(moderation, report)
            let events = try await gateway.history(moderation, "&include_uuid=true&include_message_type=true")
            #expect(events["channels"]?[moderation]?[0]?["message"]?["reason"]?.string == "offensive")
        }
    }
}
