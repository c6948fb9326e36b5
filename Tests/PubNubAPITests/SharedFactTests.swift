import ChatCore
import ChatModel
import ChatSupport
import JSON
import TestSupport
import Testing

@testable import PubNubAPI

/// Facts that both interfaces share, changed by one and read by the other: the table of `docs/pubnub-migration.md`.
@Suite("A fact that both interfaces have", .timeLimit(.minutes(2))) struct SharedFactTests {
    private static let objects = "/v2/objects/sub-demo"

    private func patch(
        _ path: String, _ body: String, by user: String, _ gateway: PubNubHarness
    ) async throws -> WireAnswer {
        try await gateway.call("PATCH", Self.objects + path + (path.contains("?") ? "&" : "?") + "uuid=\(user)", body)
    }

    /// The public channel `room` with the members ana and ben, and a message of ana.
    private func room(_ gateway: PubNubHarness) async throws -> Timetoken {
        _ = try await gateway.chat.make(NewChannel(kind: .public, id: "room"))
        for user in ["ana", "ben"] { _ = try await gateway.chat.join(user, to: "room") }
        return try await say("hi", gateway)
    }

    private func say(_ text: String, _ gateway: PubNubHarness) async throws -> Timetoken {
        let data = JSONText { writer in
            writer.beginObject()
            writer.member("text", text)
            writer.endObject()
        }
        return try await gateway.chat.emit(.message(channel: "room", data: data, user: "ana", meta: nil)).event
            .timetoken
    }

    private func member(_ user: String, _ gateway: PubNubHarness) async throws -> MembershipRecord? {
        try await gateway.chat.member(user, of: "room")
    }

    private func wireMember(_ user: String, _ gateway: PubNubHarness) async throws -> JSONValue? {
        let filter = PubNubHarness.escaped("uuid.id == '\(user)'")
        return try await gateway.get(
            Self.objects + "/channels/room/uuids?include=custom,status,type&filter=\(filter)")["data"]?[0]
    }

    /// The events that native readers of the channels receive for the effects of `body`, as `type user`.
    private func told(
        _ channels: [String], _ gateway: PubNubHarness, _ body: () async throws -> Void
    ) async throws -> [String] {
        let chat = gateway.chat
        let start = try await chat.watermark()
        try await body()
        let end = try await chat.watermark()
        var catchUp = chat.catchUp(try chat.selection(channels: channels), after: start, upTo: end)
        var types: [String] = []
        while !catchUp.isOver { types += try await catchUp.nextPage(limit: 100).map(\.type) }
        return types
    }

    /// The items that PubNub subscribers receive for the effects of `body`.
    private func heard(
        _ channels: String, _ gateway: PubNubHarness, _ body: () async throws -> Void
    ) async throws -> [JSONValue] {
        let poller = try WirePoller(gateway)
        var cursor = try await gateway.get("/v2/subscribe/sub-demo/\(channels)/0?tt=0")["t"]?["t"]?.string ?? ""
        try await body()
        try await gateway.publish("room", "\"the last\"", "&store=0")
        var items: [JSONValue] = []
        while true {
            let batch = try await poller.batch(channels, cursor)
            try #require(batch.status == 200)
            cursor = batch.cursor
            for item in batch.items {
                if item["d"]?.string == "the last" { return items }
                items.append(item)
            }
        }
    }

    private func signal(_ json: String, by user: String, _ gateway: PubNubHarness) async throws {
        let answer = try await gateway.get(
            "/signal/pub-demo/sub-demo/0/room/0/\(PubNubHarness.escaped(json))?uuid=\(user)")
        #expect(answer.status == 200 && answer.timetoken.utf8.count == 17)
    }

    // MARK: Read marks

    @Test("a receipt on the wire moves the native read mark, with one native event")
    func readBySignal() async throws {
        try await PubNubHarness.run { gateway in
            let message = try await room(gateway)
            #expect(try await gateway.chat.unread(of: "ben", in: "room") == 1)
            let receipt = #"{"type":"receipt","messageTimetoken":"\#(message)","x":1}"#
            var items: [JSONValue] = []
            let types = try await told(["room", "ben"], gateway) {
                items = try await heard("room,ben", gateway) {
                    try await signal(receipt, by: "ben", gateway)
                    // Sent from another device, which makes no difference.
                    try await signal(receipt, by: "ben", gateway)
                }
            }
            #expect(types.filter { !$0.hasPrefix("presence") && $0 != "message.created" } == ["receipt.read"])
            #expect(try await member("ben", gateway)?.read == message)
            #expect(try await gateway.chat.unread(of: "ben", in: "room") == 0)
            let mark = try await wireMember("ben", gateway)?["custom"]?["lastReadMessageTimetoken"]?.string
            #expect(mark == message.description)
            let receipts = items.filter { $0["e"]?.integer == 1 }
            #expect(
                receipts.map { $0["i"]?.string } == ["ben", "ben"], "the wire's readers get each signal as it was sent")
            #expect(receipts.allSatisfy { $0["d"]?["x"]?.integer == 1 })
        }
    }

    @Test("a mark in a membership's custom moves the native one, with one event beside the SDK's receipt")
    func readByMembership() async throws {
        try await PubNubHarness.run { gateway in
            let message = try await room(gateway)
            let before = try await wireMember("ben", gateway)?["eTag"]?.string
            let custom = #"{"mood":"calm","lastReadMessageTimetoken":"\#(message)"}"#
            var items: [JSONValue] = []
            let types = try await told(["room", "ben"], gateway) {
                items = try await heard("room,ben", gateway) {
                    _ = try await patch(
                        "/uuids/ben/channels", #"{"set":[{"channel":{"id":"room"},"custom":\#(custom)}]}"#, by: "ben",
                        gateway)
                    try await signal(
                        #"{"type":"receipt","messageTimetoken":"\#(message)"}"#, by: "ben", gateway)
                }
            }
            #expect(
                types.filter { $0.hasPrefix("receipt") || $0.hasPrefix("member") } == [
                    "receipt.read", "membership.updated",
                ])
            #expect(try await gateway.chat.unread(of: "ben", in: "room") == 0)
            let record = try #require(try await member("ben", gateway))
            #expect(record.read == message && record.custom?.description == #"{"mood":"calm"}"#)
            let shown = try await wireMember("ben", gateway)
            #expect(shown?["custom"]?["mood"]?.string == "calm")
            #expect(shown?["custom"]?["lastReadMessageTimetoken"]?.string == message.description)
            #expect(shown?["eTag"]?.string != before)
            #expect(items.filter { $0["e"]?.integer == 1 }.count == 1)
            let memberships = items.filter { $0["e"]?.integer == 2 }
            #expect(memberships.map { $0["c"]?.string } == ["room", "ben"])
            for item in memberships {
                #expect(item["d"]?["data"]?["custom"]?["lastReadMessageTimetoken"]?.string == message.description)
                #expect(item["d"]?["data"]?["eTag"]?.string == shown?["eTag"]?.string)
            }
        }
    }

    @Test("a read mark stays where `custom` is replaced without it, and never moves back")
    func markStays() async throws {
        try await PubNubHarness.run { gateway in
            let first = try await room(gateway)
            let second = try await say("again", gateway)
            _ = try await gateway.chat.mark(.read, "ben", in: "room", at: second, by: "ben")
            for custom in [#"{"mood":"calm"}"#, #"{"lastReadMessageTimetoken":"\#(first)"}"#, "null"] {
                let answer = try await patch(
                    "/uuids/ben/channels?include=custom",
                    #"{"set":[{"channel":{"id":"room"},"custom":\#(custom)}]}"#, by: "ben", gateway)
                let shown = answer["data"]?[0]?["custom"]?["lastReadMessageTimetoken"]?.string
                #expect(shown == second.description)
            }
            try await signal(#"{"type":"receipt","messageTimetoken":"\#(first)"}"#, by: "ben", gateway)
            #expect(try await member("ben", gateway)?.read == second)
            #expect(try await member("ben", gateway)?.custom == nil)
        }
    }

    @Test("a mark ahead of every message is the newest event's, and a receipt that names no message moves none")
    func markAhead() async throws {
        try await PubNubHarness.run { gateway in
            let message = try await room(gateway)
            let ahead = gateway.clock.now.adding(.seconds(60))
            try await signal(#"{"type":"receipt","messageTimetoken":"\#(ahead)"}"#, by: "ben", gateway)
            #expect(try await member("ben", gateway)?.read == .zero)
            let custom = #"{"lastReadMessageTimetoken":"\#(ahead)"}"#
            _ = try await patch(
                "/uuids/ben/channels", #"{"set":[{"channel":{"id":"room"},"custom":\#(custom)}]}"#, by: "ben", gateway)
            let mark = try #require(try await member("ben", gateway)).read
            #expect(message <= mark && mark < ahead)
            _ = try await say("new", gateway)
            #expect(try await gateway.chat.unread(of: "ben", in: "room") == 1)
        }
    }

    @Test("a native mark shows on the wire, as one receipt and at both ends of the membership")
    func readNatively() async throws {
        try await PubNubHarness.run { gateway in
            let message = try await room(gateway)
            let items = try await heard("room,ben", gateway) {
                for _ in 1...2 { _ = try await gateway.chat.mark(.read, "ben", in: "room", at: message, by: "ben") }
            }
            let shown = try await wireMember("ben", gateway)
            #expect(shown?["custom"]?["lastReadMessageTimetoken"]?.string == message.description)
            let receipts = items.filter { $0["e"]?.integer == 1 }
            #expect(receipts.map { $0["i"]?.string } == ["ben"])
            #expect(receipts.map { $0["d"]?["type"]?.string } == ["receipt"])
            #expect(receipts.map { $0["d"]?["messageTimetoken"]?.string } == [message.description])
            let memberships = items.filter { $0["e"]?.integer == 2 }
            #expect(memberships.map { $0["c"]?.string } == ["room", "ben"])
            #expect(memberships.allSatisfy { $0["d"]?["data"]?["channel"]?["id"]?.string == "room" })
            #expect(memberships.allSatisfy { $0["d"]?["data"]?["uuid"]?["id"]?.string == "ben" })
            #expect(memberships.allSatisfy { $0["d"]?["data"]?["eTag"]?.string == shown?["eTag"]?.string })
        }
    }

    @Test("marks of read-all show on the wire, and filters find a membership by its mark")
    func allReadNatively() async throws {
        try await PubNubHarness.run { gateway in
            _ = try await room(gateway)
            #expect(try await gateway.chat.markAllRead(by: "ben", named: "ben") == ["room"])
            let mark = try #require(try await member("ben", gateway)).read
            #expect(
                try await wireMember("ben", gateway)?["custom"]?["lastReadMessageTimetoken"]?.string == mark.description
            )
            let filter = PubNubHarness.escaped("custom.lastReadMessageTimetoken == '\(mark)'")
            let found = try await gateway.get(Self.objects + "/channels/room/uuids?filter=\(filter)")
            #expect(found["data"]?.elements?.map { $0["uuid"]?["id"]?.string } == ["ben"])
        }
    }

    // MARK: Typing

    @Test("typing on the wire is in the native list with one event, and ends after ten seconds")
    func typingOnWire() async throws {
        try await PubNubHarness.run { gateway in
            _ = try await room(gateway)
            let typing = #"{"type":"typing","value":true,"x":1}"#
            var items: [JSONValue] = []
            let types = try await told(["room"], gateway) {
                items = try await heard("room", gateway) {
                    try await signal(typing, by: "ben", gateway)
                    try await signal(typing, by: "ben", gateway)
                }
            }
            #expect(types.filter { $0.hasPrefix("typing") } == ["typing.started"])
            #expect(
                items.map { $0["i"]?.string } == ["ben", "ben"], "SDKs forget who types sooner than the gateway does")
            #expect(items.allSatisfy { $0["e"]?.integer == 1 && $0["d"]?["x"]?.integer == 1 })
            let poller = try WirePoller(gateway)
            let start = try await gateway.chat.watermark()
            try await gateway.chat.startTyping("ana", on: "room")
            let both = try await typists(of: try await lastEvent("typing.started", after: start, gateway))
            #expect(both == ["ana", "ben"])
            gateway.clock.advance(by: .seconds(11))
            try await gateway.service.presence.tick()
            let ends = try await poller.batch("room", try await gateway.chat.watermark().before(2).description)
            #expect(Set(ends.items.map { $0["i"]?.string }) == ["ana", "ben"])
            #expect(ends.items.allSatisfy { $0["d"]?["value"]?.boolean == false && $0["e"]?.integer == 1 })
        }
    }

    private func lastEvent(_ type: String, after start: Timetoken, _ gateway: PubNubHarness) async throws -> Event {
        let chat = gateway.chat
        var catchUp = chat.catchUp(
            try chat.selection(channels: ["room"]), after: start, upTo: try await chat.watermark())
        var events: [Event] = []
        while !catchUp.isOver { events += try await catchUp.nextPage(limit: 100) }
        return try #require(events.last { $0.type == type })
    }

    private func typists(of event: Event) async throws -> [String]? {
        try JSONDocument(event.data).root["typing_users"]?.elements?.compactMap { $0["id"]?.string }
    }

    @Test("stopping on the wire stops a native typist, with one event on each side")
    func stoppedOnWire() async throws {
        try await PubNubHarness.run { gateway in
            _ = try await room(gateway)
            try await gateway.chat.startTyping("ben", on: "room")
            let stop = #"{"type":"typing","value":false}"#
            var items: [JSONValue] = []
            let types = try await told(["room"], gateway) {
                items = try await heard("room", gateway) {
                    try await signal(stop, by: "ben", gateway)
                    try await signal(stop, by: "ben", gateway)
                }
            }
            #expect(types.filter { $0.hasPrefix("typing") } == ["typing.stopped"])
            #expect(items.map { $0["d"]?["value"]?.boolean } == [false])
        }
    }

    @Test("a muted user's typing signal is refused")
    func mutedTypist() async throws {
        try await PubNubHarness.run { gateway in
            _ = try await room(gateway)
            _ = try await gateway.chat.restrict(
                "ben", in: "room", RestrictionRequest(isBan: false, isMute: true, reason: nil))
            let typing = PubNubHarness.escaped(#"{"type":"typing","value":true}"#)
            let answer = try await gateway.get("/signal/pub-demo/sub-demo/0/room/0/\(typing)?uuid=ben")
            #expect(answer.status == 403)
        }
    }

    @Test("native typing reaches the wire, renewals too")
    func typingNatively() async throws {
        try await PubNubHarness.run { gateway in
            _ = try await room(gateway)
            let items = try await heard("room", gateway) {
                for _ in 1...2 { try await gateway.chat.startTyping("ben", on: "room") }
                try await gateway.chat.stopTyping("ben", on: "room")
            }
            #expect(items.map { $0["i"]?.string } == ["ben", "ben", "ben"])
            #expect(items.map { $0["d"]?["value"]?.boolean } == [true, true, false])
            #expect(items.allSatisfy { $0["e"]?.integer == 1 && $0["d"]?["type"]?.string == "typing" })
        }
    }

    // MARK: Invitations

    @Test("a pending membership of the wire is one native invitation")
    func pending() async throws {
        try await PubNubHarness.run { gateway in
            _ = try await gateway.chat.make(NewChannel(kind: .group, id: "room"))
            _ = try await gateway.chat.join("ana", to: "room")
            var items: [JSONValue] = []
            let types = try await told(["room", "ben"], gateway) {
                items = try await heard("room,ben", gateway) {
                    _ = try await patch(
                        "/uuids/ben/channels", #"{"set":[{"channel":{"id":"room"},"status":"pending"}]}"#, by: "ana",
                        gateway)
                    // Sends the mark of an invited user, as the SDK does.
                    let now = gateway.clock.now
                    _ = try await patch(
                        "/uuids/ben/channels",
                        #"{"set":[{"channel":{"id":"room"},"custom":{"lastReadMessageTimetoken":"\#(now)"}}]}"#,
                        by: "ana", gateway)
                    try await signal(#"{"type":"receipt","messageTimetoken":"\#(now)"}"#, by: "ana", gateway)
                    try await gateway.publish("ben", #"{"type":"invite","channelType":"group","channelId":"room"}"#)
                }
            }
            #expect(
                types.filter { !$0.hasPrefix("presence") && $0 != "message.created" } == [
                    "member.invited", "member.invited", "channel.member_count.updated",
                ], "on the channel and on the user's")
            let record = try #require(try await member("ben", gateway))
            #expect(record.state == .invited && record.inviter == "ana")
            #expect(try await gateway.chat.channelView("room")?.counts.joined == 1)
            #expect(try await member("ana", gateway)?.read == .zero, "the receipt was not ana's own")
            let invites = items.filter { $0["d"]?["type"]?.string == "invite" }
            #expect(invites.map { $0["c"]?.string } == ["ben"])
            let memberships = items.filter { $0["e"]?.integer == 2 }
            #expect(memberships.map { $0["c"]?.string } == ["room", "ben", "room", "ben"])
            #expect(memberships.allSatisfy { $0["d"]?["data"]?["status"]?.string == "pending" })
            #expect(try await wireMember("ben", gateway)?["status"]?.string == "pending")
            let history = try await gateway.history("ben")
            #expect(history["channels"]?["ben"]?.count == 1)
            #expect(try await gateway.events("ben").map(\.type) == ["member.invited"])
            for body in [#"{"set":[{"channel":{"id":"room"},"status":"pending"}]}"#] {
                _ = try await patch("/uuids/ana/channels", body, by: "ben", gateway)
            }
            #expect(try await member("ana", gateway)?.state == .joined, "who has joined is not invited again")
        }
    }

    @Test(
        "an invitation is accepted by the wire",
        arguments: [
            #"{"channel":{"id":"room"}}"#, #"{"channel":{"id":"room"},"status":""}"#,
            #"{"channel":{"id":"room"},"status":null,"custom":{"a":1}}"#,
            #"{"channel":{"id":"room"},"status":"joined"}"#,
        ])
    func acceptedOnWire(_ entry: String) async throws {
        try await PubNubHarness.run { gateway in
            _ = try await gateway.chat.make(NewChannel(kind: .group, id: "room"))
            _ = try await gateway.chat.invite(["ben"], to: "room")
            let types = try await told(["room", "ben"], gateway) {
                _ = try await patch("/uuids/ben/channels", #"{"set":[\#(entry)]}"#, by: "ben", gateway)
            }
            #expect(types == ["member.joined", "channel.member_count.updated"])
            #expect(try await member("ben", gateway)?.state == .joined)
            #expect(try await wireMember("ben", gateway)?["status"]?.string != "pending")
        }
    }

    @Test("an invited user who removes the own membership on the wire declines")
    func declinedOnWire() async throws {
        try await PubNubHarness.run { gateway in
            _ = try await gateway.chat.make(NewChannel(kind: .group, id: "room"))
            _ = try await gateway.chat.invite(["ben", "cy"], to: "room")
            let remove = #"{"delete":[{"channel":{"id":"room"}}]}"#
            let types = try await told(["room"], gateway) {
                _ = try await patch("/uuids/ben/channels", remove, by: "ben", gateway)
                _ = try await patch("/uuids/cy/channels", remove, by: "ana", gateway)
            }
            #expect(
                types.filter { $0.hasPrefix("member.") } == ["member.declined", "member.left"],
                "somebody else takes an invitation back")
            #expect(try await member("ben", gateway) == nil)
        }
    }

    @Test("a native decline removes the membership on the wire, at both ends")
    func declinedNatively() async throws {
        try await PubNubHarness.run { gateway in
            _ = try await gateway.chat.make(NewChannel(kind: .group, id: "room"))
            _ = try await gateway.chat.invite(["ben"], to: "room")
            let items = try await heard("room,ben", gateway) {
                try await gateway.chat.declineInvite(of: "ben", to: "room", by: "ben")
            }
            #expect(items.map { $0["c"]?.string } == ["room", "ben"])
            #expect(items.allSatisfy { $0["d"]?["event"]?.string == "delete" })
            #expect(try await wireMember("ben", gateway) == nil)
        }
    }

    @Test("a native invitation is pending on the wire until it is accepted natively")
    func invitedNatively() async throws {
        try await PubNubHarness.run { gateway in
            _ = try await gateway.chat.make(NewChannel(kind: .group, id: "room"))
            _ = try await gateway.chat.join("ana", to: "room")
            let items = try await heard("room,ben,cy", gateway) {
                _ = try await gateway.chat.invite(["ben", "cy"], to: "room", by: "ana")
                #expect(try await wireMember("ben", gateway)?["status"]?.string == "pending")
                let filter = PubNubHarness.escaped("status == 'pending'")
                let pending = try await gateway.get(
                    Self.objects + "/channels/room/uuids?count=true&filter=\(filter)")
                #expect(pending["totalCount"]?.integer == 2)
                let others = PubNubHarness.escaped("!(status LIKE 'pend*')")
                let joined = try await gateway.get(Self.objects + "/channels/room/uuids?filter=\(others)")
                #expect(joined["data"]?.elements?.map { $0["uuid"]?["id"]?.string } == ["ana"])
                _ = try await gateway.chat.acceptInvite(of: "ben", to: "room", by: "ben")
            }
            let invites = items.filter { $0["d"]?["type"]?.string == "invite" }
            #expect(invites.map { $0["c"]?.string } == ["ben", "cy"])
            let own = items.filter { $0["e"]?.integer == 2 && $0["c"]?.string == "ben" }
            #expect(own.map { $0["d"]?["data"]?["status"]?.string } == ["pending", nil])
            #expect(own.last?["d"]?["data"]?["status"]?.isNull == true)
            let ofRoom = items.filter { $0["e"]?.integer == 2 && $0["c"]?.string == "room" }
            #expect(ofRoom.map { $0["d"]?["data"]?["uuid"]?["id"]?.string } == ["ben", "cy", "ben"])
            let shown = try await wireMember("ben", gateway)
            #expect(shown?["status"]?.isNull == true)
            #expect(own.last?["d"]?["data"]?["eTag"]?.string == shown?["eTag"]?.string)
        }
    }

    // MARK: Memberships

    @Test("a membership that either interface changes has an event at both of its ends")
    func bothEnds() async throws {
        try await PubNubHarness.run { gateway in
            _ = try await gateway.chat.make(NewChannel(kind: .public, id: "room"))
            let items = try await heard("room,ben", gateway) {
                _ = try await gateway.chat.join("ben", to: "room")
                let set = #"{"set":[{"channel":{"id":"room"},"type":"vip","status":"s","custom":{"a":1}}]}"#
                _ = try await patch("/uuids/ben/channels", set, by: "ben", gateway)
                _ = try await patch("/uuids/ben/channels", set, by: "ben", gateway)
                try await gateway.chat.leave("ben", from: "room", by: "ben")
            }
            #expect(items.map { $0["c"]?.string } == ["room", "ben", "room", "ben", "room", "ben"])
            #expect(items.map { $0["b"]?.string } == items.map { $0["c"]?.string })
            #expect(items.map { $0["d"]?["event"]?.string } == ["set", "set", "set", "set", "delete", "delete"])
            #expect(items.allSatisfy { $0["e"]?.integer == 2 && $0["i"] == nil })
            try #require(items.count == 6)
            #expect(items[3]["d"]?["data"]?["type"]?.string == "vip")
            #expect(items[3]["d"]?["data"]?["custom"]?["a"]?.integer == 1)
            #expect(items[5]["d"]?["data"]?.members?.map(\.name) == ["channel", "uuid", "updated", "eTag"])
        }
    }

    @Test("a user who leaves on the wire has left by own choice")
    func leftOnWire() async throws {
        try await PubNubHarness.run { gateway in
            _ = try await room(gateway)
            _ = try await patch("/uuids/ben/channels", #"{"delete":[{"channel":{"id":"room"}}]}"#, by: "ben", gateway)
            let event = try #require(try await gateway.events("room").last { $0.type == "member.left" })
            #expect(try JSONDocument(event.data).root["reason"]?.string == "LEFT_BY_OWN_CHOICE")
        }
    }
}

extension Timetoken {
    /// The timetoken that many places earlier.
    fileprivate func before(_ places: UInt64) -> Timetoken { Timetoken(rawValue - places) }
}
