import ChatModel
import JSON
import Locking
import TestSupport
import Testing

@testable import ChatCore
@testable import Webhooks

/// A fixture whose webhooks and subscriptions change at random.
private struct ActivityTrial {
    static let channels = ["a", "a.x", "a.y", "b", "b.x", "c"]
    private static let owner = WebhookFixture.owner

    let fixture: WebhookFixture
    let events: [Event]
    var random: SeededGenerator
    private var webhooks: [Webhook] = []
    private var subscriptions: [String] = []

    init(_ fixture: WebhookFixture, _ random: SeededGenerator) async throws {
        self.fixture = fixture
        self.random = random
        var events: [Event] = []
        for channel in Self.channels { events.append(try await fixture.emit(channel: channel)) }
        self.events = events
    }

    /// Makes one change.
    mutating func change() async throws {
        let registry = fixture.registry
        let pulled = fixture.webhooks.subscriptions
        let webhook = webhooks.randomElement(using: &random)
        let subscription = subscriptions.randomElement(using: &random)
        switch random.below(10) {
        case 0, 1:
            let (types, channels) = (drawnTypes(), drawnChannels())
            let settings = WebhookSettings(url: "https://example.com/", types: types, channels: channels)
            webhooks.append(try await registry.create(settings, by: Self.owner).webhook)
        case 2:
            var settings = SubscriptionSettings()
            (settings.types, settings.channels) = (drawnTypes(), drawnChannels())
            subscriptions.append(try await pulled.create(settings, by: Self.owner).id)
        case 3:
            guard let webhook else { return }
            let (types, channels) = (drawnTypes().map(\.description), drawnChannels().map(\.description))
            let patch = try JSONDocument(Array(#"{"types":\#(types),"channels":\#(channels)}"#.utf8))
            _ = try await registry.patch(webhook.id, with: patch, by: Self.owner)
        case 4:
            guard let subscription else { return }
            let (types, channels) = (drawnTypes(), drawnChannels())
            _ = try await pulled.change(subscription, ifMatch: nil, by: Self.owner) {
                ($0.types, $0.channels) = (types, channels)
            }
        case 5, 6: if let webhook { _ = try await registry.disable(webhook.id, by: Self.owner) }
        case 7: if let webhook { _ = try await registry.enable(webhook.id, by: Self.owner) }
        case 8:
            guard let webhook else { return }
            try await registry.delete(webhook.id, by: Self.owner)
            webhooks.removeAll { $0.id == webhook.id }
        default:
            guard let subscription else { return }
            try await pulled.delete(subscription, by: Self.owner)
            subscriptions.removeAll { $0 == subscription }
        }
    }

    private mutating func drawnTypes() -> [NamePattern] {
        let choices: [[NamePattern]] = [
            [.all], [.exact("channel.activity")], [.below("channel.")],
            [.exact("order.paid"), .exact("channel.activity")],
        ]
        return choices[random.below(choices.count)]
    }

    private mutating func drawnChannels() -> [NamePattern] {
        let choices: [[NamePattern]] = [
            [.exact("a")], [.below("a.")], [.exact("a.x"), .exact("b")], [.below("b."), .exact("c")], [.all],
        ]
        return choices[random.below(choices.count)]
    }

    /// The channels that have a follower, as the gateway finds them for each event.
    func found() -> [String] {
        var found: [String] = []
        fixture.service.activity.change { followers in
            found = events.filter { followers.follow($0) }.map(\.channel.name)
        }
        return found
    }

    /// The channels that a webhook or subscription follows, according to all stored records.
    func stored() async throws -> [String] {
        let all = RecordList(limit: 250)
        let webhooks = try await fixture.registry.list(all, statuses: [.enabled], by: Self.owner).items.map(\.settings)
        let subscriptions = try await fixture.webhooks.subscriptions.list(all, by: Self.owner).items.map(\.settings)
        let selections = webhooks.map { ($0.types, $0.channels) } + subscriptions.map { ($0.types, $0.channels) }
        let followed = selections.filter { $0.0.contains(.exact("channel.activity")) }.flatMap(\.1)
        return Self.channels.filter { followed.match($0) }
    }
}

@Suite("Webhooks and subscriptions that name channel.activity", .timeLimit(.minutes(2)))
struct ActivityFollowingTests {
    @Test("follow their channels while they receive events, whatever changes before", arguments: 1...3)
    func changes(seed: UInt64) async throws {
        try await WebhookFixture.with { fixture in
            var trial = try await ActivityTrial(fixture, SeededGenerator(seed: seed))
            for step in 0..<60 {
                try await trial.change()
                let stored = try await trial.stored()
                #expect(trial.found() == stored, "seed \(seed), change \(step)")
                #expect(fixture.service.activity.hasFollowers == !stored.isEmpty)
            }
        }
    }

    @Test("follow nothing when their app is removed")
    func removedApp() async throws {
        try await WebhookFixture.with { fixture in
            let operators = Caller(app: WebhookFixture.app, credential: "key_o", scopes: [.admin], isOperator: true)
            let app = try await fixture.service.keyring.issueApp(name: "other", retention: nil, by: operators).app.id
            let admin = Caller(app: app, credential: "key_x", scopes: [.admin])
            for _ in 0..<2 {
                _ = try await fixture.registry.create(
                    WebhookSettings(url: "https://example.com/", types: [.exact("channel.activity")]), by: admin)
            }
            #expect(fixture.service.activity.hasFollowers)
            try await fixture.service.keyring.removeApp(app.name, by: operators)
            await waitUntil { !fixture.service.activity.hasFollowers }
            #expect(!fixture.service.activity.hasFollowers)
        }
    }
}
