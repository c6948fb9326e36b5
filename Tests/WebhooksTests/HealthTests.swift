import ChatModel
import ChatSupport
import JSON
import Locking
import SQLiteEngine
import TestSupport
import Testing

@testable import Webhooks

@Suite("A webhook's health") struct HealthTests {
    private static let start = WebhookFixture.start
    private static func after(_ hours: Double) -> Timetoken { start.adding(.seconds(hours * 3600)) }

    @Test("is reported once an hour while the backlog is full, and each lost delivery is counted")
    func overflowing() async throws {
        var settings = WebhookFixture.Settings()
        settings.limits.deliveriesHeld = 2
        let receiver = try ScriptedServer()
        try await WebhookFixture.with(settings) { fixture in
            let webhook = try await fixture.webhook(receiver).webhook
            _ = try await fixture.registry.disable(webhook.id, by: WebhookFixture.owner)
            func emit(_ count: Int, dead: UInt64) async throws {
                for _ in 0..<count { try await fixture.emit() }
                await waitUntil { fixture.webhooks.metrics.dead == dead }
            }
            func told() async throws -> [String] {
                try await fixture.notices().filter { $0.type == "webhook.overflowing" }.map(\.data.description)
            }
            try await emit(3, dead: 1)
            try await waitUntil { try await told().count == 1 }
            try await emit(4, dead: 5)
            #expect(try await told() == [#"{"webhook":"\#(webhook.id)","dead":1}"#])
            fixture.clock.advance(by: .seconds(3600))
            try await emit(1, dead: 6)
            try await waitUntil { try await told().count == 2 }
            #expect(try await told().last == #"{"webhook":"\#(webhook.id)","dead":5}"#)
            #expect(try await fixture.deliveries().count { $0.reason == .heldTooMany } == 6)
            #expect(fixture.webhooks.metrics.planned == 2)
        }
    }

    @Test("is reported after half an hour of failures, by each attempt until the report is stored")
    func told() {
        var health = WebhookFailureState()
        #expect(health.recordFailure(at: Self.start).isEmpty)
        #expect(health.recordFailure(at: Self.after(0.49)).isEmpty)
        for _ in 1...2 {
            #expect(health.recordFailure(at: Self.after(0.5)) == [.notify])
            #expect(health.beginWriting() == .failing(since: Self.start))
            #expect(health.beginWriting() == nil, "one at a time")
            health.endWriting(nil)
        }
        #expect(health.beginWriting() == .failing(since: Self.start))
        health.endWriting(.failing(since: Self.start))
        #expect(health.recordFailure(at: Self.after(1)).isEmpty)
    }

    @Test("is reported once it recovers, even if failures begin again before that is stored")
    func recovered() {
        var health = WebhookFailureState(writtenSince: Self.start)
        #expect(health.recordSuccess() == [.notify])
        #expect(health.noticedSince == nil && !health.isOver)
        #expect(health.recordFailure(at: Self.after(2)) == [.notify])
        #expect(health.recordFailure(at: Self.after(3)) == [.notify])
        #expect(health.beginWriting() == .recovered)
        health.endWriting(.recovered)
        #expect(health.beginWriting() == .failing(since: Self.after(2)))
        health.endWriting(.failing(since: Self.after(2)))
        #expect(health.recordSuccess() == [.notify])
        #expect(health.beginWriting() == .recovered)
        health.endWriting(.recovered)
        #expect(health.isOver)
    }

    @Test("that recovers while its failure is being stored has the failure retracted")
    func overtaken() {
        var health = WebhookFailureState()
        _ = health.recordFailure(at: Self.start)
        _ = health.recordFailure(at: Self.after(1))
        #expect(health.beginWriting() == .failing(since: Self.start))
        #expect(health.recordSuccess().isEmpty)
        #expect(!health.isOver)
        health.endWriting(.failing(since: Self.start))
        #expect(health.beginWriting() == .recovered)
    }

    @Test("stored by an earlier run disables only after twelve hours of failures in this one")
    func confirmed() {
        var health = WebhookFailureState(writtenSince: Self.start)
        #expect(health.recordFailure(at: Self.after(200)).isEmpty)
        #expect(health.recordFailure(at: Self.after(211.9)).isEmpty)
        #expect(
            health.recordFailure(at: Self.after(212))
                == [.disable(reason: "failing since \(Self.start.timestamp)")])
        var own = WebhookFailureState()
        _ = own.recordFailure(at: Self.start)
        #expect(own.recordFailure(at: Self.after(120)).contains { $0 != .notify }, "five days")
    }

    @Test("disables after enough consecutive lost deliveries; a success restarts the count")
    func givenUp() {
        var health = WebhookFailureState()
        func fail(_ dead: Int) -> [WebhookFailureState.Effect] {
            health.recordFailure(at: Self.start, dead: dead, deadTolerated: 3)
        }
        #expect(fail(2).isEmpty)
        #expect(health.recordSuccess().isEmpty)
        #expect(fail(2).isEmpty && fail(0).isEmpty)
        let expected = [WebhookFailureState.Effect.disable(reason: "3 consecutive deliveries became dead")]
        #expect(fail(1) == expected)
    }

    @Test("is reported and retracted once each, although the store refuses it at first")
    func refused() async throws {
        let answers = Lock(500)
        let receiver = try ScriptedServer { _ in .status(answers.withLock { $0 }) }
        try await WebhookFixture.with { fixture in
            let id = try await fixture.webhook(receiver).webhook.id
            try await fixture.emit()
            await fixture.recorded(1)
            fixture.refusals.refuseSettings(true)
            fixture.clock.advance(by: .seconds(31 * 60))
            await fixture.recorded(2)
            #expect(fixture.refusals.count == 1)
            #expect(try await fixture.notices().isEmpty)
            fixture.refusals.refuseSettings(false)
            for count in 3...4 {
                try await fixture.emit()
                await fixture.recorded(count)
                #expect(try await fixture.notices().map(\.type) == ["webhook.failing"])
            }

            answers.withLock { $0 = 200 }
            fixture.refusals.refuseSettings(true)
            try await fixture.emit()
            await fixture.recorded(5)
            #expect(fixture.refusals.count == 2)
            #expect(try await fixture.registry.webhook(id, by: WebhookFixture.owner).failingSince == nil)
            #expect(try await fixture.notices().map(\.type) == ["webhook.failing"])
            fixture.refusals.refuseSettings(false)
            for count in 6...7 {
                try await fixture.emit()
                await fixture.recorded(count)
                #expect(try await fixture.notices().map(\.type) == ["webhook.failing", "webhook.recovered"])
            }
            let key = WebhookHealth.recordKey(of: SubscriberID(id, in: WebhookFixture.app))
            let left = try await fixture.engine.directory.read(key)
            #expect(left == nil)
        }
    }

    @Test("left behind by an earlier run does not disable a webhook at its first failure")
    func leftBehind() async throws {
        let folder = try TemporaryFolder()
        var settings = WebhookFixture.Settings()
        settings.path = folder.path + "/chat.db"
        let clock = WebhookFixture.newClock()
        let receiver = try ScriptedServer { _ in .status(500) }
        let id = Observed<[String]>()
        try await WebhookFixture.with(settings, clock: clock) { fixture in
            id.append(try await fixture.webhook(receiver).webhook.id)
            try await fixture.emit()
            await fixture.recorded(1)
            clock.advance(by: .seconds(3600))
            await fixture.recorded(2)
            #expect(try await fixture.notices().map(\.type) == ["webhook.failing"])
        }
        clock.advance(by: .seconds(6 * 24 * 3600))
        try await WebhookFixture.with(settings, clock: clock) { fixture in
            await fixture.recorded(1)
            let first = try await fixture.registry.webhook(id.value[0], by: WebhookFixture.owner)
            #expect(first.status == .enabled)
            clock.advance(by: .seconds(12 * 3600))
            await fixture.recorded(2)
            let second = try await fixture.registry.webhook(id.value[0], by: WebhookFixture.owner)
            #expect(second.status == .disabled)
        }
    }
}
