import ChatCore
import ChatModel
import LongPolling
import HTTPServer
import JSON
import TestSupport
import Testing

@testable import NativeAPI

@Suite("A stream", .timeLimit(.minutes(2))) struct StreamTests {
    @Test("begins with what it is and where it starts, then has each event in one block")
    func framing() async throws {
        try await StreamHarness.run { gateway in
            let from = try await gateway.emit("orders.eu", 1)
            let reader = try await gateway.open("channel=orders.eu")
            #expect(reader.status == 200)
            #expect(reader.header("Content-Type") == "text/event-stream; charset=utf-8")
            #expect(reader.header("Cache-Control") == "no-cache, no-transform")
            #expect(reader.header("X-Accel-Buffering") == "no")
            #expect(reader.header("Content-Length") == nil)
            #expect(reader.header("Gateway-Cursor") == from.description)
            let id = try #require(await reader.next()?["stream"])
            let at = try await gateway.emit("orders.eu", 2)
            _ = await reader.next()
            let expected = """
                retry: 2000
                id: \(from)
                event: stream.ready
                data: {"stream":"\(id)","cursor":"\(from)","heartbeat_seconds":15}

                id: \(at)
                event: order.paid
                data: {"id":"evt_\(at)","type":"order.paid","kind":"message","timestamp":"\(at.timestamp)","timetoken":"\(at)",\
                "channel":"orders.eu","data":{"n":2}}


                """
            #expect(String(decoding: reader.rawBytes, as: UTF8.self) == expected)
            #expect(reader.faults == 0)
        }
    }

    @Test("keeps a payload with line breaks in one line, byte for byte otherwise")
    func lineBreaks() async throws {
        try await StreamHarness.run { gateway in
            let (reader, _, _) = try await gateway.openReady("channel=a")
            try await gateway.emit("a", data: "{\r\n \"text\": \"h\u{e9}llo \\n \u{2028}\",\n\"n\":1e2}")
            let event = try #require(await reader.next())
            #expect(event.data.hasSuffix(#""data":{ "text": "h\#u{e9}llo \n \#u{2028}","n":1e2}}"#))
            #expect(reader.faults == 0)
        }
    }

    @Test("is sent as NDJSON on request")
    func lines() async throws {
        try await StreamHarness.run { gateway in
            let reader = try await gateway.open("channel=a", accept: "application/x-ndjson")
            #expect(reader.header("Content-Type") == "application/x-ndjson")
            let first = try #require(await reader.nextLine())
            #expect(first.hasPrefix(#"{"event":"stream.ready","data":{"stream":"str_"#))
            await gateway.tick(15)
            let at = try await gateway.emit("a", 1, data: "{\n\"n\":1}")
            #expect(await reader.nextLine() == "")
            let line = try #require(await reader.nextLine())
            #expect(line.hasPrefix(#"{"id":"evt_\#(at)","type":"order.paid","#))
            #expect(line.hasSuffix(#""data":{"n":1}}"#))
        }
    }

    @Test(
        "is given in the format its client accepts most",
        arguments: [
            ("text/event-stream", "text/event-stream; charset=utf-8"), ("*/*", "text/event-stream; charset=utf-8"),
            ("application/x-ndjson", "application/x-ndjson"), ("application/*", "application/x-ndjson"),
            ("text/event-stream;q=0.5, application/x-ndjson", "application/x-ndjson"),
            ("application/x-ndjson, */*;q=0.1", "application/x-ndjson"),
            ("application/x-ndjson;q=0, */*", "text/event-stream; charset=utf-8"),
            ("TEXT/Event-Stream ; q=1", "text/event-stream; charset=utf-8"),
        ])
    func negotiation(_ accept: String, _ type: String) {
        let format = StreamFormat.negotiated(Headers([("Accept", accept)]))
        #expect(format?.headers.first?.value == type)
    }

    @Test(
        "is 406 for a client that accepts neither format",
        arguments: [
            "application/json", "text/event-stream;q=0", "text/event-stream;q=1e300", "text/event-stream;q=inf",
            "text/event-stream;q=nan", "text/event-stream;q=-1",
        ])
    func notAcceptable(_ accept: String) async throws {
        try await StreamHarness.run { gateway in
            let reader = try await gateway.open("channel=a", accept: accept)
            #expect(reader.status == 406)
        }
    }

    @Test("has what its patterns, types and filter select, and nothing else")
    func selection() async throws {
        try await StreamHarness.run { gateway in
            let (reader, _, _) = try await gateway.openReady(
                "channel=orders.*&channel=chat&type=order.*&type=said&filter=data.n%20%3E%201")
            try await gateway.emit("orders.eu", 1)
            try await gateway.emit("orders.eu", 2)
            try await gateway.emit("orders", 3)
            try await gateway.emit("chat", 4, type: "said")
            try await gateway.emit("chat", 5, type: "sung")
            try await gateway.emit("orders.us.west", 6, type: "order.sent")
            #expect(await reader.numbers(3) == [2, 4, 6])
        }
    }

    @Test(
        "refuses what it cannot follow",
        arguments: [
            ("channel=a&cursor=nonsense", 400), ("channel=a&type=a%20b", 400), ("channel=a%2Cb", 400),
            ("channel=", 400), ("channel=a&filter=data.n%20%3E", 400), ("chanel=a", 400), ("channel=%24system", 200),
            ("channel=a&cursor=1&cursor=2", 400), ("channel=a&key=dev", 400), ("channel=a&ticket=nonsense", 401),
        ])
    func refusals(_ query: String, _ status: Int) async throws {
        try await StreamHarness.run { gateway in
            let reader = try await gateway.open(query)
            #expect(reader.status == status, "\(query)")
        }
    }

    @Test("needs a credential that may read what it follows")
    func rights() async throws {
        try await StreamHarness.run { gateway in
            #expect(try await gateway.open("channel=a", as: nil).status == 401)
            #expect(try await gateway.open("channel=a", as: "wrong").status == 401)
            let emitter = try await gateway.key([.emit])
            #expect(try await gateway.open("channel=a", as: emitter.text).status == 403)
            let narrow = try await gateway.key(channels: [.below("a.")])
            #expect(try await gateway.open("channel=a", as: narrow.text).status == 403)
            #expect(try await gateway.open("channel=%24system", as: narrow.text).status == 403)
            let (reader, _, _) = try await gateway.openReady("", as: narrow.text)
            try await gateway.emit("b", 1)
            try await gateway.emit("a.b", 2)
            #expect(await reader.numbers(1) == [2])
        }
    }

    @Test("has at most so many channels and patterns")
    func channelLimit() async throws {
        var limits = Limits()
        limits.streamChannels = 2
        try await StreamHarness.run(limits: limits) { gateway in
            let accepted = try await gateway.open("channel=a&channel=b")
            let refused = try await gateway.open("channel=a&channel=b&channel=c")
            #expect([accepted.status, refused.status] == [200, 400])
        }
    }

    @Test("is limited for each key, for each address, and for the gateway")
    func streamLimits() async throws {
        var limits = Limits()
        limits.streamsPerKey = 2
        try await StreamHarness.run(limits: limits) { gateway in
            let key = try await gateway.key()
            let first = try await gateway.openReady("channel=a", as: key.text).reader
            let second = try await gateway.openReady("channel=b", as: key.text).reader
            let refused = try await gateway.open("channel=c", as: key.text)
            #expect(refused.status == 429)
            #expect(refused.header("Retry-After") != nil)
            let other = try await gateway.openReady("channel=c", as: "dev").reader
            first.close()
            await gateway.until { $0.roll.count == 2 }
            let third = try await gateway.openReady("channel=c", as: key.text).reader
            for reader in [second, other, third] { reader.close() }
        }
        for (status, adjust) in [
            (429, { $0.limits.streamsPerAddress = 1 }), (503, { $0.limits.streams = 1 }),
        ] as [(Int, (inout ServerOptions) -> Void)] {
            try await StreamHarness.run(adjust: adjust) { gateway in
                let first = try await gateway.openReady("channel=a").reader
                let refused = try await gateway.open("channel=b")
                #expect(refused.status == status)
                first.close()
            }
        }
    }

    @Test("sends a heartbeat in silence, which causes no event")
    func heartbeat() async throws {
        try await StreamHarness.run { gateway in
            let (reader, _, _) = try await gateway.openReady("channel=a")
            await gateway.tick(10)
            try await gateway.emit("a", 1)
            #expect(await reader.numbers(1) == [1])
            // The silence is measured from the event, not from the opening.
            await gateway.tick(14)
            #expect(await gateway.streams.metrics.heartbeats == 0)
            await gateway.tick(16)
            #expect(await gateway.streams.metrics.heartbeats == 2)
            try await gateway.emit("a", 2)
            #expect(await reader.nextItem() == .comment(""))
            #expect(await reader.nextItem() == .comment(""))
            #expect(await reader.numbers(1) == [2])
            #expect(reader.faults == 0)
            #expect(String(decoding: reader.rawBytes, as: UTF8.self).contains("\n\n:\n:\nid: "))
        }
    }

    @Test("shares one feed with all of the same selection and format")
    func feeds() async throws {
        try await StreamHarness.run { gateway in
            let first = try await gateway.openReady("channel=b&channel=a&channel=a")
            let second = try await gateway.openReady("channel=a&channel=b&type=*")
            let other = try await gateway.open("channel=a&channel=b", accept: "application/x-ndjson")
            _ = await other.nextLine()
            #expect(await gateway.streams.metrics.feeds == 2)
            try await gateway.emit("a", 1)
            #expect(await first.reader.numbers(1) == [1])
            #expect(await second.reader.numbers(1) == [1])
            _ = await other.nextLine()
            let metrics = await gateway.streams.metrics
            #expect(metrics.framed == 2)
            #expect(metrics.appended == 2)
            #expect(metrics.logBytes > 0)
            first.reader.close()
            other.close()
            await gateway.until { $0.roll.count == 1 }
            #expect(await gateway.streams.metrics.feeds == 1)
            #expect(await gateway.service.hub.feedCount == 1)
            second.reader.close()
            await gateway.until { $0.roll.count == 0 }
            #expect(await gateway.service.hub.feedCount == 0)
        }
    }

    @Test("prints an event once for all feeds that take it")
    func sharedFrames() async throws {
        try await StreamHarness.run { gateway in
            var readers: [EventStreamReader] = []
            for channel in ["a.b", "a.*", "*"] {
                readers.append(try await gateway.openReady("channel=\(channel)").reader)
            }
            try await gateway.emit("a.b", 1)
            for reader in readers { #expect(await reader.numbers(1) == [1]) }
            let metrics = await gateway.streams.metrics
            #expect(metrics.framed == 1)
            #expect(metrics.appended == 3)
        }
    }

    @Test("is notified when the gateway stops, with the time to come back")
    func drain() async throws {
        try await StreamHarness.run { gateway in
            let (reader, _, _) = try await gateway.openReady("channel=a")
            let lines = try await gateway.open("channel=a", accept: "application/x-ndjson")
            _ = await lines.nextLine()
            async let poll = gateway.call("GET", "/v1/poll?channel=a&cursor=latest")
            await gateway.until { !$0.polls.assumeIsolated { $0.isEmpty } }
            try await gateway.emit("b", 1)
            await gateway.streams.drain()
            let events = await reader.rest()
            #expect(events.map(\.type) == ["stream.closing"])
            #expect(events.first?["reason"] == "draining")
            #expect(events.first?.json?["final"]?.boolean == false)
            #expect(events.first?.hasID == false)
            let retry = try #require(events.first?.retry)
            #expect((500..<2500).contains(retry))
            let line = try #require(await lines.nextLine())
            #expect(line.hasPrefix(#"{"event":"stream.closing","data":{"reason":"draining","final":false,"retry_ms":"#))
            #expect(await lines.nextLine() == nil)
            let answer = try await poll
            #expect(answer.status == 200)
            #expect(try await gateway.open("channel=a").status == 503)
        }
    }

    @Test("answers HEAD with its header alone")
    func head() async throws {
        try await StreamHarness.run { gateway in
            let answer = try await gateway.call("HEAD", "/v1/stream?channel=a")
            #expect(answer.status == 200)
            #expect(answer.body.isEmpty)
            #expect(await gateway.streams.metrics.opened == 0)
        }
    }
}
