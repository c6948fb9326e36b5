import ChatCore
import ChatModel
import JSON
import Testing

@testable import PubNubAPI

@Suite("A message action on PubNub's wire", .timeLimit(.minutes(2))) struct MessageActionTests {
    private static let channels = "/v1/message-actions/sub-demo/channel/"
    private static let base = channels + "room"

    private func add(
        _ type: String, _ value: String, to message: String, in channel: String = "room", by user: String = "bob",
        _ gateway: PubNubHarness
    ) async throws -> WireAnswer {
        try await gateway.call(
            "POST", "\(Self.channels)\(channel)/message/\(message)?uuid=\(user)",
            #"{"type":"\#(type)","value":"\#(value)"}"#)
    }

    private func remove(
        _ action: String, from message: String, in channel: String = "room", by user: String = "bob",
        _ gateway: PubNubHarness
    ) async throws -> WireAnswer {
        try await gateway.call(
            "DELETE", "\(Self.channels)\(channel)/message/\(message)/action/\(action)?uuid=\(user)")
    }

    @Test("is added once, listed, sent live and removed by its user")
    func life() async throws {
        try await PubNubHarness.run { gateway in
            let message = try await gateway.publish("room", #"{"text":"hi"}"#).timetoken
            let poller = try WirePoller(gateway)
            let added = try await add("reaction", "smile", to: message, gateway)
            let place = added["data"]?["actionTimetoken"]?.string ?? ""
            let action =
                #"{"messageTimetoken":"\#(message)","type":"reaction","value":"smile","uuid":"bob","actionTimetoken":"\#(place)"}"#
            #expect(added.text == #"{"status":200,"data":\#(action)}"#)
            let live = try await poller.batch("room", message)
            #expect(
                live.shape
                    == #"{"t":{"t":"<tt>","r":1},"m":[{"a":"1","f":0,"e":3,"i":"bob","p":{"t":"<tt>","r":1},"k":"sub-demo","c":"room","d":{"source":"actions","version":"1.0","event":"added","data":{"messageTimetoken":"<tt>","type":"reaction","value":"smile","actionTimetoken":"<tt>"}},"b":"room"}]}"#
            )
            #expect(live.items[0]["d"]?["data"]?["actionTimetoken"]?.string == place)
            let again = try await add("reaction", "smile", to: message, gateway)
            #expect(again.text == #"{"status":409,"error":{"message":"Action Already Added","source":"actions"}}"#)
            let list = try await gateway.get(Self.base)
            #expect(list.text == #"{"status":200,"data":[\#(action)]}"#)
            let foreign = try await remove(place, from: message, by: "eve", gateway)
            #expect(foreign.status == 400)
            #expect(foreign["error"]?["message"]?.string == "Not deleting message action: wrong uuid specified")
            let removed = try await remove(place, from: message, gateway)
            #expect(removed.text == #"{"status":200,"data":{}}"#)
            let gone = try await poller.batch("room", live.cursor)
            #expect(gone.items[0]["d"]?["event"]?.string == "removed")
            #expect(gone.items[0]["d"]?["data"]?["actionTimetoken"]?.string == place)
            let twice = try await remove(place, from: message, gateway)
            #expect(twice["error"]?["message"]?.string == "No matching message actions to delete")
        }
    }

    @Test("of the chat's own types has its effect, and is sent and removed like any other")
    func features() async throws {
        try await PubNubHarness.run { gateway in
            let message = try await gateway.publish("room", #"{"type":"text","text":"hi"}"#).timetoken
            let poller = try WirePoller(gateway)
            for (type, value) in [
                ("reactions", "👍"), ("edited", "hello"), ("threadRootId", "thread.1"), ("deleted", "deleted"),
            ] {
                #expect(try await add(type, value, to: message, by: "ana", gateway).status == 200)
            }
            let live = try await poller.batch("room", message)
            #expect(live.items.map { $0["e"]?.integer } == [3, 3, 3, 3])
            let told = live.items.map { $0["d"]?["data"]?["type"]?.string }
            #expect(told == ["reactions", "edited", "threadRootId", "deleted"])
            #expect(live.items.map { $0["d"]?["data"]?["value"]?.string } == ["👍", "hello", "thread.1", "deleted"])
            let listed = try await gateway.get(Self.base)["data"]?.elements ?? []
            let places = listed.compactMap { $0["actionTimetoken"]?.string }
            #expect(listed.map { $0["type"]?.string } == told)
            #expect(places == live.items.map { $0["d"]?["data"]?["actionTimetoken"]?.string })
            for place in places.reversed() {
                #expect(try await remove(place, from: message, by: "ana", gateway).status == 200)
            }
            let undone = try await poller.batch("room", live.cursor)
            #expect(undone.items.map { $0["d"]?["data"]?["type"]?.string } == told.reversed())
            #expect(undone.items.map { $0["d"]?["data"]?["actionTimetoken"]?.string } == places.reversed())
            #expect(undone.items.allSatisfy { $0["d"]?["event"]?.string == "removed" })
            #expect(try await gateway.get(Self.base)["data"]?.count == 0)
        }
    }

    @Test("that edits or deletes is added once by each user, and others may follow")
    func repeated() async throws {
        try await PubNubHarness.run { gateway in
            let message = try await gateway.publish("room", #"{"type":"text","text":"hi"}"#).timetoken
            for (type, value) in [("edited", "hello"), ("deleted", "deleted")] {
                for user in ["ana", "bob"] where type == "deleted" || user == "ana" {
                    #expect(try await add(type, value, to: message, by: user, gateway).status == 200)
                    let again = try await add(type, value, to: message, by: user, gateway)
                    #expect(
                        again.text == #"{"status":409,"error":{"message":"Action Already Added","source":"actions"}}"#)
                }
            }
            for type in ["reactions", "edited", "seen"] {
                let refused = try await add(type, "👍", to: message, gateway)
                #expect(
                    refused.text == #"{"status":410,"error":{"message":"the message is deleted","source":"actions"}}"#)
            }
            let listed = try await gateway.get(Self.base)["data"]?.elements ?? []
            #expect(listed.map { $0["type"]?.string } == ["edited", "deleted", "deleted"])
            let place = listed[2]["actionTimetoken"]?.string ?? ""
            #expect(try await remove(place, from: message, gateway).status == 200)
            #expect(try await gateway.get(Self.base)["data"]?.count == 2)
        }
    }

    @Test("that edits to an earlier text of the same user exists already")
    func editedBack() async throws {
        try await PubNubHarness.run { gateway in
            let message = try await gateway.publish("room", #"{"type":"text","text":"one"}"#).timetoken
            for text in ["two", "three"] {
                #expect(try await add("edited", text, to: message, by: "ana", gateway).status == 200)
            }
            #expect(try await add("edited", "two", to: message, by: "ana", gateway).status == 409)
            let place = try #require(Timetoken(text: message))
            #expect(try await gateway.chat.message(place, in: "room").text == "three")
            let listed = try await gateway.get(Self.base)["data"]?.elements ?? []
            let first = try #require(listed.first?["actionTimetoken"]?.string)
            #expect(try await remove(first, from: message, by: "ana", gateway).status == 200)
            #expect(try await add("edited", "two", to: message, by: "ana", gateway).status == 200)
            #expect(try await gateway.chat.message(place, in: "room").text == "two")
        }
    }

    @Test("of a native edit to an earlier text comes before the earlier edit in history")
    func editedBackNatively() async throws {
        try await PubNubHarness.run { gateway in
            let message = try await gateway.publish("room", #"{"type":"text","text":"one"}"#).timetoken
            let place = try #require(Timetoken(text: message))
            for text in ["two", "three", "two"] {
                _ = try await gateway.chat.edit(place, in: "room", to: .text(JSONText(string: text)), by: "ana")
            }
            let page = try await gateway.get("/v3/history-with-actions/sub-key/sub-demo/channel/room")
            let edits = try #require(page["channels"]?["room"]?[0]?["actions"]?["edited"]?.members)
            // Chat SDKs show the text whose first action is the newest.
            let newest = edits.max { left, right in
                let firsts = [left, right].map { $0.value[0]?["actionTimetoken"]?.string ?? "" }
                return firsts[0] < firsts[1]
            }
            #expect(newest?.name == "two")
            #expect(edits.map(\.value.count) == [2, 1])
        }
    }

    @Test("of a message that was deleted permanently can still be removed")
    func ofDeleted() async throws {
        try await PubNubHarness.run { gateway in
            let message = try await gateway.publish("room", #"{"type":"text","text":"hi"}"#).timetoken
            let added = try await add("threadRootId", "thread.1", to: message, gateway)
            let place = try #require(added["data"]?["actionTimetoken"]?.string)
            let before = try #require(UInt64(message)) - 1
            let history = "/v3/history/sub-key/sub-demo/channel/room?start=\(before)&end=\(message)"
            #expect(try await gateway.call("DELETE", history).status == 200)
            #expect(try await remove(place, from: message, by: "eve", gateway).status == 400)
            for _ in 1...2 {
                #expect(try await remove(place, from: message, gateway).text == #"{"status":200,"data":{}}"#)
            }
            #expect(try await remove(place, from: "\(before)", gateway).status == 400)
        }
    }

    @Test("of a reply that was deleted permanently can still be removed in its thread")
    func ofDeletedReply() async throws {
        try await PubNubHarness.run { gateway in
            let root = try await gateway.publish("room", #"{"type":"text","text":"hi"}"#).timetoken
            let thread = "PUBNUB_INTERNAL_THREAD_room_\(root)"
            let reply = try await gateway.publish(thread, #"{"type":"text","text":"one"}"#).timetoken
            let added = try await add("reactions", "👍", to: reply, in: thread, gateway)
            let place = try #require(added["data"]?["actionTimetoken"]?.string)
            let before = try #require(UInt64(reply)) - 1
            let history = "/v3/history/sub-key/sub-demo/channel/\(thread)?start=\(before)&end=\(reply)"
            #expect(try await gateway.call("DELETE", history).status == 200)
            #expect(try await remove(place, from: reply, in: thread, gateway).status == 200)
            let other = "PUBNUB_INTERNAL_THREAD_room_\(reply)"
            #expect(try await remove(place, from: reply, in: other, gateway).status == 400)
        }
    }

    @Test("of the type that deletes, but with a value of its own, is kept as it is and deletes nothing")
    func deletedForOne() async throws {
        try await PubNubHarness.run { gateway in
            let message = try await gateway.publish("room", #"{"type":"text","text":"hi"}"#).timetoken
            let poller = try WirePoller(gateway)
            for user in ["bob", "cy"] {
                let added = try await add("deleted", "for:\(user)", to: message, by: user, gateway)
                #expect(added["data"]?["value"]?.string == "for:\(user)")
            }
            let live = try await poller.batch("room", message)
            #expect(live.items.map { $0["d"]?["data"]?["value"]?.string } == ["for:bob", "for:cy"])
            let page = try await gateway.get("/v3/history-with-actions/sub-key/sub-demo/channel/room")
            #expect(
                page["channels"]?["room"]?[0]?["actions"]?["deleted"]?.members?.map(\.name) == ["for:bob", "for:cy"])
            #expect(try await gateway.chat.message(Timetoken(text: message) ?? .zero, in: "room").isDeleted == false)
        }
    }

    @Test("edits a payload with a number beyond every double")
    func hugeNumber() async throws {
        try await PubNubHarness.run { gateway in
            let message = try await gateway.publish("room", #"{"type":"text","text":"hi","n":1e400}"#).timetoken
            #expect(try await add("edited", "hello", to: message, by: "ana", gateway).status == 200)
            let page = try await gateway.get("/v3/history-with-actions/sub-key/sub-demo/channel/room")
            #expect(page.text.contains(#""actions":{"edited":{"hello":["#))
        }
    }

    @Test("beyond a message's limit is refused for good, and history shows the newest")
    func many() async throws {
        var limits = Limits()
        limits.reactionsPerMessage = 2
        try await PubNubHarness.run(limits: limits) { gateway in
            let message = try await gateway.publish("room", "1").timetoken
            for value in ["a", "b"] { #expect(try await add("reactions", value, to: message, gateway).status == 200) }
            let third = try await add("reactions", "c", to: message, gateway)
            #expect(third.status == 400)
            #expect(
                third["error"]?["message"]?.string
                    == "the message has reached the limit of 2 different reactions; remove a reaction first")
            // Names in the other order than places.
            let place = Timetoken(text: message) ?? .zero
            for number in (0..<1000).reversed() {
                _ = try await gateway.chat.addAction("read", "\(number)", to: place, in: "room", by: "bob")
            }
            let page = try await gateway.get("/v3/history-with-actions/sub-key/sub-demo/channel/room")
            let actions = page["channels"]?["room"]?[0]?["actions"]
            #expect(actions?["read"]?.count == 1000 && actions?["reactions"] == nil)
        }
    }

    @Test("is in history with its message, by type and value, and pages name the next one")
    func history() async throws {
        try await PubNubHarness.run { gateway in
            var messages: [String] = []
            for number in 1...3 { messages.append(try await gateway.publish("room", "\(number)").timetoken) }
            let place = try await add("reaction", "smile", to: messages[2], gateway)["data"]?["actionTimetoken"]?.string
            let page = try await gateway.get("/v3/history-with-actions/sub-key/sub-demo/channel/room?max=2")
            #expect(
                page.text
                    == #"{"status":200,"error":false,"error_message":"","channels":{"room":[{"message":2,"timetoken":"\#(messages[1])"},{"message":3,"timetoken":"\#(messages[2])","actions":{"reaction":{"smile":[{"uuid":"bob","actionTimetoken":"\#(place ?? "")"}]}}}]},"more":{"url":"/v3/history-with-actions/sub-key/sub-demo/channel/room?start=\#(messages[1])&max=2","start":"\#(messages[1])","max":2}}"#
            )
            let rest = try await gateway.get(
                "/v3/history-with-actions/sub-key/sub-demo/channel/room?max=2&start=\(messages[1])")
            #expect(rest["channels"]?["room"]?.count == 1 && rest["more"] == nil)
            #expect(try await gateway.get("/v3/history-with-actions/sub-key/sub-demo/channel/a,b").status == 400)
        }
    }

    @Test("is listed from the newest, in pages, between two places")
    func pages() async throws {
        try await PubNubHarness.run { gateway in
            let message = try await gateway.publish("room", "1").timetoken
            var places: [String] = []
            for value in ["a", "b", "c"] {
                places.append(
                    try await add("mark", value, to: message, gateway)["data"]?["actionTimetoken"]?.string ?? "")
            }
            let page = try await gateway.get(Self.base + "?limit=2")
            #expect(page["data"]?.elements?.map { $0["value"]?.string } == ["b", "c"])
            #expect(
                page["more"]?["url"]?.string
                    == "/v1/message-actions/sub-demo/channel/room?start=\(places[1])&limit=2")
            let rest = try await gateway.get(Self.base + "?limit=2&start=\(places[1])")
            #expect(rest["data"]?.elements?.map { $0["value"]?.string } == ["a"])
            let part = try await gateway.get(Self.base + "?start=\(places[2])&end=\(places[1])")
            #expect(part["data"]?.elements?.map { $0["value"]?.string } == ["b"])
            #expect(try await gateway.get(Self.base + "?start=1")["data"]?.count == 0)
        }
    }

    @Test("may be attached to what an app publishes under a label of its own")
    func labelled() async throws {
        try await PubNubHarness.run { gateway in
            let message = try await gateway.publish("room", #"{"n":1}"#, "&custom_message_type=order").timetoken
            var places: [String] = []
            for (type, value) in [("reaction", "smile"), ("edited", "two"), ("deleted", "deleted")] {
                let added = try await add(type, value, to: message, by: "ana", gateway)
                #expect(added.status == 200)
                places.append(added["data"]?["actionTimetoken"]?.string ?? "")
            }
            for place in places.reversed() {
                #expect(try await remove(place, from: message, by: "ana", gateway).status == 200)
            }
            #expect(try await gateway.get(Self.base)["data"]?.count == 0)
        }
    }

    @Test("that cannot be read is refused in the words of the wire")
    func refusals() async throws {
        try await PubNubHarness.run { gateway in
            let message = try await gateway.publish("room", "1").timetoken
            let target = "\(Self.base)/message/\(message)"
            let missing = try await gateway.call("POST", target + "?uuid=bob", #"{"type":"x"}"#)
            #expect(
                missing.text
                    == #"{"status":400,"error":{"message":"Request payload contained invalid input.","source":"actions","details":[{"message":"Missing field","location":"value","locationType":"body"}]}}"#
            )
            let text = try await gateway.call("POST", target + "?uuid=bob", "hello")
            #expect(text.status == 415)
            #expect(text["error"]?["message"]?.string == "Request payload must be in JSON format.")
            let nobody = try await gateway.call("POST", target, #"{"type":"x","value":"y"}"#).status
            #expect(nobody == 400)
            let unknown = try await gateway.get("/v1/message-actions/nobody/channel/room")
            #expect(unknown.text == #"{"status":400,"error":{"message":"Invalid Subkey","source":"actions"}}"#)
        }
    }
}

@Suite("The second version of PubNub's history", .timeLimit(.minutes(2))) struct OldHistoryTests {
    @Test("is an array of items and two positions, in the form that is asked for")
    func forms() async throws {
        try await PubNubHarness.run { gateway in
            let base = "/v2/history/sub-key/sub-demo/channel/room"
            let empty = try await gateway.get(base).text
            #expect(empty == "[[],0,0]")
            var places: [String] = []
            for number in 1...3 { places.append(try await gateway.publish("room", "\(number)").timetoken) }
            let bare = try await gateway.get(base + "?count=2").text
            #expect(bare == "[[2,3],\(places[1]),\(places[2])]")
            let oldest = try await gateway.get(base + "?count=2&reverse=true").text
            #expect(oldest == "[[1,2],\(places[0]),\(places[1])]")
            let whole = try await gateway.get(base + "?count=1&include_token=true&include_meta=true").text
            #expect(whole == #"[[{"message":3,"timetoken":\#(places[2]),"meta":""}],\#(places[2]),\#(places[2])]"#)
            let part = try await gateway.get(base + "?start=\(places[2])&end=\(places[1])").text
            #expect(part == "[[2],\(places[1]),\(places[1])]")
        }
    }
}
