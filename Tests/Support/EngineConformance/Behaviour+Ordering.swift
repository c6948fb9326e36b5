import ChatModel
import Locking
import TestSupport
import Testing

extension Behaviour {
    static let ordering: [Behaviour] = [
        Behaviour("strict ordering sends one item after the other, over retries; a dead item unblocks the next") {
            trial in
            try await trial.order(.strict)
            try await trial.plan((1...5).map { trial.item(Timetoken($0), "wh", channel: "c\($0)") })
            for verdict in [.retry(at: trial.clock.now.adding(.seconds(9))), .delivered] as [DeliveryOutcome.Verdict] {
                let leases = try await trial.queue.lease(9, wait: .zero)
                #expect(leases.map(\.delivery.event) == [1])
                #expect(try await trial.queue.lease(9, wait: .zero).isEmpty, "alone")
                #expect(try await trial.queue.finish(leases[0], trial.outcome(verdict)))
                if case .delivered = verdict { break }
                #expect(try await trial.queue.lease(9, wait: .zero).isEmpty, "the retry holds back those behind it")
                trial.clock.advance(by: .seconds(9))
            }
            #expect(try await trial.settleNext(.dead(reason: .attemptsExhausted)) == [2])
            #expect(try await trial.settleNext(.delivered) == [3])
            try await trial.plan([trial.item(6, "wh", channel: "c6")], from: 5)
            #expect(try await trial.settleNext(.delivered) == [4])
            #expect(try await trial.settleNext(.delivered) == [5])
            #expect(try await trial.settleNext(.delivered) == [6])
            #expect(try await trial.settleNext(.delivered) == [])
        },
        Behaviour("a channel's deliveries go one after the other, channels side by side") { trial in
            try await trial.order(.perChannel)
            try await trial.plan((1...9).map { trial.item(Timetoken($0), "wh", channel: "c\($0 % 3)") })
            let first = try await trial.queue.lease(9, wait: .zero)
            #expect(Set(first.map(\.delivery.event)) == [1, 2, 3])
            let later = trial.clock.now.adding(.seconds(60))
            for lease in first {
                let verdict: DeliveryOutcome.Verdict = lease.delivery.event == 2 ? .retry(at: later) : .delivered
                #expect(try await trial.queue.finish(lease, trial.outcome(verdict)))
            }
            #expect(Set(try await trial.settleNext(.delivered)) == [4, 6])
            #expect(Set(try await trial.settleNext(.delivered)) == [7, 9])
            #expect(try await trial.settleNext(.delivered) == [])
            trial.clock.advance(by: .seconds(60))
            for event in [2, 5, 8] { #expect(try await trial.settleNext(.delivered) == [Timetoken(UInt64(event))]) }
        },
        Behaviour(
            "order holds over a restart, with the retry's time and the items waiting behind it", needsRestart: true
        ) {
            trial in
            try await trial.order(.strict, "wh_s")
            try await trial.order(.perChannel)
            try await trial.plan(
                (1...6).flatMap { number in
                    ["wh_s", "wh"].map { trial.item(Timetoken(number), $0, channel: "c\(number % 2)") }
                })
            let leases = try await trial.queue.lease(9, wait: .zero)
            #expect(leases.count == 3)
            for lease in leases where lease.delivery.event == 1 {
                let retry = trial.outcome(.retry(at: trial.clock.now.adding(.seconds(10))))
                #expect(try await trial.queue.finish(lease, retry))
            }
            try await trial.subject.restart()
            let channel0 = try await trial.queue.lease(9, wait: .zero)
            #expect(channel0.map(\.delivery.event) == [2] && channel0[0].delivery.subscriber.name == "wh")
            trial.clock.advance(by: .seconds(10))
            let retried = try await trial.queue.lease(9, wait: .zero)
            #expect(retried.map(\.delivery.event) == [1, 1])
            for lease in retried { #expect(try await trial.queue.finish(lease, trial.outcome(.delivered))) }
            let next = try await trial.queue.lease(9, wait: .zero)
            #expect(Set(next.map { "\($0.delivery.subscriber.name)\($0.delivery.event)" }) == ["wh_s2", "wh3"])
        },
        Behaviour("items behind one channel's retry, more than memory holds, do not delay other channels") {
            trial in
            try await trial.order(.perChannel)
            try await trial.plan([trial.item(1, "wh", channel: "stuck")])
            let stuck = try await trial.queue.lease(1, wait: .zero)[0]
            let later = trial.clock.now.adding(.seconds(3600))
            #expect(try await trial.queue.finish(stuck, trial.outcome(.retry(at: later))))
            for part in 0..<10 {
                let first = part * 1000 + 2
                try await trial.plan(
                    (first..<first + 1000).map { trial.item(Timetoken(UInt64($0)), "wh", channel: "stuck") },
                    from: Timetoken(UInt64(first - 1)))
            }
            try await trial.plan([trial.item(10_002, "wh", channel: "free")], from: 10_001)
            #expect(try await trial.settleNext(.delivered) == [10_002])
            #expect(try await trial.settleNext(.delivered) == [])
            trial.clock.advance(by: .seconds(3600))
            for event in 1...20 { #expect(try await trial.settleNext(.delivered) == [Timetoken(UInt64(event))]) }
        },
        Behaviour("a rescheduled older event goes before waiting ones, and not beside one in flight") { trial in
            try await trial.order(.strict)
            try await trial.plan((1...4).map { trial.item(Timetoken($0), "wh") })
            #expect(try await trial.settleNext(.dead(reason: .attemptsExhausted)) == [1])
            let second = try await trial.queue.lease(9, wait: .zero)[0]
            let ids = DeliverySelection.ids(["dlv_1_wh"], in: trial.app)
            #expect(try await trial.queue.replay(ids, isDryRun: false) == 1)
            #expect(try await trial.queue.lease(9, wait: .zero).isEmpty)
            let later = trial.clock.now.adding(.seconds(60))
            #expect(try await trial.queue.finish(second, trial.outcome(.retry(at: later))))
            #expect(try await trial.settleNext(.delivered) == [1])
            #expect(try await trial.settleNext(.delivered) == [2], "brought forward by who was before it")
            let third = try await trial.queue.lease(9, wait: .zero)[0]
            #expect(try await trial.queue.finish(third, trial.outcome(.retry(at: later))))
            #expect(try await trial.queue.replay(ids, isDryRun: false) == 1)
            for event in [1, 3, 4] { #expect(try await trial.settleNext(.delivered) == [Timetoken(UInt64(event))]) }
            #expect(try await trial.settleNext(.delivered) == [])
        },
        Behaviour("several rescheduled older events do not run beside one in flight") { trial in
            for ordering in [DeliveryOrdering.strict, .perChannel] {
                let name = "wh_\(ordering)"
                try await trial.order(ordering, name)
                try await trial.plan(
                    (1...4).map { trial.item(Timetoken($0), name) },
                    from: try await trial.queue.cursor(CursorName("c")))
                for event in [1, 2] as [Timetoken] {
                    #expect(try await trial.settleNext(.dead(reason: .attemptsExhausted)) == [event])
                }
                let third = try await trial.queue.lease(9, wait: .zero)
                for event in 1...2 {
                    let ids = DeliverySelection.ids(["dlv_\(event)_\(name)"], in: trial.app)
                    #expect(try await trial.queue.replay(ids, isDryRun: false) == 1)
                }
                #expect(try await trial.queue.lease(9, wait: .zero).isEmpty)
                #expect(try await trial.queue.finish(third[0], trial.outcome(.delivered)))
                for event in [1, 2, 4] as [Timetoken] { #expect(try await trial.settleNext(.delivered) == [event]) }
            }
        },
        Behaviour("waiting items follow a changed ordering, in both directions", needsRestart: false) { trial in
            try await trial.order(.none)
            try await trial.plan((1...1200).map { trial.item(Timetoken($0), "wh", channel: "c\($0 % 7)") })
            try await trial.order(.perChannel)
            #expect(Set(try await trial.settleNext(.delivered)) == Set((1...7).map { Timetoken($0) }))
            try await trial.order(.strict)
            #expect(try await trial.settleNext(.delivered) == [8])
            #expect(try await trial.settleNext(.delivered) == [9])
            try await trial.order(.perChannel)
            #expect(try await trial.settleNext(.delivered).count == 7)
            try await trial.order(.none)
            var left = 1200 - 16
            while left > 0 {
                let events = try await trial.settleNext(.delivered)
                try #require(!events.isEmpty)
                left -= events.count
            }
            #expect(left == 0)
        },
        Behaviour("an expired lease in order is due again before the items behind it") { trial in
            try await trial.order(.strict, batch: 3)
            try await trial.plan((1...5).map { trial.item(Timetoken($0), "wh") })
            #expect(try await trial.queue.lease(9, wait: .zero).map(\.delivery.event) == [1, 2, 3])
            trial.clock.advance(by: .seconds(61))
            #expect(try await trial.queue.lease(9, wait: .zero).map(\.delivery.event) == [1, 2, 3])
            #expect(try await trial.queue.lease(9, wait: .zero).isEmpty)
        },
        Behaviour("a batch is one attempt: leased together, and the lane is free when all of it has ended") { trial in
            try await trial.order(.none, concurrency: 2, batch: 10)
            try await trial.plan((1...25).map { trial.item(Timetoken($0), "wh") })
            let leases = try await trial.queue.lease(1, wait: .zero)
            #expect(leases.map(\.delivery.event) == (1...10).map { Timetoken($0) })
            #expect(Set(leases.map(\.attempt)).count == 1)
            let second = try await trial.queue.lease(9, wait: .zero)
            #expect(
                second.count == 10 && Set(second.map(\.attempt)).count == 1 && second[0].attempt != leases[0].attempt)
            let part = try await trial.queue.finish(leases.dropLast().map { ($0, trial.outcome(.delivered)) })
            #expect(part.allSatisfy { $0 })
            #expect(try await trial.queue.lease(9, wait: .zero).isEmpty, "one of the batch is still under way")
            #expect(try await trial.queue.finish(leases[9], trial.outcome(.delivered)))
            #expect(
                try await trial.queue.lease(9, wait: .zero).map(\.delivery.event) == (21...25).map { Timetoken($0) })
        },
        Behaviour("a batch in order is a contiguous part of it, and its failed items go before the rest") { trial in
            try await trial.order(.perChannel, batch: 4)
            try await trial.plan((1...10).map { trial.item(Timetoken($0), "wh", channel: "c\($0 % 2)") })
            let leases = try await trial.queue.lease(1, wait: .zero)
            #expect(leases.count == 4 && Set(leases.map(\.attempt)).count == 1)
            for channel in ["c0", "c1"] {
                let events = leases.filter { $0.delivery.channel == channel }.map(\.delivery.event)
                #expect(events == events.sorted(), "each channel in its order")
            }
            let events = leases.map(\.delivery.event).sorted()
            let retry = trial.outcome(.retry(at: trial.clock.now.adding(.seconds(5))))
            #expect(try await trial.queue.finish(leases.map { ($0, retry) }).allSatisfy { $0 })
            #expect(try await trial.queue.lease(9, wait: .zero).isEmpty)
            trial.clock.advance(by: .seconds(5))
            let again = try await trial.queue.lease(1, wait: .zero)
            #expect(again.map(\.delivery.event).sorted() == events && again.allSatisfy { $0.delivery.attempts == 1 })
            #expect(try await trial.queue.finish(again.map { ($0, trial.outcome(.delivered)) }).allSatisfy { $0 })
            var rest: [Timetoken] = []
            while case let more = try await trial.settleNext(.delivered), !more.isEmpty { rest += more }
            #expect(rest.sorted() == (1...10).map { Timetoken($0) }.filter { !events.contains($0) })
        },
        Behaviour("a backlog larger than memory is sent in full batches, even while attempts are being recorded") {
            trial in
            try await trial.order(.none, batch: 500)
            for part in 0..<10 as Range<UInt64> {
                try await trial.plan(
                    (1...1000).map { trial.item(Timetoken(part * 1000 + $0), "wh") }, from: Timetoken(part * 1000))
            }
            let queue = await trial.queue
            var batches: [[Lease]] = []
            while case let batch = try await queue.lease(1, wait: .zero), !batch.isEmpty { batches.append(batch) }
            #expect(batches.count == 10)
            var last = batches.removeLast()
            let first = last.removeFirst()
            #expect(try await queue.finish(last.map { ($0, trial.outcome(.delivered)) }).allSatisfy { $0 })
            // The attempt ends for its subscriber before it is recorded in the file, where everything leased still
            // waits.
            let isRecorded = Lock(false)
            async let recording = {
                defer { isRecorded.withLock { $0 = true } }
                return try await queue.finish(first, trial.outcome(.delivered))
            }()
            var next: [Lease] = []
            while next.isEmpty, !isRecorded.withLock({ $0 }) {
                next = try await queue.lease(1, wait: .zero)
                // When every thread of the pool polls like this, the recording would never start.
                await Task.yield()
            }
            #expect(next.count == 500)
            #expect(try await recording)
            let underWay = batches.joined() + next
            #expect(try await queue.finish(underWay.map { ($0, trial.outcome(.delivered)) }).allSatisfy { $0 })
            var delivered = underWay.count + last.count + 1
            while case let events = try await trial.settleNext(.delivered), !events.isEmpty {
                delivered += events.count
            }
            #expect(delivered == 10_000)
        },
        Behaviour("an item of a batch that becomes the first of its order is due when its lease expires") { trial in
            try await trial.order(.strict, batch: 3)
            try await trial.plan((1...3).map { trial.item(Timetoken($0), "wh") })
            let leases = try await trial.queue.lease(9, wait: .zero)
            #expect(try await trial.queue.finish(leases[0], trial.outcome(.delivered)))
            trial.clock.advance(by: .seconds(61))
            #expect(try await trial.queue.lease(9, wait: .zero).map(\.delivery.event) == [2, 3])
        },
        Behaviour("attempts begin no faster than the rate; after a pause, one second's worth begins at once") { trial in
            var settings = LaneSettings(concurrency: 1000)
            settings.rate = 10
            try await trial.queue.set(settings, of: trial.subscriber("wh"))
            try await trial.plan((1...100).map { trial.item(Timetoken($0), "wh") })
            #expect(try await trial.queue.lease(1000, wait: .zero).count == 10)
            trial.clock.advance(by: .milliseconds(99))
            #expect(try await trial.queue.lease(1000, wait: .zero).isEmpty)
            trial.clock.advance(by: .milliseconds(1))
            #expect(try await trial.queue.lease(1000, wait: .zero).count == 1)
            trial.clock.advance(by: .seconds(60))
            #expect(try await trial.queue.lease(1000, wait: .zero).count >= 10)
            settings.rate = 0.5
            try await trial.queue.set(settings, of: trial.subscriber("slow"))
            try await trial.plan((1...2).map { trial.item(Timetoken($0), "slow") }, from: 100)
            func slow() async throws -> Int {
                try await trial.queue.lease(1000, wait: .zero).count { $0.delivery.subscriber.name == "slow" }
            }
            #expect(try await slow() == 1)
            trial.clock.advance(by: .seconds(1))
            #expect(try await slow() == 0)
            trial.clock.advance(by: .seconds(1))
            #expect(try await slow() == 1)
            // The clock goes back by an hour. Attempts that are now in the future do not count until their time comes.
            trial.clock.advance(by: .seconds(7200))
            try await trial.plan((101...103).map { trial.item(Timetoken($0), "slow") }, from: 100)
            trial.clock.advance(by: .seconds(7200))
            #expect(try await slow() == 1)
            trial.clock.step(by: .seconds(-3600))
            #expect(try await slow() == 1)
        },
        Behaviour("a subscriber's lower rate applies at once and until it is changed") { trial in
            let subscriber = trial.subscriber("wh")
            try await trial.queue.set(.open, of: subscriber, concurrency: 5)
            try await trial.plan((1...20).map { trial.item(Timetoken($0), "wh") })
            await trial.queue.pace(subscriber, concurrency: 2, notBefore: nil)
            let two = try await trial.queue.lease(20, wait: .zero)
            #expect(two.count == 2)
            await trial.queue.pace(subscriber, concurrency: 0, notBefore: nil)
            #expect(try await trial.queue.finish(two.map { ($0, trial.outcome(.delivered)) }) == [true, true])
            #expect(try await trial.queue.lease(20, wait: .zero).isEmpty)
            await trial.queue.pace(subscriber, concurrency: 1, notBefore: trial.clock.now.adding(.seconds(30)))
            #expect(try await trial.queue.lease(20, wait: .zero).isEmpty)
            trial.clock.advance(by: .seconds(30))
            #expect(try await trial.queue.lease(20, wait: .zero).count == 1)
            await trial.queue.pace(subscriber, concurrency: nil, notBefore: nil)
            #expect(try await trial.queue.lease(20, wait: .zero).count == 4)
        },
    ]
}

extension Trial {
    func item(_ event: Timetoken, _ subscriber: String, channel: String) -> PlannedDelivery {
        var item = item(event, subscriber)
        item.channel = channel
        return item
    }

    /// Plans deliveries and moves the cursor to the last event.
    func plan(_ items: [PlannedDelivery], from: Timetoken = .zero) async throws {
        try await queue.plan(
            items, cursor: CursorName("c"), from: from, to: max(from, items.map(\.event).max() ?? from))
    }

    func order(
        _ ordering: DeliveryOrdering, _ name: String = "wh", concurrency: Int = 10, batch: Int = 1
    ) async throws {
        var settings = LaneSettings(concurrency: concurrency)
        settings.ordering = ordering
        settings.deliveriesPerAttempt = batch
        try await queue.set(settings, of: subscriber(name))
    }

    /// Takes the due deliveries, ends all of them with one verdict, and returns their events.
    func settleNext(_ verdict: DeliveryOutcome.Verdict) async throws -> [Timetoken] {
        let leases = try await queue.lease(100, wait: .zero)
        let recorded = try await queue.finish(leases.map { ($0, outcome(verdict)) })
        #expect(recorded.allSatisfy { $0 })
        return leases.map(\.delivery.event)
    }
}
