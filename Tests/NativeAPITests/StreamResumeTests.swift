import ChatCore
import ChatModel
import HTTPServer
import JSON
import TestSupport
import Testing

@testable import NativeAPI

@Suite("Resuming a stream", .timeLimit(.minutes(2))) struct StreamResumeTests {
    @Test("continues after the last id, through the log to live events")
    func resume() async throws {
        try await StreamHarness.run { gateway in
            let first = try await gateway.emit("a", 1)
            for n in 2...700 { try await gateway.emit("a", n) }
            let (reader, _, cursor) = try await gateway.openReady("channel=a", lastEventID: first.description)
            #expect(cursor == first.description)
            let read = Task { await reader.numbers(999) }
            for n in 701...1000 { try await gateway.emit("a", n) }
            #expect(firstFault(of: await read.value, in: 2...1000) == nil)
            #expect(reader.faults == 0)
        }
    }

    @Test("takes the header before the query, and the two reserved words")
    func cursors() async throws {
        try await StreamHarness.run { gateway in
            for n in 1...3 { try await gateway.emit("a", n) }
            let second = try await gateway.emit("a", 4)
            for n in 5...6 { try await gateway.emit("a", n) }
            let header = try await gateway.openReady("channel=a&cursor=earliest", lastEventID: "\(second)")
            #expect(await header.reader.numbers(2) == [5, 6])
            let query = try await gateway.openReady("channel=a&cursor=\(second)", lastEventID: "")
            #expect(await query.reader.numbers(2) == [5, 6])
            let earliest = try await gateway.openReady("channel=a&cursor=earliest")
            #expect(await earliest.reader.numbers(6) == Array(1...6))
            let latest = try await gateway.openReady("channel=a&cursor=latest")
            try await gateway.emit("a", 7)
            #expect(await latest.reader.numbers(1) == [7])
            #expect(try await gateway.open("channel=a&cursor=evt_1").status == 400)
        }
    }

    @Test(
        "continues from now, and reports a gap, where the id is of another gateway",
        arguments: ["1:7:42", "evt_1", String(repeating: "9", count: 400)])
    func strangeID(id: String) async throws {
        try await StreamHarness.run { gateway in
            let last = try await gateway.emit("a", 1)
            let reader = try await gateway.open("channel=a", lastEventID: id)
            #expect(reader.status == 200)
            #expect(reader.header("Gateway-Cursor") == "\(last)")
            #expect(await reader.next()?.type == "stream.ready")
            let gap = try #require(await reader.next())
            #expect(gap.type == "stream.gap" && gap["resumed_from"] == "\(last)")
            #expect(gap["requested"] == String(id.prefix(64)))
            try await gateway.emit("a", 2)
            #expect(await reader.numbers(1) == [2])
            let poll = try await HTTPExchange.send(
                "GET", "/v1/poll?channel=a", port: gateway.port,
                headers: [("Authorization", "Bearer dev"), ("Last-Event-ID", id)], body: "")
            #expect(poll.status == 200 && poll.json?["gap"]?["missed"]?.string == "unknown")
        }
    }

    @Test("says a gap first when its cursor is not of this log, and where it starts instead")
    func gap() async throws {
        try await StreamHarness.run { gateway in
            let last = try await gateway.emit("a", 1)
            let future = last.adding(.seconds(60))
            let reader = try await gateway.open("channel=a", lastEventID: "\(future)")
            #expect(reader.header("Gateway-Cursor") == "\(last)")
            let ready = try #require(await reader.next())
            // The gap carries the position: a client that is cut off between the two receives the gap again.
            #expect(ready.type == "stream.ready" && !ready.hasID)
            let gap = try #require(await reader.next())
            #expect(gap.type == "stream.gap")
            #expect(gap.lastEventID == "\(last)")
            #expect(
                gap.data
                    == #"{"requested":"\#(future)","resumed_from":"\#(last)","reason":"future","missed":"unknown"}"#)
            try await gateway.emit("a", 2)
            #expect(await reader.numbers(1) == [2])
            #expect(await gateway.streams.metrics.gaps == 1)
        }
    }

    @Test("reports a gap when retention has removed events in between")
    func retention() async throws {
        var limits = Limits()
        limits.passingAge = .seconds(120)
        try await StreamHarness.run(limits: limits) { gateway in
            let old = try await gateway.emit("a", 1)
            try await gateway.emit("a", 2)
            try await gateway.service.engine.log.setRetention(.seconds(3600), of: StreamHarness.app)
            gateway.clock.advance(by: .seconds(4 * 24 * 3600))
            try await gateway.emit("a", 3)
            let reader = try await gateway.open("channel=a", lastEventID: "\(old)")
            #expect(await reader.next()?.type == "stream.ready")
            let gap = try #require(await reader.next())
            #expect(gap.type == "stream.gap")
            #expect(await reader.numbers(1) == [3])
        }
    }

    @Test("50 times at random moments under load loses nothing, repeats nothing, keeps the order")
    func cuts() async throws {
        try await StreamHarness.run { gateway in
            let total = 3000
            let channels = ["a.x", "a.y", "b"]
            var cursor = try await gateway.chat.watermark().description
            let writer = Task {
                for n in 1...total {
                    try await gateway.emit(channels[n % 3], n, data: #"{"n":\#(n),"pad":"\#(Self.pad(n))"}"#)
                }
            }
            var random = SeededGenerator(seed: 7)
            var seen: [Int] = []
            for _ in 0..<50 {
                let reader = try await gateway.open("channel=a.*&channel=b", lastEventID: cursor)
                let wanted = Int.random(in: 0...60, using: &random)
                var taken = 0
                while taken < wanted, let event = await reader.next() {
                    guard event.hasID, let number = event.number else { continue }
                    seen.append(number)
                    cursor = event.lastEventID
                    taken += 1
                }
                reader.close()
            }
            let last = try await gateway.open("channel=a.*&channel=b", lastEventID: cursor)
            seen += await last.numbers(total - seen.count)
            try await writer.value
            #expect(firstFault(of: seen, in: 1...total) == nil)
        }
    }

    private static func pad(_ n: Int) -> String { String(repeating: "x", count: n % 97 * 11) }

    @Test("while more is written than its feed's log holds ends up live all the same")
    func moved() async throws {
        var limits = Limits()
        limits.feedBytes = 4096
        try await StreamHarness.run(limits: limits) { gateway in
            let total = 2000
            var cursor = try await gateway.chat.watermark().description
            let writer = Task { for n in 1...total { try await gateway.emit("a", n) } }
            var seen: [Int] = []
            // Live readers also fall out of a log this small; they reconnect.
            while seen.count < total {
                let reader = try await gateway.open("channel=a", lastEventID: cursor)
                while seen.count < total, let event = await reader.next() {
                    guard event.hasID, let number = event.number else { continue }
                    seen.append(number)
                    cursor = event.lastEventID
                }
                reader.close()
            }
            try await writer.value
            #expect(firstFault(of: seen, in: 1...total) == nil)
        }
    }

    @Test("of many at once is served fairly, and live streams lose nothing")
    func storm() async throws {
        try await StreamHarness.run { gateway in
            let start = try await gateway.emit("a", 0)
            for n in 1...600 { try await gateway.emit("a", n) }
            let live = try await gateway.openReady("channel=a").reader
            let readers = try await withThrowingTaskGroup(of: [Int].self) { group in
                for _ in 0..<60 {
                    group.addTask {
                        let reader = try await gateway.open("channel=a", lastEventID: "\(start)")
                        defer { reader.close() }
                        return await reader.numbers(700)
                    }
                }
                for n in 601...700 { try await gateway.emit("a", n) }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            for reader in readers { #expect(firstFault(of: reader, in: 1...700) == nil) }
            #expect(firstFault(of: await live.numbers(100), in: 601...700) == nil)
        }
    }

    @Test("with a cursor the hub has not come to yet does not repeat that event")
    func aheadOfTheHub() async throws {
        try await StreamHarness.run { gateway in
            for n in 1...40 {
                let at = try await gateway.emit("a", n)
                // Usually the response to the emit arrives before the hub has seen the commit.
                let (reader, _, _) = try await gateway.openReady("channel=a", lastEventID: "\(at)")
                try await gateway.emit("a", -n)
                #expect(await reader.numbers(1) == [-n])
                reader.close()
            }
        }
    }

    @Test("does not wait for an event that was deleted before the hub saw it")
    func deleted() async throws {
        try await StreamHarness.run { gateway in
            let log = gateway.service.engine.log
            var commits = await log.committed().makeAsyncIterator()
            let at = try await gateway.emit("a", 1)
            let count = try await log.delete(
                after: Timetoken(at.rawValue - 1), before: Timetoken(at.rawValue + 1),
                in: ChannelID("a", in: StreamHarness.app))
            #expect(count == 1)
            #expect(await commits.next()?.watermark == at)
        }
    }

    @Test("by a slow reader loses nothing after it was notified and closed")
    func slow() async throws {
        var limits = Limits()
        limits.feedBytes = 64 * 1024
        try await StreamHarness.run(limits: limits) { gateway in
            let (reader, id, start) = try await gateway.openReady("channel=a", receiveBuffer: 4096)
            reader.pause()
            let pad = String(repeating: "x", count: 32 * 1024)
            var sent = 0
            while await gateway.streams.metrics.slowCloses == 0 {
                sent += 1
                try await gateway.emit("a", sent, data: #"{"n":\#(sent),"pad":"\#(pad)"}"#)
            }
            reader.resume()
            var seen: [Int] = []
            var cursor = start
            while let event = await reader.next() {
                guard event.hasID else { continue }
                seen.append(event.number ?? -1)
                cursor = event.lastEventID
            }
            #expect(seen.count < sent)
            let again = try await gateway.openReady("channel=a", lastEventID: cursor)
            seen += await again.reader.numbers(sent - seen.count)
            #expect(firstFault(of: seen, in: 1...sent) == nil)

            let system = try await gateway.openReady("channel=%24system&cursor=earliest").reader
            await gateway.tick()
            let told = try #require(await system.next())
            #expect(told.type == "stream.lagged")
            #expect(told.json?["data"]?["count"]?.integer == 1)
            #expect(told.json?["data"]?["stream"]?.string == id)
        }
    }

    @Test("has the same cursor in SSE, NDJSON and polls")
    func oneCursor() async throws {
        try await StreamHarness.run { gateway in
            let start = try await gateway.chat.watermark()
            for n in 1...30 { try await gateway.emit("a", n) }
            let sse = try await gateway.openReady("channel=a", lastEventID: "\(start)").reader
            var cursor = ""
            for _ in 1...10 { cursor = await sse.next()?.lastEventID ?? "" }
            let lines = try await gateway.open("channel=a&cursor=\(cursor)", accept: "application/x-ndjson")
            _ = await lines.nextLine()
            for n in 11...20 {
                let line = try JSONDocument(Array(try #require(await lines.nextLine()).utf8)).root
                #expect(line["data"]?["n"]?.integer == Int64(n))
                cursor = line["timetoken"]?.string ?? ""
            }
            let poll = try await gateway.call("GET", "/v1/poll?channel=a&limit=10&cursor=\(cursor)")
            #expect(poll.status == 200, "\(String(decoding: poll.body, as: UTF8.self))")
            let numbers = poll.json?["data"]?.elements?.compactMap { $0["data"]?["n"]?.integer }
            #expect(numbers == Array(21...30))
            let end = try #require(poll.json?["cursor"]?.string)
            let again = try await gateway.openReady("channel=a", lastEventID: end)
            try await gateway.emit("a", 31)
            #expect(await again.reader.numbers(1) == [31])
        }
    }
}

/// The first place where a sequence does not count up; nil when it does to the end.
func firstFault(of seen: [Int], in expected: ClosedRange<Int>) -> String? {
    for (index, number) in expected.enumerated() {
        guard index < seen.count else { return "ends before \(number)" }
        guard seen[index] == number else { return "\(seen[index]) in place of \(number)" }
    }
    return seen.count == expected.count ? nil : "goes on with \(seen[expected.count])"
}
