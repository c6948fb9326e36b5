import ChatModel
import TestSupport
import Testing

@testable import Webhooks

@Suite("The state of a webhook since the start", .timeLimit(.minutes(2))) struct WebhookRuntimeTests {
    @Test("stays through a change of the webhook, and is freed with it")
    func freed() async throws {
        let receiver = try ScriptedServer { _ in .status(200) }
        try await WebhookFixture.with { fixture in
            let webhook = try await fixture.webhook(receiver).webhook
            try await fixture.emit()
            await fixture.recorded(1)
            weak let runtime: WebhookRuntime? = fixture.registry.runtime(of: webhook.subscriber)
            let first = try #require(runtime.map(ObjectIdentifier.init))
            #expect(runtime?.statistics?.lastSuccess != nil)
            _ = try await fixture.registry.disable(webhook.id, by: WebhookFixture.owner)
            _ = try await fixture.registry.enable(webhook.id, by: WebhookFixture.owner)
            #expect(fixture.registry.runtime(of: webhook.subscriber).map(ObjectIdentifier.init) == first)
            try await fixture.registry.delete(webhook.id, by: WebhookFixture.owner)
            #expect(fixture.registry.runtime(of: webhook.subscriber) == nil)
            await waitUntil { [weak runtime] in runtime == nil }
        }
    }

    @Test("writes a value by one task at a time, and again what failed")
    func written() {
        var value = WrittenValue(1)
        #expect(value.begin(1) == nil, "written already")
        #expect(value.begin(2) == 2 && value.begin(3) == nil, "one at a time")
        value.end(nil)
        #expect(value.value == 1 && value.begin(3) == 3)
        value.end(3)
        value.end(2)
        #expect(value.value == 3 && value.begin(3) == nil, "nothing was begun")
    }

    @Test("reports lost deliveries at the first one, then each interval with all since")
    func overflow() {
        let start = Timetoken(1_000_000_000)
        var notice = OverflowNotice()
        #expect(notice.add(2, at: start) == 2)
        #expect(notice.add(3, at: start) == nil)
        #expect(notice.add(4, at: start.adding(OverflowNotice.interval)) == 7)
        #expect(notice.add(1, at: start.adding(OverflowNotice.interval)) == nil)
    }
}
