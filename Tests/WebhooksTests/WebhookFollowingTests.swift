import ChatCore
import ChatModel
import JSON
import Locking
import TestSupport
import Testing

@testable import Webhooks

@Suite("The registry, following the directory", .timeLimit(.minutes(3))) struct WebhookFollowingTests {
    @Test("closes the lanes of a removed app, also when the store refuses at first")
    func removedApp() async throws {
        try await House.with { house in
            let operators = Caller(space: House.space, credential: "key_o", scopes: [.admin], isOperator: true)
            let app = try await house.service.keyring.issueApp(name: "other", retention: nil, by: operators)
            let admin = Caller(space: app.app.space, credential: "key_x", scopes: [.admin])
            let webhook = try await house.registry.create(
                WebhookSettings(url: "https://example.com/"), by: admin
            ).webhook
            house.refusals.refuseLanes(true)
            try await house.service.keyring.removeApp(app.app.space.name, by: operators)
            await waitUntil { house.refusals.count > 0 }
            house.refusals.refuseLanes(false)
            await waitUntil { house.refusals.states(of: webhook.endpoint).last == .closed }
            #expect(house.refusals.states(of: webhook.endpoint).last == .closed)
            #expect(house.registry.snapshot.withLock { $0[webhook.endpoint] } == nil)
        }
    }

    @Test("brings a lane in line though the change that meant it was answered by an error", arguments: [false, true])
    func refusedLane(isPulled: Bool) async throws {
        try await House.with { house in
            let patch = try JSONDocument(Array(#"{"ordering":"strict"}"#.utf8))
            let endpoint: EndpointID
            if isPulled {
                endpoint = try await house.webhooks.subscriptions.create(
                    SubscriptionSettings(), by: House.owner
                ).endpoint
            } else {
                endpoint = try await house.registry.create(
                    WebhookSettings(url: "https://example.com/"), by: House.owner
                ).webhook.endpoint
            }
            let count = house.refusals.states(of: endpoint).count
            house.refusals.refuseLanes(true)
            await #expect(throws: ChatError.self) {
                if isPulled {
                    _ = try await house.webhooks.subscriptions.change(endpoint.name, ifMatch: nil, by: House.owner) {
                        $0.ordering = .strict
                    }
                } else {
                    _ = try await house.registry.patch(endpoint.name, with: patch, by: House.owner)
                }
            }
            house.refusals.refuseLanes(false)
            await waitUntil { house.refusals.states(of: endpoint).count > count }
            #expect(house.refusals.states(of: endpoint).count > count)
        }
    }

    @Test("leaves no lane open behind a deletion that came between")
    func deletedBetween() async throws {
        try await House.with { house in
            let webhook = try await house.registry.create(
                WebhookSettings(url: "https://example.com/"), by: House.owner
            ).webhook
            let registry = house.registry
            house.refusals.beforeLane { () async throws(ChatError) in
                try await registry.delete(webhook.id, by: House.owner)
            }
            try await registry.settleLane(of: webhook.endpoint)
            #expect(house.refusals.states(of: webhook.endpoint).last == .closed)
        }
    }
}
