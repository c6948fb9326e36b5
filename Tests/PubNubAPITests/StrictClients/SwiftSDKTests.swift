import ChatCore
import ChatModel
import LongPolling
import JSON
import TestSupport
import Testing

@testable import PubNubAPI

/// The Swift SDK 10.1 as observed on the wire: a test for each observation. `SwiftDecoderTests` covers the requirements
/// of its decoder.
@Suite("Swift's SDK", .timeLimit(.minutes(2))) struct SwiftSDKTests {
    /// Parameters around a call's own ones, which the gateway ignores.
    private static let head = "pnsdk=PubNub-Swift%2F10.1.0&uuid=bob"
    private static let tail = "requestid=4B+F1&instanceid=7C+1D"

    private static func subscribe(_ channels: String, _ own: String = "") -> String {
        "/v2/subscribe/sub-demo/\(channels)/0?\(head)&heartbeat=300\(own)&ee&\(tail)"
    }

    /// Polls on a new connection, which the SDK opens for each poll.
    private static func poll(
        _ gateway: PubNubHarness, _ channels: String, from cursor: String
    ) throws -> ByteConnection {
        let connection = try ByteConnection(port: gateway.port)
        let target = subscribe(channels, "&tt=\(cursor)&tr=1")
        try connection.send(Array("GET \(target) HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8))
        return connection
    }

    private static func text(_ connection: ByteConnection) async -> String {
        var text = ""
        while Batch(text) == nil, let more = await connection.next() { text += String(decoding: more, as: UTF8.self) }
        return text
    }

    @Test("asks in an order of its own, with a bare 'ee', a heartbeat, no region at first, and no cursor of old")
    func query() async throws {
        try await PubNubHarness.run { gateway in
            for own in ["&tt=0", ""] {
                let answer = try await gateway.get(Self.subscribe("a", own))
                #expect(answer.shape == #"{"t":{"t":"<tt>","r":1},"m":[]}"#)
            }
            // None of these parameters has become a user's name or changed the duration of presence.
            let here = try await gateway.get("/v2/presence/sub-key/sub-demo/channel/a?\(Self.head)&\(Self.tail)")
            #expect(here["uuids"]?.strings == ["bob"])
            gateway.clock.advance(by: .seconds(299))
            try await gateway.service.presence.tick()
            #expect(try await gateway.get("/v2/presence/sub-key/sub-demo/channel/a")["occupancy"]?.integer == 1)
            gateway.clock.advance(by: .seconds(2))
            try await gateway.service.presence.tick()
            #expect(try await gateway.get("/v2/presence/sub-key/sub-demo/channel/a")["occupancy"]?.integer == 0)
        }
    }

    @Test("'compresses' a publish by posting plain JSON, whatever it calls that", arguments: [nil, "gzip"])
    func compressed(coding: String?) async throws {
        try await PubNubHarness.run { gateway in
            let answer = try await gateway.call(
                "POST", "/publish/pub-demo/sub-demo/0/a/0?\(Self.head)&\(Self.tail)", #"{"text":"hi"}"#,
                headers: coding.map { [("Content-Encoding", $0)] } ?? [])
            #expect(answer.shape == #"[1,"Sent","<tt>"]"#)
            #expect(try await gateway.events("a").map(\.data.description) == [#"{"text":"hi"}"#])
        }
    }

    @Test("comes once, though a heartbeat for each channel goes out beside the handshake, in either order")
    func heartbeats() async throws {
        try await PubNubHarness.run { gateway in
            let poller = try WirePoller(gateway)
            let channels = (0..<20).map { "c\($0)" }
            let watched = channels.map { $0 + "-pnpres" }.joined(separator: ",")
            let start = try await poller.batch(watched, "0").cursor
            try await withThrowingTaskGroup(of: Int.self) { group in
                for (number, channel) in channels.enumerated() {
                    let beat = "/v2/presence/sub-key/sub-demo/channel/\(channel)/heartbeat?\(Self.head)&heartbeat=300"
                    let calls = [beat, Self.subscribe(channel, "&tt=0")]
                    for call in number.isMultiple(of: 2) ? calls : calls.reversed() {
                        group.addTask { try await gateway.get(call).status }
                    }
                }
                for try await status in group { #expect(status == 200) }
            }
            let batch = try await poller.batch(watched, start)
            #expect(batch.items.map { $0["d"]?["action"]?.string } == channels.map { _ in "join" })
            #expect(Set(batch.items.compactMap { $0["c"]?.string }) == Set(channels.map { $0 + "-pnpres" }))
        }
    }

    @Test("is present again just by subscribing when it comes back", arguments: ["&tt=0", "&tt=9&tr=1"])
    func comingBack(cursor: String) async throws {
        try await PubNubHarness.run { gateway in
            let presence = "/v2/presence/sub-key/sub-demo/channel/a"
            _ = try await gateway.get(Self.subscribe("a", "&tt=0"))
            _ = try await gateway.get("\(presence)/leave?\(Self.head)")
            #expect(try await gateway.get(presence)["occupancy"]?.integer == 0)
            try await gateway.publish("a", "1")
            _ = try await gateway.get(Self.subscribe("a", cursor))
            #expect(try await gateway.get(presence)["uuids"]?.strings == ["bob"])
        }
    }

    @Test("leaves only the channels it gave up, and all of them when it disconnects")
    func leaving() async throws {
        try await PubNubHarness.run { gateway in
            let presence = "/v2/presence/sub-key/sub-demo"
            _ = try await gateway.get(Self.subscribe("a,b,c", "&tt=0"))
            try await gateway.get("\(presence)/channel/b/leave?\(Self.head)")
            #expect(try await gateway.get("\(presence)/uuid/bob")["payload"]?["channels"]?.strings == ["a", "c"])
            try await gateway.get("\(presence)/channel/a,c/leave?\(Self.head)")
            #expect(try await gateway.get("\(presence)/uuid/bob")["payload"]?["channels"]?.count == 0)
        }
    }

    @Test("changes its channels by closing its poll and starting another where it was: nothing is lost")
    func changing() async throws {
        try await PubNubHarness.run { gateway in
            let watcher = try WirePoller(gateway)
            let watched = try await watcher.batch("a-pnpres,b-pnpres", "0").cursor
            let cursor = try await gateway.get(Self.subscribe("a", "&tt=0"))["t"]?["t"]?.string ?? ""
            let first = try Self.poll(gateway, "a", from: cursor)
            await gateway.untilHeld()
            first.close()
            try await gateway.publish("b", "1")
            try await gateway.publish("a", "2")
            let second = try Self.poll(gateway, "a,b", from: cursor)
            #expect(Batch(await Self.text(second))?.payloads == ["1", "2"])
            await gateway.untilHeld(0)
            let told = try await watcher.batch("a-pnpres,b-pnpres", watched)
            #expect(told.items.map { $0["d"]?["action"]?.string } == ["join", "join"])
        }
    }

    @Test("asks for the log's position, and then polls from its own, with the region it was given")
    func position() async throws {
        try await PubNubHarness.run { gateway in
            let place = try await gateway.publish("a", "1").timetoken
            for number in 2...3 { try await gateway.publish("a", "\(number)") }
            let handshake = try await gateway.get(Self.subscribe("a", "&tt=0"))
            let region = try #require(handshake["t"]?["r"]?.integer)
            let batch = try await gateway.get(Self.subscribe("a", "&tt=\(place)&tr=\(region)"))
            #expect(batch["m"]?.elements?.map { $0["d"]?.integer } == [2, 3])
            #expect(batch["t"]?["r"]?.integer == region)
        }
    }

    @Test("never gets 503, which ends its loop: not while the gateway stops")
    func draining() async throws {
        try await PubNubHarness.run { gateway in
            let place = try await gateway.publish("a", "1").timetoken
            let held = try Self.poll(gateway, "a", from: place)
            await gateway.untilHeld()
            await gateway.polls.drain()
            #expect(Batch(await Self.text(held))?.status == 200)
            let late = try await gateway.get(Self.subscribe("a", "&tt=\(place)&tr=1"))
            #expect(late.status == 500)
            #expect(
                late.text
                    == #"{"message":"Internal Server Error","error":true,"service":"Balancer","status":500}"#)
        }
    }

    @Test("never gets 503: not when there are too many users, or too many polls")
    func crowded() async throws {
        var limits = Limits()
        limits.presenceEntries = 1
        limits.streamsPerApp = 1
        try await PubNubHarness.run(limits: limits) { gateway in
            let place = try await gateway.publish("a", "1").timetoken
            #expect(try await gateway.get(Self.subscribe("a,b", "&tt=0")).status == 500)
            let held = try Self.poll(gateway, "a", from: place)
            await gateway.untilHeld()
            #expect(try await gateway.get(Self.subscribe("a", "&tt=\(place)&tr=1")).status == 429)
            held.close()
        }
    }

    @Test("never gets 503 when the gateway has no room for its connection; others do")
    func noRoom() async throws {
        try await PubNubHarness.run(connections: 1) { gateway in
            let place = try await gateway.get("/v2/subscribe/sub-demo/a/0?tt=0")["t"]?["t"]?.string ?? ""
            let held = try Self.poll(gateway, "a", from: place)
            await gateway.untilHeld()
            let poll = try await gateway.get(Self.subscribe("a", "&tt=\(place)&tr=1"))
            #expect(poll.status == 500)
            #expect(
                poll.text == #"{"message":"Internal Server Error","error":true,"service":"Balancer","status":500}"#)
            let publish = try await gateway.publish("a", "1")
            #expect(publish.status == 503 && publish.header("Retry-After") != nil)
            #expect(
                publish.text == #"{"message":"Service Unavailable","error":true,"service":"Balancer","status":503}"#)
            held.close()
        }
    }

    @Test("repeats a publish after a connection broke, which may arrive twice")
    func repeated() async throws {
        try await PubNubHarness.run { gateway in
            let target = "/publish/pub-demo/sub-demo/0/a/0/1?\(Self.head)&seqn=1&\(Self.tail)"
            let places = [try await gateway.get(target).timetoken, try await gateway.get(target).timetoken]
            #expect(places[0] < places[1])
            #expect(try await gateway.events("a").map(\.timetoken.description) == places)
        }
    }

    @Test("reads names in history literally, so they are unencoded on request, and in counts always")
    func names() async throws {
        try await PubNubHarness.run { gateway in
            let name = "a b/ä"
            try await gateway.publish(PubNubHarness.escaped(name), "1")
            let history = try await gateway.history(PubNubHarness.escaped(name), "&encode_channels=false")
            #expect(history["channels"]?.members?.map(\.name) == [name])
            let counts = try await gateway.get(
                "/v3/history/sub-key/sub-demo/message-counts/\(PubNubHarness.escaped(name))?timetoken=0")
            #expect(counts["channels"]?.members?.map(\.name) == [name])
        }
    }
}
