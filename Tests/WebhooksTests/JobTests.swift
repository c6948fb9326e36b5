import ChatCore
import ChatModel
import ChatSupport
import JSON
import Locking
import SQLiteEngine
import TestSupport
import Testing

@testable import Webhooks

@Suite("A job over deliveries") struct JobTests {
    /// A webhook whose receiver fails every delivery, with `count` deliveries given up.
    private static func deadLetters(
        _ fixture: WebhookFixture, _ receiver: ScriptedServer, count: Int
    ) async throws -> Webhook {
        let webhook = try await fixture.webhook(receiver).webhook
        for number in 0..<count { try await fixture.emit(data: #"{"number":\#(number)}"#) }
        await fixture.recorded(count)
        return webhook
    }

    private static func settings() -> WebhookFixture.Settings {
        var settings = WebhookFixture.Settings()
        settings.limits.deliveryAttempts = 1
        return settings
    }

    private static func ended(_ id: String, in fixture: WebhookFixture) async throws -> DeliveryJob {
        try await waitUntil { try await fixture.webhooks.jobs.job(id, by: WebhookFixture.owner).state.isOver }
        return try await fixture.webhooks.jobs.job(id, by: WebhookFixture.owner)
    }

    @Test("resends dead deliveries under the same ids, and reports its progress")
    func redrive() async throws {
        let status = Lock(500)
        let receiver = try ScriptedServer { _ in .status(status.withLock { $0 }) }
        try await WebhookFixture.with(Self.settings()) { fixture in
            let webhook = try await Self.deadLetters(fixture, receiver, count: 5)
            #expect(try await fixture.deliveries().map(\.status) == Array(repeating: .dead, count: 5))
            let scope = DeliveryScope(webhook: webhook.id, only: .dead)
            #expect(try await fixture.webhooks.jobs.count(scope, by: WebhookFixture.owner) == (5, true))
            #expect(receiver.requests.value.count == 5, "counting sends nothing")

            status.withLock { $0 = 200 }
            let job = try await fixture.webhooks.jobs.begin(.redrive, scope, by: WebhookFixture.owner)
            #expect(job.count == 5)
            await fixture.recorded(10)
            let ended = try await Self.ended(job.id, in: fixture)
            #expect(ended.state == .done && ended.done == 5 && ended.examined == 5)
            #expect(try await fixture.deliveries().map(\.status) == Array(repeating: .delivered, count: 5))
            #expect(Set(receiver.requests.value.compactMap { $0["webhook-id"] }).count == 5)
            #expect(
                try await fixture.webhooks.jobs.list(RecordList(limit: 10), by: WebhookFixture.owner).items.map(\.id)
                    == [job.id])
        }
    }

    @Test("counts deliveries that it skips because they already wait")
    func skipped() async throws {
        let receiver = try ScriptedServer()
        try await WebhookFixture.with { fixture in
            let webhook = try await fixture.webhook(receiver).webhook
            _ = try await fixture.webhooks.registry.disable(webhook.id, by: WebhookFixture.owner)
            for _ in 0..<3 { try await fixture.emit() }
            try await waitUntil { try await fixture.deliveries().count == 3 }
            let scope = DeliveryScope(webhook: webhook.id, only: .all)
            let job = try await fixture.webhooks.jobs.begin(.replay, scope, by: WebhookFixture.owner)
            let ended = try await Self.ended(job.id, in: fixture)
            #expect((ended.state, ended.done, ended.skipped) == (.done, 0, 3))
        }
    }

    @Test("narrows by type, channel, filter and bounds")
    func narrowed() async throws {
        let receiver = try ScriptedServer { _ in .status(500) }
        try await WebhookFixture.with(Self.settings()) { fixture in
            let webhook = try await Self.deadLetters(fixture, receiver, count: 3)
            let other = try await fixture.emit("order.refunded", channel: "orders.us", data: #"{"number":9}"#)
            await fixture.recorded(4)
            func count(_ change: (inout DeliveryScope) throws -> Void) async throws -> Int {
                var scope = DeliveryScope(webhook: webhook.id, only: .dead)
                try change(&scope)
                return try await fixture.webhooks.jobs.count(scope, by: WebhookFixture.owner).count
            }
            #expect(try await count { _ in } == 4)
            #expect(try await count { $0.types = [.exact("order.paid")] } == 3)
            #expect(try await count { $0.channels = [.below("orders.")] } == 4)
            #expect(try await count { $0.channels = [.exact("orders.us")] } == 1)
            #expect(try await count { $0.filter = try Filter("data.number > 1") } == 2)
            #expect(try await count { $0.before = other.timetoken } == 3)
            #expect(try await count { $0.after = other.timetoken } == 0)
            _ = try await fixture.engine.log.delete(
                after: .zero, before: .distantFuture, in: ChannelID("orders.eu", in: WebhookFixture.app))
            #expect(try await count { $0.filter = try Filter("data.number > 1") } == 1, "what is gone does not match")
        }
    }

    @Test("replays the log for a webhook that came later, each event once")
    func log() async throws {
        let receiver = try ScriptedServer()
        try await WebhookFixture.with { fixture in
            for number in 0..<4 { try await fixture.emit(data: #"{"number":\#(number)}"#) }
            try await fixture.emit("order.refunded")
            let webhook = try await fixture.webhook(receiver, types: [.exact("order.paid")]).webhook
            try await fixture.emit()
            await fixture.recorded(1)
            let scope = DeliveryScope(webhook: webhook.id, only: .all)
            #expect(try await fixture.webhooks.jobs.count(scope, by: WebhookFixture.owner) == (5, true))
            let job = try await fixture.webhooks.jobs.begin(.replay, scope, by: WebhookFixture.owner)
            await fixture.recorded(6)
            let ended = try await Self.ended(job.id, in: fixture)
            #expect(ended.state == .done && ended.done == 5 && ended.examined == 6)
            let ids = receiver.requests.value.compactMap { $0["webhook-id"] }
            #expect(ids.count == 6 && Set(ids).count == 5, "what was delivered already comes again with its id")
            #expect(try await fixture.deliveries().map(\.status) == Array(repeating: .delivered, count: 5))
        }
    }

    @Test("removes dead deliveries")
    func purge() async throws {
        let receiver = try ScriptedServer { _ in .status(500) }
        try await WebhookFixture.with(Self.settings()) { fixture in
            _ = try await Self.deadLetters(fixture, receiver, count: 3)
            let job = try await fixture.webhooks.jobs.begin(
                .purge, DeliveryScope(only: .dead), by: WebhookFixture.owner)
            let ended = try await Self.ended(job.id, in: fixture)
            #expect(ended.state == .done && ended.done == 3)
            #expect(try await fixture.deliveries().isEmpty)
            await #expect(throws: ChatError.self) {
                try await fixture.webhooks.jobs.begin(.purge, DeliveryScope(only: .failed), by: WebhookFixture.owner)
            }
        }
    }

    @Test("keeps to its rate, rests while paused, goes on after a restart, and ends when cancelled")
    func held() async throws {
        let receiver = try ScriptedServer { _ in .status(500) }
        let folder = try TemporaryFolder()
        var settings = Self.settings()
        settings.path = folder.path + "/chat.db"
        let clock = WebhookFixture.newClock()
        let id = Observed<[String]>()
        try await WebhookFixture.with(settings, clock: clock) { fixture in
            let webhook = try await Self.deadLetters(fixture, receiver, count: 6)
            let jobs = fixture.webhooks.jobs
            let scope = DeliveryScope(webhook: webhook.id, only: .dead)
            let job = try await jobs.begin(.redrive, scope, rate: 2, by: WebhookFixture.owner)
            id.append(job.id)
            await fixture.recorded(8)
            try await waitUntil { try await jobs.job(job.id, by: WebhookFixture.owner).examined == 2 }
            _ = try await jobs.set(.paused, of: job.id, by: WebhookFixture.owner)
            clock.advance(by: .seconds(60))
            #expect(try await jobs.job(job.id, by: WebhookFixture.owner).examined == 2)
            _ = try await jobs.set(.running, of: job.id, by: WebhookFixture.owner)
            await fixture.recorded(10)
            try await waitUntil { try await jobs.job(job.id, by: WebhookFixture.owner).examined == 4 }
        }
        try await WebhookFixture.with(settings, clock: clock) { fixture in
            let jobs = fixture.webhooks.jobs
            try await waitUntil { try await jobs.job(id.value[0], by: WebhookFixture.owner).examined == 6 }
            let over = try await Self.ended(id.value[0], in: fixture)
            #expect(over.state == .done && over.done == 6)
            await #expect(throws: ChatError.self) {
                try await jobs.set(.cancelled, of: over.id, by: WebhookFixture.owner)
            }

            let job = try await jobs.begin(.redrive, DeliveryScope(only: .dead), rate: 1, by: WebhookFixture.owner)
            try await waitUntil { try await jobs.job(job.id, by: WebhookFixture.owner).examined == 1 }
            let cancelled = try await jobs.set(.cancelled, of: job.id, by: WebhookFixture.owner)
            #expect(cancelled.state == .cancelled && cancelled.finished != nil)
            clock.advance(by: .seconds(60))
            #expect(try await jobs.job(job.id, by: WebhookFixture.owner).examined == 1)
        }
    }

    @Test("reaches its rate, however often it has to look")
    func rate() async throws {
        let receiver = try ScriptedServer { _ in .status(500) }
        try await WebhookFixture.with(Self.settings()) { fixture in
            let webhook = try await Self.deadLetters(fixture, receiver, count: 9)
            let jobs = fixture.webhooks.jobs
            let scope = DeliveryScope(webhook: webhook.id, only: .dead)
            let job = try await jobs.begin(.redrive, scope, rate: 3, by: WebhookFixture.owner)
            // The clock barely advances: only the first step runs.
            try await waitUntil { try await jobs.job(job.id, by: WebhookFixture.owner).examined == 3 }
            // A step that runs slightly late does not move the next one.
            fixture.clock.advance(by: .milliseconds(1900))
            try await waitUntil { try await jobs.job(job.id, by: WebhookFixture.owner).examined == 6 }
            fixture.clock.advance(by: .milliseconds(100))
            try await waitUntil { try await jobs.job(job.id, by: WebhookFixture.owner).examined == 9 }
            #expect(try await jobs.job(job.id, by: WebhookFixture.owner).examined == 9)
        }
    }

    @Test("is listed and cancelled without compiling its filter")
    func uncompiled() async throws {
        try await WebhookFixture.with { fixture in
            var scope = DeliveryScope(only: .dead)
            scope.filter = Filter(uncompiled: "data.n ==")
            let job = DeliveryJob(
                id: "job_1", app: WebhookFixture.app, kind: .redrive, scope: scope, rate: nil, created: .zero)
            let record = try await fixture.engine.directory.write([RecordChange(job.key, body: job.body)])[0]
            #expect(DeliveryJob(record) == nil)
            let jobs = fixture.webhooks.jobs
            let listed = try await jobs.list(RecordList(limit: 10), by: WebhookFixture.owner).items
            #expect(listed.map(\.scope.filter?.text) == ["data.n =="])
            #expect(try await jobs.set(.cancelled, of: "job_1", by: WebhookFixture.owner).state == .cancelled)
        }
    }

    @Test("of a webhook whose record cannot be read fails, and is not tried for ever")
    func unreadable() async throws {
        let receiver = try ScriptedServer()
        try await WebhookFixture.with { fixture in
            let webhook = try await fixture.webhook(receiver).webhook
            for _ in 0..<3 { try await fixture.emit() }
            let jobs = fixture.webhooks.jobs
            let job = try await jobs.begin(
                .replay, DeliveryScope(webhook: webhook.id, only: .all), rate: 1, by: WebhookFixture.owner)
            try await waitUntil { try await jobs.job(job.id, by: WebhookFixture.owner).examined == 1 }
            try await fixture.spoil(webhook)
            fixture.clock.advance(by: .seconds(2))
            let ended = try await Self.ended(job.id, in: fixture)
            #expect(ended.state == .failed)
            #expect(ended.reason?.contains("cannot be read") == true)
        }
    }

    @Test("goes on when it is resumed while a step still holds it for paused")
    func resumedMeanwhile() async throws {
        let receiver = try ScriptedServer { _ in .status(500) }
        try await WebhookFixture.with(Self.settings()) { fixture in
            let webhook = try await Self.deadLetters(fixture, receiver, count: 3)
            let jobs = fixture.webhooks.jobs
            let job = try await jobs.begin(
                .redrive, DeliveryScope(webhook: webhook.id, only: .dead), rate: 1, by: WebhookFixture.owner)
            try await waitUntil { try await jobs.job(job.id, by: WebhookFixture.owner).examined == 1 }
            let resumed = Observed<[Bool]>()
            fixture.refusals.afterRead(of: { DeliveryJob($0)?.state == .paused }) { () async throws(ChatError) in
                _ = try await jobs.set(.running, of: job.id, by: WebhookFixture.owner)
                resumed.append(true)
            }
            _ = try await jobs.set(.paused, of: job.id, by: WebhookFixture.owner)
            fixture.clock.advance(by: .seconds(60))
            await resumed.wait(count: 1)
            try await waitUntil { try await jobs.job(job.id, by: WebhookFixture.owner).examined >= 2 }
            #expect(try await jobs.job(job.id, by: WebhookFixture.owner).examined >= 2)
        }
    }

    @Test("goes on after a start at which the store could not be read")
    func startedBlind() async throws {
        try await WebhookFixture.with { fixture in
            let job = DeliveryJob(
                id: "job_1", app: WebhookFixture.app, kind: .purge, scope: DeliveryScope(only: .dead), rate: nil,
                created: fixture.clock.now)
            _ = try await fixture.engine.directory.write([RecordChange(job.key, body: job.body, precondition: .absent)])
            fixture.refusals.refuseLists(of: [.job])
            let another = fixture.another()
            try await withThrowingTaskGroup { group in
                group.addTask { try await another.run() }
                await waitUntil { fixture.refusals.refusedLists > 0 }
                fixture.refusals.refuseLists(of: [])
                let ended = try await Self.ended(job.id, in: fixture)
                #expect(ended.state == .done)
                group.cancelAll()
            }
        }
    }

    @Test("skips deliveries from before its maker's rights, and those not visible to its maker")
    func widerBefore() async throws {
        let receiver = try ScriptedServer { _ in .status(500) }
        try await WebhookFixture.with(Self.settings()) { fixture in
            let webhook = try await Self.deadLetters(fixture, receiver, count: 2)
            try await fixture.emit("order.paid", channel: "rooms.a")
            await fixture.recorded(3)
            _ = try await fixture.registry.patch(
                webhook.id, with: JSONDocument(Array(#"{"channels":["rooms.*"]}"#.utf8)), by: WebhookFixture.owner)
            let narrow = Caller(
                app: WebhookFixture.app, credential: "key_narrow", scopes: [.manage], channels: [.below("rooms.")])
            let scope = DeliveryScope(webhook: webhook.id, only: .dead)
            #expect(try await fixture.webhooks.jobs.count(scope, by: narrow) == (1, true))
            #expect(try await fixture.webhooks.jobs.count(scope, by: WebhookFixture.owner) == (3, true))
            let job = try await fixture.webhooks.jobs.begin(.purge, scope, by: narrow)
            #expect(try await Self.ended(job.id, in: fixture).done == 1)
            #expect(try await fixture.deliveries().map(\.channel) == ["orders.eu", "orders.eu"])
            #expect(try await fixture.webhooks.deliveries.stats(of: webhook.id, by: narrow).oldestWaiting == nil)
        }
    }

    @Test("about all webhooks leaves out $system, but for an admin")
    func systemChannel() async throws {
        let receiver = try ScriptedServer { _ in .status(500) }
        try await WebhookFixture.with(Self.settings()) { fixture in
            try await fixture.webhook(receiver, channels: [.exact("$system"), .all])
            let other = try await fixture.webhook(receiver, types: [.exact("none")]).webhook
            try await fixture.emit()
            _ = try await fixture.registry.disable(other.id, by: WebhookFixture.owner)
            await fixture.recorded(2)
            let manager = Caller(app: WebhookFixture.app, credential: "key_manager", scopes: [.manage])
            let scope = DeliveryScope(only: .dead)
            #expect(try await fixture.webhooks.jobs.count(scope, by: WebhookFixture.owner).count == 2)
            #expect(try await fixture.webhooks.jobs.count(scope, by: manager).count == 1)
        }
    }

    @Test("is stored with the rights of its maker, and with a filter that is no longer allowed")
    func kept() throws {
        var limits = Limits()
        limits.filterBytes = 100_000
        let text = (0..<3000).map { "data.n == \($0)" }.joined(separator: " or ")
        var scope = DeliveryScope(only: .dead, filter: try Filter(text, limits: limits))
        scope.reach = DeliveryScope.Reach(
            Caller(app: WebhookFixture.app, credential: "k", scopes: [.manage], channels: [.below("rooms.")]))
        let job = DeliveryJob(
            id: "job_1", app: WebhookFixture.app, kind: .purge, scope: scope, rate: nil,
            created: WebhookFixture.start)
        let record = Record(
            key: job.key, body: job.body, etag: "e", updated: WebhookFixture.start)
        let read = try #require(DeliveryJob(record))
        #expect(read.scope.filter?.text == text)
        #expect(read.scope.admits(type: "t", channel: "rooms.a"))
        #expect(!read.scope.admits(type: "t", channel: "orders.eu"))
    }

    @Test("is only for callers who reach its deliveries")
    func reach() async throws {
        let receiver = try ScriptedServer { _ in .status(500) }
        try await WebhookFixture.with(Self.settings()) { fixture in
            let webhook = try await Self.deadLetters(fixture, receiver, count: 1)
            let narrow = Caller(
                app: WebhookFixture.app, credential: "key_narrow", scopes: [.manage], channels: [.below("rooms.")])
            for scope in [DeliveryScope(webhook: webhook.id, only: .dead), DeliveryScope(only: .dead)] {
                await #expect(throws: ChatError.self) {
                    try await fixture.webhooks.jobs.begin(.redrive, scope, by: narrow)
                }
            }
            let job = try await fixture.webhooks.jobs.begin(
                .redrive, DeliveryScope(webhook: webhook.id, only: .dead), by: WebhookFixture.owner)
            #expect(try await fixture.webhooks.jobs.list(RecordList(limit: 10), by: narrow).items.isEmpty)
            await #expect(throws: ChatError.self) { try await fixture.webhooks.jobs.job(job.id, by: narrow) }
            await #expect(throws: ChatError.self) {
                try await fixture.webhooks.jobs.count(DeliveryScope(webhook: "wh_none"), by: WebhookFixture.owner)
            }
        }
    }
}
