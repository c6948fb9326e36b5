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

@Suite("A delivery") struct DeliveryTests {
    @Test("carries the envelope, signed for the secret that was shown once")
    func signed() async throws {
        let receiver = try ScriptedServer()
        try await WebhookFixture.with { fixture in
            let issued = try await fixture.webhook(receiver)
            let event = try await fixture.emit(data: #"{"amount":100.10,"b":[1, 2]}"#)
            let request = try #require(await receiver.requests.wait(count: 1).first)
            #expect(request.method == "POST")
            #expect(request.target == "/hook")
            #expect(request.body == event.envelope.bytes)
            #expect(request.text.contains(#""data":{"amount":100.10,"b":[1, 2]}"#))
            #expect(request["content-type"] == "application/json")
            #expect(request["user-agent"] == "Parley/test")
            #expect(request["webhook-id"] == event.id)
            #expect(request["webhook-attempt"] == "1")
            #expect(request["webhook-event-type"] == "order.paid")
            #expect(request["webhook-channel"] == "orders.eu")
            #expect(request["webhook-timestamp"] == "1700000000")
            try StandardVerifier([StandardVerificationKey(issued.secret)]).verify(
                id: event.id, timestamp: "1700000000", signature: try #require(request["webhook-signature"]),
                body: request.body, at: 1_700_000_000)
        }
    }

    @Test("is recorded with status, times, address and answer")
    func recorded() async throws {
        let receiver = try ScriptedServer { _ in .status(200, body: Array("thanks".utf8)) }
        try await WebhookFixture.with { fixture in
            let webhook = try await fixture.webhook(receiver).webhook
            let event = try await fixture.emit()
            await fixture.recorded(1)
            let delivery = try #require(try await fixture.deliveries().first)
            #expect(delivery.status == .delivered)
            #expect(delivery.subscriber.name == webhook.id)
            #expect(delivery.event == event.timetoken)
            #expect(delivery.attempts == 1)
            #expect(delivery.due == nil)
            let (_, attempts) = try await fixture.webhooks.deliveries.delivery(delivery.id, by: WebhookFixture.owner)
            let attempt = try #require(attempts.first)
            #expect(attempts.count == 1)
            #expect(attempt.status == 200)
            #expect(attempt.error == nil)
            #expect(attempt.responseBody == Array("thanks".utf8))
            #expect(!attempt.isManual)
            let details = try JSONDocument(try #require(attempt.details)).root
            #expect(details["address"]?.string == "127.0.0.1")
            #expect(details["timings_us"]?["total"]?.integer ?? 0 > 0)
            #expect(fixture.webhooks.metrics.attempts == ["delivered": 1])
        }
    }

    @Test("goes to every webhook that asked for it, and to no other")
    func matching() async throws {
        let (orders, paid, none) = (try ScriptedServer(), try ScriptedServer(), try ScriptedServer())
        try await WebhookFixture.with { fixture in
            try await fixture.webhook(orders, types: [.below("order.")])
            try await fixture.webhook(paid, channels: [.exact("orders.eu")], filter: try Filter("data.amount > 10"))
            try await fixture.webhook(none, types: [.exact("order.refunded")])
            let first = try await fixture.emit(data: #"{"amount":5}"#)
            let second = try await fixture.emit(data: #"{"amount":50}"#)
            await fixture.recorded(3)
            #expect(Set(orders.requests.value.compactMap { $0["webhook-id"] }) == [first.id, second.id])
            #expect(paid.requests.value.compactMap { $0["webhook-id"] } == [second.id])
            #expect(none.requests.value.isEmpty)
        }
    }

    @Test("of a frequent type goes only where it is named")
    func frequentType() async throws {
        let (all, named) = (try ScriptedServer(), try ScriptedServer())
        try await WebhookFixture.with { fixture in
            try await fixture.webhook(all)
            try await fixture.webhook(named, types: [.below("typing.")])
            let typing = EventDraft(
                channel: ChannelID("room.1", in: WebhookFixture.app), type: "typing.started", retention: .passing,
                data: .emptyObject, user: "ana")
            _ = try await fixture.engine.log.append([typing], claim: nil)
            let last = try await fixture.emit()
            await fixture.recorded(2)
            #expect(all.requests.value.compactMap { $0["webhook-id"] } == [last.id])
            #expect(named.requests.value.compactMap { $0["webhook-event-type"] } == ["typing.started"])
        }
    }

    @Test("of a channel's activity is made and goes only where that type has been named exactly")
    func activity() async throws {
        let (all, below, named) = (try ScriptedServer(), try ScriptedServer(), try ScriptedServer())
        try await WebhookFixture.with { fixture in
            try await fixture.webhook(all)
            try await fixture.webhook(below, types: [.below("channel."), .exact("order.paid")])
            try await fixture.webhook(named, types: [.exact("channel.activity")])
            let message = EventDraft(
                channel: ChannelID("room.1", in: WebhookFixture.app), type: "message.created", kind: .message,
                data: JSONText(trusted: Array(#"{"text":"hi"}"#.utf8)), user: "ana")
            _ = try await fixture.engine.log.append([message], claim: nil)
            await fixture.recorded(2)
            #expect(named.requests.value.compactMap { $0["webhook-event-type"] } == ["channel.activity"])
            #expect(all.requests.value.compactMap { $0["webhook-event-type"] } == ["message.created"])
            try await fixture.emit()
            await fixture.recorded(4)
            #expect(below.requests.value.compactMap { $0["webhook-event-type"] } == ["order.paid"])
        }
    }

    @Test("of the system channel goes only where that is named")
    func system() async throws {
        let (all, named) = (try ScriptedServer(), try ScriptedServer())
        try await WebhookFixture.with { fixture in
            try await fixture.webhook(all)
            try await fixture.webhook(named, channels: [.exact(ChannelID.systemName)])
            try await fixture.service.report(
                "system.disk_low", data: JSONText(trusted: Array(#"{"free_bytes":1}"#.utf8)), in: WebhookFixture.app)
            try await fixture.emit()
            await fixture.recorded(2)
            #expect(all.requests.value.compactMap { $0["webhook-event-type"] } == ["order.paid"])
            #expect(named.requests.value.compactMap { $0["webhook-event-type"] } == ["system.disk_low"])
        }
    }

    @Test("of an ephemeral event is made as well")
    func passing() async throws {
        let receiver = try ScriptedServer()
        try await WebhookFixture.with { fixture in
            try await fixture.webhook(receiver)
            let event = try await fixture.chat.emit(
                EventDraft.event(channel: "a", type: "t", data: .emptyObject, retention: .passing)
            ).event
            let request = try #require(await receiver.requests.wait(count: 1).first)
            #expect(request.body == event.envelope.bytes)
            #expect(request.text.contains(#""ephemeral":true"#))
        }
    }

    @Test("of an ephemeral event outlives it, once it is queued")
    func passingOutlived() async throws {
        let receiver = try ScriptedServer()
        let folder = try TemporaryFolder()
        var settings = WebhookFixture.Settings()
        settings.path = folder.path + "/chat.db"
        let clock = WebhookFixture.newClock()
        let bodies = Observed<[[UInt8]]>()
        let ids = Observed<[String]>()
        try await WebhookFixture.with(settings, clock: clock) { fixture in
            ids.append(try await fixture.webhook(receiver).webhook.id)
            _ = try await fixture.registry.disable(try #require(ids.value.first), by: WebhookFixture.owner)
            let event = try await fixture.chat.emit(
                EventDraft.event(channel: "a", type: "t", data: .emptyObject, retention: .passing)
            ).event
            bodies.append(event.envelope.bytes)
            try await waitUntil { try await !fixture.deliveries().isEmpty }
        }
        // The gateway restarts, so the event is no longer in memory.
        try await WebhookFixture.with(settings, clock: clock) { fixture in
            _ = try await fixture.registry.enable(try #require(ids.value.first), by: WebhookFixture.owner)
            await fixture.recorded(1)
            #expect(receiver.requests.value.map(\.body) == bodies.value)
        }
    }

    @Test("names channels outside ASCII in percent-encoding")
    func unusualNames() async throws {
        let receiver = try ScriptedServer()
        try await WebhookFixture.with { fixture in
            try await fixture.webhook(receiver)
            try await fixture.emit(channel: "café 100%")
            let request = try #require(await receiver.requests.wait(count: 1).first)
            #expect(request["webhook-channel"] == "caf%C3%A9%20100%25")
        }
    }

    @Test("reads no more of an answer than is kept")
    func oversizedAnswer() async throws {
        let receiver = try ScriptedServer { _ in .status(200, body: [UInt8](repeating: 0x61, count: 1_000_000)) }
        try await WebhookFixture.with { fixture in
            try await fixture.webhook(receiver)
            try await fixture.emit()
            await fixture.recorded(1)
            let delivery = try #require(try await fixture.deliveries().first)
            let (_, attempts) = try await fixture.webhooks.deliveries.delivery(delivery.id, by: WebhookFixture.owner)
            #expect(delivery.status == .delivered)
            #expect(attempts.first?.responseBody.count == 16 * 1024)
            #expect(attempts.first?.isTruncated == true)
        }
    }

    @Test("does not follow a redirect")
    func redirect() async throws {
        let target = try ScriptedServer()
        let receiver = try ScriptedServer { _ in .status(307, headers: [("location", target.url())]) }
        try await WebhookFixture.with { fixture in
            try await fixture.webhook(receiver)
            try await fixture.emit()
            await fixture.recorded(1)
            let delivery = try #require(try await fixture.deliveries().first)
            let (_, attempts) = try await fixture.webhooks.deliveries.delivery(delivery.id, by: WebhookFixture.owner)
            #expect(delivery.status == .failed)
            #expect(attempts.first?.error == "redirect")
            #expect(attempts.first?.status == 307)
            #expect(target.connectionCount == 0)
        }
    }

    @Test("to a blocked address opens no connection and says why")
    func blockedAddress() async throws {
        let receiver = try ScriptedServer()
        var settings = WebhookFixture.Settings()
        settings.clientGuard = AddressGuard()
        try await WebhookFixture.with(settings) { fixture in
            try await fixture.webhook(receiver)
            try await fixture.emit()
            await fixture.recorded(1)
            let delivery = try #require(try await fixture.deliveries().first)
            let (_, attempts) = try await fixture.webhooks.deliveries.delivery(delivery.id, by: WebhookFixture.owner)
            #expect(delivery.status == .failed)
            #expect(attempts.first?.error == "blocked_address")
            #expect(attempts.first?.status == nil)
            #expect(receiver.connectionCount == 0)
            #expect(fixture.webhooks.metrics.attempts == ["blocked_address": 1])
        }
    }

    @Test("that finds no server, or a reset connection, is tried again", arguments: [true, false])
    func unreachable(isReset: Bool) async throws {
        let receiver = try ScriptedServer { _ in .reset }
        if !isReset { receiver.shutDown() }
        try await WebhookFixture.with { fixture in
            try await fixture.webhook(receiver)
            try await fixture.emit()
            await fixture.recorded(1)
            let delivery = try #require(try await fixture.deliveries().first)
            let (_, attempts) = try await fixture.webhooks.deliveries.delivery(delivery.id, by: WebhookFixture.owner)
            #expect(delivery.status == .failed)
            #expect(attempts.first?.error == (isReset ? "reset" : "connect_refused"))
        }
    }

    @Test("is made for events committed while no planner ran")
    func catchingUp() async throws {
        let receiver = try ScriptedServer()
        try await WebhookFixture.with { fixture in
            try await fixture.webhook(receiver)
            let first = try await fixture.emit()
            await fixture.recorded(1)
            // A second planner that starts later finds the position of the first and repeats nothing.
            try await withThrowingTaskGroup { group in
                let other = fixture.another()
                try await ChatFixture.start({ try await other.run(whenReady: $0) }, in: &group)
                let second = try await fixture.emit()
                await fixture.recorded(2)
                #expect(receiver.requests.value.compactMap { $0["webhook-id"] } == [first.id, second.id])
                group.cancelAll()
            }
        }
    }

    @Test("is made though another planner moved the position")
    func movedPosition() async throws {
        let receiver = try ScriptedServer()
        try await WebhookFixture.with { fixture in
            try await fixture.webhook(receiver)
            try await fixture.emit()
            await fixture.recorded(1)
            let name = Planner.cursorName(WebhookFixture.app)
            let position = try await fixture.engine.deliveries.cursor(name)
            try await fixture.engine.deliveries.plan(
                [], cursor: name, from: position, to: Timetoken(position.rawValue + 1))
            let event = try await fixture.emit()
            await fixture.recorded(2)
            #expect(receiver.requests.value.last?["webhook-id"] == event.id)
        }
    }

    @Test("is made once, though two planners see every event")
    func race() async throws {
        let receiver = try ScriptedServer()
        try await WebhookFixture.with { fixture in
            try await fixture.webhook(receiver, concurrency: 20)
            try await withThrowingTaskGroup { group in
                let other = fixture.another()
                try await ChatFixture.start({ try await other.run(whenReady: $0) }, in: &group)
                var ids: Set<String> = []
                for _ in 0..<100 { ids.insert(try await fixture.emit().id) }
                await fixture.recorded(100)
                #expect(Set(receiver.requests.value.compactMap { $0["webhook-id"] }) == ids)
                #expect(receiver.requests.value.count == 100)
                let deliveries = try await fixture.deliveries()
                #expect(deliveries.count == 100)
                #expect(deliveries.allSatisfy { $0.status == .delivered && $0.attempts == 1 })
                let planned = fixture.webhooks.metrics.planned + other.metrics.planned
                #expect(planned == 100)
                group.cancelAll()
            }
        }
    }

    @Test("is made for whatever is committed after the webhook's creation was answered, also while the planner reads")
    func newcomer() async throws {
        let (old, new) = (try ScriptedServer(), try ScriptedServer())
        try await WebhookFixture.with { fixture in
            try await fixture.webhook(old)
            let late = Observed<[String]>()
            fixture.steps.beforeEvents { () throws(ChatError) in
                do {
                    try await fixture.webhook(new)
                    late.append(try await fixture.emit().id)
                } catch {
                    throw error as? ChatError ?? ChatError(.unavailable, "\(error)")
                }
            }
            try await fixture.emit()
            await fixture.recorded(3)
            #expect(old.requests.value.count == 2)
            #expect(new.requests.value.compactMap { $0["webhook-id"] } == late.value)
        }
    }

    @Test("is not made for events from before the webhook")
    func nothingOld() async throws {
        let receiver = try ScriptedServer()
        try await WebhookFixture.with { fixture in
            for _ in 0..<10 { try await fixture.emit() }
            try await fixture.webhook(receiver)
            let event = try await fixture.emit()
            await fixture.recorded(1)
            #expect(receiver.requests.value.compactMap { $0["webhook-id"] } == [event.id])
            #expect(try await fixture.deliveries().count == 1)
        }
    }

    @Test("as a sample shows the way without being queued")
    func sample() async throws {
        let receiver = try ScriptedServer { _ in .status(418) }
        try await WebhookFixture.with { fixture in
            let issued = try await fixture.webhook(receiver)
            _ = try await fixture.registry.disable(issued.webhook.id, by: WebhookFixture.owner)
            let attempt = try await fixture.webhooks.deliveries.test(
                webhook: issued.webhook.id, by: WebhookFixture.owner)
            #expect(attempt.status == 418)
            #expect(attempt.error == "http_status")
            let request = try #require(receiver.requests.value.first)
            #expect(request["webhook-event-type"] == "webhook.test")
            let data = try #require(JSONText(trusted: request.body).rawMember("data"))
            try await fixture.expectCatalogued("webhook.test", data)
            try StandardVerifier([StandardVerificationKey(issued.secret)]).verify(
                id: try #require(request["webhook-id"]), timestamp: try #require(request["webhook-timestamp"]),
                signature: try #require(request["webhook-signature"]), body: request.body, at: 1_700_000_000)
            #expect(try await fixture.deliveries().isEmpty)
            await #expect(throws: ChatError.self) {
                try await fixture.webhooks.deliveries.test(webhook: "wh_unknown", by: WebhookFixture.owner)
            }
        }
    }
}
