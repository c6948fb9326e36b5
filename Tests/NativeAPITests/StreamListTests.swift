import ChatCore
import ChatModel
import LongPolling
import HTTPServer
import JSON
import Locking
import TestSupport
import Testing

@testable import NativeAPI

@Suite("The list of streams", .timeLimit(.minutes(2))) struct StreamListTests {
    private func ids(_ answer: HTTPExchange) -> [String] {
        answer.json?["data"]?.elements?.compactMap { $0["id"]?.string } ?? []
    }

    @Test("shows open streams, in pages")
    func list() async throws {
        try await StreamHarness.run { gateway in
            var open: [(reader: EventStreamReader, id: String, cursor: String)] = []
            for channel in ["a", "b", "c.*"] {
                open.append(try await gateway.openReady("channel=\(channel)&type=t&type=s&filter=data.n%3D%3D1"))
            }
            let all = try await gateway.call("GET", "/v1/streams")
            #expect(ids(all) == open.map(\.id))
            let first = try #require(all.json?["data"]?[0])
            #expect(first["channels"]?.strings == ["a"])
            #expect(first["types"]?.strings == ["s", "t"])
            #expect(first["filter"]?.string == "data.n==1")
            #expect(first["format"]?.string == "sse")
            #expect(first["state"]?.string == "live")
            #expect(first["remote"]?.string == "127.0.0.1")
            #expect(first["lag_bytes"]?.integer == 0)
            #expect(first["bytes_sent"]?.integer == Int64(open[0].reader.receivedBytes))
            #expect(first["opened_at"]?.string == "2024-11-24T01:39:05.678901Z")
            #expect(all.json?["has_more"]?.boolean == false)

            let page = try await gateway.call("GET", "/v1/streams?limit=2")
            #expect(ids(page) == open.prefix(2).map(\.id))
            let next = try #require(page.json?["next_cursor"]?.string)
            let last = try await gateway.call("GET", "/v1/streams?limit=2&cursor=\(next)")
            #expect(ids(last) == [open[2].id])
            #expect(last.json?["next_cursor"]?.isNull == true)
            let bad = try await gateway.call("GET", "/v1/streams?cursor=str_other0")
            #expect(bad.status == 400)
            for stream in open { stream.reader.close() }
        }
    }

    @Test("shows and hands over to a narrowed manager what follows no more than it reaches, and no user's sessions")
    func narrowed() async throws {
        try await StreamHarness.run { gateway in
            let narrowed = try await gateway.key([.read, .manage], channels: [.exact("a")])
            let own = try await gateway.openReady("channel=a")
            let wider = try await gateway.openReady("channel=a&channel=b")
            let device = try await gateway.openReady("user=ana&device=phone&channel=a")
            #expect(ids(try await gateway.call("GET", "/v1/streams", as: narrowed.text)) == [own.id])
            for id in [wider.id, device.id] {
                let refused = try await gateway.call("DELETE", "/v1/streams/\(id)", as: narrowed.text)
                #expect(refused.status == 404)
            }
            #expect(try await gateway.call("GET", "/v1/users/ana/sessions", as: narrowed.text).status == 403)
            #expect(try await gateway.call("DELETE", "/v1/streams/\(own.id)", as: narrowed.text).status == 204)
            for stream in [own, wider, device] { stream.reader.close() }
        }
    }

    @Test("shows and hands over to a reader its own, to a manager all of the app")
    func rights() async throws {
        try await StreamHarness.run { gateway in
            let one = try await gateway.key()
            let two = try await gateway.key()
            let manager = try await gateway.key([.read, .manage])
            let emitter = try await gateway.key([.emit])
            let first = try await gateway.openReady("channel=a", as: one.text)
            let second = try await gateway.openReady("channel=a", as: two.text)
            let own = try await gateway.call("GET", "/v1/streams", as: one.text)
            #expect(ids(own) == [first.id])
            let all = try await gateway.call("GET", "/v1/streams", as: manager.text)
            #expect(ids(all) == [first.id, second.id])
            let target = "/v1/streams/\(second.id)"
            let statuses = [
                try await gateway.call("GET", "/v1/streams", as: emitter.text).status,
                try await gateway.call("DELETE", target, as: one.text).status,
                try await gateway.call("PATCH", target, #"{"channels":["b"]}"#, as: one.text).status,
                try await gateway.call("DELETE", "/v1/streams/nonsense", as: one.text).status,
                try await gateway.call("DELETE", target, as: manager.text).status,
                try await gateway.call("DELETE", target, as: manager.text).status,
            ]
            #expect(statuses == [403, 404, 404, 404, 204, 404])
            first.reader.close()
        }
    }

    @Test("ends a stream for good")
    func delete() async throws {
        try await StreamHarness.run { gateway in
            let (reader, id, _) = try await gateway.openReady("channel=a")
            try await gateway.emit("a", 1)
            let answer = try await gateway.call("DELETE", "/v1/streams/\(id)")
            #expect(answer.status == 204)
            let rest = await reader.rest()
            #expect(rest.map(\.type) == ["order.paid", "stream.closing"])
            #expect(rest.last?.data == #"{"reason":"deleted","final":true}"#)
            #expect(rest.last?.retry == nil)
        }
    }

    @Test("changes a stream once for an Idempotency-Key")
    func repeated() async throws {
        try await StreamHarness.run { gateway in
            let (reader, id, _) = try await gateway.openReady("channel=a")
            let once = [(name: "Idempotency-Key", value: "k")]
            func change(_ body: String, _ headers: [(name: String, value: String)]) async throws -> HTTPExchange {
                try await gateway.call("PATCH", "/v1/streams/\(id)", body, headers: headers)
            }
            let first = try await change(#"{"channels":["b"]}"#, once)
            #expect(first.status == 200)
            _ = try await change(#"{"channels":["c"]}"#, [])
            let again = try await change(#"{"channels":["b"]}"#, once)
            #expect(again.body == first.body && again.header("Idempotency-Replayed") == "true")
            #expect(try await gateway.call("GET", "/v1/streams").json?["data"]?[0]?["channels"]?.strings == ["c"])
            reader.close()
        }
    }

    @Test("changes a stream's selection and keeps members that are left out")
    func change() async throws {
        try await StreamHarness.run { gateway in
            let (reader, id, _) = try await gateway.openReady("channel=a&channel=b&type=order.*&filter=data.n%3E0")
            try await gateway.emit("a", 1)
            let before = try await gateway.emit("c", 2)
            let answer = try await gateway.call("PATCH", "/v1/streams/\(id)", #"{"channels":["b","c.*","c"]}"#)
            #expect(answer.status == 200)
            #expect(answer.json?["channels"]?.strings == ["b", "c", "c.*"])
            #expect(answer.json?["types"]?.strings == ["order.*"])
            #expect(answer.json?["filter"]?.string == "data.n>0")
            try await gateway.emit("a", 3)
            try await gateway.emit("b", 4)
            try await gateway.emit("c.d", 5)
            try await gateway.emit("c", -6)
            #expect(await reader.next()?.number == 1)
            let changed = try #require(await reader.next())
            #expect(changed.type == "stream.changed")
            #expect(!changed.hasID)
            #expect(
                changed.data
                    == #"{"stream":"\#(id)","channels":["b","c","c.*"],"types":["order.*"],"cursor":"\#(before)"}"#)
            #expect(await reader.numbers(2) == [4, 5])
            _ = try await gateway.call("PATCH", "/v1/streams/\(id)", #"{"types":["said"]}"#)
            try await gateway.emit("c", 7)
            try await gateway.emit("c", 8, type: "said")
            #expect(await reader.numbers(1) == [8])
            #expect(await gateway.streams.metrics.feeds == 1)
        }
    }

    @Test(
        "refuses a change it cannot make, and leaves the stream as it was",
        arguments: [
            (#"{"channels":[]}"#, 400), (#"{"channels":["a,b"]}"#, 400), (#"{"channels":"a"}"#, 400),
            (#"{"channel":["a"]}"#, 400), ("[]", 400), (#"{"channels":["b"]}"#, 403), (#"{"types":["*"]}"#, 403),
            ("{}", 200),
        ])
    func badChange(_ body: String, _ status: Int) async throws {
        try await StreamHarness.run { gateway in
            let narrow = try await gateway.key(channels: [.below("a.")], types: [.below("order.")])
            let (reader, id, _) = try await gateway.openReady("channel=a.*", as: narrow.text)
            // Whoever sends the change: the stream receives no more than its own credential may read.
            let answer = try await gateway.call("PATCH", "/v1/streams/\(id)", body)
            #expect(answer.status == status)
            try await gateway.emit("b", 1)
            try await gateway.emit("a.x", 2)
            #expect(await reader.next()?.number == 2)
        }
    }

    @Test("loses and repeats nothing of a channel in both, whenever the change comes", arguments: [true, false])
    func changeUnderLoad(_ startsBehind: Bool) async throws {
        try await StreamHarness.run { gateway in
            let total = 2000
            let start = try await gateway.chat.watermark()
            if startsBehind { for n in 1...500 { try await gateway.emit(n % 5 == 0 ? "other" : "both", n) } }
            let (reader, id, _) = try await gateway.openReady("channel=both&channel=a", lastEventID: "\(start)")
            let writer = Task {
                for n in (startsBehind ? 501 : 1)...total {
                    try await gateway.emit(n % 5 == 0 ? "other" : "both", n)
                }
            }
            let changer = Task {
                for round in 0..<40 {
                    let other = round % 2 == 0 ? "b.\(round)" : "a"
                    let body = #"{"channels":["both","\#(other)"]}"#
                    let answer = try await gateway.call("PATCH", "/v1/streams/\(id)", body)
                    #expect(answer.status == 200)
                }
            }
            let expected = (1...total).filter { $0 % 5 != 0 }
            let seen = await reader.numbers(expected.count)
            #expect(zip(seen, expected).first { $0 != $1 } == nil)
            #expect(seen.count == expected.count)
            try await writer.value
            try await changer.value
            #expect(reader.faults == 0)
        }
    }
}

@Suite("A stream's credential", .timeLimit(.minutes(2))) struct StreamCredentialTests {
    @Test("takes the stream with it when it is removed, and no other")
    func removal() async throws {
        try await StreamHarness.run { gateway in
            let key = try await gateway.key()
            let other = try await gateway.key()
            let doomed = try await gateway.openReady("channel=a", as: key.text).reader
            let kept = try await gateway.openReady("channel=a", as: other.text).reader
            try await gateway.service.keyring.removeKey(key.key.id, by: gateway.chat.caller)
            let rest = await doomed.rest()
            #expect(rest.map(\.data) == [#"{"reason":"unauthorized","final":true}"#])
            try await gateway.emit("a", 1)
            #expect(await kept.numbers(1) == [1])
        }
    }

    @Test("takes the stream with it at the second it expires")
    func expiry() async throws {
        try await StreamHarness.run { gateway in
            let key = try await gateway.key(expiresIn: .seconds(10))
            let (reader, _, _) = try await gateway.openReady("channel=a", as: key.text)
            gateway.clock.advance(by: .seconds(9))
            await gateway.tick()
            try await gateway.emit("a", 1)
            #expect(await reader.numbers(1) == [1])
            gateway.clock.advance(by: .seconds(1))
            await gateway.tick()
            #expect(await reader.rest().map(\.type) == ["stream.closing"])
        }
    }

    @Test("ends it within a second, though its client does not read", arguments: [true, false])
    func unread(isRemoved: Bool) async throws {
        try await StreamHarness.run { gateway in
            let key = try await gateway.key()
            let (reader, id, _) = try await gateway.openReady("channel=a", as: key.text, receiveBuffer: 4096)
            reader.pause()
            let filling = String(repeating: "x", count: 60_000)
            await gateway.until { $0.roll.count == 1 }
            // Several events, because a single one may just be waiting for its turn.
            while await !gateway.streams.holds({ ($0.roll[1]?.connection.lag ?? .max) > 300_000 }) {
                try await gateway.emit("a", 1, data: #"{"n":1,"x":"\#(filling)"}"#)
            }
            #expect(await gateway.streams.holds { $0.roll.count == 1 })
            let start = ContinuousClock.now
            if isRemoved {
                try await gateway.service.keyring.removeKey(key.key.id, by: gateway.chat.caller)
            } else {
                #expect(try await gateway.call("DELETE", "/v1/streams/\(id)").status == 204)
            }
            await gateway.until { $0.roll.count == 0 }
            // A busy machine may be late; the stall time would be twenty seconds.
            #expect(ContinuousClock.now - start < .seconds(10))
            reader.close()
        }
    }

    /// Opens a stream by a request that was accepted before `meanwhile`, but not answered.
    private func opening(
        limits: Limits = Limits(), meanwhile: (StreamHarness, StreamRequest) async throws -> Void,
        then check: (StreamHarness, [EventStreamParser.Event]) async throws -> Void
    ) async throws {
        let accepted = Lock<StreamRequest?>(nil)
        let addRoute: (inout Router, LiveStreams) -> Void = { router, streams in
            router.add(.get, "/accepted") { _ in
                let order = try #require(accepted.withLock { $0 })
                return .stream(
                    StreamOpening { connection in streams.assumeIsolated { $0.open(connection, order) } })
            }
        }
        try await StreamHarness.run(limits: limits, routes: addRoute) { gateway in
            let key = try await gateway.key()
            let answer = try await gateway.call("POST", "/v1/stream-tickets", "{}", as: key.text)
            let (caller, ticket) = try gateway.streams.tickets.caller(of: answer.json?["ticket"]?.string ?? "")
            _ = try await gateway.streams.tickets.use(ticket, isResuming: false)
            let order = StreamRequest(
                caller: caller, selection: Selection(channels: ChannelSet(app: StreamHarness.app, isAll: true)),
                format: .eventStream, resumption: ResumePosition(requested: "latest", from: .zero),
                shownStart: .zero, ticket: ticket, audienceChanges: 0)
            accepted.withLock { $0 = order }
            try await meanwhile(gateway, order)
            let reader = try await EventStreamReader(port: gateway.port, target: "/accepted", headers: [])
            #expect(reader.status == 200)
            try await check(gateway, await reader.rest())
            // The stream is closing and no longer counts against any limit.
            await gateway.until { $0.roll.count == 0 }
            // The ticket has not opened a stream.
            #expect(try await gateway.streams.tickets.use(ticket, isResuming: false) == .admitted)
        }
    }

    @Test("is looked at again when the stream opens, for what changed since it was shown")
    func opening() async throws {
        try await opening { gateway, order in
            try await gateway.service.keyring.removeKey(order.caller.credential, by: gateway.chat.caller)
        } then: { _, said in
            #expect(said.map(\.data) == [#"{"reason":"unauthorized","final":true}"#])
        }
    }

    @Test("has room for it no longer when several were let in at once")
    func crowd() async throws {
        var limits = Limits()
        limits.streamsPerKey = 1
        let taken = Lock<ConnectionOwner?>(nil)
        try await opening(limits: limits) { gateway, order in
            let owner = gateway.streams.owners.enter(order.caller, from: .loopback)
            taken.withLock { $0 = owner }
        } then: { gateway, said in
            #expect(said.map(\.type) == ["stream.closing"])
            #expect(said.first?["reason"] == "too_many_streams")
            #expect(said.first?.json?["final"]?.boolean == false)
            #expect(said.first?.retry != nil)
        }
    }

    @Test("does not open a stream on a gateway that has begun to stop")
    func draining() async throws {
        try await opening { gateway, _ in
            await gateway.streams.drain()
        } then: { _, said in
            #expect(said.first?["reason"] == "draining")
        }
    }
}
