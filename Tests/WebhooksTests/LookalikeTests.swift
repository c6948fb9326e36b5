import ChatModel
import TestSupport
import Testing

@Suite("Channels whose names look alike") struct LookalikeTests {
    @Test("have each its own webhooks")
    func webhooks() async throws {
        // "é" as one code point and as two: the same to Swift's `String`, but not to the store.
        let names = ["caf\u{E9}", "cafe\u{301}"]
        let (first, second, below) = (try ScriptedServer(), try ScriptedServer(), try ScriptedServer())
        try await WebhookFixture.with { fixture in
            try await fixture.webhook(first, channels: [.exact(names[0])])
            try await fixture.webhook(second, channels: [.exact(names[1])])
            try await fixture.webhook(below, channels: [.below(names[1] + ".")])
            var events: [String] = []
            for name in [names[0], names[1], names[0] + ".a", names[1] + ".a"] {
                events.append(try await fixture.emit(channel: name).id)
            }
            await fixture.recorded(3)
            #expect(first.requests.value.compactMap { $0["webhook-id"] } == [events[0]])
            #expect(second.requests.value.compactMap { $0["webhook-id"] } == [events[1]])
            #expect(below.requests.value.compactMap { $0["webhook-id"] } == [events[3]])
        }
    }
}
