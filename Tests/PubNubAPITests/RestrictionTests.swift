import ChatCore
import ChatModel
import LongPolling
import JSON
import TestSupport
import Testing

@testable import PubNubAPI

/// The calls with which Chat SDKs restrict users and list restrictions.
@Suite("A restriction of a Chat SDK", .timeLimit(.minutes(2))) struct RestrictionTests {
    private static let objects = "/v2/objects/sub-demo"
    private static let moderation = "PUBNUB_INTERNAL_MODERATION_room"
    private static let members = objects + "/channels/" + moderation + "/uuids"

    private func patch(
        _ path: String, _ body: String, _ gateway: PubNubHarness, query: String = ""
    ) async throws -> WireAnswer {
        try await gateway.call("PATCH", AccessTests().signed("PATCH", path, query, body: body, at: gateway), body)
    }

    private func set(_ custom: String, of user: String = "eve", _ gateway: PubNubHarness) async throws -> WireAnswer {
        try await patch(
            Self.members, #"{"set":[{"uuid":{"id":"\#(user)"},"custom":\#(custom)}]}"#, gateway, query: "include=custom"
        )
    }

    private func publish(as user: String, _ gateway: PubNubHarness) async throws -> Int {
        try await gateway.get("/publish/pub-demo/sub-demo/0/room/0/%22hi%22?uuid=\(user)").status
    }

    private func filter(_ text: String) -> String { "&filter=" + PubNubHarness.escaped(text) }

    @Test("is enforced like a native one, until it is lifted")
    func enforced() async throws {
        try await PubNubHarness.run { gateway in
            #expect(try await publish(as: "eve", gateway) == 200)
            let answer = try await set(#"{"ban":false,"mute":true,"reason":"loud"}"#, gateway)
            #expect(answer.status == 200)
            #expect(answer["data"]?[0]?["uuid"]?["id"]?.string == "eve")
            #expect(answer["data"]?[0]?["custom"]?["mute"]?.boolean == true)
            #expect(answer["data"]?[0]?["eTag"]?.string != nil && answer["data"]?[0]?["updated"]?.string != nil)
            #expect(try await publish(as: "eve", gateway) == 403)
            #expect(try await publish(as: "ana", gateway) == 200)
            #expect(try await gateway.chat.restriction(of: "eve", in: "room").reason == "loud")
            #expect(try await gateway.events("room").map(\.type).contains("user.muted"))

            _ = try await patch(Self.members, #"{"delete":[{"uuid":{"id":"eve"}}]}"#, gateway)
            #expect(try await publish(as: "eve", gateway) == 200)
            _ = try await set(#"{"ban":true,"mute":false}"#, gateway)
            #expect(try await publish(as: "eve", gateway) == 403)
            _ = try await set(#"{"ban":false,"mute":false}"#, gateway)
            #expect(try await publish(as: "eve", gateway) == 200)
            #expect(try await gateway.get(Self.members)["data"]?.count == 0)
        }
    }

    @Test("is set and lifted only by requests signed with the secret key")
    func signed() async throws {
        try await PubNubHarness.run { gateway in
            _ = try await set(#"{"ban":true,"mute":false}"#, gateway)
            let lift = #"{"delete":[{"uuid":{"id":"eve"}}]}"#
            let refused = try await gateway.call("PATCH", Self.members, lift)
            #expect(refused.status == 403 && refused["error"]?["source"]?.string == "objects")
            let own = #"{"delete":[{"channel":{"id":"\#(Self.moderation)"}}]}"#
            #expect(try await gateway.call("PATCH", Self.objects + "/uuids/eve/channels", own).status == 403)
            #expect(try await publish(as: "eve", gateway) == 403)
            #expect(try await patch(Self.objects + "/uuids/eve/channels", own, gateway).status == 200)
            #expect(try await publish(as: "eve", gateway) == 200)
        }
    }

    @Test("hides a channel's messages from banned users, under every name of the channel, and nothing else")
    func unheard() async throws {
        try await PubNubHarness.run { gateway in
            let group = "/v1/channel-registration/sub-key/sub-demo/channel-group/all?add=a.room,a.hall"
            _ = try await gateway.get(group)
            let ban = #"{"set":[{"uuid":{"id":"bob"},"custom":{"ban":true,"mute":false}}]}"#
            let moderation = Self.objects + "/channels/PUBNUB_INTERNAL_MODERATION_a.room/uuids"
            let poller = try WirePoller(gateway)
            let start = try await poller.batch("a.hall", "0").cursor
            #expect(try await patch(moderation, ban, gateway).status == 200)
            for channel in ["a.room", "a.hall"] { try await gateway.publish(channel, #""\#(channel)""#) }
            for (names, query) in [("a.room,a.hall", ""), ("a.*", ""), (",", "&channel-group=all")] {
                let heard = try await poller.batch(names, start, query)
                #expect(heard.status == 200 && heard.payloads == ["a.hall"], "\(names)")
            }
            _ = try await patch(moderation, #"{"delete":[{"uuid":{"id":"bob"}}]}"#, gateway)
            let heard = try await poller.batch("a.room,a.hall", start, "&filter-expr=uuid%20==%20'ana'")
            #expect(heard.payloads.contains("a.room"))
        }
    }

    @Test("ends a poll that is held when the user is banned")
    func held() async throws {
        try await PubNubHarness.run { gateway in
            let poller = try WirePoller(gateway)
            let start = try await poller.batch("room", "0").cursor
            try poller.ask("room", start)
            await gateway.untilHeld()
            _ = try await set(#"{"ban":true,"mute":false}"#, of: "bob", gateway)
            let answer = await poller.answer()
            #expect(answer.status == 200 && answer.items.isEmpty && answer.cursor > start)
            try await gateway.publish("room", #""unheard""#)
            try await gateway.publish("hall", #""heard""#)
            #expect(try await poller.batch("room,hall", answer.cursor).payloads == ["heard"])
        }
    }

    @Test("that ends loses nothing to a poll that is held: neither when it is lifted nor when its time is over")
    func heldToItsEnd() async throws {
        try await PubNubHarness.run { gateway in
            let poller = try WirePoller(gateway)
            _ = try await set(#"{"ban":true,"mute":false}"#, of: "bob", gateway)
            let start = try await poller.batch("room,hall", "0").cursor
            try poller.ask("room,hall", start)
            await gateway.untilHeld()
            _ = try await set(#"{"ban":false,"mute":false}"#, of: "bob", gateway)
            let answer = await poller.answer()
            #expect(answer.status == 200 && answer.items.isEmpty && answer.cursor > start)
            try await gateway.publish("room", #""after""#)
            try await gateway.publish("hall", #""there""#)
            #expect(try await poller.batch("room,hall", answer.cursor).payloads == ["after", "there"])

            let end = gateway.service.clock.now.adding(.milliseconds(50))
            _ = try await gateway.chat.restrict("bob", in: "room", RestrictionRequest(isBan: true, until: end))
            let later = try await poller.batch("room,hall", "0").cursor
            try poller.ask("room,hall", later)
            await gateway.untilHeld()
            try await gateway.publish("room", #""withheld""#)
            gateway.clock.advance(by: .seconds(1))
            try await gateway.publish("room", #""heard""#)
            try await gateway.publish("hall", #""too""#)
            var heard: [String] = []
            var batch = await poller.answer()
            heard += batch.payloads
            while !heard.contains("too") {
                batch = try await poller.batch("room,hall", batch.cursor)
                heard += batch.payloads
            }
            #expect(heard == ["heard", "too"])
        }
    }

    @Test("is seen whichever way it came in, and a native end of it too")
    func seen() async throws {
        try await PubNubHarness.run { gateway in
            _ = try await gateway.call("PATCH", Self.objects + "/uuids/eve", #"{"name":"Eve"}"#)
            _ = try await gateway.chat.restrict("eve", in: "room", RestrictionRequest(isBan: true, reason: "spam"))
            _ = try await gateway.chat.restrict("mal", in: "room", RestrictionRequest(isMute: true))
            _ = try await gateway.chat.restrict("eve", in: "hall", RestrictionRequest(isMute: true))
            let one = try await gateway.get(Self.members + "?include=custom,uuid" + filter("uuid.id == 'eve'"))
            #expect(one["data"]?.count == 1)
            #expect(one["data"]?[0]?["uuid"]?["name"]?.string == "Eve")
            #expect(one["data"]?[0]?["custom"]?["reason"]?.string == "spam")
            let page = try await gateway.get(Self.members + "?include=custom&count=true&limit=1&sort=uuid.id:desc")
            #expect(page["totalCount"]?.integer == 2 && page["data"]?[0]?["uuid"]?["id"]?.string == "mal")
            let next = try #require(page["next"]?.string)
            let rest = try await gateway.get(Self.members + "?limit=1&sort=uuid.id:desc&start=" + next)
            #expect(rest["data"]?[0]?["uuid"]?["id"]?.string == "eve")

            let memberships = Self.objects + "/uuids/eve/channels?include=custom"
            let all = try await gateway.get(memberships + filter("channel.id LIKE 'PUBNUB_INTERNAL_MODERATION_*'"))
            #expect(
                all["data"]?.elements?.compactMap { $0["channel"]?["id"]?.string }
                    == ["PUBNUB_INTERNAL_MODERATION_hall", Self.moderation])
            let there = try await gateway.get(memberships + filter("channel.id == '\(Self.moderation)'"))
            #expect(there["data"]?.count == 1 && there["data"]?[0]?["custom"]?["ban"]?.boolean == true)
            let banned = try await gateway.get(
                memberships + filter("channel.id LIKE 'PUBNUB_INTERNAL_MODERATION_*' && custom.ban == true"))
            #expect(banned["data"]?.count == 1)

            try await gateway.chat.lift(restrictionOf: "eve", in: "room")
            #expect(
                try await gateway.get(Self.members + "?include=custom" + filter("uuid.id == 'eve'"))["data"]?.count == 0
            )
        }
    }

    @Test("is absent from a user's memberships, with and without the filter that SDKs send")
    func apart() async throws {
        try await PubNubHarness.run { gateway in
            _ = try await gateway.call(
                "PATCH", Self.objects + "/uuids/eve/channels", #"{"set":[{"channel":{"id":"hall"}}]}"#)
            _ = try await set(#"{"ban":true,"mute":false}"#, gateway)
            let base = Self.objects + "/uuids/eve/channels?include=channel"
            for query in ["", filter("!(channel.id LIKE 'PUBNUB_INTERNAL_MODERATION_*')")] {
                let list = try await gateway.get(base + query)
                #expect(list["data"]?.elements?.compactMap { $0["channel"]?["id"]?.string } == ["hall"])
            }
        }
    }
}
