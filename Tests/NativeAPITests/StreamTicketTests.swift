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

    /// Presents a ticket and returns the status; closes the stream.
    private func show(
        _ text: String, _ gateway: StreamHarness, lastEventID: String? = nil, query: String = ""
    ) async throws -> Int {
        let reader = try await gateway.open("ticket=\(text)\(query)", as: nil, lastEventID: lastEventID)
        if reader.status == 200 { _ = await reader.next() }
        reader.close()
        await gateway.until { $0.roll.count == 0 }
        return reader.status
    }

    @Test("opens one stream of its selection, without any header")
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
            // A refused request does not use up the ticket.
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
                await gateway.tick()
                try await gateway.emit("a.x", n)
                let (reader, _, _) = try await gateway.openReady("ticket=\(text)", as: nil, lastEventID: "\(at)")
                #expect(await reader.numbers(n) == Array(1...n))
                // The ticket is valid as long as its stream is open.
                gateway.clock.advance(by: .seconds(600))
                await gateway.tick()
                reader.close()
                await gateway.until { $0.roll.count == 0 }
            }
            gateway.clock.advance(by: .seconds(121))
            #expect(try await show(text, gateway, lastEventID: "\(at)") == 401)
            await gateway.tick()
            await waitUntil { gateway.streams.tickets.isEmpty }
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
            _ = try await tickets.use(shown, isResuming: false)
            _ = try await tickets.use(shown, isResuming: true)
            tickets.release(shown.nonce)
            let everything = Selection(channels: ChannelSet(app: StreamHarness.app, isAll: true))
            #expect(tickets.opened(shown, by: 7, following: everything, at: .zero).old == nil)
            await #expect(throws: ChatError.self) { try await tickets.use(shown, isResuming: false) }
            tickets.release(shown.nonce)
            await #expect(throws: ChatError.self) { try await tickets.use(shown, isResuming: false) }
        }
    }

    @Test("replaces a stream whose client disappeared silently")
    func takeOver() async throws {
        try await StreamHarness.run { gateway in
            let text = try await ticket(gateway)
            let at = try await gateway.emit("a.x", 0)
            let old = try await gateway.openReady("ticket=\(text)", as: nil).reader
            let new = try await gateway.openReady("ticket=\(text)", as: nil, lastEventID: "\(at)").reader
            #expect(await old.rest().last?.data == #"{"reason":"replaced","final":true}"#)
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

    @Test("has the current rights of its key")
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

    @Test("with a single changed letter is invalid")
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

    @Test("sealed with another key or for another purpose is none, and an app's secret makes none")
    func secrets() async throws {
        try await StreamHarness.run { gateway in
            let keyring = gateway.service.keyring
            let key = try #require(keyring.caller(of: Secret(text: "dev")))
            let now = gateway.service.clock.now
            let ticket = StreamTicket(
                app: StreamHarness.app, key: key.credential, channels: [.all], types: [.all], user: nil,
                position: now, start: now, nonce: StreamTicket.Nonce(SystemRandomSource()),
                expires: now.adding(StreamTicket.lifetime))
            let tickets = gateway.streams.tickets
            _ = try tickets.caller(of: ticket.text(sealedBy: keyring.seal(for: StreamTicket.sealPurpose)))
            for seal in [
                keyring.seal(for: "another purpose"),
                TextSealer(key: Secret(text: "demo-secret"), purpose: StreamTicket.sealPurpose),
            ] {
                #expect(throws: ChatError.self) { try tickets.caller(of: ticket.text(sealedBy: seal)) }
            }
        }
    }

    @Test("starts a moment before its creation, at an unpredictable position, or at a requested one")
    func start() async throws {
        try await StreamHarness.run { gateway in
            try await gateway.emit("a.x", 1)
            gateway.clock.advance(by: .seconds(10))
            var starts: Set<Timetoken> = []
            for _ in 0..<3 {
                let now = gateway.service.clock.now
                let (reader, _, cursor) = try await gateway.openReady("ticket=\(try await ticket(gateway))", as: nil)
                let start = try #require(Timetoken(exactly: cursor))
                #expect(start <= now.adding(.zero - .seconds(2)) && start > now.adding(.zero - .seconds(3)))
                starts.insert(start)
                reader.close()
            }
            #expect(starts.count == 3)
            let first = try await gateway.emit("a.x", 2)
            try await gateway.emit("a.x", 3)
            for (cursor, numbers) in [("\(first)", [3]), ("earliest", [1, 2, 3]), ("0", [1, 2, 3])] {
                let text = try await ticket(gateway, "{\"channels\":[\"a.*\"],\"cursor\":\"\(cursor)\"}")
                let (reader, _, _) = try await gateway.openReady("ticket=\(text)", as: nil)
                #expect(await reader.numbers(numbers.count) == numbers)
                reader.close()
            }
            for cursor in ["soon", "1", "\(gateway.service.clock.now.adding(.seconds(5)))"] {
                let answer = try await gateway.call("POST", "/v1/stream-tickets", "{\"cursor\":\"\(cursor)\"}")
                #expect(answer.status == 400)
            }
        }
    }

    @Test("shows nothing from before its start, whatever the URL says")
    func nothingBefore() async throws {
        try await StreamHarness.run { gateway in
            let old = try await gateway.emit("a.x", 1)
            gateway.clock.advance(by: .seconds(10))
            let text = try await ticket(gateway)
            for cursor in ["0", "earliest", "\(old)", "2017-01-01T00:00:00Z"] {
                #expect(try await show(text, gateway, query: "&cursor=\(cursor)") == 400)
            }
            let later = try await gateway.emit("a.x", 2)
            try await gateway.emit("a.x", 3)
            let (reader, _, _) = try await gateway.openReady("ticket=\(text)&cursor=\(later)", as: nil)
            #expect(await reader.numbers(1) == [3])
        }
    }

    @Test("is resumed with ids that its stream was sent alone, and five others void it")
    func wrongIDs() async throws {
        try await StreamHarness.run { gateway in
            let old = try await gateway.emit("a.x", 1)
            gateway.clock.advance(by: .seconds(10))
            let text = try await ticket(gateway)
            let other = try await ticket(gateway)
            let (reader, _, cursor) = try await gateway.openReady("ticket=\(text)", as: nil)
            let sent = try await gateway.emit("a.x", 2)
            let beside = try await gateway.emit("b", 3)
            #expect(await reader.numbers(1) == [2])
            reader.close()
            await gateway.until { $0.roll.count == 0 }
            let wrong = ["17000000000000000", "\(old)", "\(beside)", "nonsense"]
            for id in wrong { #expect(try await show(text, gateway, lastEventID: id) == 401) }
            #expect(try await show(text, gateway, lastEventID: "\(sent)") == 200)
            #expect(try await show(text, gateway, lastEventID: cursor) == 200)
            #expect(try await show(text, gateway, lastEventID: "1") == 401)
            #expect(try await show(text, gateway, lastEventID: "\(sent)") == 401)
            // An unused ticket is voided as well.
            for _ in 0..<5 { #expect(try await show(other, gateway, lastEventID: "\(old)") == 401) }
            #expect(try await show(other, gateway) == 401)
        }
    }

    @Test(
        "is not resumed with an event of its channels that its stream was not sent: of after its end, or left out by its filter"
    )
    func unsentIDs() async throws {
        try await StreamHarness.run { gateway in
            let text = try await ticket(gateway)
            let early = try await gateway.emit("a.x", 0)
            let (reader, _, _) = try await gateway.openReady(
                "ticket=\(text)&cursor=\(early)&filter=data.n%20%3E%201", as: nil)
            let unwanted = try await gateway.emit("a.x", 1)
            let sent = try await gateway.emit("a.x", 2)
            for number in 3..<40 { try await gateway.emit("a.x", number) }
            #expect(await reader.numbers(38) == Array(2..<40))
            reader.close()
            await gateway.until { $0.roll.count == 0 }
            gateway.clock.advance(by: .seconds(1))
            let late = try await gateway.emit("a.x", 50)
            for id in [unwanted, late] {
                let status = try await show(text, gateway, lastEventID: "\(id)")
                #expect(status == 401)
            }
            // An event that is too old to be in memory is found in the log.
            #expect(try await show(text, gateway, lastEventID: "\(sent)") == 200)
        }
    }

    @Test("is resumed with the id of an event that was never kept, or is gone since")
    func idOfNothing() async throws {
        try await StreamHarness.run { gateway in
            let text = try await ticket(gateway)
            let (reader, _, _) = try await gateway.openReady("ticket=\(text)", as: nil)
            _ = try await gateway.call("POST", "/v1/channels/a.x/signals", #"{"data":{"text":"now"}}"#)
            let signal = try #require(await reader.next()?.lastEventID)
            let gone = try await gateway.emit("a.x", 1)
            #expect(await reader.numbers(1) == [1])
            let before = Timetoken(gone.rawValue - 1)
            _ = try await gateway.chat.deleteEvents(after: before, before: .distantFuture, in: "a.x")
            for id in [signal, "\(gone)"] {
                let (again, _, _) = try await gateway.openReady("ticket=\(text)", as: nil, lastEventID: id)
                again.close()
                await gateway.until { $0.roll.count == 0 }
            }
            reader.close()
        }
    }

    @Test("resumes nothing an hour after it was made, while an open stream stays open")
    func hour() async throws {
        try await StreamHarness.run { gateway in
            let text = try await ticket(gateway)
            let (reader, _, cursor) = try await gateway.openReady("ticket=\(text)", as: nil)
            gateway.clock.advance(by: .seconds(3601))
            await gateway.tick()
            #expect(try await gateway.open("ticket=\(text)", as: nil, lastEventID: cursor).status == 401)
            try await gateway.emit("a.x", 1)
            #expect(await reader.numbers(1) == [1])
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

    @Test("survives a restart, used or not, and opens nothing a second time")
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
            let twice = try await show(used, gateway)
            let first = try await show(unused, gateway)
            let second = try await show(unused, gateway)
            let guessed = try await show(used, gateway, lastEventID: "17000000000000000")
            gateway.clock.advance(by: .seconds(600))
            let resumed = try await show(used, gateway, lastEventID: cursor)
            // After the stream is resumed, the usual 120 s begin.
            gateway.clock.advance(by: .seconds(121))
            let tooLate = try await show(used, gateway, lastEventID: cursor)
            #expect([twice, first, second, guessed, resumed, tooLate] == [401, 200, 401, 401, 200, 401])
        }
        clock.advance(by: .seconds(2 * 3600))
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
            await gateway.tick()
            await waitUntil { gateway.streams.tickets.isEmpty }
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
