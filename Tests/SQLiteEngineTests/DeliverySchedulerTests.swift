import ChatModel
import EngineConformance
import SQLite
import TestSupport
import Testing

@testable import SQLiteEngine
@testable import StorageCore

@Suite("The delivery scheduler") struct DeliverySchedulerTests {
    @Test("frees the slot of an attempt whose result was given up and recorded after all")
    func lateCommit() throws {
        var state = SchedulerState(fence: 0)
        let subscriber = SubscriberID("wh", in: AppID("app"))
        state.update(
            StoredSubscriber(
                number: 1, subscriber: subscriber, settings: LaneSettings(concurrency: 1), reordering: .done))
        for event in [1, 2] as [Timetoken] {
            state.add(
                PlannedDelivery(id: "dlv_\(event)", subscriber: subscriber, event: event, type: "t", channel: "c"),
                due: 1, to: 1)
        }
        let request = DeliveryScheduler.LeaseRequest(limit: 9, capacity: 9)
        let first = try #require(state.grant(request, now: 1, uptime: 1).0.first)
        // As the call that records it begins, and as it ends when nobody can tell what became of it.
        state.leases[first.key]?.isFinishing = true
        state.stop(first.key, try #require(state.leases[first.key]))
        state.resume(first.key, try #require(state.leases[first.key]))
        #expect(state.grant(request, now: 1, uptime: 1).0.isEmpty)
        state.complete([(first.key, .over)])
        #expect(state.groups.values.allSatisfy { $0.attemptsUnderWay == 0 } && state.attempts == 0)
        #expect(state.grant(request, now: 1, uptime: 1).0.map(\.key.event) == [2])
    }

    @Test("examines an app that has used its share once, however many of its lanes have due items")
    func satedApp() throws {
        var state = SchedulerState(fence: 0)
        for number in 1...500 as ClosedRange<Int64> {
            let subscriber = SubscriberID("wh_\(number)", in: AppID("app"))
            state.update(
                StoredSubscriber(
                    number: number, subscriber: subscriber, settings: LaneSettings(concurrency: 10), reordering: .done))
            for event in [1, 2] as [Timetoken] {
                state.add(
                    PlannedDelivery(id: "dlv", subscriber: subscriber, event: event, type: "t", channel: "c"), due: 1,
                    to: number)
            }
        }
        let request = DeliveryScheduler.LeaseRequest(limit: 100, capacity: 80)
        #expect(state.grant(request, now: 1, uptime: 1).0.count == 70)
        let lanes = try #require(state.groups[AppID("app")])
        let stood = lanes.timerQueue.count
        #expect(state.grant(request, now: 1, uptime: 1).0.isEmpty)
        #expect(lanes.timerQueue.count == stood && stood >= 430, "none was taken out and put back")
        #expect(state.grant(DeliveryScheduler.LeaseRequest(limit: 9, capacity: 70), now: 1, uptime: 1).0.isEmpty)
        // Nobody else's: another app gets what is left.
        let other = SubscriberID("wh", in: AppID("other"))
        state.update(
            StoredSubscriber(number: 501, subscriber: other, settings: LaneSettings(concurrency: 10), reordering: .done)
        )
        state.add(PlannedDelivery(id: "dlv", subscriber: other, event: 3, type: "t", channel: "c"), due: 1, to: 501)
        #expect(state.grant(request, now: 1, uptime: 1).0.map(\.subscriber) == [other])
    }

    @Test("does not accumulate entries for a lane with a distant retry and many items before it")
    func agendaStaysSmall() {
        final class Member: @unchecked Sendable, Scheduled { var scheduledDue: UInt64? }
        var timerQueue = TimerQueue<Member>()
        let (busy, quiet) = (Member(), Member())
        timerQueue.schedule(quiet, due: 4000)
        for _ in 0..<10_000 {
            timerQueue.schedule(busy, due: 5000)
            timerQueue.schedule(busy, due: 1)
            #expect(timerQueue.pop(by: 1) === busy)
        }
        #expect(timerQueue.count <= 128)
        #expect(timerQueue.pop(by: 4000) === quiet && timerQueue.pop(by: 4999) == nil)
        timerQueue.schedule(busy, due: 5000)
        #expect(timerQueue.pop(by: 5000) === busy && timerQueue.pop(by: .max) == nil)
    }

    @Test("records an attempt once, even if its outcome was unknown and it is submitted again")
    func recordedOnce() async throws {
        let engine = try await SQLiteEngine(SQLiteEngineSettings(path: ":memory:", clock: ManualClock()))
        let queue = try #require(engine.deliveries as? SQLiteDeliveries)
        let subscriber = SubscriberID("wh", in: AppID("app"))
        let item = PlannedDelivery(id: "dlv_1", subscriber: subscriber, event: 1, type: "t", channel: "c")
        try await queue.plan([item], cursor: CursorName("c"), from: .zero, to: 1)
        let lease = try #require(try await queue.lease(1, wait: .zero).first)
        let attempt = DeliveryAttempt(at: 5, status: 500, error: "http_5xx", durationMilliseconds: 1)
        let finished = [(lease: lease, outcome: DeliveryOutcome(.retry(at: 9), attempt: attempt))]
        let first = queue.scheduler.claimRecording(of: finished)
        queue.scheduler.cancelRecording(of: first)
        let second = queue.scheduler.claimRecording(of: finished)
        var recorded: [Bool] = []
        for keys in [first, second] {
            recorded += try await queue.writerHandle.run {
                [scheduler = queue.scheduler] (writer) throws(SQLiteFailure) in
                .success(try writer.finish(finished, keys, scheduler: scheduler))
            }
        }
        #expect(recorded == [true, false])
        let (delivery, attempts) = try #require(try await queue.delivery("dlv_1", in: subscriber.app))
        #expect(delivery.attempts == 1 && attempts.count == 1)
        await engine.close()
    }
}
