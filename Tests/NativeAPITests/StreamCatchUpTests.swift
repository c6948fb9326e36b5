import ChatCore
import ChatModel
import HTTPServer
import JSON
import TestSupport
import Testing

@testable import NativeAPI

@Suite("Catching up", .timeLimit(.minutes(2))) struct StreamCatchUpTests {
    @Test("is read once for all streams that resume at the same place")
    func shared() async throws {
        try await StreamHarness.run { gateway in
            let start = try await gateway.emit("a", 0)
            for n in 1...600 { try await gateway.emit("a", n) }
            let live = try await gateway.openReady("channel=a").reader
            let all = try await withThrowingTaskGroup(of: [Int].self) { group in
                for _ in 0..<60 {
                    group.addTask { try await Self.resume(gateway, after: start, count: 600) }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            for numbers in all { #expect(firstFault(of: numbers, in: 1...600) == nil) }
            // There are four pages. Streams that are served at the same moment may each read the same page.
            let metrics = await gateway.streams.metrics
            #expect(metrics.catchUps == 60)
            #expect(metrics.pagesRead <= 16)
            try await gateway.emit("a", 601)
            #expect(await live.numbers(1) == [601])
        }
    }

    @Test("is read once for streams that resume near each other, each from its own place")
    func near() async throws {
        try await StreamHarness.run { gateway in
            var tokens: [Timetoken] = []
            for n in 0...300 { tokens.append(try await gateway.emit("a", n)) }
            let live = try await gateway.openReady("channel=a").reader
            for n in [0, 1, 17, 63, 64, 65, 200, 299] {
                let numbers = try await Self.resume(gateway, after: tokens[n], count: 300 - n)
                #expect(firstFault(of: numbers, in: n + 1...300) == nil)
            }
            #expect(await gateway.streams.metrics.pagesRead <= 3)
            live.close()
        }
    }

    @Test("of a stream that is alone goes through the same pages")
    func alone() async throws {
        try await StreamHarness.run { gateway in
            let pad = String(repeating: "x", count: 30_000)
            let start = try await gateway.emit("a", 0)
            for n in 1...200 { try await gateway.emit("a", n, data: #"{"n":\#(n),"pad":"\#(pad)"}"#) }
            let numbers = try await Self.resume(gateway, after: start, count: 200)
            #expect(firstFault(of: numbers, in: 1...200) == nil)
        }
    }

    @Test("never shows events that were deleted after other streams were shown them")
    func deleted() async throws {
        try await StreamHarness.run { gateway in
            var tokens: [Timetoken] = []
            for n in 0...9 { tokens.append(try await gateway.emit("a", n)) }
            let live = try await gateway.openReady("channel=a").reader
            #expect(try await Self.resume(gateway, after: tokens[0], count: 9) == Array(1...9))
            let count = try await gateway.chat.deleteEvents(after: tokens[4], before: tokens[6], in: "a")
            #expect(count == 1)
            #expect(try await Self.resume(gateway, after: tokens[0], count: 8) == [1, 2, 3, 4, 6, 7, 8, 9])
            live.close()
        }
    }

    @Test("never shows events that expired after other streams were shown them")
    func expired() async throws {
        try await StreamHarness.run { gateway in
            let start = try await gateway.emit("a", 0)
            try await gateway.emit("a", 1)
            var passing = EventDraft.event(
                channel: "a", type: "order.paid", data: JSONText(trusted: Array(#"{"n":2}"#.utf8)))
            passing.timeToLive = .seconds(60)
            _ = try await gateway.chat.emit(passing)
            try await gateway.emit("a", 3)
            let live = try await gateway.openReady("channel=a").reader
            #expect(try await Self.resume(gateway, after: start, count: 3) == [1, 2, 3])
            gateway.clock.advance(by: .seconds(61))
            #expect(try await Self.resume(gateway, after: start, count: 2) == [1, 3])
            live.close()
        }
    }

    @Test("of several streams of one feed, cut at random moments under load, loses and repeats nothing")
    func cuts() async throws {
        try await StreamHarness.run { gateway in
            let total = 1500
            let start = try await gateway.emit("a", 0)
            let writer = Task {
                for n in 1...total { try await gateway.emit(n % 2 == 0 ? "a" : "b", n) }
            }
            let all = try await withThrowingTaskGroup(of: [Int].self) { group in
                for seed in 1...6 {
                    group.addTask { try await Self.follow(gateway, from: start, to: total, seed: UInt64(seed)) }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            try await writer.value
            for numbers in all { #expect(firstFault(of: numbers, in: 1...total) == nil) }
        }
    }

    /// The numbers of the events after a position, read by a separate stream.
    private static func resume(
        _ gateway: StreamHarness, after position: Timetoken?, count: Int
    ) async throws -> [Int] {
        let reader = try await gateway.open("channel=a&cursor=\(position?.description ?? "earliest")")
        defer { reader.close() }
        return await reader.numbers(count)
    }

    /// Reads two channels to the end with many interruptions.
    private static func follow(
        _ gateway: StreamHarness, from start: Timetoken, to last: Int, seed: UInt64
    ) async throws -> [Int] {
        var random = SeededGenerator(seed: seed)
        var cursor = start.description
        var seen: [Int] = []
        while seen.count < last {
            let reader = try await gateway.open("channel=a&channel=b", lastEventID: cursor)
            let wanted = Int.random(in: 0...120, using: &random)
            var taken = 0
            while taken < wanted, seen.count < last, let event = await reader.next() {
                guard event.hasID, let number = event.number else { continue }
                seen.append(number)
                cursor = event.lastEventID
                taken += 1
            }
            reader.close()
        }
        return seen
    }
}
