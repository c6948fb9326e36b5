import ChatModel
import EngineConformance
import Locking
import Postgres
import PostgresSupport
import TestSupport
import Testing

@testable import ClusterEngine

/// Two nodes over one database, and what the tests change in it.
private struct TwoNodes {
    let clock = ManualClock()
    let first: ClusterEngine
    let second: ClusterEngine
    private let connection: Connection
    let subscriber = SubscriberID("wh", in: AppID("app"))

    init(withBus: Bool = false) async throws {
        let url = try await PostgresServer.shared().makeDatabase()
        let bus = LocalBus()
        var engines: [ClusterEngine] = []
        for _ in 0..<2 {
            let settings = ClusterEngineSettings(clock: clock)
            let store = try await PostgresStore.open(
                ConnectionSettings(connectionInfo: url, applicationName: "test"), readers: 4, logger: settings.logger)
            engines.append(
                try await ClusterEngine(store: store, bus: withBus ? bus.connect() : nil, settings: settings))
        }
        (first, second) = (engines[0], engines[1])
        connection = try await Connection.open(ConnectionSettings(connectionInfo: url))
    }

    /// Ends the lease of the first node, as if it had not been renewed.
    func endLeaseOfFirst() async throws {
        _ = try await connection.run([
            Statement("UPDATE node SET lease_until = 0 WHERE id = (SELECT min(id) FROM node)")
        ])
    }

    func plan(
        _ events: ClosedRange<UInt64>, for subscribers: [SubscriberID]? = nil, on node: ClusterEngine
    ) async throws {
        let items = (subscribers ?? [subscriber]).flatMap { subscriber in
            events.map {
                PlannedDelivery(
                    id: subscriber == self.subscriber ? "dlv_\($0)" : "dlv_\(subscriber.name)_\($0)",
                    subscriber: subscriber, event: Timetoken($0), type: "t", channel: "room")
            }
        }
        let cursor = CursorName("c")
        try await node.deliveries.plan(
            items, cursor: cursor, from: try await node.deliveries.cursor(cursor), to: Timetoken(events.upperBound))
    }

    func outcome(_ verdict: DeliveryOutcome.Verdict) -> DeliveryOutcome {
        DeliveryOutcome(
            verdict, attempt: DeliveryAttempt(at: clock.now, status: 200, error: nil, durationMilliseconds: 1))
    }

    func close() async {
        await connection.close()
        await first.close()
        await second.close()
    }
}

@Suite(
    "Deliveries of a subscriber that several nodes could send",
    .enabled(if: PostgresServer.isInstalled, PostgresServer.installation), .timeLimit(.minutes(2)))
struct DeliveryOwnershipTests {
    @Test("are leased by the node that owns them only")
    func oneOwner() async throws {
        let nodes = try await TwoNodes()
        try await nodes.first.deliveries.set(.open, of: nodes.subscriber, concurrency: 2)
        try await nodes.plan(1...5, on: nodes.first)
        #expect(try await nodes.first.deliveries.lease(9, wait: .zero).map(\.delivery.event) == [1, 2])
        #expect(try await nodes.second.deliveries.lease(9, wait: .zero).isEmpty)
        await nodes.close()
    }

    @Test("continue on another node when the owner's lease has ended, and the owner's outcomes are void")
    func takeOver() async throws {
        let nodes = try await TwoNodes()
        try await nodes.plan(1...2, on: nodes.first)
        let old = try await nodes.first.deliveries.lease(9, wait: .zero)
        #expect(old.map(\.delivery.event) == [1, 2])
        #expect(try await nodes.first.deliveries.finish(old[0], nodes.outcome(.retry(at: nodes.clock.now))))
        try await nodes.endLeaseOfFirst()
        let new = try await nodes.second.deliveries.lease(9, wait: .zero)
        #expect(new.map(\.delivery.event) == [1, 2])
        #expect(new.map(\.delivery.attempts) == [1, 0], "the count of attempts goes on")
        #expect(try await nodes.first.deliveries.finish(old[1], nodes.outcome(.dead(reason: .skipped))) == false)
        #expect(try await nodes.first.deliveries.lease(9, wait: .zero).isEmpty)
        let recorded = try await nodes.second.deliveries.finish(new.map { ($0, nodes.outcome(.delivered)) })
        #expect(recorded == [true, true])
        let (delivery, attempts) = try #require(
            try await nodes.second.deliveries.delivery("dlv_2", in: nodes.subscriber.app))
        #expect(delivery.status == .delivered && attempts.count == 1)
        await nodes.close()
    }

    @Test("continue on another node when the owner has closed")
    func orderlyEnd() async throws {
        let nodes = try await TwoNodes()
        try await nodes.plan(1...1, on: nodes.first)
        #expect(try await nodes.first.deliveries.lease(9, wait: .zero).count == 1)
        await nodes.first.close()
        #expect(try await nodes.second.deliveries.lease(9, wait: .zero).count == 1)
        await nodes.close()
    }

    @Test("move to another node when the owner has nothing to do", arguments: [false, true])
    func givenUp(_ withBus: Bool) async throws {
        let nodes = try await TwoNodes(withBus: withBus)
        try await nodes.plan(1...1, on: nodes.first)
        let lease = try #require(try await nodes.first.deliveries.lease(9, wait: .zero).first)
        #expect(try await nodes.first.deliveries.finish(lease, nodes.outcome(.delivered)))
        async let next = nodes.second.deliveries.lease(9, wait: .seconds(60))
        try await nodes.plan(2...2, on: nodes.second)
        #expect(try await next.map(\.delivery.event) == [2])
        await nodes.close()
    }

    @Test("are sent by the owner when another node plans them", arguments: [false, true])
    func foreignPlan(_ withBus: Bool) async throws {
        let nodes = try await TwoNodes(withBus: withBus)
        try await nodes.plan(1...1, on: nodes.first)
        #expect(try await nodes.first.deliveries.lease(9, wait: .zero).count == 1)
        async let next = nodes.first.deliveries.lease(9, wait: .seconds(60))
        try await nodes.plan(2...2, on: nodes.second)
        #expect(try await next.map(\.delivery.event) == [2])
        await nodes.close()
    }

    @Test("of many busy subscribers are passed on to a node that has none", arguments: [false, true])
    func sharing(_ withBus: Bool) async throws {
        let nodes = try await TwoNodes(withBus: withBus)
        let subscribers = (1...12).map { SubscriberID("wh\($0)", in: nodes.subscriber.app) }
        for subscriber in subscribers { try await nodes.first.deliveries.set(.open, of: subscriber, concurrency: 1) }
        try await nodes.plan(1...3, for: subscribers, on: nodes.first)
        let before = try await nodes.first.deliveries.lease(99, wait: .zero)
        #expect(before.count == 12)
        #expect(try await nodes.second.deliveries.lease(99, wait: .seconds(3)).isEmpty, "all are in flight")
        let recorded = try await nodes.first.deliveries.finish(before.map { ($0, nodes.outcome(.delivered)) })
        #expect(!recorded.contains(false))
        let moved = try await nodes.second.deliveries.lease(99, wait: .seconds(60))
        #expect(!moved.isEmpty && moved.allSatisfy { $0.delivery.event == 2 })
        await nodes.close()
    }

    @Test("stay with their node while its sender waits for a failing receiver")
    func paced() async throws {
        let nodes = try await TwoNodes()
        let subscribers = (1...4).map { SubscriberID("wh\($0)", in: nodes.subscriber.app) }
        for subscriber in subscribers {
            try await nodes.first.deliveries.set(.open, of: subscriber, concurrency: 1)
            await nodes.first.deliveries.pace(subscriber, concurrency: 1, notBefore: nil)
        }
        try await nodes.plan(1...2, for: subscribers, on: nodes.first)
        let leases = try await nodes.first.deliveries.lease(99, wait: .zero)
        #expect(leases.count == 4)
        #expect(try await nodes.first.deliveries.finish(leases.map { ($0, nodes.outcome(.delivered)) }).count == 4)
        #expect(try await nodes.second.deliveries.lease(99, wait: .seconds(3)).isEmpty)
        #expect(try await nodes.first.deliveries.lease(99, wait: .zero).count == 4)
        await nodes.close()
    }

    @Test(
        "are shared evenly: a node with more than a quarter above its share passes a part of the surplus on",
        arguments: [
            (12, [0], 3), (12, [0, 0], 2), (12, [12], 0), (12, [20], 0), (12, [], 0), (3, [0], 1), (2, [0], 0),
            (60, [50], 0), (100, [50], 12), (100, [50, 200], 12),
        ])
    func surplus(_ own: Int, _ others: [Int], _ released: Int) {
        #expect(QueueTransaction.released(of: own, besides: others) == released)
    }

    @Test("do not move forever, whichever node claims those that another one passes on", arguments: 2...5)
    func settling(_ nodes: Int) {
        let claimers: [(_ free: [Int], _ counts: [Int]) -> Int?] = [
            { free, _ in free.first }, { free, _ in free.last },
            { free, counts in free.max { counts[$0] < counts[$1] } },
        ]
        for lanes in Array(1...60) + [333, 1000] {
            for claimer in claimers {
                var counts = [lanes] + Array(repeating: 0, count: nodes - 1)
                var restrainedUntil = Array(repeating: 0, count: nodes)
                func moves(_ node: Int) -> Int {
                    QueueTransaction.released(
                        of: counts[node], besides: counts.indices.filter { $0 != node }.map { counts[$0] })
                }
                // One round is a second, and a node that passes queues on claims none for three seconds.
                for second in 0..<120 {
                    for node in counts.indices where moves(node) > 0 {
                        restrainedUntil[node] = second + 3
                        let free = counts.indices.filter { $0 != node && restrainedUntil[$0] < second }
                        guard let other = claimer(free, counts) else { continue }
                        let moved = moves(node)
                        counts[node] -= moved
                        counts[other] += moved
                    }
                }
                #expect(counts.indices.allSatisfy { moves($0) == 0 }, "\(lanes): \(counts)")
            }
        }
    }

    @Test("follow settings that another node stores")
    func foreignSettings() async throws {
        let nodes = try await TwoNodes()
        try await nodes.first.deliveries.set(.open, of: nodes.subscriber, concurrency: 1)
        try await nodes.plan(1...3, on: nodes.first)
        #expect(try await nodes.first.deliveries.lease(9, wait: .zero).map(\.delivery.event) == [1])
        async let next = nodes.first.deliveries.lease(9, wait: .seconds(60))
        try await nodes.second.deliveries.set(.open, of: nodes.subscriber, concurrency: 3)
        #expect(try await next.map(\.delivery.event) == [2, 3])
        await nodes.close()
    }

    @Test("keep their order when another node replays an earlier one beside one in flight")
    func foreignReplay() async throws {
        let nodes = try await TwoNodes()
        var settings = LaneSettings(concurrency: 9)
        settings.ordering = .strict
        try await nodes.first.deliveries.set(settings, of: nodes.subscriber)
        try await nodes.plan(1...3, on: nodes.first)
        let first = try #require(try await nodes.first.deliveries.lease(9, wait: .zero).first)
        #expect(
            try await nodes.first.deliveries.finish(first, nodes.outcome(.dead(reason: .attemptsExhausted))))
        let second = try #require(try await nodes.first.deliveries.lease(9, wait: .zero).first)
        #expect(second.delivery.event == 2)
        let ids = DeliverySelection.ids(["dlv_1"], in: nodes.subscriber.app)
        #expect(try await nodes.second.deliveries.replay(ids, isDryRun: false) == 1)
        #expect(try await nodes.first.deliveries.lease(9, wait: .seconds(3)).isEmpty, "the second is in flight")
        #expect(try await nodes.first.deliveries.finish(second, nodes.outcome(.delivered)))
        for event in [1, 3] as [Timetoken] {
            let lease = try #require(try await nodes.first.deliveries.lease(9, wait: .seconds(60)).first)
            #expect(lease.delivery.event == event)
            #expect(try await nodes.first.deliveries.finish(lease, nodes.outcome(.delivered)))
        }
        await nodes.close()
    }

    @Test("are pulled and acknowledged through any node", arguments: [false, true])
    func pulledAnywhere(_ withBus: Bool) async throws {
        let nodes = try await TwoNodes(withBus: withBus)
        var settings = LaneSettings(concurrency: 9)
        settings.isPulled = true
        settings.attempts = 3
        try await nodes.first.deliveries.set(settings, of: nodes.subscriber)
        try await nodes.plan(1...4, on: nodes.first)
        func pull(_ node: ClusterEngine, _ limit: Int) async throws -> [Lease] {
            try await node.deliveries.lease(
                from: nodes.subscriber, limit: limit, lasting: .seconds(30), wait: .seconds(60))
        }
        let first = try await pull(nodes.first, 2)
        #expect(first.map(\.delivery.event) == [1, 2])
        let second = try await pull(nodes.second, 1)
        #expect(second.map(\.delivery.event) == [3], "the others are leased")
        #expect(try await nodes.second.deliveries.finish(first[0], nodes.outcome(.delivered)))
        #expect(try await nodes.first.deliveries.finish(second[0], nodes.outcome(.delivered)))
        #expect(try await nodes.second.deliveries.renew([first[1]], for: .seconds(60)) == [true])
        nodes.clock.advance(by: .seconds(31))
        #expect(try await pull(nodes.first, 9).map(\.delivery.event) == [4])
        nodes.clock.advance(by: .seconds(30))
        let again = try await pull(nodes.second, 9)
        #expect(
            again.map(\.delivery.event).contains(2) && again.first { $0.delivery.event == 2 }?.delivery.attempts == 1)
        #expect(try await nodes.first.deliveries.finish(first[1], nodes.outcome(.delivered)) == false, "too late")
        await nodes.close()
    }
}
