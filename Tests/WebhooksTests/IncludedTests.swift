import ChatCore
import ChatModel
import HTTPClient
import JSON
import TestSupport
import Testing

@testable import Webhooks

extension WebhookFixture {
    fileprivate func rename(_ user: String, to name: String) async throws {
        var edit = UserEdit()
        edit.name = .set(name)
        _ = try await chat.put(user: user, edit)
    }

    fileprivate func including(
        _ receiver: ScriptedServer, _ objects: Set<IncludedObject>, template: String? = nil, batch: WebhookBatch? = nil
    ) async throws -> Webhook {
        // Changes of users are events as well.
        var settings = WebhookSettings(url: receiver.url("/hook"), channels: [.below("orders.")])
        settings.included = objects
        settings.batch = batch
        if let template {
            settings.format = BuiltInFormat.template.rawValue
            settings.template = try WebhookTemplate(JSONText(trusted: Array(template.utf8)))
        }
        return try await registry.create(settings, by: Self.owner).webhook
    }
}

/// The name of the user that is included with an event.
private func name(in body: [UInt8]) throws -> String? {
    try JSONDocument(body).root["included"]?["user"]?["name"]?.string
}

@Suite("Objects that webhooks include", .timeLimit(.minutes(2))) struct IncludedTests {
    @Test("are the same in every attempt, also after a restart, and read anew for the next event")
    func retried() async throws {
        let receiver = try ScriptedServer { request in .status(request["webhook-attempt"] == "1" ? 500 : 200) }
        let folder = try TemporaryFolder()
        var settings = WebhookFixture.Settings()
        settings.path = folder.path + "/chat.db"
        let clock = WebhookFixture.newClock()
        try await WebhookFixture.with(settings, clock: clock) { fixture in
            try await fixture.rename("ana", to: "Ana")
            _ = try await fixture.including(receiver, [.user, .channel])
            try await fixture.emit()
            await fixture.recorded(1)
            try await fixture.rename("ana", to: "Anna")
        }
        clock.advance(by: .seconds(60))
        try await WebhookFixture.with(settings, clock: clock) { fixture in
            await fixture.recorded(1)
            let requests = receiver.requests.value
            try #require(requests.count == 2)
            #expect(requests[1]["webhook-attempt"] == "2" && requests[1].body == requests[0].body)
            #expect(try name(in: requests[0].body) == "Ana")
            let event = try JSONDocument(requests[0].body).root
            #expect(event["type"]?.string == "order.paid" && event["data"]?.members?.isEmpty == true)
            // The channel has no record.
            #expect(event["included"]?.members?.map(\.name) == ["user"])

            try await fixture.emit()
            await fixture.recorded(2)
            #expect(try name(in: try #require(receiver.requests.value.last).body) == "Anna")
        }
    }

    @Test("are unchanged when a delivered delivery is sent again")
    func redelivered() async throws {
        let receiver = try ScriptedServer { _ in .status(200) }
        try await WebhookFixture.with { fixture in
            try await fixture.rename("ana", to: "Ana")
            _ = try await fixture.including(receiver, [.user])
            try await fixture.emit()
            await fixture.recorded(1)
            try await fixture.rename("ana", to: "Anna")
            let delivered = try #require(try await fixture.deliveries().first)
            #expect(delivered.status == .delivered)
            _ = try await fixture.webhooks.deliveries.retry(delivered.id, by: WebhookFixture.owner)
            await fixture.recorded(2)
            let bodies = receiver.requests.value.map(\.body)
            #expect(bodies.count == 2 && bodies[0] == bodies[1])
            #expect(try name(in: bodies[0]) == "Ana")
        }
    }

    @Test("reach templates and batches, and are absent without a request")
    func forms() async throws {
        let plain = try ScriptedServer { _ in .status(200) }
        let shaped = try ScriptedServer { _ in .status(200) }
        let batched = try ScriptedServer { _ in .status(200) }
        try await WebhookFixture.with { fixture in
            try await fixture.rename("ana", to: "Ana")
            try await fixture.webhook(plain)
            _ = try await fixture.including(
                shaped, [.user], template: #"{"text":"{event/included/user/name} paid"}"#)
            _ = try await fixture.including(batched, [.user], batch: WebhookBatch(events: 10, bytes: 100_000))
            try await fixture.emit()
            await fixture.recorded(3)
            #expect(try name(in: plain.requests.value[0].body) == nil)
            #expect(JSONText(trusted: plain.requests.value[0].body).rawMember("included") == nil)
            #expect(String(decoding: shaped.requests.value[0].body, as: UTF8.self) == #"{"text":"Ana paid"}"#)
            let first = try #require(JSONText(trusted: batched.requests.value[0].body).rawElements()?.first)
            #expect(try name(in: first.bytes) == "Ana")
        }
    }

    @Test("of a passing event are those of its user and its channel")
    func passing() async throws {
        let receiver = try ScriptedServer { _ in .status(200) }
        try await WebhookFixture.with { fixture in
            try await fixture.rename("ana", to: "Ana")
            _ = try await fixture.including(receiver, [.user, .thread])
            var draft = EventDraft.event(channel: "orders.eu", type: "cart.moved", data: .emptyObject, user: "ana")
            draft.retention = .passing
            _ = try await fixture.chat.emit(draft)
            await fixture.recorded(1)
            let body = receiver.requests.value[0].body
            #expect(try name(in: body) == "Ana")
            #expect(try JSONDocument(body).root["ephemeral"]?.boolean == true)
        }
    }

    @Test("go with the formats that have a place for them, and take the scope to read")
    func settings() async throws {
        func settings(_ text: String) throws(ChatError) -> WebhookSettings {
            do {
                return try WebhookSettings(JSONDocument(Array(text.utf8)))
            } catch let error as ChatError {
                throw error
            } catch {
                throw ChatError(.malformed, "no JSON")
            }
        }
        let whole = try settings(#"{"url":"https://e.com","include":["member","user","user"]}"#)
        #expect(whole.included == [.user, .member])
        let cleared = try whole.merging(JSONDocument(Array(#"{"include":null}"#.utf8)))
        #expect(cleared.included.isEmpty)
        for (include, format, pointer) in [
            (#"["users"]"#, "envelope", "#/include/0"), (#""user""#, "envelope", "#/include"),
            (#"["user"]"#, "flat", "#/include"), (#"["user"]"#, "cloudevents", "#/include"),
        ] {
            do throws(ChatError) {
                _ = try settings(#"{"url":"https://e.com","format":"\#(format)","include":\#(include)}"#)
                Issue.record("accepted: \(include) with \(format)")
            } catch {
                #expect(error.faults.map(\.pointer) == [pointer])
            }
        }
        let receiver = try ScriptedServer { _ in .status(200) }
        try await WebhookFixture.with { fixture in
            let manager = Caller(app: WebhookFixture.app, credential: "key_manager", scopes: [.manage])
            var settings = WebhookSettings(url: receiver.url("/hook"))
            settings.included = [.user]
            let refusal = await #expect(throws: ChatError.self) {
                _ = try await fixture.registry.create(settings, by: manager)
            }
            #expect(refusal?.code == .forbidden && refusal?.message.contains("'read'") == true)
            let made = try await fixture.registry.create(settings, by: WebhookFixture.owner).webhook
            let read = try await fixture.registry.webhook(made.id, by: WebhookFixture.owner)
            #expect(read.printed().rawMember("include") == JSONText(trusted: Array(#"["user"]"#.utf8)))
        }
    }
}
