import ChatModel
import JSON
import Testing

@Suite("Rate meters") struct RateMeterTests {
    private let now = Timetoken(17_324_123_456_789_012)

    @Test("accept a window's quota at once, then as much as time restores")
    func burstAndRefill() {
        let meter = RateMeter(RatePolicy(10, in: .seconds(10)))
        #expect((0..<10).allSatisfy { _ in meter.consume(1, at: now) == nil })
        #expect(meter.consume(1, at: now) == .seconds(1))
        #expect(meter.state(at: now) == (left: 0, full: 10))
        let later = now.adding(.milliseconds(2500))
        #expect(meter.state(at: later).left == 2)
        #expect(meter.consume(2, at: later) == nil)
        #expect(meter.consume(1, at: later) == .milliseconds(500))
    }

    @Test("refuse more events at once than a window allows, with the limit, and count none of them")
    func largerThanTheWindow() throws {
        let events = RatePolicies(events: RatePolicy(5, in: .seconds(10)))
        let app = RateMeters(events, name: "app")
        let key = try #require(
            RateMeters(RatePolicies(events: RatePolicy(100, in: .seconds(10))), name: "key", next: app))
        let error = #expect(throws: ChatError.self) { try key.admit(events: 6, at: now) }
        #expect(error?.code == .tooLarge && error?.slug == "too_many_events" && error?.retryAfter == nil)
        #expect(error?.members.first { $0.name == "limit" }?.value.description == "5")
        #expect(key.states(at: now).map(\.left) == [100, 5])
        try key.admit(events: 5, at: now)
    }

    @Test("count as full after the clock was set back")
    func clockStepsBack() {
        let meter = RateMeter(RatePolicy(1, in: .seconds(10)))
        #expect(meter.consume(1, at: now) == nil)
        #expect(meter.consume(1, at: now.adding(.seconds(-3600))) == nil)
        #expect(meter.consume(1, at: now.adding(.seconds(-3600))) == .seconds(10))
    }

    @Test("accept no more than the quota from concurrent requests")
    func concurrentTakers() async {
        let meter = RateMeter(RatePolicy(1000, in: .seconds(3600)))
        let passed = await withTaskGroup(of: Int.self) { [now] group in
            for _ in 0..<8 {
                group.addTask { (0..<500).count { _ in meter.consume(1, at: now) == nil } }
            }
            return await group.reduce(0, +)
        }
        #expect(passed == 1000)
    }

    @Test("keep the bucket of an unchanged policy")
    func formerMeters() throws {
        let policies = RatePolicies(requests: RatePolicy(1, in: .seconds(60)))
        let first = try #require(RateMeters(policies, name: "key"))
        try first.admitRequest(at: now)
        let second = try #require(RateMeters(policies, name: "key", former: first))
        #expect(throws: ChatError.self) { try second.admitRequest(at: now) }
        let changed = RatePolicies(requests: RatePolicy(2, in: .seconds(60)))
        try #require(RateMeters(changed, name: "key", former: first)).admitRequest(at: now)
    }

    @Test("charge a key nothing for requests that its app's limit refuses")
    func givesBack() throws {
        let app = RateMeters(
            RatePolicies(requests: RatePolicy(1, in: .seconds(10)), events: RatePolicy(3, in: .seconds(30))),
            name: "app")
        let key = try #require(
            RateMeters(
                RatePolicies(requests: RatePolicy(5, in: .seconds(10)), events: RatePolicy(5, in: .seconds(30))),
                name: "key", next: app))
        try key.admitRequest(at: now)
        try key.admit(events: 3, at: now)
        for _ in 0..<9 {
            #expect(throws: ChatError.self) { try key.admitRequest(at: now) }
            #expect(throws: ChatError.self) { try key.admit(events: 2, at: now) }
        }
        #expect(key.requests?.state(at: now).left == 4)
        #expect(key.events?.state(at: now).left == 2)
    }
}
