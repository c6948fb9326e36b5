import ChatCore
import ChatModel
import ChatSupport
import JSON
import Locking
import SQLiteEngine
import Signing
import TestSupport
import Testing

@testable import Webhooks

@Suite("A webhook") struct WebhookLifeTests {
    @Test("that is disabled has its events held, and gets them in order when it is enabled")
    func held() async throws {
        let receiver = try ScriptedServer()
        try await WebhookFixture.with { fixture in
            let id = try await fixture.webhook(receiver, concurrency: 1).webhook.id
            _ = try await fixture.registry.disable(id, by: WebhookFixture.owner)
            var events: [String] = []
            for _ in 0..<5 { events.append(try await fixture.emit().id) }
            try await waitUntil { try await fixture.deliveries().count == 5 }
            #expect(try await fixture.deliveries().allSatisfy { $0.status == .held })
            #expect(receiver.requests.value.isEmpty)
            let enabled = try await fixture.registry.enable(id, by: WebhookFixture.owner)
            #expect(enabled.status == .enabled)
            #expect(enabled.statusReason == nil)
            await fixture.recorded(5)
            #expect(receiver.requests.value.compactMap { $0["webhook-id"] } == events)
        }
    }

    @Test("that answers 410 is disabled at once, reported on the system channel, and continues when enabled")
    func gone() async throws {
        let answers = Lock(410)
        let receiver = try ScriptedServer { _ in .status(answers.withLock { $0 }) }
        try await WebhookFixture.with { fixture in
            let id = try await fixture.webhook(receiver).webhook.id
            let first = try await fixture.emit()
            await fixture.recorded(1)
            let disabled = try await fixture.registry.webhook(id, by: WebhookFixture.owner)
            #expect(disabled.status == .disabled)
            #expect(disabled.statusReason?.contains("410") == true)
            let notice = try #require(try await fixture.notices().first)
            #expect(notice.type == "webhook.disabled")
            #expect(try JSONDocument(notice.data).root["webhook"]?.string == id)

            let second = try await fixture.emit()
            try await waitUntil { try await fixture.deliveries().count == 2 }
            #expect(try await fixture.deliveries().map(\.status) == [.held, .held])
            answers.withLock { $0 = 200 }
            _ = try await fixture.registry.enable(id, by: WebhookFixture.owner)
            fixture.clock.advance(by: .seconds(10))
            await fixture.recorded(3)
            #expect(
                Set(receiver.requests.value.dropFirst().compactMap { $0["webhook-id"] }) == [first.id, second.id])
            #expect(try await fixture.notices().map(\.type) == ["webhook.disabled"])
        }
    }

    @Test("that fails for long is reported, disabled after five days, and starts afresh when enabled")
    func failing() async throws {
        let answers = Lock(500)
        let receiver = try ScriptedServer { _ in .status(answers.withLock { $0 }) }
        try await WebhookFixture.with { fixture in
            let id = try await fixture.webhook(receiver).webhook.id
            let etag = try await fixture.registry.webhook(id, by: WebhookFixture.owner).etag
            try await fixture.emit()
            await fixture.recorded(1)
            #expect(try await fixture.notices().isEmpty)
            try await waitUntil { try await fixture.registry.webhook(id, by: WebhookFixture.owner).lastError != nil }
            let first = try await fixture.registry.webhook(id, by: WebhookFixture.owner)
            #expect(first.failingSince == first.lastError?.at, "at once, not only when it is reported")
            fixture.clock.advance(by: .seconds(31 * 60))
            await fixture.recorded(2)
            #expect(try await fixture.notices().map(\.type) == ["webhook.failing"])
            let failing = try await fixture.registry.webhook(id, by: WebhookFixture.owner)
            #expect(failing.failingSince == first.failingSince)
            // A failing receiver is no change of the record.
            #expect(failing.etag == etag)

            fixture.clock.advance(by: .seconds(5 * 24 * 3600))
            try await fixture.emit()
            await fixture.recorded(4)
            let disabled = try await fixture.registry.webhook(id, by: WebhookFixture.owner)
            #expect(disabled.status == .disabled)
            #expect(disabled.statusReason?.hasPrefix("failing since 2023-11-14T22:13:2") == true)
            #expect(try await fixture.notices().map(\.type) == ["webhook.failing", "webhook.disabled"])

            _ = try await fixture.registry.enable(id, by: WebhookFixture.owner)
            try await fixture.emit()
            await fixture.recorded(5)
            #expect(try await fixture.registry.webhook(id, by: WebhookFixture.owner).status == .enabled)
            fixture.clock.advance(by: .seconds(31 * 60))
            try await fixture.emit()
            try await waitUntil { try await fixture.notices().count >= 3 }
            #expect(
                try await fixture.notices().map(\.type) == ["webhook.failing", "webhook.disabled", "webhook.failing"])
        }
    }

    @Test("that recovers is reported once, also after a restart")
    func recovered() async throws {
        let folder = try TemporaryFolder()
        var settings = WebhookFixture.Settings()
        settings.path = folder.path + "/chat.db"
        let clock = WebhookFixture.newClock()
        let answers = Lock(500)
        let receiver = try ScriptedServer { _ in .status(answers.withLock { $0 }) }
        try await WebhookFixture.with(settings, clock: clock) { fixture in
            try await fixture.webhook(receiver)
            try await fixture.emit()
            await fixture.recorded(1)
            fixture.clock.advance(by: .seconds(3600))
            await fixture.recorded(2)
            #expect(try await fixture.notices().map(\.type) == ["webhook.failing"])
        }
        answers.withLock { $0 = 200 }
        try await WebhookFixture.with(settings, clock: clock) { fixture in
            for count in 1...2 {
                try await fixture.emit()
                await fixture.recorded(count)
            }
            #expect(try await fixture.notices().map(\.type) == ["webhook.failing", "webhook.recovered"])
        }
    }

    @Test("that is deleted leaves nothing due")
    func deleted() async throws {
        let receiver = try ScriptedServer { _ in .status(500) }
        try await WebhookFixture.with { fixture in
            let id = try await fixture.webhook(receiver).webhook.id
            try await fixture.emit()
            await fixture.recorded(1)
            try await fixture.registry.delete(id, by: WebhookFixture.owner)
            let delivery = try #require(try await fixture.deliveries().first)
            #expect(delivery.status == .dead)
            #expect(delivery.reason == .webhookDeleted)
            await #expect(throws: ChatError.self) { try await fixture.registry.webhook(id, by: WebhookFixture.owner) }
            try await fixture.emit()
            fixture.clock.advance(by: .seconds(60))
            let other = try ScriptedServer()
            try await fixture.webhook(other)
            try await fixture.emit()
            await fixture.recorded(2)
            #expect(receiver.requests.value.count == 1)
        }
    }

    @Test("whose receiver hangs costs only its own slots")
    func hanging() async throws {
        let gate = Latch()
        let (hanging, healthy) = (try ScriptedServer { _ in .held(gate, then: .status(200)) }, try ScriptedServer())
        try await WebhookFixture.with { fixture in
            try await fixture.webhook(hanging, concurrency: 3)
            try await fixture.webhook(healthy, concurrency: 3)
            for _ in 0..<40 { try await fixture.emit() }
            await healthy.requests.wait(count: 40)
            #expect(healthy.requests.value.count == 40)
            #expect(hanging.requests.value.count == 3)
            gate.open()
            await hanging.requests.wait(count: 40)
            #expect(hanging.requests.value.count == 40)
        }
    }

    @Test("gets through though the others of its app hang and could take every connection")
    func crowded() async throws {
        let gate = Latch()
        let (hanging, healthy) = (try ScriptedServer { _ in .held(gate, then: .status(200)) }, try ScriptedServer())
        try await WebhookFixture.with { fixture in
            for _ in 0..<4 { try await fixture.webhook(hanging, types: [.exact("slow")], concurrency: 100) }
            try await fixture.webhook(healthy, types: [.exact("quick")])
            for _ in 0..<100 { try await fixture.emit("slow") }
            // Seven eighths of the connections belong to the app, and a webhook leaves as many free for others as it
            // holds.
            await hanging.requests.wait(count: 48)
            for _ in 0..<10 { try await fixture.emit("quick") }
            await healthy.requests.wait(count: 10)
            #expect(healthy.requests.value.count == 10)
            #expect(hanging.requests.value.count <= 56)
            gate.open()
            await hanging.requests.wait(count: 400)
            #expect(hanging.requests.value.count == 400)
        }
    }

    @Test("whose record cannot be read any more has its deliveries held until it can be")
    func unreadable() async throws {
        let receiver = try ScriptedServer()
        try await WebhookFixture.with { fixture in
            let webhook = try await fixture.webhook(receiver).webhook
            let key = Webhook.recordKey(of: webhook.subscriber)
            let body = try #require(try await fixture.engine.directory.read(key)).body
            try await fixture.spoil(webhook)
            await waitUntil { fixture.webhooks.metrics.unreadableWebhooks == 1 }
            let event = try await fixture.emit()
            // A delivery that was leased before the lane was paused is returned.
            try await waitUntil { try await fixture.deliveries().map(\.status) == [.held] }
            #expect(try await fixture.deliveries().map(\.status) == [.held])
            await #expect(throws: ChatError.self) {
                try await fixture.registry.webhook(webhook.id, by: WebhookFixture.owner)
            }

            _ = try await fixture.engine.directory.write([RecordChange(key, body: body, precondition: .present)])
            await fixture.recorded(1)
            #expect(receiver.requests.value.compactMap { $0["webhook-id"] } == [event.id])
            #expect(fixture.webhooks.metrics.unreadableWebhooks == 0)
        }
    }

    @Test("whose record cannot be read at a start keeps its deliveries, and can be deleted")
    func unreadableAtStart() async throws {
        let folder = try TemporaryFolder()
        var settings = WebhookFixture.Settings()
        settings.path = folder.path + "/chat.db"
        let clock = WebhookFixture.newClock()
        let receiver = try ScriptedServer { _ in .status(500) }
        let id = Observed<[String]>()
        try await WebhookFixture.with(settings, clock: clock) { fixture in
            let webhook = try await fixture.webhook(receiver).webhook
            id.append(webhook.id)
            try await fixture.emit()
            await fixture.recorded(1)
            try await fixture.spoil(webhook)
        }
        clock.advance(by: .seconds(60))
        try await WebhookFixture.with(settings, clock: clock) { fixture in
            #expect(fixture.webhooks.metrics.unreadableWebhooks == 1)
            let other = try ScriptedServer()
            try await fixture.webhook(other)
            try await fixture.emit()
            await fixture.recorded(1)
            #expect(try await fixture.deliveries(of: id.value[0]).map(\.status) == [.held])
            try await fixture.registry.delete(id.value[0], by: WebhookFixture.owner)
            #expect(try await fixture.deliveries(of: id.value[0]).map(\.reason) == [.webhookDeleted])
            #expect(fixture.webhooks.metrics.unreadableWebhooks == 0)
        }
    }

    @Test("whose record cannot be read at a start gets the events of the meantime")
    func unreadableMeanwhile() async throws {
        let folder = try TemporaryFolder()
        var settings = WebhookFixture.Settings()
        settings.path = folder.path + "/chat.db"
        let clock = WebhookFixture.newClock()
        let receiver = try ScriptedServer()
        let records = Observed<[(key: RecordKey, body: JSONText)]>()
        try await WebhookFixture.with(settings, clock: clock) { fixture in
            let webhook = try await fixture.webhook(receiver, channels: [.exact("orders.eu")]).webhook
            let key = Webhook.recordKey(of: webhook.subscriber)
            let body = try #require(try await fixture.engine.directory.read(key)).body
            records.append((key, body))
            let foreign = body.description.replacing(#""status":"enabled""#, with: #""status":"resting""#)
            let change = RecordChange(key, body: JSONText(trusted: Array(foreign.utf8)), precondition: .present)
            _ = try await fixture.engine.directory.write([change])
        }
        try await WebhookFixture.with(settings, clock: clock) { fixture in
            let event = try await fixture.emit()
            try await fixture.emit(channel: "orders.us")
            let other = try ScriptedServer()
            try await fixture.webhook(other)
            try await fixture.emit(channel: "orders.us")
            await fixture.recorded(1)
            let (key, body) = records.value[0]
            #expect(try await fixture.deliveries(of: key.id).map(\.status) == [.held])
            _ = try await fixture.engine.directory.write([RecordChange(key, body: body, precondition: .present)])
            await fixture.recorded(2)
            #expect(receiver.requests.value.compactMap { $0["webhook-id"] } == [event.id])
        }
    }

    @Test("whose record the sender finds unreadable is held as well")
    func foundUnreadable() async throws {
        let receiver = try ScriptedServer()
        try await WebhookFixture.with { fixture in
            let subscriber = SubscriberID("wh_foreign", in: WebhookFixture.app)
            let record = RecordChange(Webhook.recordKey(of: subscriber), body: .emptyObject)
            // Planned by a node that can read the record, and due before this node has seen the record at all.
            fixture.registry.snapshot.withLock { $0.apply(subscriber, nil) }
            _ = try await fixture.engine.directory.write([record])
            let event = try await fixture.emit()
            let item = PlannedDelivery(
                id: "dlv_foreign", subscriber: subscriber, event: event.timetoken, type: event.type,
                channel: "orders.eu")
            let cursor = CursorName("another planner's")
            try await fixture.engine.deliveries.plan([item], cursor: cursor, from: .zero, to: event.timetoken)
            try await waitUntil { try await fixture.deliveries(of: subscriber.name).map(\.status) == [.held] }
            #expect(try await fixture.deliveries(of: subscriber.name).map(\.status) == [.held])
            #expect(receiver.requests.value.isEmpty)
        }
    }

    @Test("signs with both secrets while a rotation lasts, then with the new one alone")
    func rotation() async throws {
        let receiver = try ScriptedServer()
        try await WebhookFixture.with { fixture in
            let old = try await fixture.webhook(receiver)
            let new = try await fixture.registry.rotateSecret(
                of: old.webhook.id, overlap: .seconds(3600), by: WebhookFixture.owner)
            #expect(new.secret != old.secret)
            try await fixture.emit()
            let during = try #require(await receiver.requests.wait(count: 1).first)
            for secret in [new.secret, old.secret] { try Self.verify(during, secret) }

            fixture.clock.advance(by: .seconds(3601))
            try await fixture.emit()
            await receiver.requests.wait(count: 2)
            let after = try #require(receiver.requests.value.last)
            try Self.verify(after, new.secret)
            #expect(throws: SignatureRejection.mismatch) { try Self.verify(after, old.secret) }
        }
    }

    @Test("rotated without overlap forgets the old secret at once")
    func rotationAtOnce() async throws {
        let receiver = try ScriptedServer()
        try await WebhookFixture.with { fixture in
            let old = try await fixture.webhook(receiver)
            let new = try await fixture.registry.rotateSecret(
                of: old.webhook.id, overlap: .zero, by: WebhookFixture.owner)
            try await fixture.emit()
            let request = try #require(await receiver.requests.wait(count: 1).first)
            try Self.verify(request, new.secret)
            #expect(throws: SignatureRejection.mismatch) { try Self.verify(request, old.secret) }
            await #expect(throws: ChatError.self) {
                try await fixture.registry.rotateSecret(
                    of: old.webhook.id, overlap: .seconds(8 * 24 * 3600), by: WebhookFixture.owner)
            }
        }
    }

    private static func verify(_ request: ReceivedRequest, _ secret: String) throws {
        let timestamp = request["webhook-timestamp"] ?? ""
        try StandardVerifier([StandardVerificationKey(secret)]).verify(
            id: request["webhook-id"] ?? "", timestamp: timestamp, signature: request["webhook-signature"] ?? "",
            body: request.body, at: Int64(timestamp) ?? 0)
    }

    @Test("completes attempts in flight when the fixture drains")
    func drain() async throws {
        let gate = Latch()
        let receiver = try ScriptedServer { _ in .held(gate, then: .status(200)) }
        try await WebhookFixture.with { fixture in
            try await fixture.webhook(receiver)
            try await fixture.emit()
            await receiver.requests.wait(count: 1)
            #expect(fixture.webhooks.metrics.inFlight == 1)
            async let drained: Void = fixture.webhooks.drain()
            gate.open()
            await drained
            #expect(fixture.webhooks.metrics.inFlight == 0)
            #expect(try await fixture.deliveries().map(\.status) == [.delivered])
        }
    }
}
