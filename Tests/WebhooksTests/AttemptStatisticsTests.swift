import ChatModel
import JSON
import Locking
import TestSupport
import Testing

@testable import Webhooks

@Suite("The statistics of a webhook") struct AttemptStatisticsTests {
    private static let start = WebhookFixture.start

    @Test("count the attempts of the last minutes, hour and day, and drop older ones")
    func windows() {
        var figures = AttemptStatistics()
        func attempts(_ moment: Timetoken) -> [Int] { figures.windows(at: moment).map(\.attempts) }
        figures.record(at: Self.start, isDelivered: true, milliseconds: 3)
        figures.record(at: Self.start, isDelivered: false, milliseconds: 3)
        #expect(attempts(Self.start) == [2, 2, 2])
        #expect(attempts(Self.start.adding(.seconds(360))) == [0, 2, 2])
        #expect(attempts(Self.start.adding(.seconds(4600))) == [0, 0, 2])
        #expect(attempts(Self.start.adding(.seconds(90_000))) == [0, 0, 0])
        figures.record(at: Self.start.adding(.seconds(90_000)), isDelivered: true, milliseconds: 1)
        #expect(attempts(Self.start.adding(.seconds(90_000))) == [1, 1, 1])
        #expect(figures.lastSuccess == Self.start.adding(.seconds(90_000)) && figures.lastFailure == Self.start)
    }

    @Test(
        "give percentiles to the next power of two",
        arguments: [(1, 1), (2, 2), (3, 4), (1000, 1024), (99_999, 65_536)])
    func percentiles(_ row: (milliseconds: Int, shown: Int)) {
        var tally = AttemptStatistics.Tally()
        #expect(tally.milliseconds(ofShare: 0.5) == nil)
        for _ in 1...99 { tally.add(isDelivered: true, milliseconds: row.milliseconds) }
        tally.add(isDelivered: true, milliseconds: 20_000)
        #expect(tally.milliseconds(ofShare: 0.5) == row.shown)
        #expect(tally.milliseconds(ofShare: 1) == max(row.shown, 32_768))
    }

    @Test("are shown with the deliveries that are due to a webhook")
    func stats() async throws {
        let status = Lock(200)
        let receiver = try ScriptedServer { _ in .status(status.withLock { $0 }) }
        try await WebhookFixture.with { fixture in
            let webhook = try await fixture.webhook(receiver).webhook
            try await fixture.emit()
            await fixture.recorded(1)
            status.withLock { $0 = 500 }
            let failed = try await fixture.emit()
            await fixture.recorded(2)
            let stats = try await fixture.webhooks.deliveries.stats(of: webhook.id, by: WebhookFixture.owner)
            let root = try JSONDocument(JSONText { stats.print(to: &$0) }).root
            #expect(root["deliveries"]?["delivered"]?.integer == 1)
            #expect(root["deliveries"]?["failed"]?.integer == 1)
            #expect(root["deliveries"]?["dead"]?.integer == 0)
            #expect(root["oldest_waiting"]?["event"]?.string == failed.id)
            #expect(root["windows"]?["5m"]?["attempts"]?.integer == 2)
            #expect(root["windows"]?["24h"]?["delivered"]?.integer == 1)
            #expect(root["circuit"]?.string == "closed")
            #expect(root["last_success_at"]?.string != nil && root["last_failure_at"]?.string != nil)
            let last = try await fixture.webhooks.deliveries.lastSuccess(of: webhook.id, by: WebhookFixture.owner)
            #expect(last == (try await fixture.deliveries().first?.event))
        }
    }
}
