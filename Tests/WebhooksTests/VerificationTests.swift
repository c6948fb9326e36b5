import ChatCore
import ChatModel
import JSON
import TestSupport
import Testing

@testable import Webhooks

@Suite("A receiver that must consent", .timeLimit(.minutes(2))) struct VerificationTests {
    private static func echo(_ request: ReceivedRequest) -> ScriptedReply {
        guard let challenge = (try? JSONDocument(request.body))?.root["challenge"]?.string else { return .status(204) }
        return .status(200, body: Array(#"{"challenge":"\#(challenge)"}"#.utf8))
    }

    private static func create(
        _ fixture: WebhookFixture, _ receiver: ScriptedServer, _ kind: WebhookVerification, rate: Double? = nil
    ) async throws -> Webhook {
        var settings = WebhookSettings(url: receiver.url())
        settings.verification = kind
        settings.ratePerSecond = rate
        return try await fixture.registry.create(settings, by: WebhookFixture.owner).webhook
    }

    private static func refusal(_ body: () async throws -> Void) async -> String? {
        do {
            try await body()
            return nil
        } catch {
            return (error as? ChatError)?.slug
        }
    }

    @Test("gets nothing before it repeats the challenge, and then the held deliveries")
    func echo() async throws {
        let receiver = try ScriptedServer(Self.echo)
        try await WebhookFixture.with { fixture in
            let webhook = try await Self.create(fixture, receiver, .echo)
            #expect(webhook.status == .pendingVerification)
            let event = try await fixture.emit()
            try await waitUntil { try await fixture.deliveries().first?.status == .held }
            // A sample does not bypass the consent.
            await #expect(throws: ChatError.self) {
                _ = try await fixture.webhooks.deliveries.test(webhook: webhook.id, by: WebhookFixture.owner)
            }
            #expect(receiver.requests.value.isEmpty)
            let verified = try await fixture.webhooks.verification.verify(webhook.id, by: WebhookFixture.owner)
            #expect(verified.status == .enabled)
            await fixture.recorded(1)
            let requests = receiver.requests.value
            #expect(requests.count == 2)
            #expect(requests.first?["webhook-signature"] != nil)
            #expect(requests.last?["webhook-id"] == event.id)
        }
    }

    @Test(
        "has not consented by another answer",
        arguments: [
            ScriptedReply.status(204), .status(200, body: Array("hello".utf8)), .status(500), .reset,
            .status(302, headers: [("location", "/")]),
        ])
    func refused(answer: ScriptedReply) async throws {
        let receiver = try ScriptedServer { _ in answer }
        try await WebhookFixture.with { fixture in
            let webhook = try await Self.create(fixture, receiver, .echo)
            let slug = await Self.refusal {
                _ = try await fixture.webhooks.verification.verify(webhook.id, by: WebhookFixture.owner)
            }
            #expect(slug == "verification_failed")
            #expect(
                try await fixture.registry.webhook(webhook.id, by: WebhookFixture.owner).status == .pendingVerification)
            // Enabling the webhook by hand does not bypass the consent.
            #expect(
                try await fixture.registry.enable(webhook.id, by: WebhookFixture.owner).status == .pendingVerification)
        }
    }

    @Test("is asked by one request at a time, and few of an app at once: deliveries need the connections")
    func bounded() async throws {
        let gate = Latch()
        let receiver = try ScriptedServer { _ in .held(gate, then: .status(204)) }
        try await WebhookFixture.with { fixture in
            var ids: [String] = []
            for _ in 0...ManualPostLimit.most { ids.append(try await Self.create(fixture, receiver, .none).id) }
            func test(_ id: String) async -> ChatError.Code? {
                do throws(ChatError) {
                    _ = try await fixture.webhooks.deliveries.test(webhook: id, by: WebhookFixture.owner)
                    return nil
                } catch {
                    return error.code
                }
            }
            await withTaskGroup(of: ChatError.Code?.self) { group in
                for (index, id) in ids.dropLast().enumerated() {
                    group.addTask { await test(id) }
                    await receiver.requests.wait(count: index + 1)
                    #expect(await test(id) == .tooMany, "one to a webhook")
                }
                #expect(await test(ids[ManualPostLimit.most]) == .tooMany, "so many of an app")
                gate.open()
                for await code in group { #expect(code == nil) }
            }
            #expect(await test(ids[ManualPostLimit.most]) == nil)
        }
    }

    @Test("is asked again when the webhook gets another address, and only then")
    func newAddress() async throws {
        let receiver = try ScriptedServer(Self.echo)
        try await WebhookFixture.with { fixture in
            let webhook = try await Self.create(fixture, receiver, .echo)
            _ = try await fixture.webhooks.verification.verify(webhook.id, by: WebhookFixture.owner)
            let renamed = try JSONDocument(Array(#"{"description":"x"}"#.utf8))
            #expect(
                try await fixture.registry.patch(webhook.id, with: renamed, by: WebhookFixture.owner).status == .enabled
            )
            _ = try await fixture.registry.disable(webhook.id, by: WebhookFixture.owner)
            #expect(try await fixture.registry.enable(webhook.id, by: WebhookFixture.owner).status == .enabled)
            let moved = try JSONDocument(Array(#"{"url":"\#(receiver.url("/other"))"}"#.utf8))
            #expect(
                try await fixture.registry.patch(webhook.id, with: moved, by: WebhookFixture.owner).status
                    == .pendingVerification)
        }
    }

    @Test("of CloudEvents says by its headers how much it takes, and gets our name with each post")
    func cloudEvents() async throws {
        let receiver = try ScriptedServer { request in
            guard request.method == "OPTIONS" else { return .status(204) }
            return .status(
                405,
                headers: [
                    ("WebHook-Allowed-Origin", request["webhook-request-origin"] ?? ""),
                    ("WebHook-Allowed-Rate", "120"),
                ])
        }
        try await WebhookFixture.with { fixture in
            let webhook = try await Self.create(fixture, receiver, .cloudevents, rate: 10)
            let verified = try await fixture.webhooks.verification.verify(webhook.id, by: WebhookFixture.owner)
            #expect(verified.status == .enabled)
            #expect(verified.allowedPerMinute == 120)
            #expect(fixture.registry.lane(of: verified).rate == 2)
            #expect(receiver.requests.value.first?["webhook-request-rate"] == "600")
            try await fixture.emit()
            let requests = await receiver.requests.wait(count: 2)
            #expect(requests.last?["webhook-request-origin"] == "parley")
        }
    }

    @Test("of CloudEvents has not consented by its status")
    func cloudEventsRefused() async throws {
        let receiver = try ScriptedServer { _ in .status(200) }
        try await WebhookFixture.with { fixture in
            let webhook = try await Self.create(fixture, receiver, .cloudevents)
            let slug = await Self.refusal {
                _ = try await fixture.webhooks.verification.verify(webhook.id, by: WebhookFixture.owner)
            }
            #expect(slug == "verification_failed")
        }
    }

    @Test("is required of all where the gateway is configured so")
    func policy() async throws {
        let receiver = try ScriptedServer(Self.echo)
        var settings = WebhookFixture.Settings()
        settings.verification = .echo
        try await WebhookFixture.with(settings) { fixture in
            let webhook = try await fixture.webhook(receiver).webhook
            #expect(webhook.status == .pendingVerification)
            await #expect(throws: ChatError.self) { _ = try await Self.create(fixture, receiver, .none) }
        }
    }
}

@Suite("A webhook that is enabled again", .timeLimit(.minutes(2))) struct EnablingTests {
    @Test("delivers held deliveries, or drops them", arguments: [WebhookRegistry.HeldDeliveryPolicy.deliver, .discard])
    func held(fate: WebhookRegistry.HeldDeliveryPolicy) async throws {
        let receiver = try ScriptedServer()
        try await WebhookFixture.with { fixture in
            let id = try await fixture.webhook(receiver).webhook.id
            _ = try await fixture.registry.disable(id, by: WebhookFixture.owner)
            for _ in 0..<3 { try await fixture.emit() }
            try await waitUntil { try await fixture.deliveries().count { $0.status == .held } == 3 }
            _ = try await fixture.registry.enable(id, held: fate, by: WebhookFixture.owner)
            let last = try await fixture.emit()
            await fixture.recorded(fate == .deliver ? 4 : 1)
            let sent = receiver.requests.value.compactMap { $0["webhook-id"] }
            #expect(sent.count == (fate == .deliver ? 4 : 1))
            #expect(sent.contains(last.id))
            #expect(try await fixture.deliveries().count { $0.status == .dead } == (fate == .deliver ? 0 : 3))
        }
    }

    /// Stops the planner, so that later commits are not planned until the latch opens.
    private static func stopPlanner(of fixture: WebhookFixture) -> Latch {
        let gate = Latch()
        fixture.steps.beforeEvents { () async throws(ChatError) in await gate.pass() }
        return gate
    }

    /// Opens the latch after enough time for operations that wrongly do not wait.
    private static func open(_ gate: Latch) async {
        for _ in 0..<2000 { await Task.yield() }
        gate.open()
    }

    @Test("drops committed events that are not planned yet as well")
    func unplanned() async throws {
        let receiver = try ScriptedServer()
        try await WebhookFixture.with { fixture in
            let id = try await fixture.webhook(receiver).webhook.id
            _ = try await fixture.registry.disable(id, by: WebhookFixture.owner)
            let gate = Self.stopPlanner(of: fixture)
            try await fixture.emit()
            async let opened: Void = Self.open(gate)
            _ = try await fixture.registry.enable(id, held: .discard, by: WebhookFixture.owner)
            await opened
            let last = try await fixture.emit()
            await fixture.recorded(1)
            #expect(receiver.requests.value.compactMap { $0["webhook-id"] } == [last.id])
            #expect(try await fixture.deliveries(of: id).map(\.reason) == [.skipped, nil])
        }
    }

    @Test("drops nothing before its receiver has consented")
    func withoutConsent() async throws {
        let receiver = try ScriptedServer()
        var settings = WebhookFixture.Settings()
        settings.verification = .echo
        try await WebhookFixture.with(settings) { fixture in
            let id = try await fixture.webhook(receiver).webhook.id
            try await fixture.emit()
            try await waitUntil { try await fixture.deliveries().map(\.status) == [.held] }
            await #expect(throws: ChatError.self) {
                _ = try await fixture.registry.enable(id, held: .discard, by: WebhookFixture.owner)
            }
            #expect(try await fixture.deliveries().map(\.status) == [.held])
        }
    }

    @Test("works like a subscription, whose seek skips unplanned events")
    func seek() async throws {
        try await WebhookFixture.with { fixture in
            let subscriptions = fixture.webhooks.subscriptions
            let id = try await subscriptions.create(SubscriptionSettings(), by: WebhookFixture.owner).id
            let gate = Self.stopPlanner(of: fixture)
            let event = try await fixture.emit()
            async let opened: Void = Self.open(gate)
            _ = try await subscriptions.seek(id, to: event.timetoken, by: WebhookFixture.owner)
            await opened
            let last = try await fixture.emit()
            let pulled = try await subscriptions.pull(id, most: 10, waitSeconds: 10, by: WebhookFixture.owner)
            let ids = pulled.compactMap { (try? JSONDocument($0.envelope))?.root["id"]?.string }
            #expect(ids == [last.id])
        }
    }
}
