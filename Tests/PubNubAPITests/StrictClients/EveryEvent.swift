import ChatCore
import ChatModel
import JSON
import TestSupport

@testable import PubNubAPI

/// Every event that subscribers can receive, caused by PubNub's wire and by the native API: the input of a decoder in
/// an app that uses every feature.
struct EveryEvent {
    /// Subscriptions to all of it: by name, wildcard and group, and to presence.
    static let channels = "room,room-pnpres,ana,bob,eve,team.*,team.*-pnpres,PUBNUB_INTERNAL_MODERATION_room"

    let batches: [Batch]

    var items: [JSONValue] { batches.flatMap(\.items) }
    /// Each item's `e`; nil for items without it.
    var kinds: Set<Int64?> { Set(items.map { $0["e"]?.integer }) }
    var presenceActions: Set<String> {
        Set(items.filter { $0["c"]?.string?.hasSuffix("-pnpres") == true }.compactMap { $0["d"]?["action"]?.string })
    }
    var objectEvents: Set<String> {
        Set(
            items.filter { $0["e"]?.integer == 2 }.map {
                "\($0["d"]?["type"]?.string ?? "") \($0["d"]?["event"]?.string ?? "")"
            })
    }

    init(in gateway: PubNubHarness) async throws {
        try await gateway.get("/v1/channel-registration/sub-key/sub-demo/channel-group/g?add=grouped")
        let poller = try WirePoller(gateway)
        let groups = "&channel-group=g,g-pnpres"
        var cursor = try await poller.batch(Self.channels, "0", groups).cursor
        try await Self.cause(onTheWire: gateway)
        try await Self.causeNatively(gateway)
        try await gateway.publish("room", "\"the last\"")
        var batches: [Batch] = []
        repeat {
            let batch = try await poller.batch(Self.channels, cursor, groups)
            batches.append(batch)
            cursor = batch.cursor
        } while batches.last?.status == 200 && batches.last?.payloads.last != "the last"
        self.batches = batches
    }

    private static func cause(onTheWire gateway: PubNubHarness) async throws {
        let message = try await gateway.publish(
            "room", #"{"type":"text","text":"hi"}"#, "&meta=%7B%22lang%22%3A%22en%22%7D&seqn=1"
        ).timetoken
        try await gateway.publish("team.a", "[1.10,null]", "&custom_message_type=order-paid&store=0")
        try await gateway.publish("grouped", "7")
        try await gateway.signal("room", #"{"type":"typing","value":true}"#)
        let file = PubNubHarness.escaped(#"{"message":null,"file":{"id":"1","name":"a.png"}}"#)
        try await gateway.get("/v1/files/publish-file/pub-demo/sub-demo/0/room/0/\(file)?uuid=ana")
        let actions = "/v1/message-actions/sub-demo/channel/room/message/\(message)"
        for (type, value) in [("reactions", "smile"), ("edited", "hello"), ("mine", "x"), ("deleted", "deleted")] {
            let added = try await gateway.call(
                "POST", actions + "?uuid=ana", #"{"type":"\#(type)","value":"\#(value)"}"#)
            let place = added["data"]?["actionTimetoken"]?.string ?? ""
            _ = try await gateway.call("DELETE", actions + "/action/\(place)?uuid=ana")
        }
        let objects = "/v2/objects/sub-demo"
        for path in ["/uuids/ana", "/channels/room", "/channels/team.a"] {
            _ = try await gateway.call("PATCH", objects + path, #"{"name":"A","custom":{"n":1.10},"status":"s"}"#)
            _ = try await gateway.call("PATCH", objects + path, #"{"name":null,"type":"t"}"#)
        }
        for body in [
            #"{"set":[{"uuid":{"id":"ana"},"custom":{"a":1}}]}"#, #"{"set":[{"uuid":{"id":"ana"},"status":"s"}]}"#,
            #"{"delete":[{"uuid":{"id":"ana"}}]}"#,
        ] {
            _ = try await gateway.call("PATCH", objects + "/channels/team.a/uuids", body)
        }
        for path in ["/channels/team.a", "/uuids/ana"] { _ = try await gateway.call("DELETE", objects + path) }
        let presence = "/v2/presence/sub-key/sub-demo/channel/"
        try await gateway.get(presence + "team.a,grouped/heartbeat?uuid=cy&heartbeat=20")
        let state = PubNubHarness.escaped(#"{"mood":"ok","deep":{"a":[1]}}"#)
        try await gateway.get(presence + "team.a/uuid/cy/data?state=\(state)&uuid=cy")
        try await gateway.get(presence + "team.a/leave?uuid=cy")
        // A user times out, and a busy channel announces its changes together.
        gateway.clock.advance(by: .seconds(21))
        try await gateway.service.presence.tick()
        for number in 0...gateway.service.limits.announcedOccupants {
            try await gateway.get(presence + "team.b/heartbeat?uuid=user-\(number)")
        }
        gateway.clock.advance(by: .seconds(11))
        try await gateway.service.presence.tick()
    }

    private static func causeNatively(_ gateway: PubNubHarness) async throws {
        let chat = gateway.chat
        _ = try await chat.make(NewChannel(kind: .open, id: "team.open"))
        _ = try await chat.enter("ana", into: "team.open")
        try await chat.exit("ana", from: "team.open")
        for user in ["ana", "bob", "eve"] {
            var edit = UserEdit()
            edit.name = .set(user)
            edit.metadata = .set(["a": "b"])
            _ = try await chat.put(user: user, edit)
            _ = try await chat.join(user, to: "room")
        }
        _ = try await chat.invite(["dan"], to: "room")
        try await chat.declineInvite(of: "dan", to: "room")
        func text(_ text: String) -> JSONText { JSONText(trusted: Array(#"{"text":"\#(text)"}"#.utf8)) }
        let draft = EventDraft.message(channel: "room", data: text("hi"), user: "ana", meta: nil)
        let message = try await chat.emit(draft).event.timetoken
        _ = try await chat.post(
            .message(channel: "room", data: text("@bob"), user: "ana", meta: nil),
            MessageLinks(quote: message, threadOf: message, mentions: .users(["bob"])))
        _ = try await chat.emit(EventDraft.event(channel: "room", type: "order.paid", data: text("paid")))
        try await chat.react("👍", to: message, in: "room", by: "bob")
        try await chat.removeReaction(reaction: "👍", to: message, in: "room", by: "bob")
        _ = try await chat.edit(message, in: "room", to: .text(JSONText(string: "ho")), by: "ana")
        _ = try await chat.edit(message, in: "room", to: .data(JSONText(trusted: Array("[1]".utf8))), by: nil)
        try await chat.pin(message, in: "room", by: nil)
        try await chat.startTyping("ana", on: "room")
        try await chat.stopTyping("ana", on: "room")
        _ = try await chat.mark(.delivered, "bob", in: "room", at: message)
        _ = try await chat.mark(.read, "bob", in: "room", at: message)
        _ = try await chat.report(message, in: "room", for: "offensive", by: "bob")
        _ = try await chat.appoint("ana", in: "room", .operator)
        _ = try await chat.freeze("room", true)
        _ = try await chat.freeze("room", false)
        _ = try await chat.restrict("eve", in: "room", RestrictionRequest(isMute: true, reason: "spam"))
        _ = try await chat.restrict("eve", in: "room", RestrictionRequest(isBan: true))
        try await chat.lift(restrictionOf: "eve", in: "room")
        var edit = ChannelEdit()
        edit.coverURL = .set("https://example.com/a.png")
        edit.data = .set(text("own"))
        _ = try await chat.update(channel: "room", edit)
        edit.description = .set("d")
        _ = try await chat.update(channel: "room", edit)
        try await chat.delete(message, in: "room", isHard: false, by: nil)
        try await chat.delete(message, in: "room", isHard: true, by: nil)
        try await chat.leave("bob", from: "room")
        try await chat.delete(user: "eve")
        try await chat.delete(channel: "room")
    }
}
