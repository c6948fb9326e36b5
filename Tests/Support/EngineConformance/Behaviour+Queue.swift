import ChatModel
import JSON
import Locking
import TestSupport
import Testing

extension Behaviour {
    static let queue: [Behaviour] = [
        Behaviour("racing planners that stop between any two steps queue each pair of event and subscriber once") {
            trial in
            let nodes = await trial.subject.nodes
            for part in 0..<20 {
                _ = try await trial.log.append((0..<500).map { trial.draft("room", "\(part * 500 + $0)") }, claim: nil)
            }
            let end = try await trial.log.watermark(of: trial.app)
            try await concurrently(2) { planner in
                let node = nodes[planner % nodes.count]
                var random = planner + 1
                let cursor = CursorName("planner")
                while true {
                    // A killed planner's unfinished work is started again by the next planner.
                    random = (random &* 1_103_515_245 &+ 12345) & 0x7fff_ffff
                    let from = try await node.deliveries.cursor(cursor)
                    if from >= end { return }
                    if random % 10 == 0 { continue }
                    let page = try await node.log.events(in: trial.everything, after: from, limit: 100)
                    if random % 10 == 1 { continue }
                    let items = page.items.flatMap { event in
                        ["wh_a", "wh_b"].map { trial.item(event.timetoken, $0) }
                    }
                    do throws(ChatError) {
                        try await node.deliveries.plan(items, cursor: cursor, from: from, to: page.position)
                    } catch {
                        #expect(error.code == .conflict)
                    }
                }
            }
            for subscriber in ["wh_a", "wh_b"] {
                var query = DeliveryQuery(app: trial.app, limit: 1000)
                query.subscriber = subscriber
                let all = try await trial.listAll(query)
                #expect(all.count == 10_000)
                #expect(Set(all.map(\.event)).count == 10_000)
                #expect(zip(all, all.dropFirst()).allSatisfy { $0.event > $1.event }, "newest event first")
            }
        },
        Behaviour("a cursor starts at zero, moves only from its current position, and only with its items") { trial in
            let cursor = CursorName("c")
            #expect(try await trial.queue.cursor(cursor) == .zero)
            try await trial.queue.plan([trial.item(1, "wh")], cursor: cursor, from: .zero, to: 5)
            for from in [Timetoken.zero, 4, 6] {
                await trial.refusal(.conflict) {
                    try await trial.queue.plan([trial.item(9, "wh")], cursor: cursor, from: from, to: 9)
                }
            }
            #expect(try await trial.queue.cursor(cursor) == 5)
            #expect(try await trial.listAll(DeliveryQuery(app: trial.app, limit: 9)).map(\.event) == [1])
        },
        Behaviour("an item is taken once, in subscribers' turns and within their concurrency, and finished once") {
            trial in
            let nodes = await trial.subject.nodes
            for subscriber in 0..<20 {
                try await trial.queue.set(.open, of: trial.subscriber("wh_\(subscriber)"), concurrency: 3)
            }
            let items = (0..<1000).map { trial.item(Timetoken(UInt64($0) + 1), "wh_\($0 % 20)") }
            try await trial.queue.plan(items, cursor: CursorName("c"), from: .zero, to: 1000)
            let underWay = Lock<[SubscriberID: Int]>([:])
            let finished = Lock<[String]>([])
            try await concurrently(4) { task in
                let queue = nodes[task % nodes.count].deliveries
                while finished.withLock({ $0.count }) < 1000 {
                    let leases = try await queue.lease(8, wait: .zero)
                    for lease in leases {
                        underWay.withLock { underWay in
                            underWay[lease.delivery.subscriber, default: 0] += 1
                            #expect(underWay[lease.delivery.subscriber]! <= 3)
                        }
                    }
                    for lease in leases {
                        underWay.withLock { $0[lease.delivery.subscriber]! -= 1 }
                        #expect(try await queue.finish(lease, trial.outcome(.delivered)))
                        finished.withLock { $0.append(lease.delivery.id) }
                    }
                    await Task.yield()
                }
            }
            #expect(Set(finished.withLock { $0 }).count == 1000)
            #expect(try await trial.queue.lease(10, wait: .zero).isEmpty)
        },
        Behaviour("no app and no subscriber takes all capacity, and the rest goes to others") {
            trial in
            let items = (1...1000).map { trial.item(Timetoken(UInt64($0)), "wh_\($0 % 5)") }
            for subscriber in 0..<5 {
                try await trial.queue.set(.open, of: trial.subscriber("wh_\(subscriber)"), concurrency: 100)
            }
            try await trial.queue.plan(items, cursor: CursorName("c"), from: .zero, to: 1000)
            let greedy = try await trial.queue.lease(1000, capacity: 60, wait: .zero)
            let held = Dictionary(grouping: greedy, by: \.delivery.subscriber).mapValues(\.count)
            #expect((45...52).contains(greedy.count), "seven eighths, at most")
            #expect(held.count == 5 && held.values.allSatisfy { [9, 10, 11].contains($0) }, "all alike: \(held)")
            #expect(try await trial.queue.lease(1000, capacity: 60, wait: .zero).isEmpty)
            try await trial.queue.plan([trial.item(2000, "new")], cursor: CursorName("c"), from: 1000, to: 2000)
            let newcomer = try await trial.queue.lease(1000, capacity: 60, wait: .zero)
            #expect(newcomer.map(\.delivery.subscriber.name) == ["new"])

            let other = (1...100).map {
                PlannedDelivery(
                    id: "dlv_other_\($0)", subscriber: SubscriberID("wh", in: AppID("other")),
                    event: Timetoken(UInt64($0)), type: "t", channel: "c")
            }
            try await trial.queue.plan(other, cursor: CursorName("other"), from: .zero, to: 100)
            let late = try await trial.queue.lease(1000, capacity: 60, wait: .zero)
            #expect(late.count >= 5 && late.allSatisfy { $0.delivery.subscriber.app == AppID("other") })
        },
        Behaviour("attempts are recorded together; those whose lease was lost are returned and change nothing") {
            trial in
            let items = (1...4).map { trial.item(Timetoken(UInt64($0)), "wh") }
            try await trial.queue.plan(items, cursor: CursorName("c"), from: .zero, to: 4)
            try await trial.queue.set(.open, of: trial.subscriber("wh"), concurrency: 2)
            let leases = try await trial.queue.lease(4, wait: .zero)
            #expect(leases.count == 2)
            let lost = Lease(delivery: leases[1].delivery, fence: leases[1].fence + 1000, body: nil)
            let recorded = try await trial.queue.finish([
                (leases[0], trial.outcome(.delivered)), (lost, trial.outcome(.dead(reason: .attemptsExhausted))),
                (leases[0], trial.outcome(.dead(reason: .attemptsExhausted))),
            ])
            #expect(recorded == [true, false, false])
            #expect(try await trial.queue.lease(4, wait: .zero).map(\.delivery.event) == [3])
            #expect(try await trial.queue.finish([]).isEmpty)
            #expect(try await trial.queue.finish(leases[1], trial.outcome(.delivered)))
        },
        Behaviour("a retry is due neither early nor late, oldest due first") {
            trial in
            let items = (1...4).map { trial.item(Timetoken(UInt64($0)), "wh") }
            try await trial.queue.plan(items, cursor: CursorName("c"), from: .zero, to: 4)
            let start = trial.clock.now
            for (lease, delay) in zip(try await trial.queue.lease(4, wait: .zero), [40, 20, 30, 30 * 24 * 3600]) {
                let retry = trial.outcome(.retry(at: start.adding(.seconds(delay))))
                #expect(try await trial.queue.finish(lease, retry))
            }
            trial.clock.advance(by: .seconds(20) - .nanoseconds(100))
            #expect(try await trial.queue.lease(4, wait: .zero).isEmpty)
            trial.clock.advance(by: .nanoseconds(100))
            let first = try await trial.queue.lease(4, wait: .zero)
            #expect(first.map(\.delivery.event) == [2])
            #expect(first[0].delivery.attempts == 1 && first[0].delivery.status == .failed)
            trial.clock.advance(by: .seconds(25))
            #expect(try await trial.queue.lease(4, wait: .zero).map(\.delivery.event) == [3, 1])
            trial.clock.advance(by: .seconds(30 * 24 * 3600 - 45))
            // The leases above have expired in the meantime and are due again, in their order.
            #expect(try await trial.queue.lease(9, wait: .zero).map(\.delivery.event) == [2, 3, 1, 4])
        },
        Behaviour("a retry beyond 30 days is due in 30 days, and results recorded with it are kept") { trial in
            let items = (1...3).map { trial.item(Timetoken(UInt64($0)), "wh") }
            try await trial.queue.plan(items, cursor: CursorName("c"), from: .zero, to: 3)
            let leases = try await trial.queue.lease(3, wait: .zero)
            let month: Duration = .seconds(30 * 24 * 3600)
            let verdicts: [DeliveryOutcome.Verdict] = [
                .retry(at: trial.clock.now.adding(month + .seconds(1))), .delivered, .retry(at: .distantFuture),
            ]
            let recorded = try await trial.queue.finish(zip(leases, verdicts).map { ($0, trial.outcome($1)) })
            #expect(recorded == [true, true, true])
            trial.clock.advance(by: month - .nanoseconds(100))
            #expect(try await trial.queue.lease(3, wait: .zero).isEmpty)
            trial.clock.advance(by: .nanoseconds(100))
            #expect(try await trial.queue.lease(3, wait: .zero).map(\.delivery.event) == [1, 3])
        },
        Behaviour(
            "a retry may lie beyond the time for which finished deliveries are kept",
            limits: {
                var limits = Limits()
                limits.deliveriesKept = .seconds(3600)
                return limits
            }()
        ) { trial in
            try await trial.queue.plan([trial.item(1, "wh")], cursor: CursorName("c"), from: .zero, to: 1)
            let lease = try await trial.queue.lease(1, wait: .zero)[0]
            let day: Duration = .seconds(24 * 3600)
            #expect(try await trial.queue.finish(lease, trial.outcome(.retry(at: trial.clock.now.adding(day)))))
            trial.clock.advance(by: day - .nanoseconds(100))
            #expect(try await trial.queue.lease(1, wait: .zero).isEmpty)
            trial.clock.advance(by: .nanoseconds(100))
            #expect(try await trial.queue.lease(1, wait: .zero).map(\.delivery.attempts) == [1])
        },
        Behaviour("an expired lease is void: finishing it fails and changes nothing; a renewed one holds") {
            trial in
            try await trial.queue.plan(
                [trial.item(1, "wh"), trial.item(2, "wh")], cursor: CursorName("c"), from: .zero, to: 2)
            let old = try await trial.queue.lease(2, wait: .zero)
            trial.clock.advance(by: .seconds(40))
            try await trial.queue.renew([old[1]])
            trial.clock.advance(by: .seconds(21))
            let new = try await trial.queue.lease(2, wait: .zero)
            #expect(new.map(\.delivery.id) == [old[0].delivery.id])
            #expect(new[0].fence > old[0].fence)
            #expect(try await trial.queue.finish(old[0], trial.outcome(.dead(reason: .attemptsExhausted))) == false)
            #expect(try await trial.queue.delivery(old[0].delivery.id, in: trial.app)?.1.isEmpty == true)
            #expect(try await trial.queue.finish(old[1], trial.outcome(.delivered)))
            #expect(try await trial.queue.finish(new[0], trial.outcome(.delivered)))
            #expect(try await trial.queue.finish(new[0], trial.outcome(.delivered)) == false, "once only")
            #expect(try await trial.queue.delivery(new[0].delivery.id, in: trial.app)?.1.count == 1)
        },
        Behaviour("a paused subscriber holds its items and accepts new ones; reopened, they are due") { trial in
            let subscriber = trial.subscriber("wh")
            try await trial.queue.plan([trial.item(1, "wh")], cursor: CursorName("c"), from: .zero, to: 1)
            try await trial.queue.set(.paused, of: subscriber, concurrency: 5)
            try await trial.queue.plan([trial.item(2, "wh")], cursor: CursorName("c"), from: 1, to: 2)
            #expect(try await trial.queue.lease(9, wait: .zero).isEmpty)
            let held = try await trial.listAll(DeliveryQuery(app: trial.app, limit: 9))
            #expect(held.map(\.status) == [.held, .held] && held.allSatisfy { $0.due == nil })
            try await trial.queue.set(.open, of: subscriber, concurrency: 5)
            #expect(try await trial.queue.lease(9, wait: .zero).map(\.delivery.event) == [1, 2])
        },
        Behaviour(
            "a paused subscriber's items are dead beyond its bound, and when held for too long",
            limits: {
                var limits = Limits()
                limits.deliveriesHeld = 3
                return limits
            }()
        ) { trial in
            let subscriber = trial.subscriber("wh")
            try await trial.queue.set(.paused, of: subscriber, concurrency: 5)
            let items = (1...5).map { trial.item(Timetoken(UInt64($0)), "wh") }
            let overflowing = try await trial.queue.plan(items, cursor: CursorName("c"), from: .zero, to: 5)
            #expect(overflowing == [subscriber: 2])
            let all = try await trial.listAll(DeliveryQuery(app: trial.app, limit: 9))
            #expect(all.map(\.status) == [.dead, .dead, .held, .held, .held])
            #expect(all[0].reason == .heldTooMany)
        },
        Behaviour(
            "an open subscriber may fall ten times as far behind, pulled or not; the excess is dead",
            limits: {
                var limits = Limits()
                limits.deliveriesHeld = 3
                return limits
            }()
        ) { trial in
            for (name, isPulled) in [("wh", false), ("sub", true)] {
                var settings = LaneSettings(concurrency: 99)
                settings.isPulled = isPulled
                try await trial.queue.set(settings, of: trial.subscriber(name))
                try await trial.plan(
                    (1...35).map { trial.item(Timetoken($0), name) },
                    from: try await trial.queue.cursor(CursorName("c")))
                var query = DeliveryQuery(app: trial.app, limit: 99)
                query.subscriber = name
                let all = try await trial.listAll(query)
                #expect(all.map(\.status) == Array(repeating: .dead, count: 5) + Array(repeating: .pending, count: 30))
                #expect(all[0].reason == .heldTooMany)
                let ids = DeliverySelection.ids([all[0].id], in: trial.app)
                #expect(try await trial.queue.replay(ids, isDryRun: false) == 0)
            }
        },
        Behaviour("closing a subscriber makes its items dead, including those planned later") { trial in
            let items = (1...5000).map { trial.item(Timetoken(UInt64($0)), "wh") }
            try await trial.queue.plan(items, cursor: CursorName("c"), from: .zero, to: 5000)
            let lease = try await trial.queue.lease(1, wait: .zero)[0]
            try await trial.queue.set(.closed, of: trial.subscriber("wh"), concurrency: 1)
            try await trial.queue.plan([trial.item(5001, "wh")], cursor: CursorName("c"), from: 5000, to: 5001)
            #expect(try await trial.queue.finish(lease, trial.outcome(.retry(at: trial.clock.now))))
            #expect(try await trial.queue.lease(9, wait: .zero).isEmpty)
            let all = try await trial.listAll(DeliveryQuery(app: trial.app, limit: 1000))
            #expect(all.count == 5001 && all.allSatisfy { $0.status == .dead && $0.reason == .webhookDeleted })
            let ids = DeliverySelection.ids([lease.delivery.id], in: trial.app)
            #expect(try await trial.queue.replay(ids, isDryRun: false) == 0, "there is nobody to deliver to")
        },
        Behaviour("replay makes deliveries due under the same id, and does not touch those in flight") { trial in
            let drafts = (1...6).map { trial.draft("room", "\($0)") }
            let places = try await trial.log.append(drafts, claim: nil).events.map(\.event.timetoken)
            let items = places.map { trial.item($0, "wh") }
            try await trial.queue.plan(items, cursor: CursorName("c"), from: .zero, to: places[5])
            trial.clock.advance(by: .seconds(1))
            let leases = try await trial.queue.lease(5, wait: .zero)
            let later = trial.clock.now.adding(.seconds(3600))
            for (lease, verdict) in zip(
                leases,
                [.delivered, .dead(reason: .attemptsExhausted), .retry(at: later), .delivered]
                    as [DeliveryOutcome.Verdict])
            {
                #expect(try await trial.queue.finish(lease, trial.outcome(verdict, body: Array("sent".utf8))))
            }
            let failed = DeliverySelection.range(
                trial.subscriber("wh"), after: places[0], before: places[5], onlyFailed: true)
            #expect(try await trial.queue.replay(failed, isDryRun: true) == 2)
            #expect(try await trial.queue.replay(failed, isDryRun: false) == 2)
            let ids = DeliverySelection.ids([items[0].id, items[0].id, items[4].id, "dlv_none"], in: trial.app)
            #expect(try await trial.queue.replay(ids, isDryRun: false) == 1, "the fifth is under way")
            #expect(try await trial.queue.replay(.ids([items[0].id], in: AppID("other")), isDryRun: false) == 0)
            let replayed = try await trial.queue.lease(9, wait: .zero)
            #expect(Set(replayed.map(\.delivery.id)) == Set([items[0], items[1], items[2], items[5]].map(\.id)))
            for lease in replayed where lease.delivery.event != places[5] {
                #expect(lease.isManual && lease.delivery.attempts == 1 && lease.body == Array("sent".utf8))
                #expect(try await trial.queue.finish(lease, trial.outcome(.delivered)))
            }
            #expect(try await trial.queue.delivery(items[1].id, in: trial.app)?.1.count == 2)
        },
        Behaviour(
            "an ephemeral event's item keeps its body from planning to delivery, over a restart", needsRestart: true
        ) { trial in
            let body = Array("the event itself".utf8)
            try await trial.queue.plan([trial.item(7, "wh", body: body)], cursor: CursorName("c"), from: .zero, to: 7)
            try await trial.subject.restart()
            #expect(try await trial.queue.cursor(CursorName("c")) == 7)
            let lease = try #require(try await trial.queue.lease(1, wait: .zero).first)
            #expect(lease.body == body && lease.delivery.id == "dlv_7_wh" && lease.delivery.attempts == 0)
        },
        Behaviour("a request stored before an attempt is used by every later one, over a restart", needsRestart: true) {
            trial in
            let place = try await trial.log.append([trial.draft("room", "1")], claim: nil).events[0].event.timetoken
            let passing = Array("passing".utf8)
            try await trial.queue.plan(
                [trial.item(place, "wh"), trial.item(place, "other", body: passing)], cursor: CursorName("c"),
                from: .zero, to: place)
            trial.clock.advance(by: .seconds(1))
            let leases = try await trial.queue.lease(9, wait: .zero)
            let (first, second) = (Array("first".utf8), Array("second".utf8))
            for lease in leases {
                #expect(try await trial.queue.keep([(lease, first)]) == [first])
                #expect(try await trial.queue.keep([(lease, second)]) == [first], "its place is taken")
            }
            let unknown = Lease(
                delivery: Delivery(
                    id: "dlv_none", subscriber: trial.subscriber("wh"), event: 1, type: "t", channel: "room",
                    status: .pending, attempts: 0, due: nil), fence: 1, body: nil)
            #expect(try await trial.queue.keep([(unknown, first)]) == [nil])
            try await trial.subject.restart()
            let again = try await trial.queue.lease(9, wait: .zero)
            #expect(again.count == 2 && again.allSatisfy { $0.body == first && $0.delivery.attempts == 0 })
            for lease in again { #expect(try await trial.queue.finish(lease, trial.outcome(.delivered))) }
            let ids = again.map(\.delivery.id)
            #expect(try await trial.queue.replay(.ids(ids, in: trial.app), isDryRun: false) == 2)
            #expect(try await trial.queue.lease(9, wait: .zero).allSatisfy { $0.body == first })
        },
        Behaviour("no request is stored for an event that was removed from the log") { trial in
            let place = try await trial.log.append([trial.draft("room", "1")], claim: nil).events[0].event.timetoken
            try await trial.queue.plan([trial.item(place, "wh")], cursor: CursorName("c"), from: .zero, to: place)
            let lease = try #require(try await trial.queue.lease(1, wait: .zero).first)
            _ = try await trial.log.delete(
                after: .zero, before: .distantFuture, in: ChannelID("room", in: trial.app))
            #expect(try await trial.queue.keep([(lease, Array("sent".utf8))]) == [nil])
        },
        Behaviour("leases are void after a restart; the count of attempts goes on", needsRestart: true) { trial in
            try await trial.queue.set(.open, of: trial.subscriber("wh"), concurrency: 2)
            let drafts = (1...3).map { trial.draft("room", "\($0)") }
            let places = try await trial.log.append(drafts, claim: nil).events.map(\.event.timetoken)
            try await trial.queue.plan(
                places.map { trial.item($0, "wh") }, cursor: CursorName("c"), from: .zero, to: places[2])
            trial.clock.advance(by: .seconds(1))
            let first = try await trial.queue.lease(1, wait: .zero)[0]
            let sent = Array("bytes".utf8)
            // Due before the others.
            let outcome = trial.outcome(.retry(at: places[0]), body: sent)
            #expect(try await trial.queue.finish(first, outcome))
            let held = try await trial.queue.lease(2, wait: .zero)
            try await trial.subject.restart()
            #expect(try await trial.queue.finish(held[0], trial.outcome(.dead(reason: .attemptsExhausted))) == false)
            let again = try await trial.queue.lease(9, wait: .zero)
            #expect(again.count == 2, "the endpoint's concurrency is remembered")
            let lease = try #require(again.first { $0.delivery.id == first.delivery.id })
            #expect(lease.delivery.attempts == 1 && lease.body == sent)
            #expect(try await trial.queue.finish(lease, trial.outcome(.delivered)))
            let (delivery, attempts) = try #require(try await trial.queue.delivery(first.delivery.id, in: trial.app))
            #expect(delivery.status == .delivered && delivery.attempts == 2 && attempts.count == 2)
        },
        Behaviour("the last 20 attempts are kept, with 16 KiB of the latest response and 1 KiB of earlier ones") {
            trial in
            try await trial.queue.plan([trial.item(1, "wh")], cursor: CursorName("c"), from: .zero, to: 1)
            for number in 1...25 {
                let lease = try #require(try await trial.queue.lease(1, wait: .zero).first)
                #expect(lease.delivery.attempts == number - 1)
                var outcome = trial.outcome(.retry(at: trial.clock.now))
                outcome.attempt = DeliveryAttempt(
                    at: Timetoken(UInt64(number)), status: number % 2 == 0 ? 500 : nil, error: "timeout",
                    durationMilliseconds: number, isManual: number == 3,
                    responseBody: [UInt8](repeating: 7, count: 20_000), details: trial.json(#"{"n":\#(number)}"#))
                #expect(try await trial.queue.finish(lease, outcome))
            }
            let attempts = try #require(try await trial.queue.delivery("dlv_1_wh", in: trial.app)).1
            #expect(attempts.map(\.at.rawValue) == Array(6...25))
            #expect(attempts.map(\.durationMilliseconds) == Array(6...25))
            #expect(attempts.map(\.responseBody.count) == Array(repeating: 1024, count: 19) + [16 * 1024])
            #expect(attempts.allSatisfy { $0.isTruncated && $0.error == "timeout" })
            #expect(attempts.map(\.status) == (6...25).map { $0 % 2 == 0 ? 500 : nil })
            #expect(attempts.last?.details == trial.json(#"{"n":25}"#))
            #expect(try await trial.queue.delivery("dlv_1_wh", in: AppID("other")) == nil)
        },
        Behaviour("deliveries are listed by status, subscriber and event, page by page, for their own app only") {
            trial in
            let items = (1...6).flatMap {
                [trial.item(Timetoken(UInt64($0)), "wh_a"), trial.item(Timetoken(UInt64($0)), "wh_b")]
            }
            try await trial.queue.plan(items, cursor: CursorName("c"), from: .zero, to: 6)
            let other = PlannedDelivery(
                id: "dlv_other", subscriber: SubscriberID("wh_a", in: AppID("other")), event: 3, type: "t", channel: "c"
            )
            try await trial.queue.plan([other], cursor: CursorName("c"), from: 6, to: 7)
            try await trial.queue.set(.paused, of: trial.subscriber("wh_b"), concurrency: 1)
            let leases = try await trial.queue.lease(6, wait: .zero).filter {
                $0.delivery.subscriber == trial.subscriber("wh_a")
            }
            for (lease, verdict) in zip(
                leases,
                [.delivered, .dead(reason: .attemptsExhausted), .retry(at: trial.clock.now)]
                    as [DeliveryOutcome.Verdict])
            {
                #expect(try await trial.queue.finish(lease, trial.outcome(verdict)))
            }
            for (status, count) in [
                (DeliveryStatus.delivered, 1), (.dead, 1), (.failed, 1), (.pending, 3), (.held, 6),
            ] {
                var query = DeliveryQuery(app: trial.app, limit: 2)
                query.status = status
                let found = try await trial.listAll(query)
                #expect(found.count == count && found.allSatisfy { $0.status == status }, "\(status)")
            }
            var query = DeliveryQuery(app: trial.app, limit: 3)
            #expect(try await trial.listAll(query).count == 12)
            query.subscriber = "wh_a"
            #expect(try await trial.listAll(query).map(\.event) == [6, 5, 4, 3, 2, 1])
            query.event = 3
            #expect(try await trial.listAll(query).map(\.id) == ["dlv_3_wh_a"])
            query.cursor = "nonsense"
            await trial.refusal(.malformed) { _ = try await trial.queue.list(query) }
        },
        Behaviour("100,000 waiting items of a dead subscriber do not delay another subscriber") { trial in
            try await trial.queue.set(.open, of: trial.subscriber("dead"), concurrency: 10)
            var position = Timetoken.zero
            for part in 0..<50 {
                let items = (1...2000).map { trial.item(Timetoken(UInt64(part * 2000 + $0)), "dead") }
                let end = Timetoken(UInt64(part * 2000 + 2000))
                try await trial.queue.plan(items, cursor: CursorName("c"), from: position, to: end)
                position = end
            }
            #expect(try await trial.queue.lease(1000, wait: .zero).count == 10)
            try await trial.queue.plan([trial.item(1, "alive")], cursor: CursorName("c"), from: position, to: 100_001)
            let next = try await trial.queue.lease(1000, wait: .zero)
            #expect(next.map(\.delivery.subscriber.name) == ["alive"])
            // All of them are still there: more than any engine holds in memory.
            try await trial.queue.set(.open, of: trial.subscriber("dead"), concurrency: 100_000)
            var taken = 10
            while taken < 100_000 {
                let leases = try await trial.queue.lease(10_000, wait: .seconds(10))
                try #require(!leases.isEmpty)
                taken += leases.count
            }
            #expect(taken == 100_000)
        },
        Behaviour("a taker is woken by a plan, a retry's time, a cancellation and the end") { trial in
            let queue = await trial.queue
            async let first = queue.lease(5, wait: .seconds(30))
            try await queue.plan([trial.item(1, "wh")], cursor: CursorName("c"), from: .zero, to: 1)
            let lease = try #require(try await first.first)
            let due = trial.clock.now.adding(.seconds(5))
            #expect(try await queue.finish(lease, trial.outcome(.retry(at: due))))
            async let second = queue.lease(5, wait: .seconds(30))
            trial.clock.advance(by: .seconds(5))
            #expect(try await second.count == 1)

            let cancelled = Task { try await queue.lease(5, wait: .seconds(30)) }
            cancelled.cancel()
            #expect(try await cancelled.value.isEmpty)
            #expect(try await queue.lease(5, wait: .milliseconds(5)).isEmpty)
            let ended = Task { try await queue.lease(5, wait: .seconds(30)) }
            await trial.node.close()
            #expect(try await ended.value.isEmpty)
        },
    ]
}

extension Trial {
    func subscriber(_ name: String) -> SubscriberID { SubscriberID(name, in: app) }

    func item(_ event: Timetoken, _ subscriber: String, body: [UInt8]? = nil) -> PlannedDelivery {
        PlannedDelivery(
            id: "dlv_\(event)_\(subscriber)", subscriber: self.subscriber(subscriber), event: event, type: "order.paid",
            channel: "room", body: body)
    }

    func outcome(_ verdict: DeliveryOutcome.Verdict, body: [UInt8]? = nil) -> DeliveryOutcome {
        DeliveryOutcome(
            verdict, attempt: DeliveryAttempt(at: clock.now, status: 200, error: nil, durationMilliseconds: 3),
            body: body)
    }

    func listAll(_ query: DeliveryQuery) async throws -> [Delivery] {
        var query = query
        var all: [Delivery] = []
        while true {
            let page = try await queue.list(query)
            #expect(page.items.count <= query.limit)
            all += page.items
            guard let cursor = page.cursor else { return all }
            query.cursor = cursor
        }
    }
}
