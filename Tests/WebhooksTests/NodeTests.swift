import ChatCore
import ChatModel
import ChatSupport
import JSON
import Locking
import SQLiteEngine
import TestSupport
import Testing

@testable import Webhooks

@Suite("Webhooks on two nodes", .timeLimit(.minutes(2))) struct NodeTests {
    private static let owner = WebhookFixture.owner

    @Test("are planned for with every webhook that any node has created before the event")
    func planning() async throws {
        let receiver = try ScriptedServer()
        try await WebhookFixture.withTwo { one, two in
            let webhook = try await one.webhook(receiver).webhook
            let before = two.registry.snapshot.withLock { $0[webhook.subscriber] }
            #expect(before == nil, "node 2 has not followed yet")
            try await two.registry.applyCommittedChanges()
            let after = two.registry.snapshot.withLock { $0[webhook.subscriber] }
            #expect(after?.settings.url == webhook.settings.url)
            try await one.registry.delete(webhook.id, by: Self.owner)
            try await two.registry.applyCommittedChanges()
            #expect(two.registry.snapshot.withLock { !$0.isKnown(webhook.subscriber) })
        }
    }

    @Test("have the queue that the newest record asks for, though a node with an older one sets it last")
    func lanes() async throws {
        let receiver = try ScriptedServer()
        try await WebhookFixture.withTwo { one, two in
            let webhook = try await one.webhook(receiver).webhook
            try await two.registry.applyCommittedChanges()
            _ = try await one.registry.disable(webhook.id, by: Self.owner)
            // Node 2 still takes the webhook for enabled.
            #expect(two.registry.snapshot.withLock { $0.enabled(webhook.subscriber) } != nil)
            try await two.registry.updateLane(of: webhook.subscriber)
            try await one.emit()
            try await waitUntil { try await one.deliveries().map(\.status) == [.held] }
            // A change on node 2 acts on the sender of node 1.
            _ = try await two.registry.enable(webhook.id, by: Self.owner)
            await one.recorded(1)
            #expect(receiver.requests.value.count == 1)
        }
    }

    @Test(
        "show their failures and counts on the node that has made no attempt, and forget them when they are enabled there"
    )
    func state() async throws {
        let receiver = try ScriptedServer { _ in .status(503) }
        try await WebhookFixture.withTwo { one, two in
            let id = try await one.webhook(receiver).webhook.id
            try await one.emit()
            await one.recorded(1)
            let (here, there) = (
                try await one.registry.webhook(id, by: Self.owner), try await two.registry.webhook(id, by: Self.owner)
            )
            #expect(there.failingSince != nil && there.failingSince == here.failingSince)
            #expect(there.lastError == here.lastError && there.lastError?.status == 503)
            let stats = try await two.webhooks.deliveries.stats(of: id, by: Self.owner)
            #expect(stats.state.windows.map(\.failed) == [1, 1, 1] && stats.state.lastFailure != nil)
            _ = try await two.registry.disable(id, by: Self.owner)
            _ = try await two.registry.enable(id, by: Self.owner)
            let subscriber = here.subscriber
            await waitUntil { one.registry.runtime(of: subscriber)?.failingSince == nil }
        }
    }

    @Test("share the calls of other nodes while the same webhook is read again and again, until it changes")
    func repeatedReads() async throws {
        let receiver = try ScriptedServer()
        try await WebhookFixture.withTwo { one, two in
            let calls = Lock<Set<String>>([])
            one.engine.directory.observe { changes in
                for key in changes.keys where key.kind == .nodeCall { calls.withLock { _ = $0.insert(key.id) } }
            }
            let webhook = try await one.webhook(receiver).webhook
            try await two.registry.applyCommittedChanges()
            let before = calls.withLock { $0.count }
            for _ in 0..<20 { _ = try await two.registry.webhook(webhook.id, by: Self.owner) }
            #expect(calls.withLock { $0.count } - before < 20)
            // The state after a change is read anew.
            let runtime = try #require(two.registry.runtime(of: webhook.subscriber))
            _ = runtime.recordFailure(
                AttemptError(at: two.service.clock.now, error: "status", status: 503), dead: 0, deadTolerated: .max)
            _ = try await one.registry.disable(webhook.id, by: Self.owner)
            _ = try await one.registry.enable(webhook.id, by: Self.owner)
            try await waitUntil { try await one.registry.webhook(webhook.id, by: Self.owner).failingSince == nil }
        }
    }

    @Test("take a success of another node into account before they are reported or disabled")
    func successElsewhere() async throws {
        let status = Lock(503)
        let receiver = try ScriptedServer { _ in .status(status.withLock { $0 }) }
        try await WebhookFixture.withTwo { one, two in
            let webhook = try await one.webhook(receiver).webhook
            try await two.registry.applyCommittedChanges()
            // Node 2 has failed long ago, and node 1 has succeeded since.
            let runtime = try #require(two.registry.runtime(of: webhook.subscriber))
            _ = runtime.recordFailure(
                AttemptError(at: two.service.clock.now, error: "status", status: 503), dead: 0, deadTolerated: .max)
            two.clock.advance(by: .seconds(3600))
            status.withLock { $0 = 200 }
            try await one.emit()
            await one.recorded(1)
            #expect(try await two.registry.webhook(webhook.id, by: Self.owner).failingSince == nil)
            #expect(await two.registry.hasSucceededElsewhere(runtime))
            let effects = runtime.recordFailure(
                AttemptError(at: two.service.clock.now, error: "status", status: 503), dead: 0, deadTolerated: .max)
            #expect(effects.isEmpty)
        }
    }

    // MARK: Jobs

    private static func settings() -> WebhookFixture.Settings {
        var settings = WebhookFixture.Settings()
        settings.limits.deliveryAttempts = 1
        return settings
    }

    /// Creates a webhook with five dead deliveries. Its receiver accepts later ones. Returns the id of the webhook.
    private func fiveDead(
        on node: WebhookFixture, _ receiver: ScriptedServer, _ status: Lock<Int>
    ) async throws -> String {
        let id = try await node.webhook(receiver).webhook.id
        for _ in 0..<5 { try await node.emit() }
        await node.recorded(5)
        status.withLock { $0 = 200 }
        return id
    }

    @Test("a job begun on one node is run once, by one of them, and goes on when its node has stopped")
    func jobs() async throws {
        let status = Lock(500)
        let receiver = try ScriptedServer { _ in .status(status.withLock { $0 }) }
        try await WebhookFixture.withTwo(Self.settings()) { one, two in
            let id = try await fiveDead(on: one, receiver, status)
            let scope = DeliveryScope(webhook: id, only: .dead)
            let job = try await two.webhooks.jobs.begin(.redrive, scope, by: Self.owner)
            try await waitUntil { try await one.webhooks.jobs.job(job.id, by: Self.owner).state == .done }
            await one.recorded(10)
            let done = try await two.webhooks.jobs.job(job.id, by: Self.owner)
            #expect(done.done == 5 && done.examined == 5 && done.runner?.node == 1)
            #expect(receiver.requests.value.count == 10)
        }
    }

    @Test("a job that another node runs is left alone until that node's lease ends, and continued within 15 s")
    func jobLease() async throws {
        let receiver = try ScriptedServer()
        try await WebhookFixture.withTwo { one, two in
            let webhook = try await one.webhook(receiver).webhook
            for _ in 0..<3 { try await one.emit() }
            await one.recorded(3)
            // Node 2 has begun the job and has died.
            let now = one.service.clock.now
            var job = DeliveryJob(
                id: "job_1", app: WebhookFixture.app, kind: .replay,
                scope: DeliveryScope(webhook: webhook.id, only: .all, after: .zero, before: now), rate: nil,
                created: now)
            job.runner = (2, now.adding(JobRunner.lease))
            _ = try await two.engine.directory.write([RecordChange(job.key, body: job.body, precondition: .absent)])
            // A job of node 1 that begins later ends, while the other one waits.
            let other = try await one.webhooks.jobs.begin(
                .replay, DeliveryScope(webhook: webhook.id, only: .all), by: Self.owner)
            try await waitUntil { try await one.webhooks.jobs.job(other.id, by: Self.owner).state == .done }
            #expect(try await one.webhooks.jobs.job(job.id, by: Self.owner).state == .running)
            one.clock.advance(by: .seconds(11))
            try await waitUntil { try await one.webhooks.jobs.job(job.id, by: Self.owner).state == .done }
            #expect(try await one.webhooks.jobs.job(job.id, by: Self.owner).runner?.node == 1)
        }
    }

    @Test("a node that has lost a job during a step changes no delivery in this step")
    func lostJob() async throws {
        let status = Lock(500)
        let receiver = try ScriptedServer { _ in .status(status.withLock { $0 }) }
        try await WebhookFixture.withTwo(Self.settings()) { one, two in
            let id = try await fiveDead(on: one, receiver, status)
            let isTaken = Observed(false)
            one.refusals.beforeReplay { () async throws(ChatError) in
                // Node 1 was paused for longer than its lease, and node 2 has continued the job.
                let query = RecordQuery(.job, in: WebhookFixture.app, limit: 1)
                guard let record = try await two.engine.directory.list(query).items.first,
                    var job = DeliveryJob(record, compilesFilter: false)
                else { return }
                job.runner = (2, one.service.clock.now.adding(JobRunner.lease))
                let change = RecordChange(job.key, body: job.body, precondition: .etag(record.etag))
                _ = try await two.engine.directory.write([change])
                isTaken.update { $0 = true }
            }
            let scope = DeliveryScope(webhook: id, only: .dead)
            let job = try await two.webhooks.jobs.begin(.redrive, scope, by: Self.owner)
            await isTaken.wait { $0 }
            // Node 2 stops without a step. Node 1 continues the job, and finds all deliveries as they were.
            one.clock.advance(by: .seconds(11))
            try await waitUntil { try await one.webhooks.jobs.job(job.id, by: Self.owner).state == .done }
            let done = try await one.webhooks.jobs.job(job.id, by: Self.owner)
            #expect(done.done == 5 && done.examined == 5 && done.runner?.node == 1)
            await one.recorded(10)
            #expect(receiver.requests.value.count == 10)
        }
    }

    @Test("a subscription is pulled on the node that has not heard of it yet")
    func pulling() async throws {
        try await WebhookFixture.withTwo { one, two in
            let subscription = try await one.webhooks.subscriptions.create(SubscriptionSettings(), by: Self.owner)
            try await one.emit()
            let pulled = try await two.webhooks.subscriptions.pull(
                subscription.id, most: 10, waitSeconds: 10, by: Self.owner)
            #expect(pulled.count == 1)
            let acknowledged = try await one.webhooks.subscriptions.acknowledge(
                pulled.map(\.ackID), of: subscription.id, by: Self.owner)
            #expect(acknowledged == [true])
        }
    }
}
