import ChatCore
import ChatModel
import LongPolling
import HTTPServer
import JSON
import Testing

@testable import PubNubAPI

@Suite("A channel group on PubNub's wire", .timeLimit(.minutes(2))) struct ChannelGroupTests {
    private static let base = "/v1/channel-registration/sub-key/sub-demo/channel-group"
    private static let done = #"{"status":200,"message":"OK","service":"channel-registry","error":false}"#

    @Test("is added to, listed, taken from and deleted, in the words of the registry")
    func registry() async throws {
        try await PubNubHarness.run { gateway in
            let none = try await gateway.get(Self.base).text
            #expect(
                none
                    == #"{"status":200,"payload":{"namespace":"","groups":[]},"service":"channel-registry","error":false}"#
            )
            #expect(try await gateway.get(Self.base + "/ns:g?add=b,a").text == Self.done)
            #expect(try await gateway.get(Self.base + "/ns:g?add=a,c").text == Self.done)
            let listed = try await gateway.get(Self.base + "/ns:g").text
            #expect(
                listed
                    == #"{"status":200,"payload":{"channels":["b","a","c"],"group":"ns:g"},"service":"channel-registry","error":false}"#
            )
            #expect(try await gateway.get(Self.base)["payload"]?["groups"]?[0]?.string == "ns:g")
            #expect(try await gateway.get(Self.base + "/ns:g?remove=b").text == Self.done)
            #expect(try await gateway.get(Self.base + "/ns:g")["payload"]?["channels"]?.count == 2)
            #expect(try await gateway.get(Self.base + "/ns:g/remove").text == Self.done)
            #expect(try await gateway.get(Self.base + "/ns:g")["payload"]?["channels"]?.count == 0)
            #expect(try await gateway.get(Self.base)["payload"]?["groups"]?.count == 0)
        }
    }

    @Test("refuses invalid channels in the registry's form")
    func refusals() async throws {
        try await PubNubHarness.run { gateway in
            let reserved =
                #"{"status":400,"message":"Reserved character in input parameters.","service":"channel-registry","error":true}"#
            #expect(try await gateway.get(Self.base + "/g?add=a.*").text == reserved)
            #expect(try await gateway.get(Self.base + "/g*?add=a").text == reserved)
            #expect(try await gateway.get(Self.base + "/g?add=a&remove=b").status == 400)
            let wrong = Self.base.replacing("sub-demo", with: "sub-nobody")
            let unknown = try await gateway.get(wrong + "/g").text
            #expect(
                unknown
                    == #"{"message":"Invalid Subscribe Key","error":true,"service":"Access Manager","status":400}"#)
        }
        var limits = Limits()
        limits.groupChannels = 1
        try await PubNubHarness.run(limits: limits) { gateway in
            let full = try await gateway.get(Self.base + "/g?add=a,b")
            #expect(full.status == 400 && full["message"]?.string == "Maximum channel group count exceeded.")
        }
    }

    @Test("is looked at off the loop, whatever the request", arguments: ["", "?channel-group=g"])
    func place(_ query: String) async throws {
        try await PubNubHarness.run(routes: { api, router in
            let loop = api.polls.loop
            api.add(.get, RoutePattern("/place"), in: .generic("x"), to: &router) { _ in
                .wire { $0.boolean(loop.isCurrent) }
            }
        }) { gateway in
            let isOnLoop = try await gateway.get("/place" + query).text
            #expect(isOnLoop == (query.isEmpty ? "true" : "false"))
        }
    }

    @Test("is combined with others up to the channels that a request may follow, and left whatever they contain")
    func crowds() async throws {
        var limits = Limits()
        limits.groupChannelsPerRequest = 10
        try await PubNubHarness.run(limits: limits) { gateway in
            for number in 0...10 { try await gateway.get(Self.base + "/g\(number)?add=c\(number)") }
            let all = (0...10).map { "g\($0)" }.joined(separator: ",")
            let fewer = "g0,g0-pnpres," + (1...9).map { "g\($0)" }.joined(separator: ",")
            for target in ["/v2/subscribe/sub-demo/x/0", "/v2/presence/sub-key/sub-demo/channel/x/heartbeat"] {
                #expect(try await gateway.get(target + "?uuid=ana&channel-group=" + fewer).status == 200)
                let crowd = try await gateway.get(target + "?uuid=ana&channel-group=\(all)")
                #expect(crowd.status == 400)
                #expect(crowd["message"]?.string?.hasPrefix("The channel groups have more than 10 channels") == true)
            }
            let base = "/v2/presence/sub-key/sub-demo/channel"
            #expect(try await gateway.get(base + "/c10")["occupancy"]?.integer == 0)
            #expect(try await gateway.get(base + "/c9")["occupancy"]?.integer == 1)
            #expect(try await gateway.get(base + "/,/leave?uuid=ana&channel-group=" + all).status == 200)
            #expect(try await gateway.get(base + "/c9")["occupancy"]?.integer == 0)
        }
    }

    @Test("delivers the messages of its channels, once, under its own name")
    func following() async throws {
        try await PubNubHarness.run { gateway in
            try await gateway.get(Self.base + "/g?add=a,b")
            let poller = try WirePoller(gateway)
            let start = try await poller.batch(",", "0", "&channel-group=g").cursor
            try await gateway.publish("b", "1")
            try await gateway.publish("c", "2")
            try await gateway.publish("a", "3")
            let batch = try await poller.batch("a,c", start, "&channel-group=g")
            #expect(batch.payloads == ["1", "2", "3"])
            #expect(batch.items.map { $0["b"]?.string } == ["g", nil, "g"])
        }
    }

    @Test("has released waiting polls by the time its change is answered")
    func told() async throws {
        try await PubNubHarness.run { gateway in
            try await gateway.get(Self.base + "/g?add=a")
            // Gives the subscriber a position to come back to.
            try await gateway.publish("c", "0")
            let poller = try WirePoller(gateway)
            let first = try await poller.batch(",", "0", "&channel-group=g").cursor
            for change in ["/g?add=b", "/g?remove=a", "/g/remove"] {
                try poller.ask(",", first, "&channel-group=g")
                await gateway.untilHeld()
                try await gateway.get(Self.base + change)
                #expect(await gateway.polls.isEmpty)
                #expect(await poller.answer().cursor == first)
            }
        }
    }

    @Test("delivers messages sent right after a change, whatever is sent elsewhere meanwhile")
    func rightBehind() async throws {
        try await PubNubHarness.run { gateway in
            try await gateway.get(Self.base + "/g?add=a")
            let poller = try WirePoller(gateway)
            var cursor = try await poller.batch(",", "0", "&channel-group=g").cursor
            var (said, heard) = ([String](), [String]())
            for number in 0..<40 {
                try poller.ask(",", cursor, "&channel-group=g")
                try await gateway.get(Self.base + "/g?add=b\(number)")
                try await gateway.publish("b\(number)", "\(number)")
                try await gateway.publish("a", "\(number)")
                said += ["\(number)", "\(number)"]
                var batch = await poller.answer()
                while true {
                    heard += batch.payloads
                    cursor = batch.cursor
                    if heard.count >= said.count { break }
                    batch = try await poller.batch(",", cursor, "&channel-group=g")
                }
            }
            #expect(heard == said)
        }
    }

    @Test("is followed on by polls that wait already")
    func changing() async throws {
        try await PubNubHarness.run { gateway in
            try await gateway.get(Self.base + "/g?add=a")
            let poller = try WirePoller(gateway)
            let start = try await poller.batch(",", "0", "&channel-group=g").cursor
            try poller.ask(",", start, "&channel-group=g")
            await gateway.untilHeld()
            try await gateway.get(Self.base + "/g?add=b")
            let empty = await poller.answer()
            #expect(empty.status == 200 && empty.items.isEmpty)
            try await gateway.publish("b", "1")
            #expect(try await poller.batch(",", empty.cursor, "&channel-group=g").payloads == ["1"])
        }
    }
}
