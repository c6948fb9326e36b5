import ChatCore
import ChatModel
import ChatSupport
import HTTPClient
import JSON
import SQLiteEngine
import Signing
import TestSupport
import Testing

@testable import Webhooks

@Suite("The retry table") struct RetryTableTests {
    /// The delay after each attempt, in seconds.
    static let rows: [(attempt: Int, seconds: ClosedRange<Double>)] = [
        (1, 4...6), (2, 240...360), (3, 1440...2160), (4, 5760...8640), (5, 14_400...21_600), (6, 28_800...43_200),
        (7, 40_320...60_480), (8, 57_600...86_400), (9, 69_120...103_680),
    ]

    @Test("stays within a fifth of its delay", arguments: rows, [0, 0.5, 0.999_999])
    func jitter(_ row: (attempt: Int, seconds: ClosedRange<Double>), draw: Double) throws {
        let delay = try #require(RetryTable.standard.delay(afterAttempt: row.attempt, draw: draw))
        #expect(row.seconds.contains(delay / .seconds(1)))
    }

    @Test("is spread over the whole range") func extremes() throws {
        #expect(RetryTable.standard.delay(afterAttempt: 1, draw: 0) == .seconds(4))
        #expect(RetryTable.standard.delay(afterAttempt: 1, draw: 0.5) == .seconds(5))
    }

    @Test("ends after ten attempts, or as many as are set") func end() {
        #expect(RetryTable.standard.delay(afterAttempt: 10, draw: 0) == nil)
        #expect(RetryTable.standard.limited(toAttempts: 3).delay(afterAttempt: 3, draw: 0) == nil)
        #expect(RetryTable.standard.limited(toAttempts: 3).delay(afterAttempt: 2, draw: 0) != nil)
        #expect(RetryTable.standard.limited(toAttempts: 12).delay(afterAttempt: 11, draw: 0.5) == .seconds(86_400))
        #expect(RetryTable.standard.limited(toAttempts: 1).delay(afterAttempt: 1, draw: 0) == nil)
    }
}

@Suite("The decision after an attempt") struct DeliveryStateTests {
    private func decide(
        _ happening: DeliveryState.AttemptEvent, attempts: Int = 0
    ) -> DeliveryState.Decision {
        DeliveryState.decision(after: happening, attempt: attempts + 1, table: .standard, draw: 0.5)
    }

    @Test("of a status is", arguments: [200, 201, 204, 299]) func success(status: Int) {
        #expect(decide(.answered(status: status, retryAfter: nil)) == .init(next: .delivered, errorClass: nil))
    }

    @Test("of a redirect is a retry", arguments: [300, 301, 302, 307, 308, 399]) func redirect(status: Int) {
        let expected = DeliveryState.Decision(
            next: .retry(after: .seconds(5)), errorClass: "redirect", receiver: .absent(retryAfter: nil))
        #expect(decide(.answered(status: status, retryAfter: nil)) == expected)
    }

    @Test(
        "affects the receiver, not one event, where every event would meet it",
        arguments: [
            (401, true), (403, true), (404, true), (405, true), (407, true), (500, true), (400, false), (409, false),
            (413, false), (422, false),
        ])
    func absence(status: Int, isAbsent: Bool) {
        let decision = decide(.answered(status: status, retryAfter: nil))
        #expect(decision.receiver == (isAbsent ? .absent(retryAfter: nil) : .present))
    }

    @Test("of 410 disables the webhook at once") func gone() {
        let decision = decide(.answered(status: 410, retryAfter: nil))
        #expect(decision.disablesWebhook)
        #expect(decision.next == .retry(after: .seconds(5)))
        #expect(decision.errorClass == "http_status")
    }

    @Test("of an overwhelmed receiver slows down", arguments: [429, 502, 503, 504]) func slow(status: Int) {
        #expect(decide(.answered(status: status, retryAfter: nil)).isSlow)
        #expect(!decide(.answered(status: 500, retryAfter: nil)).isSlow)
    }

    @Test("is the later of schedule and Retry-After, within a day") func retryAfter() {
        #expect(decide(.answered(status: 503, retryAfter: .seconds(600))).next == .retry(after: .seconds(600)))
        #expect(decide(.answered(status: 503, retryAfter: .seconds(1))).next == .retry(after: .seconds(5)))
        #expect(decide(.answered(status: 503, retryAfter: .seconds(999_999))).next == .retry(after: .seconds(86_400)))
    }

    @Test("after the last attempt is the end") func end() {
        let decision = decide(.failed(.timeout), attempts: 9)
        #expect(decision.next == .dead(reason: .attemptsExhausted))
        #expect(decision.errorClass == "timeout")
    }

    @Test("of each failure is its class", arguments: OutboundFailure.Reason.allCases) func failures(
        reason: OutboundFailure.Reason
    ) {
        let decision = decide(.failed(reason))
        #expect(decision.errorClass == reason.rawValue)
        #expect(decision.next == .retry(after: .seconds(5)))
        #expect(decision.isSlow == (reason == .timeout || reason == .connectTimeout))
    }
}

@Suite("A failed delivery") struct RetryTests {
    @Test("is repeated byte for byte with its id and signed anew, even if its event is gone and nothing is in memory")
    func repeated() async throws {
        let receiver = try ScriptedServer { request in .status(request["webhook-attempt"] == "1" ? 500 : 200) }
        let folder = try TemporaryFolder()
        var settings = WebhookFixture.Settings()
        settings.path = folder.path + "/chat.db"
        let clock = WebhookFixture.newClock()
        let secrets = Observed<[String]>()
        try await WebhookFixture.with(settings, clock: clock) { fixture in
            secrets.append(try await fixture.webhook(receiver).secret)
            let event = try await fixture.emit()
            await fixture.recorded(1)
            let failed = try #require(try await fixture.deliveries().first)
            #expect(failed.status == .failed)
            let due = try #require(failed.due)
            let delay = Double(due.rawValue - WebhookFixture.start.rawValue) / Double(Timetoken.ticksPerSecond)
            #expect((5.0..<6.0).contains(delay))
            _ = try await fixture.engine.log.delete(after: .zero, before: .distantFuture, in: event.channel)
        }
        clock.advance(by: .seconds(60))
        try await WebhookFixture.with(settings, clock: clock) { fixture in
            await fixture.recorded(1)
            let requests = receiver.requests.value
            try #require(requests.count == 2)
            #expect(requests[1].body == requests[0].body)
            let id = try #require(requests[0]["webhook-id"])
            #expect(requests[1]["webhook-id"] == id)
            #expect(requests[1]["webhook-attempt"] == "2")
            let timestamp = try #require(requests[1]["webhook-timestamp"])
            #expect(timestamp == "1700000060")
            try StandardVerifier([StandardVerificationKey(try #require(secrets.value.first))]).verify(
                id: id, timestamp: timestamp, signature: try #require(requests[1]["webhook-signature"]),
                body: requests[1].body, at: 1_700_000_060)

            let failed = try #require(try await fixture.deliveries().first)
            let (delivery, attempts) = try await fixture.webhooks.deliveries.delivery(
                failed.id, by: WebhookFixture.owner)
            #expect(delivery.status == .delivered)
            #expect(attempts.map(\.status) == [500, 200])
            #expect(attempts.map(\.error) == ["http_status", nil])
        }
    }

    @Test("waits as long as the receiver asks for")
    func retryAfter() async throws {
        let receiver = try ScriptedServer { _ in .status(503, headers: [("retry-after", "600")]) }
        try await WebhookFixture.with { fixture in
            try await fixture.webhook(receiver)
            try await fixture.emit()
            await fixture.recorded(1)
            let due = try #require(try await fixture.deliveries().first?.due)
            let delay = Double(due.rawValue - WebhookFixture.start.rawValue) / Double(Timetoken.ticksPerSecond)
            #expect((600.0..<601.0).contains(delay))
        }
    }

    @Test("carries a trace of its own where the event came without one, the same with every attempt")
    func untraced() async throws {
        let receiver = try ScriptedServer { _ in .status(500) }
        try await WebhookFixture.with { fixture in
            try await fixture.webhook(receiver)
            try await fixture.emit()
            try await fixture.emit()
            await fixture.recorded(2)
            fixture.clock.advance(by: .seconds(10))
            await fixture.recorded(4)
            let attempts = try receiver.requests.value.map { request in
                let field = try #require(request["traceparent"])
                let trace = try #require(TraceContext(traceparent: field))
                #expect(!trace.isSampled)
                return (id: try #require(request["webhook-id"]), trace: trace.traceID, span: trace.spanID)
            }
            #expect(attempts.count == 4)
            #expect(Set(attempts.map(\.span)).count == 4)
            #expect(Set(attempts.map(\.trace)).count == 2)
            #expect(Set(attempts.map { "\($0.id) \($0.trace)" }).count == 2)
        }
    }

    @Test("is dead after the last attempt and revived by hand, under the same id")
    func exhausted() async throws {
        let receiver = try ScriptedServer { request in .status(request["webhook-attempt"] == "3" ? 200 : 500) }
        var settings = WebhookFixture.Settings()
        settings.limits.deliveryAttempts = 2
        try await WebhookFixture.with(settings) { fixture in
            try await fixture.webhook(receiver)
            try await fixture.emit()
            await fixture.recorded(1)
            fixture.clock.advance(by: .seconds(10))
            await fixture.recorded(2)
            let dead = try #require(try await fixture.deliveries().first)
            #expect(dead.status == .dead)
            #expect(dead.reason == .attemptsExhausted)
            #expect(fixture.webhooks.metrics.dead == 1)
            _ = try await fixture.webhooks.deliveries.retry(dead.id, by: WebhookFixture.owner)
            await fixture.recorded(3)
            let (delivery, attempts) = try await fixture.webhooks.deliveries.delivery(dead.id, by: WebhookFixture.owner)
            #expect(delivery.status == .delivered)
            #expect(attempts.map(\.isManual) == [false, false, true])
            #expect(Set(receiver.requests.value.compactMap { $0["webhook-id"] }).count == 1)
            await #expect(throws: ChatError.self) {
                try await fixture.webhooks.deliveries.retry("dlv_unknown", by: WebhookFixture.owner)
            }
        }
    }

    @Test("that was interrupted between sending and recording is sent again with the same id")
    func crash() async throws {
        let folder = try TemporaryFolder()
        var settings = WebhookFixture.Settings()
        settings.path = folder.path + "/chat.db"
        let clock = WebhookFixture.newClock()
        let gate = Latch()
        let receiver = try ScriptedServer { request in
            request.connection == 0 ? .held(gate, then: .status(200)) : .status(200)
        }
        try await WebhookFixture.with(settings, clock: clock) { fixture in
            try await fixture.webhook(receiver)
            try await fixture.emit()
            // Received, not answered; the gateway stops with the attempt in flight.
            await receiver.requests.wait(count: 1)
        }
        try await WebhookFixture.with(settings, clock: clock) { fixture in
            await fixture.recorded(1)
            let requests = receiver.requests.value
            try #require(requests.count == 2)
            #expect(requests[0]["webhook-id"] == requests[1]["webhook-id"])
            #expect(requests[0].body == requests[1].body)
            let deliveries = try await fixture.deliveries()
            #expect(deliveries.count == 1)
            #expect(deliveries.first?.status == .delivered)
            #expect(deliveries.first?.attempts == 1)
        }
        gate.open()
    }

    @Test("of a message that is deleted during the attempt is not repeated", arguments: [true, false])
    func deletedMeanwhile(byRange: Bool) async throws {
        let gate = Latch()
        let receiver = try ScriptedServer { _ in .held(gate, then: .status(500)) }
        let clock = WebhookFixture.newClock()
        try await WebhookFixture.with(clock: clock) { fixture in
            _ = try await fixture.webhook(receiver, types: [.exact("message.created")])
            let data = JSONText(trusted: Array(#"{"text":"secret"}"#.utf8))
            let sent = try await fixture.chat.emit(.message(channel: "room", data: data, user: "ana", meta: nil)).event
            await receiver.requests.wait(count: 1)
            if byRange {
                _ = try await fixture.chat.deleteEvents(after: .zero, before: .distantFuture, in: "room")
            } else {
                try await fixture.chat.delete(sent.timetoken, in: "room", isHard: true, by: nil)
            }
            gate.open()
            await fixture.recorded(1)
            clock.advance(by: .seconds(60))
            try await waitUntil { try await fixture.deliveries().first?.status == .dead }
            #expect(try await fixture.deliveries().first?.reason == .eventNotKept)
            #expect(receiver.requests.value.count == 1)
        }
    }

    @Test(
        "that waits is dead once its message is deleted, also while the event is in memory", arguments: [true, false])
    func deletedBefore(byRange: Bool) async throws {
        let receiver = try ScriptedServer()
        try await WebhookFixture.with { fixture in
            let webhook = try await fixture.webhook(receiver, types: [.exact("message.created")]).webhook
            _ = try await fixture.registry.disable(webhook.id, by: WebhookFixture.owner)
            let data = JSONText(trusted: Array(#"{"text":"secret"}"#.utf8))
            let sent = try await fixture.chat.emit(.message(channel: "room", data: data, user: "ana", meta: nil)).event
            try await waitUntil { try await !fixture.deliveries().isEmpty }
            if byRange {
                _ = try await fixture.chat.deleteEvents(after: .zero, before: .distantFuture, in: "room")
            } else {
                try await fixture.chat.delete(sent.timetoken, in: "room", isHard: true, by: nil)
            }
            _ = try await fixture.registry.enable(webhook.id, by: WebhookFixture.owner)
            try await waitUntil { try await fixture.deliveries().first?.status == .dead }
            #expect(try await fixture.deliveries().first?.reason == .eventNotKept)
            #expect(receiver.requests.value.isEmpty)
        }
    }

    @Test("of an event that is no longer kept is dead and says so")
    func eventGone() async throws {
        let receiver = try ScriptedServer()
        let folder = try TemporaryFolder()
        var settings = WebhookFixture.Settings()
        settings.path = folder.path + "/chat.db"
        let clock = WebhookFixture.newClock()
        let disabled = try await { () async throws -> String in
            let id = Observed<[String]>()
            try await WebhookFixture.with(settings, clock: clock) { fixture in
                let webhook = try await fixture.webhook(receiver).webhook
                id.append(webhook.id)
                _ = try await fixture.registry.disable(webhook.id, by: WebhookFixture.owner)
                let event = try await fixture.emit()
                try await waitUntil { try await !fixture.deliveries().isEmpty }
                _ = try await fixture.engine.log.delete(after: .zero, before: .distantFuture, in: event.channel)
            }
            return try #require(id.value.first)
        }()
        // The gateway restarts, so nothing of the event is in memory.
        try await WebhookFixture.with(settings, clock: clock) { fixture in
            #expect(try await fixture.deliveries().map(\.status) == [.held])
            _ = try await fixture.registry.enable(disabled, by: WebhookFixture.owner)
            try await waitUntil { try await fixture.deliveries().first?.status == .dead }
            #expect(try await fixture.deliveries().first?.reason == .eventNotKept)
            #expect(receiver.requests.value.isEmpty)
        }
    }
}
