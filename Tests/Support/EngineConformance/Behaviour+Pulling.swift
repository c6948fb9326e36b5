import ChatModel
import JSON
import TestSupport
import Testing

extension Behaviour {
    static let pulling: [Behaviour] = [
        Behaviour("a pulled subscriber's items go only to callers that pull them") { trial in
            let subscriber = trial.subscriber("sub")
            try await trial.pulled(concurrency: 3)
            try await trial.plan((1...5).map { trial.item(Timetoken($0), "sub") })
            #expect(try await trial.queue.lease(9, wait: .zero).isEmpty)
            let leases = try await trial.queue.lease(from: subscriber, limit: 2, lasting: .seconds(30), wait: .zero)
            #expect(leases.map(\.delivery.event) == [1, 2] && leases[0].attempt != leases[1].attempt)
            let third = try await trial.queue.lease(from: subscriber, limit: 9, lasting: .seconds(30), wait: .zero)
            #expect(third.map(\.delivery.event) == [3], "so many are out at once")
            #expect(try await trial.queue.finish(leases[0], trial.outcome(.delivered)))
            #expect(
                try await trial.queue.lease(from: subscriber, limit: 9, lasting: .seconds(30), wait: .zero)
                    .map(\.delivery.event) == [4])
            await trial.refusal(.notFound) {
                _ = try await trial.queue.lease(
                    from: trial.subscriber("none"), limit: 1, lasting: .seconds(1), wait: .zero)
            }
        },
        Behaviour("pulled items do not count against the share of pushed ones") { trial in
            try await trial.pulled(concurrency: 1000)
            try await trial.plan(
                (1...500).flatMap { [trial.item(Timetoken($0), "sub"), trial.item(Timetoken($0), "wh")] })
            let pulled = try await trial.queue.lease(
                from: trial.subscriber("sub"), limit: 400, lasting: .seconds(30), wait: .zero)
            #expect(pulled.count == 400)
            let pushed = try await trial.queue.lease(9, capacity: 8, wait: .zero)
            #expect(pushed.count == 7, "an endpoint's share of 8")
            // A subscriber also cannot return a delivery that it never took.
            try await trial.queue.set(.closed, of: trial.subscriber("sub"), concurrency: 1)
            _ = try await trial.queue.finish(pulled.map { ($0, trial.outcome(.delivered)) })
            #expect(try await trial.queue.lease(9, capacity: 8, wait: .zero).isEmpty)
        },
        Behaviour("a returned lease is due at once and does not count as an attempt") { trial in
            let subscriber = trial.subscriber("sub")
            try await trial.pulled(concurrency: 1, attempts: 3)
            try await trial.plan([trial.item(1, "sub")])
            func pull() async throws -> [Lease] {
                try await trial.queue.lease(from: subscriber, limit: 9, lasting: .seconds(10), wait: .zero)
            }
            let first = try #require(try await pull().first)
            #expect(try await trial.queue.release([first], after: .zero) == [true])
            let second = try #require(try await pull().first)
            #expect(second.delivery.attempts == 0)
            #expect(try await trial.queue.release([first], after: .zero) == [false])
            #expect(try await trial.queue.finish(second, trial.outcome(.delivered)))
            #expect(try await trial.queue.release([second], after: .zero) == [false])
            #expect(try await pull().isEmpty)
        },
        Behaviour(
            "an expired lease counts as an attempt, renewing extends it, and an item is dead after its last attempt"
        ) {
            trial in
            let subscriber = trial.subscriber("sub")
            try await trial.pulled(concurrency: 9, attempts: 3)
            try await trial.plan([trial.item(1, "sub")])
            func pull() async throws -> [Lease] {
                try await trial.queue.lease(from: subscriber, limit: 9, lasting: .seconds(10), wait: .zero)
            }
            let first = try #require(try await pull().first)
            trial.clock.advance(by: .seconds(8))
            #expect(try await trial.queue.renew([first], for: .seconds(10)) == [true])
            trial.clock.advance(by: .seconds(8))
            #expect(try await pull().isEmpty)
            trial.clock.advance(by: .seconds(2))
            let second = try #require(try await pull().first)
            #expect(second.delivery.attempts == 1)
            #expect(try await trial.queue.renew([first], for: .seconds(10)) == [false])
            #expect(try await trial.queue.finish(first, trial.outcome(.delivered)) == false, "too late")
            #expect(try await trial.queue.finish(second, trial.outcome(.retry(at: trial.clock.now))))
            let third = try #require(try await pull().first)
            #expect(third.delivery.attempts == 2)
            trial.clock.advance(by: .seconds(10))
            #expect(try await pull().isEmpty)
            let (delivery, attempts) = try #require(try await trial.queue.delivery("dlv_1_sub", in: trial.app))
            #expect(delivery.status == .dead && delivery.reason == .attemptsExhausted && delivery.attempts == 3)
            #expect(attempts.map(\.error) == ["ack_deadline", nil, "ack_deadline"])
            #expect(attempts[0].durationMilliseconds == 18_000)
        },
        Behaviour("a pull waits for planned items and for expiring leases") { trial in
            let queue = await trial.queue
            let subscriber = trial.subscriber("sub")
            try await trial.pulled(concurrency: 9, attempts: 9)
            async let first = queue.lease(from: subscriber, limit: 9, lasting: .seconds(10), wait: .seconds(30))
            async let other = queue.lease(9, wait: .milliseconds(20))
            try await trial.plan([trial.item(1, "sub")])
            #expect(try await first.map(\.delivery.event) == [1])
            #expect(try await other.isEmpty)
            async let second = queue.lease(from: subscriber, limit: 9, lasting: .seconds(10), wait: .seconds(30))
            trial.clock.advance(by: .seconds(10))
            #expect(try await second.map(\.delivery.attempts) == [1])
        },
        Behaviour("many callers wait at pulled subscribers, and each gets its items or ends in time") {
            trial in
            let queue = await trial.queue
            var settings = LaneSettings(concurrency: 1)
            settings.isPulled = true
            for number in 1...100 { try await queue.set(settings, of: trial.subscriber("sub\(number)")) }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 1...100 as ClosedRange<UInt64> {
                    group.addTask {
                        let leases = try await queue.lease(
                            from: trial.subscriber("sub\(number)"), limit: 9, lasting: .seconds(10),
                            wait: number % 2 == 0 ? .seconds(30) : .milliseconds(20))
                        #expect(leases.map(\.delivery.event) == (number % 2 == 0 ? [Timetoken(number)] : []))
                    }
                }
                for number in 1...50 as ClosedRange<UInt64> {
                    let event = Timetoken(number * 2)
                    try await trial.plan([trial.item(event, "sub\(event)")], from: Timetoken(number * 2 - 2))
                }
                try await group.waitForAll()
            }
        },
        Behaviour("a pulled subscriber stays one over a restart, and its leases are void", needsRestart: true) {
            trial in
            try await trial.pulled(concurrency: 9, attempts: 2, .strict)
            try await trial.plan((1...3).map { trial.item(Timetoken($0), "sub") })
            func pull() async throws -> [Lease] {
                try await trial.queue.lease(from: trial.subscriber("sub"), limit: 9, lasting: .seconds(10), wait: .zero)
            }
            let old = try await pull()
            #expect(old.map(\.delivery.event) == [1], "in strict order one at a time")
            try await trial.subject.restart()
            #expect(try await trial.queue.lease(9, wait: .zero).isEmpty)
            let new = try await pull()
            #expect(new.map(\.delivery.event) == [1])
            #expect(try await trial.queue.finish(old[0], trial.outcome(.delivered)) == false)
            #expect(try await trial.queue.finish(new[0], trial.outcome(.delivered)))
            #expect(try await pull().map(\.delivery.event) == [2])
        },
    ]

    static let redriving: [Behaviour] = [
        Behaviour("a listing selects by subscriber, statuses and range, in either direction, and counts its matches") {
            trial in
            try await trial.queue.set(.open, of: trial.subscriber("wh_a"), concurrency: 100)
            try await trial.queue.set(.paused, of: trial.subscriber("wh_c"), concurrency: 100)
            try await trial.plan(
                (1...60).flatMap { number in ["wh_a", "wh_b", "wh_c"].map { trial.item(Timetoken(number), $0) } })
            for lease in try await trial.queue.lease(40, wait: .zero) where lease.delivery.subscriber.name == "wh_a" {
                let verdicts: [DeliveryOutcome.Verdict] = [
                    .delivered, .dead(reason: .attemptsExhausted), .retry(at: trial.clock.now.adding(.seconds(9))),
                ]
                let verdict = verdicts[Int(lease.delivery.event.rawValue % 3)]
                #expect(try await trial.queue.finish(lease, trial.outcome(verdict)))
            }
            let everything = try await trial.listAll(DeliveryQuery(app: trial.app, limit: 1000))
            #expect(everything.count == 180)
            for subscriber in [nil, "wh_a", "wh_b", "wh_c", "none"] {
                for statuses in [
                    [], [.dead], [.failed], [.pending], [.held], [.delivered, .dead], [.pending, .failed],
                    [.dead, .held, .failed],
                ] as [Set<DeliveryStatus>] {
                    var query = DeliveryQuery(app: trial.app, limit: 7)
                    query.subscriber = subscriber
                    query.statuses = statuses
                    (query.after, query.before) = (5, 50)
                    let expected = everything.filter {
                        $0.event > 5 && $0.event < 50 && (subscriber == nil || $0.subscriber.name == subscriber)
                            && (statuses.isEmpty || statuses.contains($0.status))
                    }
                    let down = try await trial.listAll(query)
                    #expect(down.map(\.id) == expected.map(\.id), "\(subscriber ?? "all") \(statuses)")
                    query.order = .oldestFirst
                    #expect(try await trial.listAll(query).map(\.id) == expected.map(\.id).reversed())
                    #expect(try await trial.queue.counts([query], most: 1000)[0] == expected.count)
                    #expect(try await trial.queue.counts([query], most: 3)[0] == min(3, expected.count))
                }
            }
        },
        Behaviour("replay from the log stores missing items, reopens finished ones, and does not touch the others") {
            trial in
            try await trial.queue.set(.open, of: trial.subscriber("wh"), concurrency: 100)
            try await trial.plan((1...4).map { trial.item(Timetoken($0), "wh") })
            let leases = try await trial.queue.lease(3, wait: .zero)
            #expect(try await trial.queue.finish(leases[0], trial.outcome(.delivered)))
            #expect(try await trial.queue.finish(leases[1], trial.outcome(.dead(reason: .attemptsExhausted))))
            let body = Array("passing".utf8)
            let items = (1...5).map { trial.item(Timetoken($0), "wh", body: $0 == 5 ? body : nil) }
            let first = try await trial.queue.enqueue(items)
            #expect(first.due == 3 && first.processed == 5, "the third is under way, the fourth waits")
            let second = try await trial.queue.enqueue(items)
            #expect(second.due == 0 && second.processed == 5)
            let due = try await trial.queue.lease(9, wait: .zero)
            #expect(Set(due.map(\.delivery.event)) == [1, 2, 4, 5])
            #expect(due.allSatisfy { $0.isManual == ($0.delivery.event != 4) })
            #expect(due.first { $0.delivery.event == 5 }?.body == body)
            try await trial.queue.set(.closed, of: trial.subscriber("wh"), concurrency: 1)
            #expect(try await trial.queue.enqueue([trial.item(9, "wh")]).due == 0)
        },
        Behaviour(
            "no subscriber holds more than its limit, not even by replays",
            limits: {
                var limits = Limits()
                limits.deliveriesHeld = 3
                return limits
            }()
        ) { trial in
            try await trial.plan((1...6).map { trial.item(Timetoken($0), "wh") })
            #expect(try await trial.settleNext(.dead(reason: .attemptsExhausted)).count == 6)
            try await trial.queue.set(.paused, of: trial.subscriber("wh"), concurrency: 1)
            let all = DeliverySelection.range(trial.subscriber("wh"), after: 0, before: 9, onlyFailed: true)
            #expect(try await trial.queue.replay(all, isDryRun: false) == 3)
            let waits = try #require(try await trial.listAll(DeliveryQuery(app: trial.app, limit: 9)).last)
            #expect(waits.status == .held)
            // A delivery that waits already needs no capacity, and no delivery is skipped for lack of it.
            let items = [waits.event, 7, 8].map { trial.item($0, "wh") }
            let enqueued = try await trial.queue.enqueue(items)
            #expect(enqueued.due == 0 && enqueued.processed == 1)
        },
        Behaviour("skipping up to an event makes waiting items dead with the reason, and the order continues after it")
        {
            trial in
            for ordering in [DeliveryOrdering.none, .perChannel, .strict] {
                let name = "wh_\(ordering)"
                try await trial.order(ordering, name)
                let position = try await trial.queue.cursor(CursorName("c"))
                try await trial.plan(
                    (1...1500).map { trial.item(Timetoken($0), name, channel: "c\($0 % 2)") }, from: position)
                let first = try await trial.queue.lease(1, wait: .zero)
                #expect(try await trial.queue.skip(trial.subscriber(name), through: 1490) == 1489, "one is under way")
                #expect(try await trial.queue.finish(first[0], trial.outcome(.delivered)))
                let next = try await trial.settleNext(.delivered)
                #expect(next.min() == 1491 && next.allSatisfy { $0 > 1490 })
                var query = DeliveryQuery(app: trial.app, limit: 1)
                query.subscriber = name
                query.statuses = [.dead]
                #expect(try await trial.queue.counts([query], most: 9999)[0] == 1489)
                #expect(try await trial.queue.list(query).items.first?.reason == .skipped)
                while try await !trial.settleNext(.delivered).isEmpty {}
            }
        },
        Behaviour("only dead items of the subscriber are purged") { trial in
            try await trial.plan((1...3).map { trial.item(Timetoken($0), "wh") })
            let leases = try await trial.queue.lease(2, wait: .zero)
            #expect(try await trial.queue.finish(leases[0], trial.outcome(.dead(reason: .attemptsExhausted))))
            #expect(try await trial.queue.finish(leases[1], trial.outcome(.delivered)))
            let ids = (1...4).map { "dlv_\($0)_wh" }
            #expect(try await trial.queue.purge(ids, in: AppID("other")) == 0)
            #expect(try await trial.queue.purge(ids, in: trial.app) == 1)
            let left = try await trial.listAll(DeliveryQuery(app: trial.app, limit: 9))
            #expect(left.map(\.event) == [3, 2])
        },
        Behaviour("changes under an outdated version of a record are rejected, and change nothing") { trial in
            try await trial.plan((1...2).map { trial.item(Timetoken($0), "wh") })
            for lease in try await trial.queue.lease(2, wait: .zero) {
                #expect(try await trial.queue.finish(lease, trial.outcome(.dead(reason: .attemptsExhausted))))
            }
            let key = RecordKey(.job, "job", in: trial.app)
            func version() async throws -> RecordVersion {
                let body = JSONText(string: "\(UInt64.random(in: .min ... .max))")
                let record = try await trial.directory.write([RecordChange(key, body: body)])[0]
                return RecordVersion(key, etag: record.etag)
            }
            let old = try await version()
            let new = try await version()
            let ids = ["dlv_1_wh", "dlv_2_wh"]
            let new3 = [trial.item(3, "wh")]
            func isStale(_ body: () async throws(ChatError) -> Void) async -> Bool {
                do throws(ChatError) { try await body() } catch { return error.code == .stale }
                return false
            }
            #expect(
                await isStale { () async throws(ChatError) in
                    _ = try await trial.queue.replay(.ids(ids, in: trial.app), isDryRun: false, whileCurrent: old)
                })
            #expect(
                await isStale { () async throws(ChatError) in
                    _ = try await trial.queue.enqueue(new3, whileCurrent: old)
                })
            #expect(
                await isStale { () async throws(ChatError) in
                    _ = try await trial.queue.purge(ids, in: trial.app, whileCurrent: old)
                })
            let left = try await trial.listAll(DeliveryQuery(app: trial.app, limit: 9))
            #expect(left.map(\.status) == [.dead, .dead])
            #expect(try await trial.queue.purge([ids[0]], in: trial.app, whileCurrent: new) == 1)
            let dead = DeliverySelection.ids([ids[1]], in: trial.app)
            #expect(try await trial.queue.replay(dead, isDryRun: false, whileCurrent: new) == 1)
            #expect(try await trial.queue.enqueue(new3, whileCurrent: new).due == 1)
            _ = try await trial.directory.write([RecordChange(key, body: nil)])
            #expect(
                await isStale { () async throws(ChatError) in
                    _ = try await trial.queue.replay(dead, isDryRun: false, whileCurrent: new)
                })
        },
        Behaviour("thousands of dead letters are listed page by page, redriven, and delivered") { trial in
            let count = 20_000
            try await trial.queue.set(.open, of: trial.subscriber("wh"), concurrency: count)
            for part in 0..<(count / 1000) {
                let items = (1...1000).map { trial.item(Timetoken(UInt64(part * 1000 + $0)), "wh") }
                try await trial.plan(items, from: Timetoken(UInt64(part * 1000)))
            }
            func settleAll(_ verdict: DeliveryOutcome.Verdict) async throws -> Int {
                var settled = 0
                while settled < count {
                    let leases = try await trial.queue.lease(2000, wait: .zero)
                    guard !leases.isEmpty else { break }
                    let recorded = try await trial.queue.finish(leases.map { ($0, trial.outcome(verdict)) })
                    settled += recorded.count { $0 }
                }
                return settled
            }
            #expect(try await settleAll(.dead(reason: .attemptsExhausted)) == count)
            var query = DeliveryQuery(app: trial.app, limit: 1000)
            query.subscriber = "wh"
            query.statuses = [.dead]
            query.order = .oldestFirst
            let dead = try await trial.listAll(query)
            #expect(dead.map(\.event) == (1...count).map { Timetoken(UInt64($0)) })
            let all = DeliverySelection.range(
                trial.subscriber("wh"), after: 0, before: .distantFuture, onlyFailed: true)
            #expect(try await trial.queue.replay(all, isDryRun: true) == count)
            #expect(try await trial.queue.replay(all, isDryRun: false) == count)
            #expect(try await settleAll(.delivered) == count)
            #expect(try await trial.queue.counts([query], most: count)[0] == 0)
        },
    ]
}

extension Trial {
    fileprivate func pulled(
        concurrency: Int, attempts: Int? = nil, _ ordering: DeliveryOrdering = .none
    ) async throws {
        var settings = LaneSettings(concurrency: concurrency)
        settings.isPulled = true
        settings.attempts = attempts
        settings.ordering = ordering
        try await queue.set(settings, of: subscriber("sub"))
    }
}
