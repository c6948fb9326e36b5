import ChatCore
import ChatModel
import JSON
import Testing

@testable import PubNubAPI

@Suite("An object of PubNub's", .timeLimit(.minutes(2))) struct ObjectTests {
    private static let base = "/v2/objects/sub-demo"

    private func patch(
        _ path: String, _ body: String, _ gateway: PubNubHarness, tag: String? = nil
    ) async throws -> WireAnswer {
        try await gateway.call("PATCH", Self.base + path, body, headers: tag.map { [("If-Match", $0)] } ?? [])
    }

    @Test("is made and merged by writes, and shows more only when asked")
    func writing() async throws {
        try await PubNubHarness.run { gateway in
            let missing = try await gateway.get(Self.base + "/uuids/ana")
            #expect(missing.status == 404)
            #expect(missing["error"]?["message"]?.string == "Requested object was not found.")
            let made = try await patch("/uuids/ana", #"{"name":"Ana","custom":{"n":1.10},"nobody":1}"#, gateway)
            let updated = made["data"]?["updated"]?.string ?? ""
            let tag = made["data"]?["eTag"]?.string ?? ""
            #expect(updated.wholeMatch(of: /[0-9-]{10}T[0-9:]{8}\.[0-9]{6}Z/) != nil)
            #expect(
                made.text
                    == #"{"status":200,"data":{"id":"ana","name":"Ana","externalId":null,"profileUrl":null,"email":null,"updated":"\#(updated)","eTag":"\#(tag)"}}"#
            )
            _ = try await patch("/uuids/ana", #"{"email":"a@b.c","name":null,"type":"admin"}"#, gateway)
            let whole = try await gateway.get(Self.base + "/uuids/ana?include=custom,status,type")
            #expect(
                whole.text.contains(
                    #""name":null,"externalId":null,"profileUrl":null,"email":"a@b.c","type":"admin","status":null,"custom":{"n":1.10},"#
                ))
            let deleted = try await gateway.call("DELETE", Self.base + "/uuids/ana")
            #expect(deleted.text == #"{"status":200,"data":null}"#)
            let twice = try await gateway.call("DELETE", Self.base + "/uuids/ana")
            #expect(twice.text == deleted.text)
        }
    }

    @Test("is written by its version only, where one is named")
    func versions() async throws {
        try await PubNubHarness.run { gateway in
            let stale =
                #"{"status":412,"error":{"message":"Channel to update has been modified after it was read.","source":"objects"}}"#
            let absent = try await patch("/channels/room", #"{"name":"a"}"#, gateway, tag: "x").text
            #expect(absent == stale)
            let first = try await patch("/channels/room", #"{"name":"a"}"#, gateway)["data"]?["eTag"]?.string ?? ""
            let second = try await patch("/channels/room", #"{"name":"b"}"#, gateway, tag: "\"\(first)\"")
            #expect(second.status == 200)
            let third = try await patch("/channels/room", #"{"name":"c"}"#, gateway, tag: first).text
            #expect(third == stale)
            let read = try await gateway.call("GET", Self.base + "/channels/room", headers: [("If-Match", "x")])
            #expect(read["data"]?["eTag"]?.string == second["data"]?["eTag"]?.string)
            let user = try await patch("/uuids/ana", "{}", gateway, tag: "x")
            #expect(user["error"]?["message"]?.string == "User to update has been modified after it was read.")
        }
    }

    @Test("is refused for a body that cannot be")
    func refusals() async throws {
        try await PubNubHarness.run { gateway in
            #expect(try await patch("/uuids/ana", "hello", gateway).status == 415)
            for body in [#"[]"#, #"{"custom":{"a":[]}}"#, #"{"name":7}"#, #"{"custom":"x"}"#] {
                let answer = try await patch("/uuids/ana", body, gateway)
                #expect(answer.status == 400)
                #expect(answer["error"]?["details"]?[0]?["locationType"]?.string == "body")
            }
            let unknown = try await gateway.get("/v2/objects/nobody/uuids")
            #expect(
                unknown.text == #"{"status":400,"error":{"message":"Invalid Subscribe Key","source":"objects"}}"#)
            #expect(try await gateway.call("DELETE", Self.base + "/uuids/ana/channels").status == 405)
        }
    }

    @Test("keeps a number beyond every double, and can be read and written afterwards")
    func hugeNumbers() async throws {
        try await PubNubHarness.run { gateway in
            let custom = #"{"n":1e400}"#
            for path in ["/uuids/ana", "/channels/room"] {
                let set = try await patch(path + "?include=custom", #"{"name":"A","custom":\#(custom)}"#, gateway)
                #expect(set.text.contains(custom))
                #expect(try await gateway.get(Self.base + path + "?include=custom").text.contains(custom))
                #expect(try await patch(path, #"{"name":"B"}"#, gateway)["data"]?["name"]?.string == "B")
            }
            let joined = try await patch(
                "/uuids/ana/channels?include=custom", #"{"set":[{"channel":{"id":"room"},"custom":\#(custom)}]}"#,
                gateway)
            #expect(joined.status == 200 && joined.text.contains(custom))
            let filter = "?filter=" + PubNubHarness.escaped("custom.n > 1")
            #expect(try await gateway.get(Self.base + "/uuids" + filter)["data"]?.count == 1)
            #expect(try await gateway.call("DELETE", Self.base + "/uuids/ana").status == 200)
            #expect(try await gateway.get(Self.base + "/uuids/ana").status == 404)
        }
    }

    @Test("has a name of as many characters as the wire says, whatever their bytes")
    func names() async throws {
        try await PubNubHarness.run { gateway in
            let user = PubNubHarness.escaped(String(repeating: "漢", count: 92))
            let name = String(repeating: "é", count: 2048)
            let long = try await patch("/uuids/" + user, #"{"name":"\#(name)"}"#, gateway)
            #expect(long.status == 200)
            #expect(try await patch("/uuids/" + user + "a", "{}", gateway).status == 400)
            let tooLong = try await patch("/uuids/ana", #"{"name":"\#(name)é"}"#, gateway)
            #expect(tooLong.status == 400)
            let channel = PubNubHarness.escaped(String(repeating: "𝄞", count: 255))
            #expect(try await gateway.publish(channel, "1", "&uuid=" + user).status == 200)
            #expect(try await gateway.history(channel).text.contains(#""message":1"#))
            #expect(try await gateway.publish(channel + "a", "1").status == 400)
        }
    }

    @Test("is listed by filter and order, in pages that count")
    func lists() async throws {
        try await PubNubHarness.run { gateway in
            for (id, name) in [("c1", "Joe"), ("c2", "john"), ("c3", "Ann"), ("c4", "O'Neil")] {
                _ = try await patch(
                    "/channels/\(id)", #"{"name":"\#(name)","custom":{"n":\#(id.dropFirst())}}"#, gateway)
            }
            _ = try await patch("/channels/c5", "{}", gateway)
            func ids(_ query: String) async throws -> [String?]? {
                try await gateway.get(Self.base + "/channels?" + query)["data"]?.elements?.map { $0["id"]?.string }
            }
            func filtered(_ filter: String) async throws -> [String?]? {
                try await ids("filter=" + PubNubHarness.escaped(filter))
            }
            #expect(try await ids("sort=name:desc") == ["c2", "c4", "c1", "c3", "c5"])
            #expect(try await filtered("name LIKE 'jo*'") == ["c1", "c2"])
            let escaped = try await filtered(#"name LIKE 'O\'N*'"#)
            #expect(escaped == ["c4"])
            #expect(try await filtered("id == 'c1' || id == 'c3'") == ["c1", "c3"])
            #expect(try await filtered("!(id LIKE 'c*') || custom.n >= 4") == ["c4"])
            let bracketed = try await filtered(#"custom["n"] == 2"#)
            #expect(bracketed == ["c2"])
            #expect(try await filtered("name == null") == ["c5"])
            #expect(try await filtered("updated > '2020-01-01T00:00:00Z' && id < 'c2'") == ["c1"])
            let page = try await gateway.get(Self.base + "/channels?limit=2&count=true")
            #expect(page["totalCount"]?.integer == 5)
            #expect(page["next"]?.string == "Mg" && page["prev"] == nil)
            let next = try await gateway.get(Self.base + "/channels?limit=2&start=Mg")
            #expect(next["data"]?.elements?.map { $0["id"]?.string } == ["c3", "c4"])
            #expect(next["prev"]?.string == "Mg" && next["totalCount"] == nil)
            #expect(try await ids("limit=2&end=Mg") == ["c1", "c2"])
            let last = try await gateway.get(Self.base + "/channels?start=NQ")
            #expect(last["data"]?.count == 0 && last["next"] == nil)
            #expect(try await gateway.get(Self.base + "/channels?limit=0&count=true")["totalCount"]?.integer == 5)
            #expect(try await gateway.get(Self.base + "/channels?start=!!").status == 400)
            let bad = try await gateway.get(Self.base + "/channels?filter=name+IS")
            #expect(bad["error"]?["details"]?[0]?["location"]?.string == "filter")
        }
    }

    @Test("announces its changes on its own channel, by the fields that were named")
    func events() async throws {
        try await PubNubHarness.run { gateway in
            let poller = try WirePoller(gateway)
            let start = try await poller.batch("ana,room", "0").cursor
            _ = try await patch("/uuids/ana", #"{"name":"Ana"}"#, gateway)
            let tag = try await patch("/uuids/ana", #"{"name":null,"email":"a@b.c"}"#, gateway)["data"]?["eTag"]?.string
            _ = try await patch("/channels/room", #"{"description":"d","type":"group"}"#, gateway)
            _ = try await patch("/channels/room", #"{"custom":{"a":"1"}}"#, gateway)
            _ = try await gateway.call("DELETE", Self.base + "/uuids/ana")
            let batch = try await poller.batch("ana,room", start, "&filter-expr=x+%3D%3D+1")
            let data = batch.items.map { $0["d"]?["data"] }
            #expect(
                batch.items.allSatisfy { $0["e"]?.integer == 2 && $0["i"] == nil && $0["b"]?.string == $0["c"]?.string }
            )
            #expect(batch.items.map { $0["d"]?["type"]?.string } == ["uuid", "uuid", "channel", "channel", "uuid"])
            #expect(batch.items.map { $0["d"]?["event"]?.string } == ["set", "set", "set", "set", "delete"])
            #expect(data[0]?["name"]?.string == "Ana")
            #expect(data[1]?["name"]?.isNull == true && data[1]?["email"]?.string == "a@b.c")
            #expect(data[1]?["eTag"]?.string == tag && data[1]?["updated"]?.string?.hasSuffix("Z") == true)
            #expect(data[2]?["description"]?.string == "d" && data[2]?["type"]?.string == "group")
            #expect(data[3]?["custom"]?["a"]?.string == "1")
            #expect(data[4]?.count == 1 && data[4]?["id"]?.string == "ana")
        }
    }
}

@Suite("A membership of PubNub's", .timeLimit(.minutes(2))) struct MembershipObjectTests {
    private static let base = "/v2/objects/sub-demo"

    private func patch(_ path: String, _ body: String, _ gateway: PubNubHarness) async throws -> WireAnswer {
        try await gateway.call("PATCH", Self.base + path, body)
    }

    @Test("is one record seen from both sides, with the requested fields of the other end")
    func sides() async throws {
        try await PubNubHarness.run { gateway in
            _ = try await patch("/channels/room", #"{"name":"Room","custom":{"a":1}}"#, gateway)
            let filter = "?filter=" + PubNubHarness.escaped("channel.id == 'room'") + "&include=channel,custom"
            let set = try await patch(
                "/uuids/ana/channels" + filter,
                #"{"set":[{"channel":{"id":"room"},"custom":{"r":"1"},"status":"s"},{"channel":{"id":"bare"}}],"delete":[]}"#,
                gateway)
            #expect(set["data"]?.count == 1)
            #expect(set["data"]?[0]?["channel"]?["name"]?.string == "Room")
            #expect(set["data"]?[0]?["channel"]?["custom"] == nil)
            #expect(set["data"]?[0]?["custom"]?["r"]?.string == "1")
            let plain = try await gateway.get(Self.base + "/uuids/ana/channels?sort=channel.id:desc")
            #expect(plain["data"]?.elements?.map { $0["channel"]?["id"]?.string } == ["room", "bare"])
            #expect(plain["data"]?[0]?.members?.map(\.name) == ["channel", "updated", "eTag"])
            let members = try await gateway.get(
                Self.base + "/channels/room/uuids?include=status,uuid.custom&count=true")
            #expect(members["totalCount"]?.integer == 1)
            #expect(members["data"]?[0]?["uuid"]?.count == 1 && members["data"]?[0]?["status"]?.string == "s")
            let removed = try await patch(
                "/channels/room/uuids", #"{"delete":[{"uuid":{"id":"ana"}},{"uuid":{"id":"x"}}]}"#, gateway)
            #expect(removed.text == #"{"status":200,"data":[]}"#)
        }
    }

    @Test("is filtered and ordered by the object at the other end, shown or not")
    func others() async throws {
        try await PubNubHarness.run { gateway in
            for (id, name) in [("ana", "Zoe"), ("bob", "Joan"), ("cy", "Jo")] {
                _ = try await patch("/uuids/\(id)", #"{"name":"\#(name)"}"#, gateway)
            }
            _ = try await patch(
                "/channels/room/uuids",
                #"{"set":[{"uuid":{"id":"ana"}},{"uuid":{"id":"bob"}},{"uuid":{"id":"cy"}},{"uuid":{"id":"dan"}}]}"#,
                gateway)
            func ids(_ query: String) async throws -> [String?]? {
                try await gateway.get(Self.base + "/channels/room/uuids?" + query)["data"]?.elements?
                    .map { $0["uuid"]?["id"]?.string }
            }
            #expect(try await ids("sort=uuid.name") == ["cy", "bob", "ana", "dan"])
            #expect(try await ids("filter=" + PubNubHarness.escaped("uuid.name LIKE 'jo*'")) == ["bob", "cy"])
            let others = "filter=" + PubNubHarness.escaped("!(uuid.name LIKE 'jo*') && uuid.id != 'dan'")
            #expect(try await ids(others) == ["ana"])
            let moderation = "!(channel.id LIKE 'PUBNUB_INTERNAL_MODERATION_*') && (channel.id == 'room')"
            let own = try await gateway.get(
                Self.base + "/uuids/ana/channels?filter=" + PubNubHarness.escaped(moderation))
            #expect(own["data"]?.count == 1)
        }
    }

    @Test("is announced on its channel when it is set, changed and ended")
    func events() async throws {
        try await PubNubHarness.run { gateway in
            _ = try await patch("/channels/room", #"{"name":"Room"}"#, gateway)
            let poller = try WirePoller(gateway)
            let start = try await poller.batch("room", "0").cursor
            let body = { (status: String) in #"{"set":[{"channel":{"id":"room"},"status":"\#(status)"}]}"# }
            _ = try await patch("/uuids/ana/channels", body("a"), gateway)
            _ = try await patch("/uuids/ana/channels", body("b"), gateway)
            _ = try await patch("/uuids/ana/channels", #"{"delete":[{"channel":{"id":"room"}}]}"#, gateway)
            let batch = try await poller.batch("room", start)
            #expect(batch.items.map { $0["d"]?["type"]?.string } == ["membership", "membership", "membership"])
            #expect(batch.items.map { $0["d"]?["event"]?.string } == ["set", "set", "delete"])
            #expect(batch.items[0]["d"]?["data"]?["status"]?.string == "a")
            let changed = batch.items[1]["d"]?["data"]
            #expect(changed?["channel"]?["id"]?.string == "room" && changed?["uuid"]?["id"]?.string == "ana")
            #expect(changed?["status"]?.string == "b" && changed?["eTag"]?.string != nil)
        }
    }

    @Test(
        "is not written by a request that is refused",
        arguments: ["?filter=name+IS", "?sort=nothing", "?limit=x", "?start=!!", ""])
    func allOrNothing(_ query: String) async throws {
        try await PubNubHarness.run { gateway in
            let long = query.isEmpty ? String(repeating: "x", count: gateway.service.limits.recordValueBytes) : ""
            let channels = #"{"set":[{"channel":{"id":"a"}},{"channel":{"id":"b"},"custom":{"x":"\#(long)"}}]}"#
            let ofUser = try await patch("/uuids/ana/channels" + query, channels, gateway)
            let users = #"{"set":[{"uuid":{"id":"ana"}},{"uuid":{"id":"bob"},"custom":{"x":"\#(long)"}}]}"#
            let ofChannel = try await patch("/channels/c/uuids" + query, users, gateway)
            #expect(ofUser.status == 400 && ofChannel.status == 400)
            for path in ["/uuids/ana/channels", "/channels/c/uuids", "/channels"] {
                #expect(try await gateway.get(Self.base + path)["data"]?.count == 0)
            }
        }
    }

    @Test("comes a hundred at a time at most")
    func bounds() async throws {
        try await PubNubHarness.run { gateway in
            let many = (0...100).map { #"{"channel":{"id":"c\#($0)"}}"# }.joined(separator: ",")
            let tooMany = try await patch("/uuids/ana/channels", #"{"set":[\#(many)]}"#, gateway).status
            #expect(tooMany == 400)
            let nameless = try await patch("/uuids/ana/channels", #"{"set":[{}]}"#, gateway).status
            #expect(nameless == 400)
        }
    }
}
