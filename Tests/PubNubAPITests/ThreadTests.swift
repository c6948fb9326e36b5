import ChatModel
import JSON
import TestSupport
import Testing

@testable import ChatCore
@testable import PubNubAPI

/// A thread is one fact: natively, replies in the message's channel; on the wire, messages of the thread's own channel.
@Suite("A thread on both sides", .timeLimit(.minutes(2))) struct ThreadTests {
    private static let text = #"{"type":"text","text":"hi"}"#
    private static let objects = "/v2/objects/sub-demo"

    private func thread(of root: String) -> String { "PUBNUB_INTERNAL_THREAD_room_\(root)" }
    private func place(_ timetoken: String) -> Timetoken { Timetoken(text: timetoken) ?? .zero }

    /// The calls of a Chat SDK before the first reply.
    private func open(_ root: String, _ gateway: PubNubHarness) async throws {
        _ = try await gateway.call("PATCH", Self.objects + "/channels/\(thread(of: root))", #"{"description":"d"}"#)
        let body = #"{"type":"threadRootId","value":"\#(thread(of: root))"}"#
        let path = "/v1/message-actions/sub-demo/channel/room/message/\(root)?uuid=ana"
        #expect(try await gateway.call("POST", path, body).status == 200)
    }

    private func reply(
        _ text: String, to root: String, by user: String, _ gateway: PubNubHarness
    ) async throws -> String {
        var draft = EventDraft.message(
            channel: "room", data: JSONText(trusted: Array(#"{"text":"\#(text)"}"#.utf8)), user: user, meta: nil)
        draft.allowsBuiltInType = true
        let outcome = try await gateway.chat.post(draft, MessageLinks(threadOf: place(root)))
        return outcome.events[0].event.timetoken.description
    }

    private func texts(_ channel: String, _ gateway: PubNubHarness, _ query: String = "") async throws -> [String?] {
        let page = try await gateway.history(channel, query)
        return page["channels"]?[channel]?.elements?.map { $0["message"]?["text"]?.string } ?? []
    }

    private func count(_ channel: String, after: String, _ gateway: PubNubHarness) async throws -> Int? {
        let path = "/v3/history/sub-key/sub-demo/message-counts/\(channel)?timetoken=\(after)"
        return try await gateway.get(path)["channels"]?[channel]?.integer.map { Int($0) }
    }

    @Test("of a Chat SDK is a native thread: its replies, their number and the event")
    func wireThread() async throws {
        try await PubNubHarness.run { gateway in
            let root = try await gateway.publish("room", Self.text).timetoken
            try await open(root, gateway)
            let first = try await gateway.publish(thread(of: root), #"{"type":"text","text":"one"}"#).timetoken
            let second = try await gateway.publish(
                thread(of: root), #"{"type":"text","text":"two"}"#,
                "&meta=" + PubNubHarness.escaped(#"{"quotedMessage":{"timetoken":"1"},"a":1}"#)
            ).timetoken
            let replies = try await gateway.chat.replies(to: place(root), in: "room", RecordList(limit: 10)).items
            #expect(replies.map(\.timetoken.description) == [first, second] && replies.map(\.text) == ["one", "two"])
            #expect(replies.allSatisfy { $0.event.channel.name == "room" && $0.record.threadOf == place(root) })
            let message = try await gateway.chat.message(place(root), in: "room")
            #expect(message.record.thread.replies == 2 && message.record.thread.channel == thread(of: root))
            let counts = try await gateway.events("room").filter { $0.type == "thread.updated" }
                .map { try JSONDocument($0.data).root["thread"]?["reply_count"]?.integer }
            #expect(counts == [0, 1, 2])
            // The thread's channel has no native events; on the wire it has only the sender's metadata.
            #expect(try await gateway.events(thread(of: root)).filter { $0.type == "message.created" }.isEmpty)
            let page = try await gateway.history(thread(of: root), "&include_meta=true")
            let shown = page["channels"]?[thread(of: root)]?.elements ?? []
            #expect(shown.map { $0["message"]?["text"]?.string } == ["one", "two"])
            #expect(shown[0]["meta"]?.string == "" && shown[1]["meta"]?.members?.map(\.name) == ["quotedMessage", "a"])
        }
    }

    @Test("that began natively has its replies on the thread's channel of the wire, and not on the message's")
    func nativeThread() async throws {
        try await PubNubHarness.run { gateway in
            let root = try await gateway.publish("room", Self.text).timetoken
            let poller = try WirePoller(gateway)
            let first = try await reply("one", to: root, by: "ben", gateway)
            _ = try await reply("two", to: root, by: "ben", gateway)
            // A subscriber to both receives each item on its own channel.
            let live = try await poller.batch("room,\(thread(of: root))", root)
            #expect(live.items.map { $0["c"]?.string } == [thread(of: root), "room", thread(of: root)])
            #expect(live.items[0]["d"]?["text"]?.string == "one" && live.items[0]["u"] == nil)
            #expect(live.items[1]["d"]?["data"]?["type"]?.string == "threadRootId")
            #expect(live.items[1]["d"]?["data"]?["value"]?.string == thread(of: root))
            #expect(try await poller.batch("room", root).items.map { $0["e"]?.integer } == [3])
            #expect(try await texts("room", gateway) == ["hi"])
            #expect(try await texts(thread(of: root), gateway) == ["one", "two"])
            #expect(try await texts(thread(of: root), gateway, "&start=\(first)&reverse=true") == ["two"])
            #expect(try await texts(thread(of: root), gateway, "&max=1") == ["two"])
            #expect(try await count("room", after: "1", gateway) == 1)
            #expect(try await count(thread(of: root), after: first, gateway) == 1)
            let old = try await gateway.get("/v2/history/sub-key/sub-demo/channel/\(thread(of: root))?count=10")
            #expect(old.json?[0]?.elements?.map { $0["text"]?.string } == ["one", "two"])
            let page = try await gateway.get("/v3/history-with-actions/sub-key/sub-demo/channel/room")
            let actions = page["channels"]?["room"]?[0]?["actions"]
            #expect(actions?["threadRootId"]?[thread(of: root)]?[0]?["uuid"]?.string == "ben")
        }
    }

    @Test("that is empty and waited on gets the reply at once")
    func held() async throws {
        try await PubNubHarness.run { gateway in
            let root = try await gateway.publish("room", Self.text).timetoken
            let poller = try WirePoller(gateway)
            let start = try await poller.batch(thread(of: root), "0").cursor
            try poller.ask(thread(of: root), start)
            await gateway.untilHeld()
            try await gateway.publish("room", #""beside""#)
            _ = try await reply("one", to: root, by: "ben", gateway)
            let heard = await poller.answer()
            #expect(heard.items.map { $0["c"]?.string } == [thread(of: root)])
        }
    }

    @Test("takes actions on its replies, which both sides have")
    func actions() async throws {
        try await PubNubHarness.run { gateway in
            let root = try await gateway.publish("room", Self.text).timetoken
            let reply = try await reply("one", to: root, by: "ben", gateway)
            let poller = try WirePoller(gateway)
            let start = try await poller.batch("room,\(thread(of: root))", "0").cursor
            let base = "/v1/message-actions/sub-demo/channel/\(thread(of: root))"
            let body = #"{"type":"reactions","value":"+1"}"#
            let added = try await gateway.call("POST", base + "/message/\(reply)?uuid=ana", body)
            #expect(added.status == 200)
            _ = try await gateway.chat.edit(place(reply), in: "room", to: .text(JSONText(string: "two")), by: "ben")
            let live = try await poller.batch("room,\(thread(of: root))", start)
            #expect(live.items.map { $0["c"]?.string } == [thread(of: root), thread(of: root)])
            #expect(live.items.map { $0["d"]?["data"]?["type"]?.string } == ["reactions", "edited"])
            #expect(try await gateway.chat.message(place(reply), in: "room").record.reactions.count == 1)
            let listed = try await gateway.get(base)["data"]?.elements ?? []
            #expect(listed.map { $0["type"]?.string } == ["reactions", "edited"])
            let ofRoom = try await gateway.get("/v1/message-actions/sub-demo/channel/room")["data"]?.elements ?? []
            #expect(ofRoom.map { $0["type"]?.string } == ["threadRootId"])
            let shown = try await gateway.get("/v3/history-with-actions/sub-key/sub-demo/channel/\(thread(of: root))")
            let actions = shown["channels"]?[thread(of: root)]?[0]?["actions"]
            #expect(actions?.members?.map(\.name) == ["reactions", "edited"])
            let action = added["data"]?["actionTimetoken"]?.string ?? ""
            let removed = try await gateway.call("DELETE", base + "/message/\(reply)/action/\(action)?uuid=ana")
            #expect(removed.status == 200)
            #expect(try await gateway.chat.message(place(reply), in: "room").record.reactions.isEmpty)
        }
    }

    @Test("counts one reply less when the wire deletes one, and has it no more")
    func deletion() async throws {
        try await PubNubHarness.run { gateway in
            let root = try await gateway.publish("room", Self.text).timetoken
            let first = try await gateway.publish(thread(of: root), #"{"type":"text","text":"one"}"#).timetoken
            _ = try await gateway.publish(thread(of: root), #"{"type":"text","text":"two"}"#)
            let path = "/v3/history/sub-key/sub-demo/channel/\(thread(of: root))"
            let range = "?start=\(place(first).before)&end=\(first)"
            #expect(try await gateway.call("DELETE", path + range).status == 200)
            #expect(try await texts(thread(of: root), gateway) == ["two"])
            #expect(try await gateway.chat.message(place(root), in: "room").record.thread.replies == 1)
            #expect(
                try await gateway.chat.replies(to: place(root), in: "room", RecordList(limit: 10)).items.map(\.text)
                    == ["two"])
            #expect(try await gateway.call("DELETE", path).status == 200)
            #expect(try await gateway.chat.message(place(root), in: "room").record.thread.replies == 0)
            #expect(try await texts("room", gateway) == ["hi"])
        }
    }

    @Test("that loses a reply natively loses it on the wire")
    func nativeDeletion() async throws {
        try await PubNubHarness.run { gateway in
            let root = try await gateway.publish("room", Self.text).timetoken
            let first = try await gateway.publish(thread(of: root), #"{"type":"text","text":"one"}"#).timetoken
            let second = try await gateway.publish(thread(of: root), #"{"type":"text","text":"two"}"#).timetoken
            let poller = try WirePoller(gateway)
            let start = try await poller.batch(thread(of: root), "0").cursor
            try await gateway.chat.delete(place(first), in: "room", isHard: true, by: nil)
            try await gateway.chat.delete(place(second), in: "room", isHard: false, by: "ana")
            #expect(try await texts(thread(of: root), gateway) == ["two"])
            let heard = try await poller.batch(thread(of: root), start)
            #expect(heard.items.map { $0["c"]?.string } == [thread(of: root)])
            #expect(heard.items.map { $0["d"]?["data"]?["type"]?.string } == ["deleted"])
            #expect(try await gateway.chat.message(place(root), in: "room").record.thread.replies == 0)
        }
    }

    @Test("of a missing message, and any message that is no reply, stays on the channel of its name")
    func apart() async throws {
        try await PubNubHarness.run { gateway in
            let root = try await gateway.publish("room", Self.text).timetoken
            let lost = "PUBNUB_INTERNAL_THREAD_room_17000000000000000"
            #expect(try await gateway.publish(lost, #"{"type":"text","text":"lost"}"#).status == 200)
            #expect(try await texts(lost, gateway) == ["lost"])
            let poller = try WirePoller(gateway)
            let start = try await poller.batch("room,\(thread(of: root))", "0").cursor
            try await gateway.publish(thread(of: root), #"{"n":1}"#, "&custom_message_type=order")
            try await gateway.signal(thread(of: root), #"{"type":"typing","value":true}"#)
            let heard = try await poller.batch("room,\(thread(of: root))", start)
            #expect(heard.items.map { $0["c"]?.string } == [thread(of: root), thread(of: root)])
            #expect(try await gateway.chat.replies(to: place(root), in: "room", RecordList(limit: 10)).items.isEmpty)
            // A reply of a reply has no thread.
            let reply = try await gateway.publish(thread(of: root), Self.text).timetoken
            #expect(try await gateway.publish(thread(of: reply), Self.text).status == 200)
            #expect(try await gateway.chat.message(place(root), in: "room").record.thread.replies == 1)
            try await gateway.chat.delete(place(root), in: "room", isHard: false, by: "ana")
            #expect(try await gateway.publish(thread(of: root), Self.text).status == 410)
        }
    }

    @Test("has the rights of its message's channel: restrictions, and the grants of a token there")
    func rights() async throws {
        try await PubNubHarness.run { gateway in
            let root = try await gateway.publish("room", Self.text).timetoken
            _ = try await gateway.chat.restrict("bob", in: "room", RestrictionRequest(isBan: true))
            let publish = "/publish/pub-demo/sub-demo/0/\(thread(of: root))/0/" + PubNubHarness.escaped(Self.text)
            #expect(try await gateway.get(publish + "?uuid=bob").status == 403)
            _ = try await reply("one", to: root, by: "ben", gateway)
            let poller = try WirePoller(gateway)
            let start = try await gateway.publish("hall", #""heard""#).timetoken
            _ = try await reply("two", to: root, by: "ben", gateway)
            try await gateway.publish("hall", #""too""#)
            #expect(try await poller.batch("hall,\(thread(of: root))", start).payloads == ["too"])

            let admin = Caller(app: PubNubHarness.app, credential: "key_1", scopes: [.admin])
            try await gateway.service.change(admin.app, AppChange(requiresTokens: true), by: admin)
            func status(_ channel: String, granted: String) async throws -> Int {
                let permissions = #"{"resources":{"channels":{"\#(granted)":1}},"patterns":{},"meta":{}}"#
                let token = try await AccessTests().token(permissions, gateway)
                return try await gateway.history(channel, "&auth=" + token).status
            }
            #expect(try await status(thread(of: root), granted: "room") == 200)
            #expect(try await status(thread(of: root), granted: thread(of: root)) == 200)
            #expect(try await status("room", granted: thread(of: root)) == 403)
            #expect(try await status(thread(of: root), granted: "hall") == 403)
        }
    }

    @Test(
        "of a private channel is closed to others: as the thread's own channel too, and to who is banned or muted there"
    )
    func privateChannel() async throws {
        try await PubNubHarness.run { gateway in
            _ = try await gateway.chat.make(NewChannel(kind: .group, id: "room"), by: "ana")
            let root = try await gateway.publish("room", Self.text).timetoken
            let name = thread(of: root)
            _ = try await gateway.publish(name, Self.text)
            let eve = gateway.service.chat(
                for: Caller(app: PubNubHarness.app, credential: "eve", scopes: [.emit, .read], user: "eve"))
            let request = HistoryRequest(channel: ChannelID(name, in: PubNubHarness.app), limit: 10)
            await refused { _ = try await eve.history([request]) }
            await refused {
                _ = try await eve.emit(.message(channel: name, data: JSONText(string: "1"), user: "eve", meta: nil))
            }
            await refused { try await eve.requireAccess(try eve.selection(channels: [name])) }
            await refused {
                _ = try await eve.selection(try eve.selection(channels: [name]), heardBy: "eve", on: nil)
            }
            // Neither stored nor later events of that channel match a pattern.
            let all = try eve.selection(channels: [])
            let start = try await gateway.chat.watermark()
            try await gateway.publish(name, #"{"n":1}"#, "&custom_message_type=order")
            try await gateway.publish(name, #"{"type":"text","text":"secret"}"#)
            let end = try await gateway.chat.watermark()
            #expect(try await eve.missed(all, after: start, upTo: end).events.isEmpty)

            _ = try await gateway.chat.restrict("bob", in: "room", RestrictionRequest(isBan: true))
            let path = "/publish/pub-demo/sub-demo/0/\(name)/0/"
            for query in ["1?uuid=bob", "1?uuid=bob&custom_message_type=order", "1?uuid=bob&store=0"] {
                #expect(try await gateway.get(path + query).status == 403, "\(query)")
            }
            #expect(try await gateway.get("/signal/pub-demo/sub-demo/0/\(name)/0/1?uuid=bob").status == 403)
            let poller = try WirePoller(gateway)
            try await gateway.publish(name, #"{"n":2}"#, "&custom_message_type=order")
            try await gateway.publish("hall", #""next""#)
            #expect(try await poller.batch("hall,\(name)", end.description).payloads == ["next"])
        }
    }

    private func refused(
        _ body: () async throws -> Void, sourceLocation: SourceLocation = #_sourceLocation
    ) async {
        do {
            try await body()
            Issue.record("it was not refused", sourceLocation: sourceLocation)
        } catch {
            #expect((error as? ChatError)?.code == .forbidden, sourceLocation: sourceLocation)
        }
    }

    @Test("has its mentions on the thread's channel, with the channel above it, on both sides")
    func mentions() async throws {
        try await PubNubHarness.run { gateway in
            let root = try await gateway.publish("room", Self.text).timetoken
            var draft = EventDraft.message(
                channel: "room", data: JSONText(trusted: Array(#"{"text":"@bob"}"#.utf8)), user: "ana", meta: nil)
            draft.allowsBuiltInType = true
            let links = MessageLinks(threadOf: place(root), mentions: .users(["bob"]))
            let reply = try await gateway.chat.post(draft, links).events[0].event.timetoken
            let event = try #require(try await gateway.events("bob").first)
            let data = try JSONDocument(event.data).root
            #expect(data["message"]?["channel"]?.string == "room")
            #expect(data["message"]?["thread_of"]?.string == root)
            let shown = try #require(VisiblePayload(event)).payload
            let payload =
                #"{"type":"mention","messageTimetoken":"\#(reply)","channel":"\#(thread(of: root))","parentChannel":"room"}"#
            #expect(shown.description == payload)
            // A Chat SDK's reply becomes the same event.
            try await gateway.publish("bob", payload)
            let other = try #require(try await gateway.events("bob").last)
            let said = try JSONDocument(other.data).root
            for name in ["timetoken", "channel", "thread_of", "user"] {
                #expect(said["message"]?[name]?.string == data["message"]?[name]?.string, "\(name)")
            }
        }
    }
}
