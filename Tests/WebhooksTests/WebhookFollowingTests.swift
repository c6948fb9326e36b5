import ChatCore
import ChatModel
import JSON
import Locking
import TestSupport
import Testing

@testable import Webhooks

@Suite("The registry, following the directory", .timeLimit(.minutes(2))) struct WebhookFollowingTests {
    @Test("closes the lanes of a removed app, also when the store refuses at first")
    func removedApp() async throws {
        try await WebhookFixture.with { fixture in
            let operators = Caller(app: WebhookFixture.app, credential: "key_o", scopes: [.admin], isOperator: true)
            let app = try await fixture.service.keyring.issueApp(name: "other", retention: nil, by: operators)
            let admin = Caller(app: app.app.id, credential: "key_x", scopes: [.admin])
            let webhook = try await fixture.registry.create(
                WebhookSettings(url: "https://example.com/"), by: admin
            ).webhook
            fixture.refusals.refuseLanes(true)
            try await fixture.service.keyring.removeApp(app.app.id.name, by: operators)
            await waitUntil { fixture.refusals.count > 0 }
            fixture.refusals.refuseLanes(false)
            await waitUntil { fixture.refusals.states(of: webhook.subscriber).last == .closed }
            #expect(fixture.refusals.states(of: webhook.subscriber).last == .closed)
            #expect(fixture.registry.snapshot.withLock { $0[webhook.subscriber] } == nil)
        }
    }

    @Test("brings a lane in line though the change that meant it was answered by an error", arguments: [false, true])
    func refusedLane(isPulled: Bool) async throws {
        try await WebhookFixture.with { fixture in
            let patch = try JSONDocument(Array(#"{"ordering":"strict"}"#.utf8))
            let subscriber: SubscriberID
            if isPulled {
                subscriber = try await fixture.webhooks.subscriptions.create(
                    SubscriptionSettings(), by: WebhookFixture.owner
                ).subscriber
            } else {
                subscriber = try await fixture.registry.create(
                    WebhookSettings(url: "https://example.com/"), by: WebhookFixture.owner
                ).webhook.subscriber
            }
            let count = fixture.refusals.states(of: subscriber).count
            fixture.refusals.refuseLanes(true)
            await #expect(throws: ChatError.self) {
                if isPulled {
                    _ = try await fixture.webhooks.subscriptions.change(
                        subscriber.name, ifMatch: nil, by: WebhookFixture.owner
                    ) {
                        $0.ordering = .strict
                    }
                } else {
                    _ = try await fixture.registry.patch(subscriber.name, with: patch, by: WebhookFixture.owner)
                }
            }
            fixture.refusals.refuseLanes(false)
            await waitUntil { fixture.refusals.states(of: subscriber).count > count }
            #expect(fixture.refusals.states(of: subscriber).count > count)
        }
    }

    @Test("leaves no lane open behind a deletion that came between")
    func deletedBetween() async throws {
        try await WebhookFixture.with { fixture in
            let webhook = try await fixture.registry.create(
                WebhookSettings(url: "https://example.com/"), by: WebhookFixture.owner
            ).webhook
            let registry = fixture.registry
            fixture.refusals.beforeLane { () async throws(ChatError) in
                try await registry.delete(webhook.id, by: WebhookFixture.owner)
            }
            try await registry.updateLane(of: webhook.subscriber)
            #expect(fixture.refusals.states(of: webhook.subscriber).last == .closed)
        }
    }
}
