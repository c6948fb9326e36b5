import ChatModel
import JSON
import TestSupport
import Testing

@testable import ChatCore
@testable import PubNubAPI

/// Facts that one interface changes and the other reads: see docs/pubnub-migration.md, "The same fact on both sides".
@Suite("A fact on both sides", .timeLimit(.minutes(2))) struct TwoInterfacesTests {
    private static let objects = "/v2/objects/sub-demo"

    // MARK: Restrictions

    private func items(_ batch: Batch) -> [JSONValue?] { batch.items.map { $0["d"] } }

    @Test("a native restriction is announced once on the user's moderation channel, to the wire's readers alone")
    func nativeRestriction() async throws {
        try await PubNubHarness.run { gateway in
            let channel = "PUBNUB_INTERNAL_MODERATION.bob"
            let poller = try WirePoller(gateway)
            var cursor = try await poller.batch(channel, "0").cursor
            let chat = gateway.chat
            _ = try await chat.restrict(
                "bob", in: "room", RestrictionRequest(isBan: true, isMute: true, reason: "spam"), by: "ana")
            let banned = try await poller.batch(channel, cursor)
            #expect(banned.items.count == 1)
            #expect(
                banned.text.contains(
                    #""c":"\#(channel)","d":{"type":"moderation","channelId":"PUBNUB_INTERNAL_MODERATION_room","restriction":"banned","reason":"spam"}"#
                ))
            #expect(banned.items.first?["i"]?.string == "ana" && banned.items.first?["cmt"]?.string == "moderated")
            cursor = banned.cursor
            _ = try await chat.restrict("bob", in: "room", RestrictionRequest(isMute: true))
            let muted = try await poller.batch(channel, cursor)
            #expect(items(muted).map { $0?["restriction"]?.string } == ["muted"])
            try await chat.lift(restrictionOf: "bob", in: "room")
            let lifted = try await poller.batch(channel, muted.cursor)
            #expect(items(lifted).map { $0?["restriction"]?.string } == ["lifted"])
            let history = try await gateway.history(channel)["channels"]?[channel]?.elements ?? []
            #expect(history.map { $0["message"]?["restriction"]?.string } == ["banned", "muted", "lifted"])
            // All other users learn of it from the channel itself.
            #expect(try await gateway.events(channel).isEmpty)
            #expect(
                try await gateway.events("room").map(\.type)
                    == ["user.banned", "user.muted", "user.unbanned", "user.muted", "user.unmuted"])
        }
    }

    @Test("a restriction that has ended is announced as lifted")
    func endedRestriction() async throws {
        try await PubNubHarness.run { gateway in
            let channel = "PUBNUB_INTERNAL_MODERATION.bob"
            let end = gateway.service.clock.now.adding(.seconds(5))
            _ = try await gateway.chat.restrict("bob", in: "room", RestrictionRequest(isMute: true, until: end))
            gateway.clock.advance(by: .seconds(6))
            await gateway.service.sweepRestrictions()
            let history = try await gateway.history(channel)["channels"]?[channel]?.elements ?? []
            #expect(history.map { $0["message"]?["restriction"]?.string } == ["muted", "lifted"])
        }
    }

    @Test(
        "a restriction of a Chat SDK is announced natively once, with its author, and its publish reaches the wire only"
    )
    func wireRestriction() async throws {
        try await PubNubHarness.run { gateway in
            let (beside, own) = ("PUBNUB_INTERNAL_MODERATION_room", "PUBNUB_INTERNAL_MODERATION.bob")
            let poller = try WirePoller(gateway)
            let start = try await poller.batch(own, "0").cursor
            let body = #"{"set":[{"uuid":{"id":"bob"},"custom":{"ban":false,"mute":true,"reason":"loud"}}]}"#
            let target = AccessTests().signed(
                "PATCH", Self.objects + "/channels/\(beside)/uuids", "uuid=ana", body: body, at: gateway)
            #expect(try await gateway.call("PATCH", target, body).status == 200)
            let word = #"{"type":"moderation","channelId":"\#(beside)","restriction":"muted","reason":"loud"}"#
            try await gateway.publish(own, word, "&custom_message_type=moderated")
            let events = try await gateway.events("room")
            #expect(events.map(\.type) == ["user.muted"])
            let event = try #require(events.first)
            #expect(try JSONDocument(event.data).root["moderator"]?["id"]?.string == "ana")
            #expect(try await gateway.chat.restriction(of: "bob", in: "room").moderator == "ana")
            #expect(try await gateway.events(own).isEmpty)
            let heard = try await poller.batch(own, start)
            #expect(items(heard).map { $0?["restriction"]?.string } == ["muted"])
        }
    }

    // MARK: Frozen channels

    @Test("a frozen channel is announced as a change of the channel, and refuses publishes of all but its operators")
    func frozen() async throws {
        try await PubNubHarness.run { gateway in
            // The user who creates a channel moderates it.
            _ = try await gateway.chat.make(NewChannel(kind: .public, id: "room"), by: "ana")
            let poller = try WirePoller(gateway)
            let start = try await poller.batch("room", "0").cursor
            _ = try await gateway.chat.freeze("room", true)
            let told = try await poller.batch("room", start)
            #expect(told.items.count == 1 && told.items[0]["e"]?.integer == 2)
            #expect(told.items[0]["d"]?["type"]?.string == "channel" && told.items[0]["d"]?["event"]?.string == "set")
            let record = try await gateway.get(Self.objects + "/channels/room")["data"]
            #expect(told.items[0]["d"]?["data"]?["eTag"]?.string == record?["eTag"]?.string)
            let publish = "/publish/pub-demo/sub-demo/0/room/0/1?uuid="
            let refused = try await gateway.get(publish + "bob")
            #expect(refused.status == 403 && refused["service"]?.string == "Access Manager")
            #expect(try await gateway.get("/signal/pub-demo/sub-demo/0/room/0/1?uuid=bob").status == 403)
            #expect(try await gateway.get(publish + "ana").status == 200)
            _ = try await gateway.chat.freeze("room", false)
            #expect(try await gateway.get(publish + "bob").status == 200)
        }
    }

    // MARK: Edits

    private func edits(_ message: String, _ gateway: PubNubHarness) async throws -> [String] {
        let page = try await gateway.get("/v3/history-with-actions/sub-key/sub-demo/channel/room")
        let shown = page["channels"]?["room"]?[0]?["actions"]?["edited"]?.members?.map(\.name) ?? []
        let listed = try await gateway.get("/v1/message-actions/sub-demo/channel/room")["data"]?.elements ?? []
        #expect(listed.filter { $0["type"]?.string == "edited" }.map { $0["value"]?.string } == shown)
        return shown
    }

    private func edit(_ message: String, _ text: String, _ gateway: PubNubHarness) async throws -> String {
        let answer = try await gateway.call(
            "POST", "/v1/message-actions/sub-demo/channel/room/message/\(message)?uuid=ana",
            #"{"type":"edited","value":"\#(text)"}"#)
        return answer["data"]?["actionTimetoken"]?.string ?? ""
    }

    private func text(of message: String, _ gateway: PubNubHarness) async throws -> String? {
        try await gateway.chat.message(Timetoken(text: message) ?? .zero, in: "room").text
    }

    @Test("every edit of a message is listed in order, from either side, and the newest is its text")
    func edits() async throws {
        try await PubNubHarness.run { gateway in
            let message = try await gateway.publish("room", #"{"type":"text","text":"one"}"#).timetoken
            let place = Timetoken(text: message) ?? .zero
            let second = try await edit(message, "two", gateway)
            _ = try await gateway.chat.edit(place, in: "room", to: .text(JSONText(string: "three")), by: "ana")
            let fourth = try await edit(message, "four", gateway)
            #expect(try await edits(message, gateway) == ["two", "three", "four"])
            #expect(try await text(of: message, gateway) == "four")
            // Edits belong to the message: natively they are not among its actions.
            #expect(try await gateway.chat.actions(of: place, in: "room", RecordList(limit: 10)).items.isEmpty)

            let base = "/v1/message-actions/sub-demo/channel/room/message/\(message)/action/"
            #expect(try await gateway.call("DELETE", base + second + "?uuid=ana").status == 200)
            #expect(try await edits(message, gateway) == ["three", "four"])
            #expect(try await text(of: message, gateway) == "four")
            #expect(try await gateway.call("DELETE", base + fourth + "?uuid=ana").status == 200)
            #expect(try await edits(message, gateway) == ["three"])
            #expect(try await text(of: message, gateway) == "three")
            #expect(try await gateway.call("DELETE", base + fourth + "?uuid=ana").status == 400)
        }
    }

    private func imported(
        _ edits: [(second: Int, text: String)], _ gateway: PubNubHarness
    ) async throws -> (place: Timetoken, attached: Int) {
        let start = Timetoken(17_323_000_000_000_000)
        let actions = edits.map {
            ImportMessage.Action(
                type: "edited", value: $0.text, user: "ana", at: start.adding(.seconds($0.second)))
        }
        let text = JSONText(trusted: Array(#"{"type":"text","text":"zero"}"#.utf8))
        let message = ImportMessage(
            .message(channel: "room", data: text, user: "ana", meta: nil), at: start, actions: actions)
        let result = try #require(try await gateway.chat.move([message]).first).get()
        return (result.place ?? .zero, result.attached)
    }

    @Test("imported edits take their places among the known ones, each once, and the newest is the text")
    func importedEdits() async throws {
        try await PubNubHarness.run { gateway in
            let (place, attached) = try await imported([(3, "three"), (1, "one")], gateway)
            #expect(attached == 2)
            #expect(try await text(of: place.description, gateway) == "three")
            _ = try await gateway.chat.edit(place, in: "room", to: .text(JSONText(string: "five")), by: "ana")
            #expect(try await imported([(4, "four"), (1, "one"), (2, "two"), (3, "three")], gateway).attached == 2)
            #expect(try await edits(place.description, gateway) == ["one", "two", "three", "four", "five"])
            #expect(try await text(of: place.description, gateway) == "five")
            let newest = try await gateway.chat.message(place, in: "room").record.edit?.at ?? .zero
            let undone = try await gateway.chat.undo(newest, to: place, in: "room", by: "ana")
            #expect(undone.text == "four")
        }
    }

    @Test("of more imported edits than are kept, the newest are kept")
    func manyImportedEdits() async throws {
        try await PubNubHarness.run { gateway in
            let all = (1...250).map { (second: $0, text: "edit \($0)") }
            let (place, _) = try await imported(all, gateway)
            #expect(try await edits(place.description, gateway) == all.suffix(100).map(\.text))
            #expect(try await imported(all, gateway).attached == 0)
            #expect(try await edits(place.description, gateway) == all.suffix(100).map(\.text))
            try await gateway.chat.delete(place, in: "room", isHard: true, by: "ana")
            var query = RecordQuery(.messageAction, in: PubNubHarness.app, limit: 10)
            query.idPrefix = MessageActionRecord.prefix("room", place)
            #expect(try await gateway.service.engine.directory.list(query).items.isEmpty)
        }
    }

    @Test("an edited message that is deleted for good leaves no edit behind")
    func editsGone() async throws {
        try await PubNubHarness.run { gateway in
            let message = try await gateway.publish("room", #"{"type":"text","text":"one"}"#).timetoken
            for text in ["two", "three"] { _ = try await edit(message, text, gateway) }
            let place = Timetoken(text: message) ?? .zero
            try await gateway.chat.delete(place, in: "room", isHard: true, by: "ana")
            var query = RecordQuery(.messageAction, in: PubNubHarness.app, limit: 10)
            query.idPrefix = MessageActionRecord.prefix("room", place)
            #expect(try await gateway.service.engine.directory.list(query).items.isEmpty)
        }
    }

    // MARK: Users

    private func join(_ user: String, _ channels: [String], _ gateway: PubNubHarness) async throws {
        for channel in channels {
            let body = #"{"set":[{"channel":{"id":"\#(channel)"}}]}"#
            #expect(try await gateway.call("PATCH", Self.objects + "/uuids/\(user)/channels", body).status == 200)
        }
    }

    private func name(_ user: String, _ name: String, _ gateway: PubNubHarness) async throws {
        var edit = UserEdit()
        edit.name = .set(name)
        _ = try await gateway.chat.put(user: user, edit)
    }

    @Test(
        "a user's record is announced on the user's channel and on the member's channels, once to each subscriber"
    )
    func users() async throws {
        try await PubNubHarness.run { gateway in
            try await join("ben", ["room", "team.a"], gateway)
            let poller = try WirePoller(gateway)
            let start = try await poller.batch("room", "0").cursor
            try await name("ben", "Ben", gateway)
            let expected: [(names: String, channel: String?)] = [
                ("room", "room"), ("ben", "ben"), ("room,ben", "ben"), ("team.*", "team.a"), ("hall", nil),
            ]
            for (names, channel) in expected {
                guard let channel else {
                    // No other event is pending, so the next one arrives alone.
                    try await gateway.publish("hall", #""next""#)
                    #expect(try await poller.batch(names, start).payloads == ["next"])
                    continue
                }
                let heard = try await poller.batch(names, start)
                #expect(heard.items.map { $0["c"]?.string } == [channel], "\(names)")
                #expect(heard.items.first?["d"]?["type"]?.string == "uuid")
                #expect(heard.items.first?["d"]?["data"]?["id"]?.string == "ben")
                #expect(heard.items.first?["d"]?["data"]?["name"]?.string == "Ben")
            }
            // It is stored once, on the user's channel.
            #expect(try await gateway.events("ben").filter { $0.type == "user.created" }.count == 1)
            #expect(try await gateway.events("room").filter { $0.type == "user.created" }.isEmpty)
        }
    }

    @Test("a held subscriber of a member's channel gets the record's change and its end, and no native stream does")
    func heldUsers() async throws {
        try await PubNubHarness.run { gateway in
            try await name("ben", "Ben", gateway)
            try await join("ben", ["room"], gateway)
            let poller = try WirePoller(gateway)
            let other = try WirePoller(gateway)
            let start = try await poller.batch("room", "0").cursor
            try poller.ask("room", start)
            try other.ask("room,ben", start)
            await gateway.untilHeld(2)
            let native = Selection(channels: ChannelSet(app: PubNubHarness.app, names: ["room"]))
            try await name("ben", "Benjamin", gateway)
            for answer in [await poller.answer(), await other.answer()] {
                #expect(answer.items.map { $0["d"]?["data"]?["name"]?.string } == ["Benjamin"])
            }
            _ = try await gateway.chat.delete(user: "ben")
            let gone = try await poller.batch("room", start)
            #expect(gone.items.map { $0["d"]?["event"]?.string } == ["set", "delete"])
            let place = Timetoken(text: start) ?? .zero
            let (missed, _) = try await gateway.chat.missed(
                native, after: place, upTo: try await gateway.chat.watermark())
            #expect(missed.filter { $0.type.hasPrefix("user.") }.isEmpty)
        }
    }

    @Test(
        "a user's record that the wire changes is announced once natively, on the user's channel, and on the wire"
    )
    func usersOnWire() async throws {
        try await PubNubHarness.run { gateway in
            try await join("ben", ["room"], gateway)
            let poller = try WirePoller(gateway)
            let start = try await poller.batch("room", "0").cursor
            let answer = try await gateway.call("PATCH", Self.objects + "/uuids/ben", #"{"name":"Ben"}"#)
            #expect(try await gateway.chat.user("ben")?.name == "Ben")
            #expect(
                try await gateway.events("ben").filter { $0.type.hasPrefix("user.") }.map(\.type) == ["user.created"])
            let heard = try await poller.batch("room", start)
            #expect(heard.items.map { $0["d"]?["data"]?["eTag"]?.string } == [answer["data"]?["eTag"]?.string])
        }
    }

    @Test("is reported by channel even after more events than are examined one by one")
    func usersFarBack() async throws {
        try await PubNubHarness.run { gateway in
            try await join("ben", ["room", "hall"], gateway)
            let poller = try WirePoller(gateway)
            let start = try await poller.batch("room", "0").cursor
            try await name("ben", "Ben", gateway)
            let filler = EventDraft.event(channel: "elsewhere", data: .emptyObject)
            for _ in 0..<4 { try await gateway.chat.emit(Array(repeating: filler, count: 100)) }
            let heard = try await poller.batch("room,hall,ben", start)
            #expect(heard.items.map { $0["c"]?.string } == ["ben"])
            #expect(try await poller.batch("room,hall", start).items.count == 1)
        }
    }
}
