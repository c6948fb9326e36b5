import TestSupport
import Testing

@testable import HTTPClient

@Suite("Host limits") struct HostLimitsTests {
    private final class Item {
        let name: String
        init(_ name: String) { self.name = name }
    }

    private func lane(_ admission: HostLimits<Item>.LaneAdmission) -> HostLimits<Item>.Lane? {
        switch admission {
        case .start(let lane), .wait(let lane): lane
        case .refuse: nil
        }
    }

    private func starts(_ admission: HostLimits<Item>.LaneAdmission) -> Bool {
        if case .start = admission { true } else { false }
    }

    @Test("start up to the limit of a host, and others beside it")
    func hostLimit() {
        var hostLimits = HostLimits<Item>(limit: 10, hostLimit: 2, waitingLimit: 10)
        let admissions = ["a", "a", "a", "b"].map { hostLimits.admit(Item($0), to: $0) }
        #expect(admissions.map(starts) == [true, true, false, true])
        #expect(hostLimits.next() == nil)
    }

    @Test("start a waiting request when a slot becomes free")
    func release() throws {
        var hostLimits = HostLimits<Item>(limit: 10, hostLimit: 1, waitingLimit: 10)
        let first = try #require(lane(hostLimits.admit(Item("1"), to: "a")))
        _ = hostLimits.admit(Item("2"), to: "a")
        _ = hostLimits.admit(Item("3"), to: "a")
        hostLimits.release(first)
        let started = hostLimits.next()
        let next = try #require(started)
        #expect(next.0.name == "2")
        #expect(hostLimits.next() == nil)
        // A later request does not overtake.
        hostLimits.release(next.1)
        #expect(!starts(hostLimits.admit(Item("4"), to: "a")))
        #expect(hostLimits.next()?.0.name == "3")
    }

    @Test("serve hosts in turn when all wait for the common limit")
    func turns() throws {
        var hostLimits = HostLimits<Item>(limit: 1, hostLimit: 5, waitingLimit: 100)
        var running = try #require(lane(hostLimits.admit(Item("first"), to: "x")))
        for number in 0..<3 {
            for host in ["a", "b", "c"] { _ = hostLimits.admit(Item("\(host)\(number)"), to: host) }
        }
        var order: [String] = []
        for _ in 0..<9 {
            hostLimits.release(running)
            let started = hostLimits.next()
            let (item, lane) = try #require(started)
            order.append(item.name)
            running = lane
        }
        #expect(order == ["a0", "b0", "c0", "a1", "b1", "c1", "a2", "b2", "c2"])
    }

    @Test("refuse requests beyond the limit of waiting ones, and accept them again when one withdrew")
    func waitingLimit() throws {
        var hostLimits = HostLimits<Item>(limit: 1, hostLimit: 1, waitingLimit: 1)
        _ = hostLimits.admit(Item("1"), to: "a")
        let second = Item("2")
        let waiting = try #require(lane(hostLimits.admit(second, to: "a")))
        #expect(lane(hostLimits.admit(Item("3"), to: "a")) == nil)
        #expect(lane(hostLimits.admit(Item("3"), to: "b")) == nil)
        hostLimits.withdraw(second, from: waiting)
        hostLimits.withdraw(second, from: waiting)
        #expect(lane(hostLimits.admit(Item("4"), to: "a")) != nil)
        #expect(lane(hostLimits.admit(Item("5"), to: "a")) == nil)
    }

    @Test("return all waiting requests at the end")
    func drain() throws {
        var hostLimits = HostLimits<Item>(limit: 1, hostLimit: 1, waitingLimit: 10)
        _ = hostLimits.admit(Item("running"), to: "a")
        for host in ["a", "b", "b"] { _ = hostLimits.admit(Item(host), to: host) }
        #expect(hostLimits.drain().map(\.name).sorted() == ["a", "b", "b"])
        #expect(hostLimits.drain().isEmpty)
    }

    @Test("never exceed their limits and lose no request, in any order of events")
    func random() {
        var random = SeededGenerator()
        let seed = random.seed
        var hostLimits = HostLimits<Item>(limit: 5, hostLimit: 2, waitingLimit: 20)
        var active: [(String, HostLimits<Item>.Lane)] = []
        var waiting: [(Item, HostLimits<Item>.Lane)] = []
        for _ in 0..<20_000 {
            switch random.below(5) {
            case 0, 1:
                let item = Item("h\(random.below(4))")
                switch hostLimits.admit(item, to: item.name) {
                case .start(let lane): active.append((item.name, lane))
                case .wait(let lane): waiting.append((item, lane))
                case .refuse: #expect(waiting.count == 20, "seed \(seed)")
                }
            case 2 where !waiting.isEmpty:
                let (item, lane) = waiting.remove(at: random.below(waiting.count))
                hostLimits.withdraw(item, from: lane)
            case 3, 4:
                if !active.isEmpty { hostLimits.release(active.remove(at: random.below(active.count)).1) }
            default: break
            }
            while let (item, lane) = hostLimits.next() {
                waiting.removeAll { $0.0 === item }
                active.append((item.name, lane))
            }
            let perHost = Dictionary(grouping: active, by: \.0).values.map(\.count).max() ?? 0
            #expect(active.count <= 5 && perHost <= 2, "seed \(seed)")
            // No request waits while a slot is free.
            let full = Set(Dictionary(grouping: active, by: \.0).filter { $0.value.count == 2 }.keys)
            #expect(active.count == 5 || waiting.allSatisfy { full.contains($0.0.name) }, "seed \(seed)")
        }
    }
}
