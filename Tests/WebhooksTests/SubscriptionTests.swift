import ChatCore
import ChatModel
import ChatSupport
import JSON
import SQLiteEngine
import TestSupport
import Testing

@testable import Webhooks

@Suite("A subscription", .timeLimit(.minutes(2))) struct SubscriptionTests {
    private static func withBacklog(_ fixture: WebhookFixture) async throws -> Subscription {
        let subscription = try await fixture.webhooks.subscriptions.create(
            SubscriptionSettings(), by: WebhookFixture.owner)
        for _ in 0..<3 { try await fixture.emit() }
        try await waitUntil { try await fixture.deliveries(of: subscription.id).count == 3 }
        return subscription
    }

    private static func expectDead(_ subscription: Subscription, in fixture: WebhookFixture) async throws {
        try await waitUntil { try await fixture.deliveries(of: subscription.id).allSatisfy { $0.status == .dead } }
        #expect(try await fixture.deliveries(of: subscription.id).map(\.status) == [.dead, .dead, .dead])
        let key = Subscription.recordKey(of: subscription.subscriber)
        try await waitUntil { try await fixture.engine.directory.read(key) == nil }
        #expect(try await fixture.engine.directory.read(key) == nil)
    }

    private static func rename(_ user: String, to name: String, _ fixture: WebhookFixture) async throws {
        var edit = UserEdit()
        edit.name = .set(name)
        _ = try await fixture.chat.put(user: user, edit)
    }

    @Test("that includes objects reads them at each pull")
    func pulled() async throws {
        try await WebhookFixture.with { fixture in
            try await Self.rename("ana", to: "Ana", fixture)
            var settings = SubscriptionSettings()
            settings.included = [.user]
            // Without the events that renaming emits.
            settings.types = [.exact("order.paid")]
            let subscriptions = fixture.webhooks.subscriptions
            let owner = WebhookFixture.owner
            let id = try await subscriptions.create(settings, by: owner).id
            try await fixture.emit()
            for expected in ["Ana", "Anna"] {
                let event = try #require(
                    try await subscriptions.pull(id, most: 10, waitSeconds: 5, by: owner).first)
                let included = try JSONDocument(event.envelope).root["included"]
                #expect(included?["user"]?["name"]?.string == expected)
                try await Self.rename("ana", to: "Anna", fixture)
                _ = try await subscriptions.refuse([event.ackID], of: id, delay: .zero, by: owner)
            }
            _ = try await subscriptions.change(id, ifMatch: nil, by: owner) { $0.included = [] }
            let event = try #require(try await subscriptions.pull(id, most: 10, waitSeconds: 5, by: owner).first)
            #expect(JSONText(trusted: event.envelope).rawMember("included") == nil)
        }
    }

    @Test("that is deleted drops waiting deliveries, even if its lane could not be closed at once")
    func deletedLate() async throws {
        try await WebhookFixture.with { fixture in
            let subscription = try await Self.withBacklog(fixture)
            fixture.refusals.refuseLanes(true)
            await #expect(throws: ChatError.self) {
                try await fixture.webhooks.subscriptions.delete(subscription.id, by: WebhookFixture.owner)
            }
            await #expect(throws: ChatError.self) {
                _ = try await fixture.webhooks.subscriptions.subscription(subscription.id, by: WebhookFixture.owner)
            }
            #expect(
                try await fixture.webhooks.subscriptions.list(RecordList(limit: 10), by: WebhookFixture.owner).items
                    .isEmpty)
            fixture.refusals.refuseLanes(false)
            try await Self.expectDead(subscription, in: fixture)
        }
    }

    @Test("of a page are counted in one read, each its own")
    func backlogsOfPage() async throws {
        try await WebhookFixture.with { fixture in
            let first = try await Self.withBacklog(fixture).id
            let second = try await Self.withBacklog(fixture).id
            let before = fixture.refusals.countingReads
            let page = try await fixture.webhooks.subscriptions.list(
                RecordList(limit: 10), by: WebhookFixture.owner)
            #expect(fixture.refusals.countingReads == before + 1)
            // The first has received the events of the second as well.
            let backlogs = Dictionary(uniqueKeysWithValues: page.items.map { ($0.id, $0.backlog) })
            #expect(backlogs == [first: 6, second: 3])
        }
    }

    @Test("shows how many deliveries wait, until they are acknowledged")
    func backlog() async throws {
        try await WebhookFixture.with { fixture in
            let id = try await Self.withBacklog(fixture).id
            let subscriptions = fixture.webhooks.subscriptions
            #expect(try await subscriptions.subscription(id, by: WebhookFixture.owner).backlog == 3)
            let pulled = try await subscriptions.pull(id, most: 2, waitSeconds: 0, by: WebhookFixture.owner)
            #expect(
                try await subscriptions.list(RecordList(limit: 10), by: WebhookFixture.owner).items.map(\.backlog) == [
                    3
                ])
            _ = try await subscriptions.acknowledge(pulled.map(\.ackID), of: id, by: WebhookFixture.owner)
            try await waitUntil { try await subscriptions.subscription(id, by: WebhookFixture.owner).backlog == 1 }
            #expect(
                try await subscriptions.list(RecordList(limit: 10), by: WebhookFixture.owner).items.map(\.backlog) == [
                    1
                ])
        }
    }

    @Test("whose deletion was cut short is gone after the next start")
    func deletedBeforeStart() async throws {
        let folder = try TemporaryFolder()
        var settings = WebhookFixture.Settings()
        settings.path = folder.path + "/chat.db"
        let clock = WebhookFixture.newClock()
        let made = Observed<[Subscription]>()
        try await WebhookFixture.with(settings, clock: clock) { fixture in
            let subscription = try await Self.withBacklog(fixture)
            made.append(subscription)
            fixture.refusals.refuseLanes(true)
            await #expect(throws: ChatError.self) {
                try await fixture.webhooks.subscriptions.delete(subscription.id, by: WebhookFixture.owner)
            }
        }
        try await WebhookFixture.with(settings, clock: clock) { fixture in
            try await Self.expectDead(made.value[0], in: fixture)
        }
    }

    @Test("that seeks further back than its capacity reports how far it came, and continues from there")
    func seekWithoutRoom() async throws {
        var settings = WebhookFixture.Settings()
        // An open subscription may have ten deliveries waiting.
        settings.limits.deliveriesHeld = 1
        try await WebhookFixture.with(settings) { fixture in
            var events: [Event] = []
            for _ in 0..<12 { events.append(try await fixture.emit()) }
            let subscriptions = fixture.webhooks.subscriptions
            let id = try await subscriptions.create(SubscriptionSettings(), by: WebhookFixture.owner).id
            let first = try await subscriptions.seek(id, to: .zero, by: WebhookFixture.owner)
            #expect(first.replayed == 10 && !first.isComplete)
            #expect(first.reached >= events[9].timetoken && first.reached < events[10].timetoken)
            let full = try await subscriptions.seek(id, to: .zero, by: WebhookFixture.owner)
            #expect(full.replayed == 0 && full.reached == first.reached, "what waits is no obstacle")
            let pulled = try await subscriptions.pull(id, most: 20, waitSeconds: 0, by: WebhookFixture.owner)
            _ = try await subscriptions.acknowledge(pulled.map(\.ackID), of: id, by: WebhookFixture.owner)
            let rest = try await subscriptions.seek(id, to: first.reached, by: WebhookFixture.owner)
            #expect(pulled.count == 10 && rest.replayed == 2 && rest.isComplete)
        }
    }

    @Test("is read with a filter that is longer, or searches more, than new ones may", arguments: ["==", "LIKE"])
    func storedFilter(_ operation: String) throws {
        var limits = Limits()
        (limits.filterBytes, limits.filterSearches) = (100_000, 3000)
        let text = (0..<3000).map { "data.n \(operation) '\($0)'" }.joined(separator: " or ")
        var settings = SubscriptionSettings()
        settings.filter = try Filter(text, limits: limits)
        let subscription = Subscription(
            id: "sub_1", app: WebhookFixture.app, settings: settings, since: .zero, created: .zero, updated: .zero)
        let key = Subscription.recordKey(of: subscription.subscriber)
        let record = Record(key: key, body: subscription.body, etag: "e", updated: .zero)
        #expect(Subscription(record)?.settings.filter?.text == text)
    }

    @Test("is listed without compiling its filter")
    func listed() async throws {
        try await WebhookFixture.with { fixture in
            var settings = SubscriptionSettings()
            settings.filter = Filter(uncompiled: "data.n ==")
            let subscription = Subscription(
                id: "sub_1", app: WebhookFixture.app, settings: settings, since: .zero, created: .zero,
                updated: .zero)
            let key = Subscription.recordKey(of: subscription.subscriber)
            let record = try await fixture.engine.directory.write([RecordChange(key, body: subscription.body)])[0]
            #expect(Subscription(record) == nil)
            let listed = try await fixture.webhooks.subscriptions.list(RecordList(limit: 10), by: WebhookFixture.owner)
                .items
            #expect(listed.map(\.settings.filter?.text) == ["data.n =="])
        }
    }

    @Test("counts no attempt for deliveries that a failing store kept back")
    func uncounted() async throws {
        try await WebhookFixture.with { fixture in
            let subscription = try await Self.withBacklog(fixture)
            fixture.steps.beforeEvent { () async throws(ChatError) in throw ChatError(.unavailable, "the disk is gone")
            }
            await #expect(throws: ChatError.self) {
                _ = try await fixture.webhooks.subscriptions.pull(
                    subscription.id, most: 10, waitSeconds: 0, by: WebhookFixture.owner)
            }
            let events = try await fixture.webhooks.subscriptions.pull(
                subscription.id, most: 10, waitSeconds: 0, by: WebhookFixture.owner)
            #expect(events.map(\.attempt) == [1, 1, 1])
        }
    }
}
