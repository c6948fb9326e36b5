import ChatCore
import ChatModel
import ChatSupport
import HTTPServer
import JSON
import Logging
import SQLiteEngine
import Signing
import TestSupport
import Testing

@testable import NativeAPI

@Suite("A stream ticket", .timeLimit(.minutes(2))) struct StreamTicketTests {
    private func ticket(
        _ gateway: StreamHarness, _ body: String = #"{"channels":["a.*"]}"#, as key: String = "dev"
    ) async throws -> String {
        let answer = try await gateway.call("POST", "/v1/stream-tickets", body, as: key)
        try #require(answer.status == 201, "\(String(decoding: answer.body, as: UTF8.self))")
        #expect(answer.header("Cache-Control") == "no-store")
        return try #require(answer.json?["ticket"]?.string)
    }

    /// The status of showing a ticket; the stream is let go again.
    private func show(
        _ text: String, _ gateway: StreamHarness, lastEventID: String? = nil, query: String = ""
    ) async throws -> Int {
        let reader = try await gateway.open("ticket=\(text)\(query)", as: nil, lastEventID: lastEventID)
        if reader.status == 200 { _ = await reader.next() }
        reader.close()
        await gateway.until { $0.roll.count == 0 }
        return reader.status
    }

    @Test("opens one stream of what it was made for, without any header")
    func once() async throws {
        try await StreamHarness.run { gateway in
            let text = try await ticket(gateway, #"{"channels":["a.*","b"],"types":["order.*"],"user":"ana"}"#)
            let (reader, id, _) = try await gateway.openReady("ticket=\(text)", as: nil)
            try await gateway.emit("c", 1)
            try await gateway.emit("b", 2, type: "said")
            try await gateway.emit("a.x", 3)
            #expect(await reader.numbers(1) == [3])
            let list = try await gateway.call("GET", "/v1/streams")
            #expect(list.json?["data"]?[0]?["id"]?.string == id)
            #expect(list.json?["data"]?[0]?["user"]?.string == "ana")
            #expect(try await gateway.open("ticket=\(text)", as: nil).status == 401)
            reader.close()
            await gateway.until { $0.roll.count == 0 }
            #expect(try await show(text, gateway) == 401)
        }
    }

    @Test("says when it expires, and is nothing after that")
    func expiry() async throws {
        try await StreamHarness.run { gateway in
            let answer = try await gateway.call("POST", "/v1/stream-tickets", "{}")
            let expires = gateway.service.clock.now.adding(.seconds(60))
            #expect(answer.json?["expires_at"]?.string == expires.timestamp)
            let fresh = try await ticket(gateway)
            let late = try await ticket(gateway)
            gateway.clock.advance(by: .seconds(60))
            #expect(try await show(fresh, gateway) == 200)
            gateway.clock.advance(by: .seconds(1))
            #expect(try await show(late, gateway) == 401)
        }
    }

    @Test("can be narrowed by the URL, never widened")
    func narrowing() async throws {
        try await StreamHarness.run { gateway in
            #expect(try await show(ticket(gateway), gateway, query: "&channel=a.x") == 200)
            #expect(try await show(ticket(gateway), gateway, query: "&channel=b") == 403)
            #expect(try await show(ticket(gateway), gateway, query: "&channel=%24system") == 403)
            // A refusal does not use it up.
            let text = try await ticket(gateway)
            #expect(try await show(text, gateway, query: "&channel=b") == 403)
            #expect(try await show(text, gateway, query: "&cursor=nonsense") == 400)
            #expect(try await show(text, gateway) == 200)
        }
    }

    @Test("resumes its stream with the last id until 120 s after it broke, again and again")
    func reconnect() async throws {
        try await StreamHarness.run { gateway in
            let text = try await ticket(gateway)
            let at = try await gateway.emit("a.x", 0)
            #expect(try await show(text, gateway) == 200)
            for n in 1...3 {
                gateway.clock.advance(by: .seconds(120))
                await gateway.beat()
                try await gateway.emit("a.x", n)
                let (reader, _, _) = try await gateway.openReady("ticket=\(text)", as: nil, lastEventID: "\(at)")
                #expect(await reader.numbers(n) == Array(1...n))
                // As long as it is open, the ticket lives.
                gateway.clock.advance(by: .seconds(600))
                await gateway.beat()
                reader.close()
                await gateway.until { $0.roll.count == 0 }
            }
            gateway.clock.advance(by: .seconds(121))
            #expect(try await show(text, gateway, lastEventID: "\(at)") == 401)
            await gateway.beat()
            #expect(gateway.streams.tickets.isEmpty)
            #expect(try await show(text, gateway, lastEventID: "\(at)") == 401)
        }
    }

    @Test("is not kept from resuming by the stream it resumes")
    func fullWithItself() async throws {
        var limits = Limits()
        (limits.streamsPerKey, limits.streamsPerUser, limits.streamsPerAddress) = (1, 1, 1)
        try await StreamHarness.run(limits: limits) { gateway in
            let text = try await ticket(gateway)
            let at = try await gateway.emit("a.x", 0)
            let (lost, _, _) = try await gateway.openReady("ticket=\(text)", as: nil)
            let (reader, _, _) = try await gateway.openReady("ticket=\(text)", as: nil, lastEventID: "\(at)")
            await gateway.until { $0.roll.count == 1 }
            #expect(try await gateway.open("channel=a").status == 429)
            try await gateway.emit("a.x", 1)
            #expect(await reader.numbers(1) == [1])
            lost.close()
            reader.close()
        }
    }

    @Test("is as good as before when there was no room for its stream", arguments: [true, false])
    func refusal(byServer: Bool) async throws {
        var limits = Limits()
        if !byServer { limits.streamsInGateway = 1 }
        try await StreamHarness.run(limits: limits, adjust: { if byServer { $0.limits.streams = 1 } }) { gateway in
            let text = try await ticket(gateway)
            let other = try await gateway.openReady("channel=a").reader
            for _ in 0..<2 { #expect(try await gateway.open("ticket=\(text)", as: nil).status == 503) }
            other.close()
            await gateway.until { $0.roll.count == 0 }
            #expect(try await show(text, gateway) == 200)
            #expect(try await show(text, gateway) == 401)
        }
    }

    @Test("that was given back opens a stream no second time, though it was shown twice at once")
    func shownTwice() async throws {
        try await StreamHarness.run { gateway in
            let (_, shown) = try gateway.streams.tickets.caller(of: try await ticket(gateway))
            let tickets = gateway.streams.tickets
            _ = try tickets.use(shown, isResuming: false)
            _ = try tickets.use(shown, isResuming: true)
            tickets.giveBack(shown.nonce)
            #expect(tickets.opened(shown.nonce, by: 7) == nil)
            #expect(throws: ChatError.self) { try tickets.use(shown, isResuming: false) }
            tickets.giveBack(shown.nonce)
            #expect(throws: ChatError.self) { try tickets.use(shown, isResuming: false) }
        }
    }

    @Test("takes over from a stream whose client went away without a word")
    func takeOver() async throws {
        try await StreamHarness.run { gateway in
            let text = try await ticket(gateway)
            let at = try await gateway.emit("a.x", 0)
            let old = try await gateway.openReady("ticket=\(text)", as: nil).reader
            let new = try await gateway.openReady("ticket=\(text)", as: nil, lastEventID: "\(at)").reader
            #expect(await old.rest().map(\.data) == [#"{"reason":"replaced","final":true}"#])
            await gateway.until { $0.roll.count == 1 }
            try await gateway.emit("a.x", 1)
            #expect(await new.numbers(1) == [1])
        }
    }

    @Test("of a stream that was deleted tells its client to stop")
    func deleted() async throws {
        try await StreamHarness.run { gateway in
            let text = try await ticket(gateway)
            let (reader, id, cursor) = try await gateway.openReady("ticket=\(text)", as: nil)
            _ = try await gateway.call("DELETE", "/v1/streams/\(id)")
            _ = await reader.rest()
            await gateway.until { $0.roll.count == 0 }
            #expect(try await show(text, gateway, lastEventID: cursor) == 204)
        }
    }

    @Test("is worth what its key is worth at the moment")
    func key() async throws {
        try await StreamHarness.run { gateway in
            let key = try await gateway.key(channels: [.below("a.")])
            let wide = try await gateway.call("POST", "/v1/stream-tickets", #"{"channels":["b"]}"#, as: key.text)
            #expect(wide.status == 403)
            let emitter = try await gateway.key([.emit])
            let none = try await gateway.call("POST", "/v1/stream-tickets", "{}", as: emitter.text)
            #expect(none.status == 403)
            let text = try await ticket(gateway, "{}", as: key.text)
            let second = try await ticket(gateway, "{}", as: key.text)
            let (reader, _, cursor) = try await gateway.openReady("ticket=\(text)", as: nil)
            try await gateway.service.keyring.removeKey(key.key.id, by: gateway.chat.caller)
            #expect(await reader.rest().last?["reason"] == "unauthorized")
            await gateway.until { $0.roll.count == 0 }
            #expect(try await show(text, gateway, lastEventID: cursor) == 401)
            #expect(try await show(second, gateway) == 401)
        }
    }

    @Test(
        "asked for badly is not made",
        arguments: [
            #"{"channels":[]}"#, #"{"channels":["a,b"]}"#, #"{"user":""}"#, #"{"channel":["a"]}"#, "", "[]",
            #"{"types":["a b"]}"#,
        ])
    func badRequests(_ body: String) async throws {
        try await StreamHarness.run { gateway in
            let answer = try await gateway.call("POST", "/v1/stream-tickets", body)
            #expect(answer.status == 400)
        }
    }

    @Test("too long for a URL is not made")
    func tooLong() async throws {
        try await StreamHarness.run { gateway in
            let channels = (0..<200).map { "\"\($0)\(String(repeating: "x", count: 100))\"" }.joined(separator: ",")
            let answer = try await gateway.call("POST", "/v1/stream-tickets", "{\"channels\":[\(channels)]}")
            #expect(answer.status == 400)
        }
    }

    @Test("that was changed by a single letter is none")
    func forgery() async throws {
        try await StreamHarness.run { gateway in
            let text = try await ticket(gateway)
            let tickets = gateway.streams.tickets
            _ = try tickets.caller(of: text)
            var random = SeededGenerator(seed: 3)
            for index in text.indices {
                let letter = "ABCDEFGHabcdefgh0123-_.".randomElement(using: &random) ?? "A"
                guard text[index] != letter else { continue }
                let forged = text.replacingCharacters(in: index..<text.index(after: index), with: letter)
                #expect(throws: ChatError.self) { try tickets.caller(of: forged) }
            }
            #expect(throws: ChatError.self) { try tickets.caller(of: text + "A") }
            #expect(throws: ChatError.self) { try tickets.caller(of: String(repeating: "A", count: 100_000)) }
        }
    }

    @Test("of another app's secret, or signed for another purpose, is none")
    func secrets() async throws {
        try await StreamHarness.run { gateway in
            let key = try #require(gateway.service.keyring.caller(digest: Keyring.digest(of: "dev")))
            let ticket = StreamTicket(
                space: StreamHarness.space, key: key.credential, channels: [.all], types: [.all], user: nil,
                nonce: StreamTicket.Nonce(SystemRandomSource()),
                expires: gateway.service.clock.now.adding(StreamTicket.lifetime))
            let tickets = gateway.streams.tickets
            _ = try tickets.caller(of: ticket.text(secret: Secret(text: "demo-secret")))
            #expect(throws: ChatError.self) {
                try tickets.caller(of: ticket.text(secret: Secret(text: "another-secret")))
            }
            let body = ticket.text(secret: Secret(text: "demo-secret")).split(separator: ".")[0]
            let plain = MessageAuthentication.code(.sha256, of: Array(body.utf8), key: Secret(text: "demo-secret"))
            #expect(throws: ChatError.self) { try tickets.caller(of: "\(body).\(Base64.encodeURL(plain))") }
        }
    }

    @Test("is taken up by an EventSource that was cut before its first event, which it then gets")
    func cutBeforeFirstEvent() async throws {
        try await StreamHarness.run { gateway in
            let used = try await ticket(gateway)
            let opened = try await gateway.open("ticket=\(used)", as: nil)
            let ready = try #require(await opened.next())
            #expect(ready.type == "stream.ready" && ready.hasID && ready.lastEventID == ready["cursor"])
            opened.close()
            try await gateway.emit("a.b", 1)
            let resumed = try await gateway.open("ticket=\(used)", as: nil, lastEventID: ready.lastEventID)
            #expect(resumed.status == 200)
            #expect(await resumed.next()?.type == "stream.ready")
            #expect(await resumed.numbers(1) == [1])
        }
    }

    @Test("survives a restart for a client that comes back with its last id, and opens nothing afresh")
    func restart() async throws {
        let clock = ManualClock()
        let folder = try TemporaryFolder()
        var used = ""
        var unused = ""
        var cursor = ""
        try await StreamHarness.run(path: folder.database, clock: clock) { gateway in
            used = try await ticket(gateway)
            unused = try await ticket(gateway)
            let opened = try await gateway.openReady("ticket=\(used)", as: nil)
            cursor = opened.cursor
            opened.reader.close()
        }
        clock.advance(by: .seconds(1))
        try await StreamHarness.run(path: folder.database, clock: clock) { gateway in
            // Whether it was used nobody knows any more.
            let afresh = try await show(unused, gateway)
            gateway.clock.advance(by: .seconds(120))
            let resumed = try await show(used, gateway, lastEventID: cursor)
            gateway.clock.advance(by: .seconds(1))
            let tooLate = try await show(unused, gateway, lastEventID: cursor)
            // Taken up again, it has its 120 s from now on.
            gateway.clock.advance(by: .seconds(119))
            let again = try await show(used, gateway, lastEventID: cursor)
            #expect([afresh, resumed, tooLate, again] == [401, 200, 401, 200])
        }
        clock.advance(by: .seconds(25 * 3600))
        try await StreamHarness.run(path: folder.database, clock: clock) { gateway in
            let late = try await show(used, gateway, lastEventID: cursor)
            #expect(late == 401)
        }
    }

    @Test("is refused when too many uses would have to be remembered")
    func capacity() async throws {
        var limits = Limits()
        limits.streamsInGateway = 1
        try await StreamHarness.run(limits: limits) { gateway in
            #expect(try await show(ticket(gateway), gateway) == 200)
            #expect(try await show(ticket(gateway), gateway) == 200)
            let third = try await ticket(gateway)
            #expect(try await show(third, gateway) == 503)
            gateway.clock.advance(by: .seconds(121))
            await gateway.beat()
            #expect(try await show(ticket(gateway), gateway) == 200)
        }
    }
}

extension String {
    func replacingCharacters(in range: Range<Index>, with character: Character) -> String {
        var text = self
        text.replaceSubrange(range, with: String(character))
        return text
    }
}
