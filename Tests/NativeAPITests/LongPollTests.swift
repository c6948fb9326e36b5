import ChatCore
import ChatModel
import HTTPServer
import JSON
import Signing
import TestSupport
import Testing

@testable import LongPolling
@testable import NativeAPI

/// A client that polls on one kept connection.
private final class Poller: Sendable {
    private let connection: ByteConnection

    init(_ gateway: StreamHarness) throws { connection = try ByteConnection(port: gateway.port) }

    func ask(_ query: String, as key: String = "dev") throws {
        let text = "GET /v1/poll?\(query) HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \(key)\r\n\r\n"
        try connection.send(Array(text.utf8))
    }

    /// The next response, read by its declared length.
    func answer() async -> PollAnswer {
        var text = ""
        while true {
            if let answer = PollAnswer(text) { return answer }
            guard let more = await connection.next() else { return PollAnswer(status: 0, json: nil) }
            text += String(decoding: more, as: UTF8.self)
        }
    }

    func close() { connection.close() }
}

/// The result of a poll.
private struct PollAnswer {
    let status: Int
    let json: JSONValue?

    var numbers: [Int64] { json?["data"]?.elements?.compactMap { $0["data"]?["n"]?.integer } ?? [] }
    var cursor: String { json?["cursor"]?.string ?? "" }

    init(status: Int, json: JSONValue?) {
        self.status = status
        self.json = json
    }

    /// Nil while it is incomplete.
    init?(_ text: String) {
        let parts: [Substring] = text.split(separator: "\r\n\r\n", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        let lines: [Substring] = parts[0].split(separator: "\r\n")
        let field: Substring? = lines.first { $0.lowercased().hasPrefix("content-length: ") }
        let length: Int = field.flatMap { Int($0.dropFirst(16)) } ?? 0
        guard parts[1].utf8.count >= length else { return nil }
        status = Int(lines[0].dropFirst(9).prefix(3)) ?? 0
        json = try? JSONDocument(Array(parts[1].utf8)).root
    }
}

/// A formatter that prints nothing.
private struct SilentVoice: PollFormatter {
    func shows(_ event: Event) -> Bool { true }
    func isInForce(_ order: PollRequest) -> Bool { true }
    func answer(_ batch: PollBatch, to reply: DeferredResponse) {}
    func refuse(_ error: ChatError, to reply: DeferredResponse) {}
}

@Suite("A held poll", .timeLimit(.minutes(2))) struct LongPollTests {
    @Test("waits on a socket by itself, and its connection goes on with the next poll")
    func goesOn() async throws {
        try await StreamHarness.run { gateway in
            let poller = try Poller(gateway)
            var position = "latest"
            for n in 1...5 {
                try poller.ask("channel=a&cursor=\(position)")
                await gateway.until { $0.polls.assumeIsolated { $0.count } == 1 }
                #expect(await gateway.server.metrics.suspended == 1)
                #expect(await gateway.server.metrics.connections == 1)
                try await gateway.emit("a", n)
                let answer = await poller.answer()
                #expect(answer.numbers == [Int64(n)])
                position = answer.cursor
            }
            #expect(await gateway.server.metrics.accepted == 1)
            #expect(await gateway.service.hub.feedCount == 0)
            #expect(await gateway.streams.metrics.pollsHeld == 5)
        }
    }

    @Test("gets events from between two polls at once, and loses none between store and hub")
    func between() async throws {
        try await StreamHarness.run { gateway in
            let poller = try Poller(gateway)
            let writer = Task { for n in 1...200 { try await gateway.emit("a", n) } }
            var seen: [Int64] = []
            var position = "earliest"
            while seen.count < 200 {
                try poller.ask("channel=a&limit=7&cursor=\(position)")
                let answer = await poller.answer()
                seen += answer.numbers
                position = answer.cursor
            }
            try await writer.value
            #expect(seen == (1...200).map { Int64($0) })
        }
    }

    @Test("has the same answer as others that waited for the same, and no more than it asked for")
    func shared() async throws {
        try await StreamHarness.run { gateway in
            let queries = ["channel=a", "channel=a&limit=1", "channel=a&channel=b", "channel=a&type=said"]
            let pollers = try queries.map { query in
                let poller = try Poller(gateway)
                try poller.ask(query + "&cursor=latest")
                return poller
            }
            await gateway.until { $0.polls.assumeIsolated { $0.count } == 4 }
            let two = ["order.paid", "said"].enumerated().map { index, type in
                EventDraft.event(channel: "a", type: type, data: JSONText(trusted: Array("{\"n\":\(index + 1)}".utf8)))
            }
            for draft in two { _ = try await gateway.chat.emit(draft) }
            var answers: [[Int64]] = []
            for poller in pollers { answers.append(await poller.answer().numbers) }
            // Each poll was answered with the first matching events that reached it.
            #expect(answers[1] == [1])
            #expect(answers[3] == [2])
            #expect(answers[0].first == 1 && answers[2].first == 1)
        }
    }

    @Test("does not return events that its client already has, even if the hub passes them on later")
    func known() async throws {
        try await StreamHarness.run { gateway in
            let selection = Selection(channels: ChannelSet(app: StreamHarness.app, patterns: [.exact("a")]))
            let order = PollRequest(
                caller: gateway.chat.caller, selection: selection, limit: 10, after: 20, hold: .seconds(1),
                formatter: SilentVoice())
            let polls = gateway.streams.polls
            let poll = LongPoll(polls, order)
            _ = try await polls.attach(poll)
            @Sendable func event(_ position: UInt64) -> Event {
                let channel = ChannelID("a", in: StreamHarness.app)
                let draft = EventDraft(channel: channel, type: "t", data: JSONText(trusted: Array("{}".utf8)))
                return Event(timetoken: Timetoken(position), draft: draft)
            }
            await polls.loop.run(on: polls) { _ in poll.receive([event(19), event(20)]) }
            #expect(await gateway.service.hub.feedCount == 1)
            await polls.loop.run(on: polls) { _ in poll.receive([event(20), event(21)]) }
            #expect(await gateway.service.hub.feedCount == 0)
        }
    }

    @Test("begins without reading the log only if its client has missed no event")
    func beginsAtOnce() async throws {
        try await StreamHarness.run { gateway in
            try await gateway.emit("a", 1)
            let polls = gateway.streams.polls
            let end = try await gateway.chat.watermark()
            #expect(await polls.reach(end))
            @Sendable func begins(after position: Timetoken) async throws -> Bool {
                let selection = Selection(channels: ChannelSet(app: StreamHarness.app, patterns: [.exact("a")]))
                let order = PollRequest(
                    caller: gateway.chat.caller, selection: selection, limit: 10, after: position, hold: .seconds(1),
                    formatter: SilentVoice())
                return try await polls.loop.run(on: polls) { _ throws(ChatError) in
                    try polls.followAtOnce(order, in: gateway.chat, from: .loopback) != nil
                }
            }
            #expect(try await begins(after: end))
            #expect(try await !begins(after: Timetoken(end.rawValue - 1)))
            // Events of other channels are not missed.
            try await gateway.emit("b", 2)
            #expect(await polls.reach(try await gateway.chat.watermark()))
            #expect(try await begins(after: end))
            #expect(try await !begins(after: Timetoken(end.rawValue - 1)))
            #expect(await gateway.service.hub.feedCount == 0)
        }
    }

    @Test("is released at once when its client has gone")
    func gone() async throws {
        try await StreamHarness.run { gateway in
            let poller = try Poller(gateway)
            try poller.ask("channel=a&cursor=latest")
            await gateway.until { $0.polls.assumeIsolated { $0.count } == 1 }
            poller.close()
            await gateway.until { $0.polls.assumeIsolated { $0.isEmpty } }
            #expect(await gateway.service.hub.feedCount == 0)
            #expect(await gateway.server.metrics.suspended == 0)
        }
    }

    @Test("ends at its second, whichever polls of the same second have ended before")
    func sameSecond() async throws {
        try await StreamHarness.run { gateway in
            let pollers = try (0..<5).map { _ in try Poller(gateway) }
            for (index, poller) in pollers.enumerated() {
                try poller.ask("channel=c\(index)&cursor=latest")
                await gateway.until { $0.polls.assumeIsolated { $0.count } == index + 1 }
            }
            for index in [0, 2, 4] {
                try await gateway.emit("c\(index)", index)
                #expect(await pollers[index].answer().numbers == [Int64(index)])
            }
            #expect(await gateway.streams.metrics.pollsWaiting == 2)
            await gateway.tick(25)
            for index in [1, 3] {
                let answer = await pollers[index].answer()
                #expect(answer.status == 200)
                #expect(answer.numbers.isEmpty)
            }
            #expect(await gateway.streams.metrics.pollsWaiting == 0)
        }
    }

    @Test("frees its slot when it ends before it begins to wait")
    func dropped() async throws {
        var limits = Limits()
        limits.streamsPerApp = 1
        try await StreamHarness.run(limits: limits) { gateway in
            let polls = gateway.streams.polls
            let selection = Selection(channels: ChannelSet(app: StreamHarness.app, patterns: [.exact("a")]))
            let order = PollRequest(
                caller: gateway.chat.caller, selection: selection, limit: 10,
                after: try await gateway.chat.watermark(), hold: .seconds(1), formatter: SilentVoice())
            for _ in 1...3 {
                let begins = try await polls.loop.run(on: polls) { _ throws(ChatError) in
                    try polls.followAtOnce(order, in: gateway.chat, from: .loopback) != nil
                }
                #expect(begins)
            }
            let owner = try polls.owners.admit(gateway.chat.caller, from: .loopback)
            #expect(throws: ChatError.self) { try polls.owners.admit(gateway.chat.caller, from: .loopback) }
            polls.owners.leave(owner, from: .loopback)
            #expect(polls.owners.refusal(of: gateway.chat.caller, from: .loopback) == nil)
        }
    }

    @Test("of a user's own channel ends when the key of its token no longer covers that channel")
    func ownChannel() async throws {
        try await StreamHarness.run { gateway in
            let rooms = try #require(NamePattern("room.*"))
            let issued = try await gateway.key(channels: [rooms])
            let key = try #require(gateway.service.keyring.caller(of: Secret(text: issued.text)))
            var wider = key
            wider.channels = [rooms, .exact("cora")]
            var holder = key
            holder.user = "cora"
            holder = holder.readingOwnChannel(within: wider)
            #expect(holder.reads(channel: "cora"))
            let both = Selection(channels: ChannelSet(app: StreamHarness.app, patterns: [rooms, .exact("cora")]))
            #expect(await !gateway.streams.isInForce(holder, both))
            let own = Selection(channels: ChannelSet(app: StreamHarness.app, patterns: [rooms]))
            #expect(await gateway.streams.isInForce(holder, own))
        }
    }

    @Test("ends when its key is removed, and no other does")
    func removal() async throws {
        try await StreamHarness.run { gateway in
            let key = try await gateway.key()
            let other = try await gateway.key()
            let doomed = try Poller(gateway)
            try doomed.ask("channel=a&cursor=latest", as: key.text)
            let kept = try Poller(gateway)
            try kept.ask("channel=a&cursor=latest", as: other.text)
            await gateway.until { $0.polls.assumeIsolated { $0.count } == 2 }
            try await gateway.service.keyring.removeKey(key.key.id, by: gateway.chat.caller)
            let refusal = await doomed.answer()
            #expect(refusal.status == 401)
            #expect(refusal.json?["code"]?.string == "credential_invalid")
            try await gateway.emit("a", 1)
            #expect(await kept.answer().numbers == [1])
        }
    }

    @Test("ends at the second its key expires")
    func expiry() async throws {
        try await StreamHarness.run { gateway in
            let key = try await gateway.key(expiresIn: .seconds(10))
            let poller = try Poller(gateway)
            try poller.ask("channel=a&cursor=latest", as: key.text)
            await gateway.until { $0.polls.assumeIsolated { $0.count } == 1 }
            gateway.clock.advance(by: .seconds(9))
            await gateway.tick()
            #expect(await gateway.streams.metrics.pollsWaiting == 1)
            gateway.clock.advance(by: .seconds(1))
            await gateway.tick()
            #expect(await poller.answer().status == 401)
        }
    }

    @Test("is answered with its cursor when the gateway stops, and none is held after that")
    func drain() async throws {
        try await StreamHarness.run { gateway in
            let pollers = try (0..<20).map { _ in try Poller(gateway) }
            for poller in pollers { try poller.ask("channel=a&cursor=latest") }
            await gateway.until { $0.polls.assumeIsolated { $0.count } == 20 }
            let at = try await gateway.emit("b", 1)
            #expect(await gateway.service.hub.reach(at))
            await gateway.streams.drain()
            for poller in pollers {
                let answer = await poller.answer()
                #expect(answer.status == 200)
                #expect(answer.numbers.isEmpty)
                #expect(answer.cursor == "\(at)")
            }
            try pollers[0].ask("channel=a&cursor=\(at)")
            #expect(await pollers[0].answer().status == 503)
        }
    }
}

@Suite("Streams and held polls", .timeLimit(.minutes(2))) struct StreamLimitTests {
    @Test("are limited for each app and key, and ended ones free their slot", arguments: [(2, 0), (0, 2)])
    func limits(_ limit: (ofApp: Int, ofKey: Int)) async throws {
        var limits = Limits()
        limits.streamsPerApp = limit.ofApp
        limits.streamsPerKey = limit.ofKey
        try await StreamHarness.run(limits: limits) { gateway in
            let stream = try await gateway.openReady("channel=a").reader
            let poller = try Poller(gateway)
            try poller.ask("channel=a&cursor=latest")
            await gateway.until { $0.polls.assumeIsolated { $0.count } == 1 }
            let refused = try await gateway.open("channel=a")
            #expect(refused.status == 429)
            #expect(refused.header("Retry-After") != nil)
            let second = try Poller(gateway)
            try second.ask("channel=a&cursor=latest")
            let refusal = await second.answer()
            #expect(refusal.status == 429)
            #expect(refusal.json?["code"]?.string == "too_many_streams")
            try await gateway.emit("a", 1)
            #expect(await poller.answer().numbers == [1])
            try second.ask("channel=a&cursor=latest")
            await gateway.until { $0.polls.assumeIsolated { $0.count } == 1 }
            stream.close()
            await gateway.until { $0.roll.count == 0 }
            _ = try await gateway.openReady("channel=a")
        }
    }

    @Test("are limited for each address, and for the gateway", arguments: [(2, 100, 429), (0, 2, 503)])
    func places(_ limit: (ofAddress: Int, ofGateway: Int, status: Int)) async throws {
        var limits = Limits()
        limits.streamsPerAddress = limit.ofAddress
        limits.streamsInGateway = limit.ofGateway
        try await StreamHarness.run(limits: limits) { gateway in
            let stream = try await gateway.openReady("channel=a").reader
            let poller = try Poller(gateway)
            try poller.ask("channel=a&cursor=latest")
            await gateway.until { $0.polls.assumeIsolated { $0.count } == 1 }
            let refused = try await gateway.open("channel=a")
            #expect(refused.status == limit.status)
            #expect(refused.header("Retry-After") != nil)
            let second = try Poller(gateway)
            try second.ask("channel=a&cursor=latest")
            #expect(await second.answer().status == limit.status)
            stream.close()
            await gateway.until { $0.roll.count == 0 }
            try second.ask("channel=a&cursor=latest")
            await gateway.until { $0.polls.assumeIsolated { $0.count } == 2 }
            #expect(try await gateway.open("channel=a").status == limit.status)
            try await gateway.emit("a", 1)
            #expect(await poller.answer().numbers == [1])
            #expect(await second.answer().numbers == [1])
            _ = try await gateway.openReady("channel=a")
        }
    }

    @Test("are checked when their own credential ends, and not for others of the same key")
    func ends() async throws {
        try await StreamHarness.run { gateway in
            let owners = ConnectionLimits(limits: gateway.service.liveLimits)
            let now = gateway.service.clock.now
            func token(_ n: Int, ends: Int64?) -> Caller {
                var caller = Caller(app: StreamHarness.app, credential: "k", scopes: [.read])
                caller.user = "user\(n)"
                caller.expires = ends.map { now.adding(.seconds($0)) }
                return caller
            }
            func ended(after seconds: Int64) -> [String] {
                owners.ended(at: now.adding(.seconds(seconds))).compactMap(\.caller.user).sorted()
            }
            var random = SeededGenerator()
            let lives = (1...200).map { Int64($0) }.shuffled(using: &random)
            let all = lives.map { owners.enter(token(Int($0), ends: $0), from: .loopback) }
            let endless = owners.enter(token(0, ends: nil), from: .loopback)
            #expect(ended(after: 0) == [])
            for second: Int64 in 1...3 {
                #expect(ended(after: second) == (1...second).map { "user\($0)" }, "seed \(random.seed)")
            }
            // The credential's check excludes polls that have left, includes those that came back, and leaves out
            // others of the same key.
            for owner in all { owners.leave(owner, from: .loopback) }
            #expect(ended(after: 3) == [])
            let again = owners.enter(token(150, ends: 150), from: .loopback)
            #expect(ended(after: 149) == [])
            #expect(ended(after: 1000) == ["user150"])
            // Many polls that come and go leave no entry behind.
            for n in 0..<5000 { owners.leave(owners.enter(token(n, ends: 3600), from: .loopback), from: .loopback) }
            #expect(owners.expiryCount < 200)
            #expect(owners.change(again.key, expires: now.adding(.seconds(5))))
            #expect(ended(after: 5) == ["user0", "user150"])
            owners.leave(again, from: .loopback)
            owners.leave(endless, from: .loopback)
            #expect(ended(after: 4000) == [])
        }
    }

    @Test("are limited for each user, including those from tickets")
    func user() async throws {
        var limits = Limits()
        limits.streamsPerUser = 1
        try await StreamHarness.run(limits: limits) { gateway in
            func ticket(_ user: String) async throws -> String {
                let body = #"{"channels":["a"],"user":"\#(user)"}"#
                let answer = try await gateway.call("POST", "/v1/stream-tickets", body)
                return answer.json?["ticket"]?.string ?? ""
            }
            let ana = try await gateway.openReady("ticket=\(try await ticket("ana"))", as: nil).reader
            let refused = try await gateway.open("ticket=\(try await ticket("ana"))", as: nil)
            #expect(refused.status == 429)
            let ben = try await gateway.openReady("ticket=\(try await ticket("ben"))", as: nil).reader
            let nobody = try await gateway.openReady("channel=a").reader
            for reader in [ana, ben, nobody] { reader.close() }
        }
    }

    @Test("have a body when the first one ends at the start of the log without events") func emptyLog() {
        var printer = PollPrinter()
        let batch = PollBatch([], limit: 100, upTo: .zero)
        let responses = [printer.answer(batch), printer.answer(batch)]
        #expect(responses.allSatisfy { $0.status == 200 })
    }

    @Test("are printed off the loop when their answer is long", arguments: [(1, true), (5, false)])
    func longAnswer(_ count: Int, isOnLoop: Bool) async throws {
        try await StreamHarness.run { gateway in
            let loop = gateway.streams.polls.loop
            let channel = ChannelID("a", in: StreamHarness.app)
            let draft = EventDraft(
                channel: channel, type: "a.b", data: JSONText(string: String(repeating: "x", count: 20_000)))
            let events = (1...UInt64(count)).map { Event(timetoken: Timetoken($0), draft: draft) }
            let batch = PollBatch(events, limit: 100, upTo: .zero)
            let wasOnLoop = await Task(executorPreference: LoopTasks(loop)) {
                await batch.printed { _ in loop.isCurrent }
            }.value
            #expect(wasOnLoop == isOnLoop)
        }
    }
}
