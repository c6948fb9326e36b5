import ChatCore
import ChatModel
import JSON
import Testing

@testable import PubNubAPI

@Suite("A native event", .timeLimit(.minutes(2))) struct NativeTests {
    /// The items that a subscriber receives for the effects of `body`, without the digits of timetokens.
    private func seen(
        on channels: String, _ gateway: PubNubHarness, _ body: () async throws -> Void
    ) async throws -> [String] {
        let poller = try WirePoller(gateway)
        let start = try await gateway.get("/v2/subscribe/sub-demo/\(channels)/0?tt=0")["t"]?["t"]?.string ?? ""
        try await body()
        let batch = try await poller.batch(channels, start)
        return batch.shape.matches(of: /"d":(\{.*?\})(?:,"u"|,"b"|,"cmt"|\})/).map { String($0.output.1) }
    }

    @Test("is sent to PubNub's readers in the payloads of the Chat SDKs")
    func payloads() async throws {
        try await PubNubHarness.run { gateway in
            let chat = gateway.chat
            _ = try await chat.make(NewChannel(kind: .public, id: "room"))
            _ = try await chat.join("ana", to: "room")
            let text = JSONText(trusted: Array(#"{"text":"hi"}"#.utf8))
            let message = try await chat.emit(.message(channel: "room", data: text, user: "ana", meta: nil)).event
                .timetoken
            let typing = try await seen(on: "room", gateway) { try await chat.startTyping("ana", on: "room") }
            #expect(typing == [#"{"type":"typing","value":true}"#])
            let receipt = try await seen(on: "room", gateway) {
                _ = try await chat.mark(.read, "ana", in: "room", at: message, by: "ana")
            }
            #expect(receipt.first == #"{"type":"receipt","messageTimetoken":"<tt>"}"#)
            let invitation = try await seen(on: "bob", gateway) { _ = try await chat.invite(["bob"], to: "room") }
            #expect(invitation.first == #"{"type":"invite","channelType":"public","channelId":"room"}"#)
            let report = try await seen(on: "PUBNUB_INTERNAL_MODERATION_room", gateway) {
                _ = try await chat.report(message, in: "room", for: "offensive", rule: "words", by: "bob")
            }
            #expect(
                report.first?.hasPrefix(
                    #"{"type":"report","text":"hi","reason":"offensive","reportedMessageTimetoken":"<tt>","reportedMessageChannelId":"room","reportedUserId":"ana","autoModerationId":"words""#
                ) == true)
        }
    }

    @Test("that Chat SDKs publish as a message is in history, and counts as no message")
    func history() async throws {
        try await PubNubHarness.run { gateway in
            let chat = gateway.chat
            _ = try await chat.make(NewChannel(kind: .public, id: "room"))
            for user in ["ana", "bob"] { _ = try await chat.join(user, to: "room") }
            let text = JSONText(trusted: Array(#"{"text":"hi"}"#.utf8))
            let sent = try await chat.post(
                .message(channel: "room", data: text, user: "ana", meta: nil), MessageLinks(mentions: .users(["bob"])))
            let message = sent.events[0].event.timetoken
            _ = try await chat.invite(["cy"], to: "room")
            _ = try await chat.report(message, in: "room", for: "rude", by: "bob")
            _ = try await chat.react("👍", to: message, in: "room", by: "ana")
            func types(_ channel: String) async throws -> [String] {
                let answer = try await gateway.history(channel)
                return answer["channels"]?[channel]?.elements?.map { $0["message"]?["type"]?.string ?? "-" } ?? []
            }
            #expect(try await types("bob") == ["mention"])
            #expect(try await types("cy") == ["invite"])
            #expect(try await types("PUBNUB_INTERNAL_MODERATION_room") == ["report"])
            #expect(try await types("room") == ["text"])
            let old = try await gateway.get("/v2/history/sub-key/sub-demo/channel/cy?count=1")
            #expect(old.json?[0]?[0]?["type"]?.string == "invite")
            let counts = try await gateway.get("/v3/history/sub-key/sub-demo/message-counts/bob?timetoken=1")
            #expect(counts["channels"]?["bob"]?.integer == 0)
        }
    }

    @Test("is sent as the text of a message, an action or an object where it is one")
    func others() async throws {
        try await PubNubHarness.run { gateway in
            let chat = gateway.chat
            let text = JSONText(trusted: Array(#"{"text":"hi"}"#.utf8))
            let said = try await seen(on: "room", gateway) {
                _ = try await chat.emit(.message(channel: "room", data: text, user: "ana", meta: nil))
            }
            #expect(said == [#"{"type":"text","text":"hi","files":[]}"#])
            let message = try #require(try await gateway.events("room").first).timetoken
            let poller = try WirePoller(gateway)
            _ = try await chat.react("👍", to: message, in: "room", by: "bob")
            var edit = UserEdit()
            edit.name = .set("Ana")
            _ = try await chat.put(user: "ana", edit)
            _ = try await chat.appear("cy", on: "room")
            let batch = try await poller.batch("room,room-pnpres,ana", message.description)
            // Bob is present because he polls.
            #expect(batch.items.map { $0["c"]?.string } == ["room-pnpres", "room", "ana", "room-pnpres"])
            #expect(batch.items.map { $0["e"]?.integer } == [nil, 3, 2, nil])
            #expect(batch.items.map { $0["d"]?["uuid"]?.string } == ["bob", nil, nil, "cy"])
            #expect(batch.items[1]["d"]?["data"]?["type"]?.string == "reactions")
            #expect(batch.items[2]["d"]?["data"]?["name"]?.string == "Ana")
        }
    }
    @Test(
        "keeps its type or label as the label, although a publish could not have it", arguments: ["order.paid", "ab"])
    func labels(label: String) async throws {
        try await PubNubHarness.run { gateway in
            let poller = try WirePoller(gateway)
            let start = try await poller.batch("room", "0").cursor
            let data = JSONText(trusted: Array(#"{"n":1}"#.utf8))
            _ = try await gateway.chat.emit(EventDraft.event(channel: "room", type: label, data: data))
            var message = EventDraft.message(channel: "room", data: data, user: "ana", meta: nil)
            message.customType = label
            _ = try await gateway.chat.emit(message)
            var items: [JSONValue] = []
            var cursor = start
            while items.count < 2 {
                let batch = try await poller.batch("room", cursor)
                items += batch.items
                cursor = batch.cursor
            }
            #expect(items.map { $0["cmt"]?.string } == [label, label])
            let history = try await gateway.history("room", "&include_custom_message_type=true")
            let shown = history["channels"]?["room"]?.elements ?? []
            #expect(shown.map { $0["custom_message_type"]?.string } == [label, label])
            #expect(try await gateway.publish("room", "1", "&custom_message_type=\(label)").status == 400)
        }
    }

    @Test("that mentions many users reaches all of them")
    func manyMentioned() async throws {
        try await PubNubHarness.run { gateway in
            let users = (1...12).map { "user-\($0)" }
            let text = JSONText(trusted: Array(#"{"text":"all of you"}"#.utf8))
            let sent = try await gateway.chat.post(
                .message(channel: "room", data: text, user: "ana", meta: nil), MessageLinks(mentions: .users(users)))
            let place = sent.events[0].event.timetoken.description
            for user in users {
                let mentions = try await gateway.events(user).compactMap { VisiblePayload($0)?.payload }
                let payload =
                    #"{"type":"mention","messageTimetoken":"\#(place)","channel":"room","parentChannel":null}"#
                #expect(mentions.map(\.description) == [payload], "\(user)")
            }
        }
    }
}
