import ChatModel
import Locking
import Testing

@testable import ChatCore

@Suite("An event with many filters") struct FeedTrialTests {
    /// Filters that no index answers.
    private func feeds(_ count: Int, from first: Int = 0) throws -> [Feed] {
        try (first..<first + count).map { number in
            Feed(selection(["a"], filter: try Filter("data.n % 2 == 0 && \(number) >= 0")))
        }
    }

    private let past = MonotonicTime(nanoseconds: 0)

    @Test("is tried on some of them in each turn, and on each once")
    func turns() throws {
        var index = FeedIndex()
        let feeds = try feeds(100)
        for feed in feeds { index.insert(feed) }
        var matching = FeedMatching(event(1, on: "a", data: #"{"n":2}"#))
        var found: [Feed]?
        var turns = 0
        while found == nil, turns < 100 {
            turns += 1
            found = index.feeds(for: &matching, until: past)
        }
        #expect(turns == 7, "sixteen at a time")
        #expect(Set((found ?? []).map(ObjectIdentifier.init)) == Set(feeds.map(ObjectIdentifier.init)))
        #expect(found?.count == 100)
        let costOfOne = matching.subject.spent / 100
        #expect(matching.subject.spent == 100 * costOfOne)
    }

    @Test("reaches a feed that attached between two turns, and none that detached")
    func changed() throws {
        var index = FeedIndex()
        let first = try feeds(40)
        for feed in first { index.insert(feed) }
        var matching = FeedMatching(event(1, on: "a", data: #"{"n":2}"#))
        #expect(index.feeds(for: &matching, until: past) == nil)
        for feed in first.prefix(20) { index.remove(feed) }
        let late = try feeds(10, from: 100)
        for feed in late { index.insert(feed) }
        var found: [Feed]?
        while found == nil { found = index.feeds(for: &matching, until: past) }
        let wanted = Set((first.dropFirst(20) + late).map(ObjectIdentifier.init))
        #expect(Set((found ?? []).map(ObjectIdentifier.init)) == wanted)
    }

    @Test("is passed to each feed once, in order, and to later feeds from the hub's position on")
    func hub() async throws {
        var limits = Limits()
        limits.hubTurn = .zero
        try await withScriptedService(limits: limits) { service, log in
            let sinks = (0..<100).map { _ in RecordingSink() }
            for (number, sink) in sinks.enumerated() {
                let filter = try Filter("data.n % 2 == 0 && \(number) >= 0")
                await service.hub.attach(sink, to: selection(["a"], filter: filter))
            }
            log.commit((1...40).map { event(UInt64($0), on: "a", data: "{\"n\":\($0)}") })
            var late: [(sink: RecordingSink, position: Timetoken)] = []
            while await service.hub.position < 40 {
                let sink = RecordingSink()
                let filter = try Filter("data.n % 2 == 0 && \(1000 + late.count) >= 0")
                let position = await service.hub.attachNoting(sink, to: selection(["a"], filter: filter))
                late.append((sink, position))
            }
            #expect(await service.hub.reach(40))
            let even = (1...20).map { UInt64(2 * $0) }
            for sink in sinks { #expect(sink.timetokens == even) }
            for (sink, position) in late { #expect(sink.timetokens == even.filter { $0 > position.rawValue }) }
        }
    }

    @Test("has the same receivers in a dry run")
    func dryRun() async throws {
        var limits = Limits()
        limits.hubTurn = .zero
        try await withScriptedService(limits: limits) { service, _ in
            for number in 0..<50 {
                let filter = try Filter("data.n % 2 == 0 && \(number) >= 0")
                await service.hub.attach(RecordingSink(), to: selection(["a"], filter: filter))
            }
            #expect(await service.hub.sinks(receiving: event(1, on: "a", data: #"{"n":4}"#)).count == 50)
            #expect(await service.hub.sinks(receiving: event(1, on: "a", data: #"{"n":3}"#)).isEmpty)
        }
    }
}

extension Hub {
    /// Attaches a sink and returns the position after which it receives events.
    fileprivate func attachNoting(_ sink: any FeedSink, to selection: Selection) -> Timetoken {
        attach(sink, to: selection)
        return position
    }
}
