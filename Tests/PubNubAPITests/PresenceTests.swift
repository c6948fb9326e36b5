import ChatCore
import ChatModel
import LongPolling
import JSON
import TestSupport
import Testing

@testable import PubNubAPI

@Suite("Presence on PubNub's wire", .timeLimit(.minutes(2))) struct PresenceTests {
    private static let base = "/v2/presence/sub-key/sub-demo"

    private func heartbeat(
        _ user: String, _ channels: String, _ gateway: PubNubHarness, _ query: String = ""
    ) async throws {
        let answer = try await gateway.get("\(Self.base)/channel/\(channels)/heartbeat?uuid=\(user)\(query)")
        #expect(answer.text == #"{"status":200,"message":"OK","service":"Presence"}"#)
    }

    @Test("is where a subscriber is, from its handshake until it leaves")
    func subscriber() async throws {
        try await PubNubHarness.run { gateway in
            let poller = try WirePoller(gateway)
            let start = try await poller.batch("room,room-pnpres", "0").cursor
            let here = try await gateway.get(Self.base + "/channel/room").text
            #expect(
                here
                    == #"{"status":200,"message":"OK","uuids":["bob"],"occupancy":1,"service":"Presence"}"#)
            let own = try await poller.batch("room,room-pnpres", start)
            let second = try #require(own.text.firstMatch(of: /"timestamp":([0-9]{10}),/)?.output.1)
            #expect(
                own.shape
                    == #"{"t":{"t":"<tt>","r":1},"m":[{"a":"1","f":0,"p":{"t":"<tt>","r":1},"k":"sub-demo","c":"room-pnpres","d":{"action":"join","timestamp":\#(second),"uuid":"bob","occupancy":1},"u":{"pn_action":"join","pn_uuid":"bob","pn_timestamp":\#(second),"pn_occupancy":1,"pn_ispresence":1,"pn_channel":"room"},"b":"room-pnpres"}]}"#
            )
            let left = try await gateway.get(Self.base + "/channel/room/leave?uuid=bob")
            #expect(left.text == #"{"status":200,"message":"OK","action":"leave","service":"Presence"}"#)
            #expect(try await gateway.get(Self.base + "/channel/room/leave?uuid=bob").text == left.text)
            let gone = try await poller.batch("room-pnpres", own.cursor)
            #expect(gone.items.map { $0["d"]?["action"]?.string } == ["leave"])
            #expect(gone.items[0]["d"]?["occupancy"]?.integer == 0)
        }
    }

    @Test("comes under the name of the group or wildcard it was asked by")
    func names() async throws {
        try await PubNubHarness.run { gateway in
            try await gateway.get("/v1/channel-registration/sub-key/sub-demo/channel-group/g?add=a.b")
            let poller = try WirePoller(gateway)
            let start = try await poller.batch("x-pnpres", "0").cursor
            try await heartbeat("ana", "a.b", gateway)
            let wild = try await poller.batch("a.*-pnpres", start)
            #expect(wild.items.map { $0["b"]?.string } == ["a.*-pnpres"])
            #expect(wild.items[0]["c"]?.string == "a.b-pnpres")
            let group = try await poller.batch(",", start, "&channel-group=g-pnpres")
            #expect(group.items.map { $0["b"]?.string } == ["g-pnpres"])
            // A subscriber to presence alone is not present.
            #expect(try await gateway.get(Self.base + "/channel/a.b")["occupancy"]?.integer == 1)
        }
    }

    @Test("lasts while a poll is held, and no poll restores a user who has left")
    func held() async throws {
        try await PubNubHarness.run { gateway in
            let poller = try WirePoller(gateway)
            let start = try await poller.batch("room", "0").cursor
            try poller.ask("room", start)
            await gateway.untilHeld()
            _ = try await gateway.get(Self.base + "/channel/room/leave?uuid=bob")
            try await gateway.publish("room", "1")
            #expect(await poller.answer().payloads == ["1"])
            #expect(try await gateway.get(Self.base + "/channel/room")["occupancy"]?.integer == 0)
        }
    }

    @Test("ends with a leave that overtakes the last poll")
    func overtaken() async throws {
        try await PubNubHarness.run { gateway in
            let poller = try WirePoller(gateway)
            let start = try await poller.batch("room", "0").cursor
            try await gateway.get(Self.base + "/channel/room/leave?uuid=bob")
            try poller.ask("room", start)
            await gateway.untilHeld()
            poller.close()
            await gateway.untilHeld(0)
            try await gateway.service.presence.tick()
            gateway.clock.advance(by: .seconds(3))
            try await gateway.service.presence.tick()
            #expect(try await gateway.get(Self.base + "/channel/room")["occupancy"]?.integer == 0)
        }
    }

    @Test("lasts as long as the user's last heartbeat said, also after a subscribe that says nothing")
    func announced() async throws {
        try await PubNubHarness.run { gateway in
            func isPresent(after seconds: Int) async throws -> Bool {
                gateway.clock.advance(by: .seconds(seconds))
                try await gateway.service.presence.tick()
                return try await gateway.get(Self.base + "/channel/room")["occupancy"]?.integer == 1
            }
            let poller = try WirePoller(gateway)
            try await heartbeat("bob", "room", gateway, "&heartbeat=20")
            // The event engine of the SDKs sends `ee` instead of the timeout.
            _ = try await poller.batch("room", "0", "&ee=")
            #expect(try await isPresent(after: 15))
            #expect(try await !isPresent(after: 10))
            // A user who has announced nothing stays present for 300 s.
            _ = try await gateway.get(Self.base + "/channel/room/heartbeat?uuid=ana")
            #expect(try await isPresent(after: 25))
        }
    }

    @Test("does not repeat a join that a leave has ended to the next handshake")
    func reloaded() async throws {
        try await PubNubHarness.run { gateway in
            try await gateway.publish("room", "1")
            let poller = try WirePoller(gateway)
            let names = "room,room-pnpres"
            _ = try await poller.batch(names, "0")
            _ = try await gateway.get(Self.base + "/channel/room/leave?uuid=bob")
            // The heartbeat of the page comes after its handshake, and the page is then reloaded.
            try await heartbeat("bob", "room", gateway)
            try await gateway.publish("room", "2")
            _ = try await gateway.get(Self.base + "/channel/room/leave?uuid=bob")
            let start = try await poller.batch(names, "0").cursor
            let next = try await poller.batch(names, start)
            #expect(next.items.map { $0["d"]?["action"]?.string } == ["join"])
        }
    }

    @Test("begins with a join that reaches its own user, also when the heartbeat arrives before the handshake")
    func ownJoin() async throws {
        try await PubNubHarness.run { gateway in
            try await gateway.publish("room", "1")
            let poller = try WirePoller(gateway)
            try await heartbeat("bob", "room,other", gateway)
            let start = try await poller.batch("room,room-pnpres,other", "0").cursor
            let own = try await poller.batch("room,room-pnpres,other", start)
            #expect(own.items.map { $0["d"]?["action"]?.string } == ["join"])
            #expect(own.items.first?["d"]?["uuid"]?.string == "bob")
            // A further handshake begins at the end of the log, as does one without presence events.
            #expect(try await poller.batch("room,room-pnpres", "0").cursor >= own.cursor)
            #expect(try await poller.batch("room,other", "0").cursor >= own.cursor)
            // A heartbeat of a user who is present is no join, and an old join is not repeated.
            try await heartbeat("bob", "room", gateway)
            #expect(try await poller.batch("room,room-pnpres", "0").cursor >= own.cursor)
            try await heartbeat("bob", "late", gateway)
            gateway.clock.advance(by: .seconds(11))
            try await gateway.publish("room", "2")
            let late = try await poller.batch("late,late-pnpres", "0").cursor
            try poller.ask("late,late-pnpres", late)
            await gateway.untilHeld()
            try await gateway.publish("late", "3")
            #expect(await poller.answer().payloads == ["3"])
        }
    }

    @Test("lists the users of several channels, by pages, and the channels of a user")
    func hereNow() async throws {
        try await PubNubHarness.run { gateway in
            for user in ["cy", "ana", "bob"] { try await heartbeat(user, "a", gateway) }
            try await heartbeat("ana", "b", gateway, "&state=%7B%22b%22%3A%7B%22mood%22%3A%22ok%22%7D%7D")
            let several = try await gateway.get(Self.base + "/channel/a,b,empty?state=1").text
            #expect(
                several
                    == #"{"status":200,"message":"OK","payload":{"channels":{"a":{"uuids":[{"uuid":"ana"},{"uuid":"bob"},{"uuid":"cy"}],"occupancy":3},"b":{"uuids":[{"uuid":"ana","state":{"mood":"ok"}}],"occupancy":1}},"total_channels":2,"total_occupancy":4},"service":"Presence"}"#
            )
            #expect(try await gateway.get(Self.base)["payload"]?["total_occupancy"]?.integer == 4)
            let page = try await gateway.get(Self.base + "/channel/a?limit=1&offset=1").text
            #expect(
                page
                    == #"{"status":200,"message":"OK","uuids":["bob"],"occupancy":3,"next_offset":2,"service":"Presence"}"#
            )
            let count = try await gateway.get(Self.base + "/channel/a?disable_uuids=1").text
            #expect(
                count
                    == #"{"status":200,"message":"OK","occupancy":3,"service":"Presence"}"#)
            let nobody = try await gateway.get(Self.base + "/channel/nobody").text
            #expect(
                nobody
                    == #"{"status":200,"message":"OK","uuids":[],"occupancy":0,"service":"Presence"}"#)
            let places = try await gateway.get(Self.base + "/uuid/ana").text
            #expect(
                places
                    == #"{"status":200,"message":"OK","payload":{"channels":["a","b"]},"service":"Presence"}"#)
        }
    }

    @Test("carries a state, whose change is announced")
    func state() async throws {
        try await PubNubHarness.run { gateway in
            let poller = try WirePoller(gateway)
            try await heartbeat("ana", "room", gateway)
            let start = try await poller.batch("room-pnpres", "0").cursor
            let set = try await gateway.get(
                Self.base + "/channel/room/uuid/ana/data?state=%7B%22name%22%3A%22Alex%22%7D&uuid=ana")
            #expect(set.text == #"{"status":200,"message":"OK","payload":{"name":"Alex"},"service":"Presence"}"#)
            let told = try await poller.batch("room-pnpres", start)
            #expect(told.items[0]["d"]?["action"]?.string == "state-change")
            #expect(told.items[0]["d"]?["data"]?["name"]?.string == "Alex")
            #expect(told.items[0]["u"]?["pn_state_name"]?.string == "Alex")
            let same = "?state=%7B%22name%22%3A%22Alex%22%7D&uuid=ana"
            try await gateway.get(Self.base + "/channel/room/uuid/ana/data" + same)
            let again = try await poller.batch("room-pnpres", told.cursor)
            #expect(again.items.map { $0["d"]?["action"]?.string } == ["state-change"])
            #expect(again.items[0]["d"]?["data"]?["name"]?.string == "Alex")
            #expect(again.items[0]["d"]?["occupancy"]?.integer == 1)
            let shown = try await gateway.get(Self.base + "/channel/room/uuid/ana").text
            #expect(
                shown
                    == #"{"status":200,"message":"OK","payload":{"name":"Alex"},"uuid":"ana","channel":"room","service":"Presence"}"#
            )
            #expect(
                try await gateway.get(Self.base + "/channel/room,x/uuid/ana")["payload"]?["channels"]?["x"]?.count == 0)
            for bad in ["?state=7", "?state=%7B", ""] {
                let refusal = try await gateway.get(Self.base + "/channel/room/uuid/ana/data\(bad)").text
                #expect(
                    refusal
                        == #"{"status":400,"error":1,"message":"No state specified.","service":"Presence"}"#)
            }
            #expect(try await gateway.get(Self.base + "/channel/room/heartbeat").status == 400)
        }
    }

    @Test("begins with the state that came along")
    func stateOnJoining() async throws {
        try await PubNubHarness.run { gateway in
            let poller = try WirePoller(gateway)
            let start = try await poller.batch("room-pnpres", "0").cursor
            try await heartbeat("ana", "room", gateway, "&state=%7B%22room%22%3A%7B%22mood%22%3A%22ok%22%7D%7D")
            let joined = try await poller.batch("room-pnpres", start).items.first
            #expect(joined?["d"]?["action"]?.string == "join")
            #expect(joined?["d"]?["data"]?["mood"]?.string == "ok")
        }
    }

    @Test("is counted everywhere, also where users are no longer listed")
    func everywhere() async throws {
        try await PubNubHarness.run { gateway in
            for slice in 0..<3 {
                let names = (0..<400).map { "c\(slice).\($0)" }
                try await gateway.chat.appear("ana", onAll: names, for: .seconds(60))
            }
            let all = try await gateway.get(Self.base + "?disable_uuids=1")["payload"]
            #expect(all?["channels"]?.count == 1000)
            #expect(all?["total_channels"]?.integer == 1200 && all?["total_occupancy"]?.integer == 1200)
        }
    }

    @Test("of a group is that of its channels, when coming, asking, showing and going")
    func groups() async throws {
        try await PubNubHarness.run { gateway in
            try await gateway.get("/v1/channel-registration/sub-key/sub-demo/channel-group/g?add=a,b")
            let poller = try WirePoller(gateway)
            _ = try await poller.batch(
                ",", "0", "&channel-group=g&state=" + PubNubHarness.escaped(#"{"g":{"mood":"ok"},"x":{"a":1},"b":7}"#))
            let here = try await gateway.get(Self.base + "/channel/,?channel-group=g&state=1").text
            #expect(
                here
                    == #"{"status":200,"message":"OK","payload":{"channels":{"a":{"uuids":[{"uuid":"bob","state":{"mood":"ok"}}],"occupancy":1},"b":{"uuids":[{"uuid":"bob","state":{"mood":"ok"}}],"occupancy":1}},"total_channels":2,"total_occupancy":2},"service":"Presence"}"#
            )
            let states = try await gateway.get(Self.base + "/channel/,/uuid/bob?channel-group=g")
            #expect(states["payload"]?["channels"]?["b"]?["mood"]?.string == "ok" && states["channel"] == nil)
            try await gateway.get(Self.base + "/channel/,/leave?uuid=bob&channel-group=g")
            #expect(try await gateway.get(Self.base + "/uuid/bob")["payload"]?["channels"]?.count == 0)
        }
    }

    @Test("is asked for with a key that is known, and in numbers")
    func refusals() async throws {
        try await PubNubHarness.run { gateway in
            let answer = try await gateway.get("/v2/presence/sub-key/nobody/channel/room").text
            #expect(
                answer == #"{"message":"Invalid Subscribe Key","error":true,"service":"Access Manager","status":400}"#)
            #expect(try await gateway.get(Self.base + "/channel/room?limit=x").status == 400)
        }
    }

    @Test("is filtered by its fields, and a filter on metadata only rejects it")
    func filtered() async throws {
        try await PubNubHarness.run { gateway in
            let poller = try WirePoller(gateway)
            let start = try await poller.batch("room-pnpres", "0").cursor
            try await heartbeat("ana", "room", gateway)
            try await heartbeat("cy", "room", gateway)
            let filter = "&filter-expr=" + PubNubHarness.escaped("pn_action == 'join' && pn_uuid != 'ana'")
            let batch = try await poller.batch("room-pnpres", start, filter)
            #expect(batch.items.map { $0["d"]?["uuid"]?.string } == ["cy"])
        }
    }

    @Test("of a busy channel is announced together, under the names that SDKs read")
    func interval() async throws {
        var limits = Limits()
        limits.announcedOccupants = 1
        limits.presenceInterval = .seconds(10)
        try await PubNubHarness.run(limits: limits) { gateway in
            let poller = try WirePoller(gateway)
            let start = try await poller.batch("room-pnpres", "0").cursor
            for user in ["ana", "bob", "cy"] { try await heartbeat(user, "room", gateway) }
            gateway.clock.advance(by: .seconds(11))
            try await gateway.service.presence.tick()
            let batch = try await poller.batch("room-pnpres", start)
            #expect(batch.items.map { $0["d"]?["action"]?.string } == ["join", "interval"])
            let interval = batch.items[1]["d"]
            #expect(interval?["occupancy"]?.integer == 3)
            #expect(interval?["join"]?.strings == ["bob", "cy"])
            #expect(interval?["uuid"] == nil && interval?["leave"] == nil)
        }
    }
}
