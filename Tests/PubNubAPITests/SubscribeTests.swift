import ChatCore
import ChatModel
import LongPolling
import HTTPServer
import JSON
import TestSupport
import Testing

@testable import PubNubAPI

@Suite("A PubNub subscriber", .timeLimit(.minutes(2))) struct SubscribeTests {
    /// Waits until a poll is held, within the test's time limit.
    @Test("gets the log's position at once, in the very first bytes")
    func handshake() async throws {
        try await PubNubHarness.run { gateway in
            let last = try await gateway.publish("room", "1").timetoken
            for cursor in ["&tt=0", ""] {
                let answer = try await gateway.get("/v2/subscribe/sub-demo/room/0?pnsdk=x\(cursor)&ee")
                #expect(answer.text == #"{"t":{"t":"\#(last)","r":1},"m":[]}"#)
            }
        }
    }

    @Test("gets a position before all later events where the log is empty")
    func emptyLog() async throws {
        try await PubNubHarness.run { gateway in
            let start = try await gateway.get("/v2/subscribe/sub-demo/room/0?tt=0")["t"]?["t"]?.string ?? ""
            #expect(start.hasPrefix("173"))
            let poller = try WirePoller(gateway)
            try await gateway.publish("room", "1")
            #expect(try await poller.batch("room", start).payloads == ["1"])
        }
    }

    @Test("is filtered by members beside a number beyond every double")
    func hugeNumbers() async throws {
        try await PubNubHarness.run { gateway in
            let poller = try WirePoller(gateway)
            let start = try await poller.batch("a", "0").cursor
            try await gateway.publish("a", #"{"text":"x","n":1e400}"#, "&meta=%7B%22n%22%3A1e400%2C%22a%22%3A1%7D")
            for filter in ["data.text == 'x'", "a == 1", "data.n > 1000"] {
                let batch = try await poller.batch("a", start, "&filter-expr=" + PubNubHarness.escaped(filter))
                #expect(batch.text.contains(#""d":{"text":"x","n":1e400}"#))
            }
        }
    }

    @Test("gets every member of an item, the payload as it was sent")
    func envelope() async throws {
        try await PubNubHarness.run { gateway in
            let start = try await gateway.get("/v2/subscribe/sub-demo/room.1/0?tt=0")["t"]?["t"]?.string ?? ""
            let poller = try WirePoller(gateway)
            try poller.ask("room.1", start)
            await gateway.untilHeld()
            try await gateway.publish(
                "room.1", #"{ "b":1.10,"a":1e400}"#,
                "&meta=%7B%22lang%22%3A%22en%22%7D&custom_message_type=text-message&seqn=3")
            let batch = await poller.answer()
            #expect(
                batch.shape
                    == #"{"t":{"t":"<tt>","r":1},"m":[{"a":"1","f":0,"i":"ana","p":{"t":"<tt>","r":1},"k":"sub-demo","c":"room.1","d":{ "b":1.10,"a":1e400},"u":{"lang":"en"},"cmt":"text-message"}]}"#
            )
            #expect(
                batch.text.contains(#""p":{"t":"\#(try #require(batch.text.firstMatch(of: /[0-9]{17}/)?.output))""#))
        }
    }

    @Test("sees a signal as one, by its wildcard or its channel")
    func signals() async throws {
        try await PubNubHarness.run { gateway in
            let poller = try WirePoller(gateway)
            let start = try await poller.batch("a", "0").cursor
            try await gateway.signal("a.b", #"{"x":1}"#)
            let direct = try await poller.batch("a.b", start)
            #expect(
                direct.shape
                    == #"{"t":{"t":"<tt>","r":1},"m":[{"a":"1","f":0,"e":1,"i":"ana","p":{"t":"<tt>","r":1},"k":"sub-demo","c":"a.b","d":{"x":1},"b":"a.b"}]}"#
            )
            let wild = try await poller.batch("a.*,a.b,*", start)
            #expect(wild.status == 400)
            #expect(try await poller.batch("a.*,a.b", start).items.map { $0["b"]?.string } == ["a.*"])
        }
    }

    @Test("of a wildcard gets all below it, the longest named, and nothing beside it")
    func wildcards() async throws {
        try await PubNubHarness.run { gateway in
            let poller = try WirePoller(gateway)
            let start = try await poller.batch("a", "0").cursor
            for channel in ["a", "a.b", "a.b.c", "ab", "b"] { try await gateway.publish(channel, "1") }
            let batch = try await poller.batch("a.*,a.b.*", start)
            #expect(batch.items.map { $0["c"]?.string } == ["a.b", "a.b.c"])
            #expect(batch.items.map { $0["b"]?.string } == ["a.*", "a.b.*"])
        }
    }

    @Test("gets a hundred at a time, the oldest first, and misses none")
    func truncation() async throws {
        try await PubNubHarness.run { gateway in
            let poller = try WirePoller(gateway)
            var cursor = try await poller.batch("a", "0").cursor
            for n in 1...230 { try await gateway.publish("a", String(n), n % 7 == 0 ? "&store=0" : "") }
            var seen: [String] = []
            var sizes: [Int] = []
            while seen.count < 230 {
                let batch = try await poller.batch("a", cursor)
                seen += batch.payloads
                sizes.append(batch.items.count)
                #expect(batch.cursor == batch.items.last?["p"]?["t"]?.string)
                cursor = batch.cursor
            }
            #expect(seen == (1...230).map(String.init))
            #expect(sizes == [100, 100, 30])
        }
    }

    @Test("waits from the end of the log on when its cursor is beyond it")
    func beyond() async throws {
        try await PubNubHarness.run { gateway in
            try await gateway.publish("a", "1")
            let poller = try WirePoller(gateway)
            try poller.ask("a", "99999999999999999")
            await gateway.untilHeld()
            try await gateway.publish("a", "2")
            #expect(await poller.answer().payloads == ["2"])
        }
    }

    @Test("that waits gets a message's changes, with a filter or without")
    func manyWaiting() async throws {
        try await PubNubHarness.run { gateway in
            let message = try await gateway.publish("a", #"{"text":"hi"}"#).timetoken
            let pollers = try (0..<4).map { _ in try WirePoller(gateway) }
            for (number, poller) in pollers.enumerated() {
                try poller.ask("a", message, number.isMultiple(of: 2) ? "" : "&filter-expr=x%3D%3D1")
            }
            await gateway.untilHeld(4)
            _ = try await gateway.call(
                "POST", "/v1/message-actions/sub-demo/channel/a/message/\(message)?uuid=ana",
                #"{"type":"reaction","value":"smile"}"#)
            for poller in pollers {
                #expect(await poller.answer().items.map { $0["d"]?["data"]?["value"]?.string } == ["smile"])
            }
        }
    }

    @Test("loses nothing with a filter though few waiting polls are examined in a turn")
    func filteredInTurns() async throws {
        var limits = Limits()
        limits.hubTurn = .zero
        try await PubNubHarness.run(limits: limits) { gateway in
            let start = try await gateway.publish("a", "0").timetoken
            try await withThrowingTaskGroup { group in
                for number in 0..<10 {
                    group.addTask {
                        let filter = "&filter-expr=" + PubNubHarness.escaped("n % 2 == 0 && \(number) >= 0")
                        let poller = try WirePoller(gateway)
                        var (cursor, seen): (String, [String]) = (start, [])
                        while seen.last != "60" {
                            let batch = try await poller.batch("a", cursor, filter)
                            seen += batch.payloads
                            cursor = batch.cursor
                        }
                        #expect(seen == (1...30).map { String(2 * $0) })
                    }
                }
                group.addTask {
                    for n in 1...60 {
                        try await gateway.publish("a", String(n), "&meta=" + PubNubHarness.escaped("{\"n\":\(n)}"))
                    }
                }
                try await group.waitForAll()
            }
        }
    }

    @Test("loses nothing and sees nothing twice while others publish")
    func between() async throws {
        try await PubNubHarness.run { gateway in
            let poller = try WirePoller(gateway)
            var cursor = try await poller.batch("a", "0").cursor
            let writer = Task { for n in 1...200 { try await gateway.publish("a", String(n)) } }
            var seen: [String] = []
            while seen.count < 200 {
                let batch = try await poller.batch("a", cursor)
                seen += batch.payloads
                cursor = batch.cursor
            }
            try await writer.value
            #expect(seen == (1...200).map(String.init))
        }
    }

    @Test("is held until its time is over, and then gets the log's position")
    func hold() async throws {
        var limits = Limits()
        limits.pubnubPollHold = .seconds(2)
        try await PubNubHarness.run(limits: limits) { gateway in
            let poller = try WirePoller(gateway)
            let start = try await poller.batch("a", "0").cursor
            try poller.ask("a", start)
            await gateway.untilHeld()
            #expect(await gateway.server.metrics.suspended == 1)
            let other = try await gateway.publish("b", "1").timetoken
            await gateway.polls.pass()
            #expect(await gateway.polls.count == 1)
            await gateway.polls.pass()
            #expect(await poller.answer().text == #"{"t":{"t":"\#(other)","r":1},"m":[]}"#)
        }
    }

    @Test("that disconnects is removed at once")
    func gone() async throws {
        try await PubNubHarness.run { gateway in
            let poller = try WirePoller(gateway)
            let start = try await poller.batch("a", "0").cursor
            try poller.ask("a", start)
            await gateway.untilHeld()
            poller.close()
            await gateway.untilHeld(0)
            await waitUntil { await gateway.service.hub.feedCount == 0 }
        }
    }

    @Test("is not woken by events that the wire does not show")
    func hidden() async throws {
        try await PubNubHarness.run { gateway in
            let poller = try WirePoller(gateway)
            let start = try await poller.batch("a", "0").cursor
            try poller.ask("a", start)
            await gateway.untilHeld()
            try await gateway.publish("a", "1", "&norep=1")
            _ = try await gateway.service.engine.log.append(
                [
                    EventDraft(
                        channel: ChannelID("a", in: PubNubHarness.app), type: "channel.member_count.updated",
                        data: .emptyObject)
                ], claim: nil)
            try await gateway.publish("a", "2")
            #expect(await poller.answer().payloads == ["2"])
            // It does not stop the subscriber either when it catches up.
            #expect(try await poller.batch("a", start).payloads == ["2"])
        }
    }

    @Test("gets the events that its filter selects, and is moved past the rest")
    func filters() async throws {
        try await PubNubHarness.run { gateway in
            let poller = try WirePoller(gateway)
            let start = try await poller.batch("a", "0").cursor
            try await gateway.publish("a", "1", "&meta=%7B%22lang%22%3A%22en%22%7D")
            try await gateway.publish("a", "2", "&meta=%7B%22lang%22%3A%22fr%22%7D")
            try await gateway.publish("a", "3")
            let filter = "&filter-expr=" + PubNubHarness.escaped("lang == 'fr' || data.x > 1")
            #expect(try await poller.batch("a", start, filter).payloads == ["2"])
            #expect(
                try await poller.batch("a", start, "&filter-expr=" + PubNubHarness.escaped("uuid != 'ana'") + "&tt=0")
                    .payloads.isEmpty)
            for cursor in ["0", start] {
                let bad = try await poller.batch("a", cursor, "&filter-expr=lang%20%3D%3D")
                #expect(bad.status == 481)
                #expect(
                    bad.text
                        == #"{"message":"Malformed filter expression","error":true,"service":"Balancer","status":481}"#)
            }
        }
    }

    @Test("with an old cursor gets the events of the window, and with one beyond the log waits for the next")
    func cursors() async throws {
        try await PubNubHarness.run { gateway in
            let poller = try WirePoller(gateway)
            try await gateway.publish("a", "1")
            gateway.clock.advance(by: .seconds(21 * 60))
            try await gateway.publish("a", "2")
            #expect(try await poller.batch("a", "123").payloads == ["2"])
            try poller.ask("a", "99999999999999999999")
            await gateway.untilHeld()
            try await gateway.publish("a", "3")
            #expect(await poller.answer().payloads == ["3"])
        }
    }

    @Test(
        "with an invalid request gets an error",
        arguments: [
            "sub-demo/,/0?tt=0", "sub-demo/a*/0?tt=0", "sub-demo/*/0?tt=0", "sub-demo/a/0?tt=x", "sub-demo/a/0?tt=-1",
            "sub-demo/$system/0?tt=0", "sub-demo/%2C/0?tt=0", "sub-demo/%FF/0?tt=0",
        ])
    func refused(target: String) async throws {
        try await PubNubHarness.run { gateway in
            let answer = try await gateway.get("/v2/subscribe/\(target)")
            #expect(answer.status == 400)
            #expect(
                answer.text == #"{"message":"Could Not Parse Request","error":true,"service":"Balancer","status":400}"#)
        }
    }

    @Test("may escape the commas of a list, as JavaScript SDKs before 8.0 do")
    func escapedCommas() async throws {
        try await PubNubHarness.run { gateway in
            try await gateway.get("/v1/channel-registration/sub-key/sub-demo/channel-group/g?add=a%2Cc")
            let poller = try WirePoller(gateway)
            let start = try await poller.batch("a%2Ca-pnpres%2Cb", "0").cursor
            let joined = try await poller.batch("a%2Ca-pnpres%2Cb", start)
            #expect(joined.items.map { $0["c"]?.string } == ["a-pnpres"])
            try await gateway.publish("b", "1")
            try await gateway.publish("a", "2")
            #expect(try await poller.batch("a%2Ca-pnpres%2Cb", joined.cursor).payloads == ["1", "2"])
            let grouped = try await poller.batch("%2C", joined.cursor, "&channel-group=g%2Cg-pnpres")
            #expect(grouped.payloads.contains("2"))
            let presence = "/v2/presence/sub-key/sub-demo/channel"
            #expect(try await gateway.get(presence + "/a%2Cb")["payload"]?["total_occupancy"]?.integer == 2)
            for call in ["heartbeat", "uuid/bob", "leave"] {
                #expect(try await gateway.get("\(presence)/a%2Cb/\(call)?uuid=bob").status == 200)
            }
            #expect(try await gateway.get(presence + "/a%2Cb")["payload"]?["total_occupancy"]?.integer == 0)
            #expect(try await gateway.history("a%2Cb")["channels"]?.members?.map(\.name) == ["a", "b"])
            let counts = try await gateway.get(
                "/v3/history/sub-key/sub-demo/message-counts/a%2Cb?channelsTimetoken=1%2C1&uuid=ana")
            #expect(counts["channels"]?.members?.map(\.name) == ["a", "b"])
        }
    }

    @Test("names at most as many channels and groups as the limit says")
    func count() async throws {
        var limits = Limits()
        limits.streamChannels = 3
        try await PubNubHarness.run(limits: limits) { gateway in
            let fitting = try await gateway.get("/v2/subscribe/sub-demo/a,b,a/0?tt=0&channel-group=g")
            #expect(fitting.status == 200)
            #expect(try await gateway.get("/v2/subscribe/sub-demo/a,b,c/0?tt=0&channel-group=g").status == 400)
            #expect(try await gateway.get("/v2/subscribe/sub-demo/,/0?tt=0&channel-group=g,g-pnpres").status == 200)
        }
    }

    @Test("of presence and groups only waits, and does not get every channel")
    func nothing() async throws {
        try await PubNubHarness.run { gateway in
            let poller = try WirePoller(gateway)
            let start = try await poller.batch("a-pnpres", "0").cursor
            try poller.ask("a-pnpres", start, "&channel-group=g")
            await gateway.untilHeld()
            try await gateway.publish("a", "1")
            await gateway.polls.drain()
            #expect(await poller.answer().items.isEmpty)
            // While the gateway stops, a new poll gets a status after which all clients retry.
            #expect(try await poller.batch("a-pnpres", start).status == 500)
        }
    }

    @Test("is released when the app is removed")
    func removal() async throws {
        try await PubNubHarness.run { gateway in
            let poller = try ByteConnection(port: gateway.port)
            let start = try await gateway.get("/v2/subscribe/sub-other/a/0?tt=0")["t"]?["t"]?.string ?? ""
            try poller.send(
                Array("GET /v2/subscribe/sub-other/a/0?tt=\(start) HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8))
            await gateway.untilHeld()
            let owner = Caller(app: PubNubHarness.app, credential: "test", scopes: [.admin], isOperator: true)
            try await gateway.service.keyring.removeApp("other", by: owner)
            var answer = ""
            while !answer.contains("Access Manager"), let more = await poller.next() {
                answer += String(decoding: more, as: UTF8.self)
            }
            #expect(answer.hasPrefix("HTTP/1.1 403"))
        }
    }
}
