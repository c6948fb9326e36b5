import ChatCore
import ChatModel
import ChatSupport
import JSON
import Locking
import TestSupport
import Testing

@testable import Webhooks

@Suite("A webhook's own pace") struct ScheduleTests {
    @Test("is its schedule of retries, after which a delivery is dead")
    func schedule() async throws {
        let receiver = try ScriptedServer { _ in .status(500) }
        try await WebhookFixture.with { fixture in
            var settings = WebhookSettings(url: receiver.url())
            settings.retryDelays = [.seconds(60), .seconds(600)]
            _ = try await fixture.registry.create(settings, by: WebhookFixture.owner)
            try await fixture.emit()
            for (count, delay) in [(1, 60), (2, 600)] {
                await fixture.recorded(count)
                let due = try #require(try await fixture.deliveries().first?.due)
                let wait = Double(due.rawValue - fixture.clock.now.rawValue) / Double(Timetoken.ticksPerSecond)
                #expect((Double(delay) - 1...Double(delay)).contains(wait))
                fixture.clock.advance(by: .seconds(delay))
            }
            await fixture.recorded(3)
            #expect(try await fixture.deliveries().map(\.reason) == [.attemptsExhausted])
        }
    }

    @Test("keeps the order also where a batch takes several posts", arguments: [DeliveryOrdering.strict, .perChannel])
    func split(ordering: DeliveryOrdering) async throws {
        let status = Lock(500)
        let receiver = try ScriptedServer { _ in .status(status.withLock { $0 }) }
        try await WebhookFixture.with { fixture in
            var settings = WebhookSettings(url: receiver.url())
            settings.ordering = ordering
            settings.batch = WebhookBatch(events: 10, bytes: 1024)
            let id = try await fixture.registry.create(settings, by: WebhookFixture.owner).webhook.id
            _ = try await fixture.registry.disable(id, by: WebhookFixture.owner)
            let data = #"{"text":"\#(String(repeating: "x", count: 250))"}"#
            var events: [String] = []
            for _ in 0..<6 { events.append(try await fixture.emit(data: data).id) }
            try await waitUntil { try await fixture.deliveries().count { $0.status == .held } == 6 }
            _ = try await fixture.registry.enable(id, by: WebhookFixture.owner)
            // The first post fails; the following ones must wait for its retry.
            await fixture.recorded(2)
            #expect(receiver.requests.value.count == 1)
            #expect(try await fixture.deliveries().map(\.attempts) == [1, 1, 0, 0, 0, 0])
            status.withLock { $0 = 200 }
            fixture.clock.advance(by: .seconds(60))
            try await waitUntil { try await fixture.deliveries().allSatisfy { $0.status == .delivered } }
            let sent = receiver.requests.value.dropFirst().map { request in
                let array = (try? JSONDocument(request.body))?.root.elements ?? []
                return array.compactMap { $0["id"]?.string }
            }
            #expect(sent.allSatisfy { $0.count <= 2 })
            #expect(sent.flatMap { $0 } == events)
        }
    }

    @Test("is shut by failures on end, without costing those that wait an attempt, and opened by one that ends well")
    func circuit() async throws {
        let status = Lock(500)
        let receiver = try ScriptedServer { _ in .status(status.withLock { $0 }) }
        try await WebhookFixture.with { fixture in
            let webhook = try await fixture.webhook(receiver).webhook
            let tolerated = CircuitBreaker.failuresTolerated
            for _ in 0..<tolerated { try await fixture.emit() }
            await fixture.recorded(tolerated)
            func condition() async throws -> CircuitBreaker.Condition {
                try await fixture.registry.webhook(webhook.id, by: WebhookFixture.owner).circuit.condition
            }
            try await waitUntil { try await condition() == .open }
            for _ in 0..<20 { try await fixture.emit() }
            try await waitUntil { try await fixture.deliveries().count == tolerated + 20 }
            fixture.clock.advance(by: .seconds(9))
            #expect(try await fixture.deliveries().count { $0.attempts == 0 } == 20)

            // One trial attempt, then the circuit opens again.
            fixture.clock.advance(by: .seconds(1))
            await fixture.recorded(tolerated + 1)
            try await waitUntil { try await condition() == .open }
            #expect(try await fixture.deliveries().map(\.attempts).reduce(0, +) == tolerated + 1)

            status.withLock { $0 = 200 }
            fixture.clock.advance(by: .seconds(30))
            try await waitUntil { try await fixture.deliveries().allSatisfy { $0.status == .delivered } }
            #expect(try await fixture.deliveries().allSatisfy { $0.status == .delivered })
            #expect(try await condition() == .closed)
        }
    }

    @Test("shows its newest failure until an attempt succeeds")
    func lastError() async throws {
        let status = Lock(503)
        let receiver = try ScriptedServer { _ in .status(status.withLock { $0 }) }
        try await WebhookFixture.with { fixture in
            let id = try await fixture.webhook(receiver).webhook.id
            func shown() async throws -> AttemptError? {
                try await fixture.registry.webhook(id, by: WebhookFixture.owner).lastError
            }
            #expect(try await shown() == nil)
            try await fixture.emit()
            try await waitUntil { try await shown() != nil }
            let error = try #require(try await shown())
            #expect(error.error == "http_status" && error.status == 503)
            let text = try await fixture.registry.webhook(id, by: WebhookFixture.owner).printed()
            #expect(try JSONDocument(text).root["last_error"]?["status"]?.integer == 503)
            status.withLock { $0 = 200 }
            try await fixture.emit()
            try await waitUntil { try await shown() == nil }
            #expect(try await shown() == nil)
        }
    }

    @Test("is opened again by a person who enables it, also when it was enabled all along")
    func enabling() async throws {
        let receiver = try ScriptedServer { _ in .status(500) }
        try await WebhookFixture.with { fixture in
            let id = try await fixture.webhook(receiver).webhook.id
            for _ in 0..<CircuitBreaker.failuresTolerated { try await fixture.emit() }
            await fixture.recorded(CircuitBreaker.failuresTolerated)
            try await waitUntil {
                try await fixture.registry.webhook(id, by: WebhookFixture.owner).circuit.condition == .open
            }
            let enabled = try await fixture.registry.enable(id, by: WebhookFixture.owner)
            #expect(enabled.circuit.condition == .closed && enabled.circuit.until == nil)
        }
    }

    @Test("is opened again by a replay, and by a test that the receiver passes, as by a retry")
    func repaired() async throws {
        let status = Lock(500)
        let receiver = try ScriptedServer { _ in .status(status.withLock { $0 }) }
        try await WebhookFixture.with { fixture in
            let id = try await fixture.webhook(receiver).webhook.id
            func condition() async throws -> CircuitBreaker.Condition {
                try await fixture.registry.webhook(id, by: WebhookFixture.owner).circuit.condition
            }
            for _ in 0..<CircuitBreaker.failuresTolerated { try await fixture.emit() }
            await fixture.recorded(CircuitBreaker.failuresTolerated)
            try await waitUntil { try await condition() == .open }
            _ = try await fixture.webhooks.deliveries.test(webhook: id, by: WebhookFixture.owner)
            #expect(try await condition() == .open, "the receiver is still sick")

            status.withLock { $0 = 200 }
            let scope = DeliveryScope(webhook: id, only: .failed)
            _ = try await fixture.webhooks.jobs.begin(.replay, scope, by: WebhookFixture.owner)
            try await waitUntil { try await fixture.deliveries().allSatisfy { $0.status == .delivered } }

            status.withLock { $0 = 500 }
            for _ in 0..<CircuitBreaker.failuresTolerated { try await fixture.emit() }
            try await waitUntil { try await condition() == .open }
            status.withLock { $0 = 200 }
            _ = try await fixture.webhooks.deliveries.test(webhook: id, by: WebhookFixture.owner)
            #expect(try await condition() == .closed)
        }
    }

    @Test("is independent of others: a hanging webhook holds only its own attempts")
    func hanging() async throws {
        let gate = Latch()
        let hanging = try ScriptedServer { _ in .held(gate, then: .status(200)) }
        let healthy = try ScriptedServer()
        var settings = WebhookFixture.Settings()
        settings.connections = 24
        try await WebhookFixture.with(settings) { fixture in
            try await fixture.webhook(hanging, concurrency: 4)
            for _ in 0..<19 { try await fixture.webhook(healthy) }
            for _ in 0..<20 { try await fixture.emit() }
            await healthy.requests.wait(count: 380)
            #expect(healthy.requests.value.count == 380)
            #expect(hanging.requests.value.count == 4)
            gate.open()
        }
    }

    @Test("that cannot send for lack of capacity waits a moment, without counting an attempt")
    func shortage() async throws {
        let gate = Latch()
        let receiver = try ScriptedServer { _ in .held(gate, then: .status(204)) }
        var settings = WebhookFixture.Settings()
        (settings.connectionsOfHost, settings.waiting) = (1, 0)
        try await WebhookFixture.with(settings) { fixture in
            try await fixture.webhook(receiver)
            try await fixture.emit()
            await receiver.requests.wait(count: 1)
            for _ in 0..<CircuitBreaker.failuresTolerated { try await fixture.emit() }
            func refusals() -> UInt64 { fixture.webhooks.metrics.attempts["overloaded"] ?? 0 }
            await waitUntil { refusals() > 2 * UInt64(CircuitBreaker.failuresTolerated) }
            #expect(fixture.webhooks.metrics.openCircuits == 0)
            #expect(try await fixture.deliveries().allSatisfy { $0.status == .pending && $0.attempts == 0 })
            gate.open()
            try await waitUntil { try await fixture.deliveries().allSatisfy { $0.status == .delivered } }
            #expect(try await fixture.deliveries().allSatisfy { $0.attempts == 1 })
        }
    }

    @Test("of many events at once waits where such posts hold all the bytes they may, and goes out behind them")
    func batchBytes() async throws {
        let bytes = 1024 * 1024
        let receiver = try ScriptedServer { _ in .status(200) }
        var settings = WebhookFixture.Settings()
        settings.batchBytes = 5 * bytes / 4
        try await WebhookFixture.with(settings) { fixture in
            for _ in 0..<3 {
                var settings = WebhookSettings(url: receiver.url())
                settings.batch = WebhookBatch(events: 3)
                _ = try await fixture.registry.create(settings, by: WebhookFixture.owner)
            }
            for _ in 0..<30 { try await fixture.emit() }
            await fixture.recorded(90)
            #expect(try await fixture.deliveries().allSatisfy { $0.status == .delivered && $0.attempts == 1 })
        }
    }

    @Test("brings every event to an end, whatever receivers do")
    func fates() async throws {
        let answers: [ScriptedReply] = [
            .status(200), .status(204), .status(500), .status(429, headers: [("retry-after", "60")]), .reset,
            .status(302, headers: [("location", "http://127.0.0.1/")]), .status(404), .status(410),
            .last(Array("this is not HTTP\r\n\r\n".utf8)),
            .last(
                Array("HTTP/1.1 200 OK\r\ncontent-length: 10737418240\r\n\r\n".utf8)
                    + Array(repeating: 120, count: 300_000)),
        ]
        let receivers = try answers.map { answer in try ScriptedServer { _ in answer } }
        try await WebhookFixture.with { fixture in
            var webhooks: [String] = []
            for receiver in receivers + receivers {
                var settings = WebhookSettings(url: receiver.url())
                settings.retryDelays = [.seconds(60)]
                webhooks.append(try await fixture.registry.create(settings, by: WebhookFixture.owner).webhook.id)
            }
            for _ in 0..<12 { try await fixture.emit() }
            try await waitUntil { try await fixture.deliveries(of: webhooks[0]).count == 12 }
            // Enough time for circuits and retries, in steps so that each one runs.
            try await waitUntil {
                fixture.clock.advance(by: .seconds(30))
                var waiting = 0
                for id in webhooks {
                    waiting += try await fixture.deliveries(of: id).count { [.pending, .failed].contains($0.status) }
                }
                return waiting == 0
            }
            for (index, id) in webhooks.enumerated() {
                let fates = try await fixture.deliveries(of: id)
                #expect(fates.count == 12)
                switch index % 10 {
                case 0, 1, 9: #expect(fates.allSatisfy { $0.status == .delivered })
                case 7: #expect(fates.allSatisfy { $0.status == .held }, "gone: the webhook is disabled")
                default: #expect(fates.allSatisfy { $0.status == .dead && $0.reason == .attemptsExhausted })
                }
            }
        }
    }
}
