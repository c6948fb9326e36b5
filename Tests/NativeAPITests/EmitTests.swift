import ChatCore
import ChatModel
import HTTPServer
import JSON
import Signing
import TestSupport
import Testing

@testable import NativeAPI

@Suite("Emitting over HTTP") struct EmitTests {
    @Test("answers 201 with the event's place, and history has it")
    func event() async throws {
        try await APIFixture.run { api in
            let answer = await api.call(
                .post, "/v1/channels/orders.eu/events",
                #"{"type":"order.paid","user":"shop-7","data":{"amount":4200},"meta":{"lang":"en"}}"#)
            #expect(answer.status == 201)
            #expect(answer["type"]?.string == "order.paid")
            #expect(answer["channel"]?.string == "orders.eu")
            #expect(answer["duplicate"]?.boolean == false)
            let events = await api.history("orders.eu")
            #expect(events.count == 1)
            #expect(events.first?["id"]?.string == answer["id"]?.string)
            #expect(events.first?["user"]?.string == "shop-7")
            #expect(events.first?["meta"]?["lang"]?.string == "en")
        }
    }

    @Test(
        "keeps the payload's bytes",
        arguments: [
            #"{"z":1,"a":2}"#, "100.10", "1e2", "-0.0", "123456789012345678901234567890", #""\u00e9 \/ é""#,
            #"{"nested": [ 1 , 2 ]}"#, "null", #""a\u0000b""#, "\"\u{2028}\"",
        ])
    func exactBytes(_ payload: String) async throws {
        try await APIFixture.run { api in
            let answer = await api.call(
                .post, "/v1/channels/a/events", #"{ "data" : \#(payload) , "type":"t","meta":\#(payload)}"#)
            #expect(answer.status == 201)
            let id = try #require(answer["id"]?.string)
            let stored = await api.call(.get, "/v1/events/\(id)")
            #expect(stored.text.contains(#""data":\#(payload)"#))
            #expect(payload == "null" || stored.text.contains(#""meta":\#(payload)"#))
        }
    }

    @Test("makes a message of a text, with the sender's spelling")
    func text() async throws {
        try await APIFixture.run { api in
            let answer = await api.call(
                .post, "/v1/channels/room.1/messages", #"{"text":"h\u00e9llo","user":"ana","custom_type":"note"}"#)
            #expect(answer.status == 201)
            #expect(answer["type"]?.string == "message.created")
            let id = try #require(answer["id"]?.string)
            let stored = await api.call(.get, "/v1/events/\(id)")
            #expect(stored.text.contains(#""data":{"text":"h\u00e9llo"}"#))
            #expect(stored["custom_type"]?.string == "note")
        }
    }

    @Test("makes a message of any JSON")
    func messageData() async throws {
        try await APIFixture.run { api in
            #expect(await api.call(.post, "/v1/channels/room.1/messages", #"{"data":7}"#).status == 201)
            #expect(await api.history("room.1").first?["data"]?.integer == 7)
        }
    }

    @Test("answers signals and fire with 202 and keeps neither in history", arguments: ["signals", "fire"])
    func passing(_ route: String) async throws {
        try await APIFixture.run { api in
            let answer = await api.call(.post, "/v1/channels/a/\(route)", #"{"user":"ana","data":{"x":1}}"#)
            #expect(answer.status == 202)
            #expect(answer["id"]?.string?.hasPrefix("evt_") == true)
            #expect(await api.history("a").isEmpty)
        }
    }

    @Test("leaves unstored events out of history")
    func notStored() async throws {
        try await APIFixture.run { api in
            let answer = await api.call(.post, "/v1/channels/a/events", #"{"data":1,"store":false}"#)
            #expect(answer.status == 201)
            #expect(await api.history("a").isEmpty)
            let id = try #require(answer["id"]?.string)
            #expect(await api.call(.get, "/v1/events/\(id)")["ephemeral"]?.boolean == true)
        }
    }

    @Test("emits an event without a task, also one that waits for its commit")
    func atOnce() async throws {
        try await APIFixture.run { api in
            // The commit of the first event reserves timetokens.
            _ = await api.call(.post, "/v1/events", #"{"channel":"a","data":1}"#)
            let caller = try #require(api.service.keyring.caller(of: Secret(text: api.adminKey)))
            func start(_ body: String) throws -> Handler.Reply {
                try api.api.postAnyChannel(Request(.post, "/v1/events", body: Array(body.utf8)), caller)
            }
            // While the writer assigns timetokens, an event must wait for it.
            try await waitUntil {
                guard case .now(let response) = try start(#"{"channel":"a","data":2,"store":false}"#) else {
                    return false
                }
                return response.status == 201
            }
            let reply = try start(#"{"channel":"a","data":3}"#)
            guard case .pending = reply else {
                Issue.record("a stored event did not wait for its commit, or has a task")
                return
            }
            #expect(await api.history("a").map { $0["data"]?.integer } == [1])
            #expect(try await reply.response().status == 201)
            #expect(await api.history("a").map { $0["data"]?.integer } == [1, 3])
        }
    }

    @Test("rejects a stored event of a user who is banned between the check and the commit")
    func bannedMeanwhile() async throws {
        try await APIFixture.run { api in
            #expect(await api.call(.post, "/v1/channels", #"{"id":"crew","kind":"public"}"#).status == 201)
            let first = await api.call(.post, "/v1/channels/crew/messages", #"{"text":"hi","user":"ben"}"#)
            #expect(first.status == 201)
            let caller = try #require(api.service.keyring.caller(of: Secret(text: api.adminKey)))
            let body = #"{"channel":"crew","data":1,"user":"ben"}"#
            let reply = try api.api.postAnyChannel(Request(.post, "/v1/events", body: Array(body.utf8)), caller)
            guard case .pending = reply else {
                Issue.record("a stored event did not wait for its commit, or has a task")
                return
            }
            let ban = await api.call(.put, "/v1/channels/crew/restrictions/ben", #"{"ban":true}"#)
            #expect(ban.status < 300, "\(ban.text)")
            await #expect {
                try await reply.response()
            } throws: {
                ($0 as? ChatError)?.slug == "banned"
            }
            #expect(await api.history("crew").allSatisfy { $0["data"]?.integer != 1 })
        }
    }

    @Test("hides an event when its hours are over")
    func timeToLive() async throws {
        try await APIFixture.run { api in
            _ = await api.call(.post, "/v1/channels/a/events", #"{"data":1,"ttl_hours":2}"#)
            // Without an expiry of its own.
            _ = await api.call(.post, "/v1/channels/a/events", #"{"data":2,"ttl_hours":0}"#)
            #expect(await api.history("a").count == 2)
            api.clock.advance(by: .seconds(2 * 3600 + 1))
            #expect(await api.history("a").map { $0["data"]?.integer } == [2])
        }
    }

    @Test("calls an event without a type 'custom'")
    func untyped() async throws {
        try await APIFixture.run { api in
            #expect(await api.call(.post, "/v1/channels/a/events", #"{"data":1}"#)["type"]?.string == "custom")
        }
    }

    @Test("keeps an escaped slash inside the channel's name")
    func slash() async throws {
        try await APIFixture.run { api in
            let answer = await api.call(.post, "/v1/channels/a%2Fb%20c/events", #"{"data":1}"#)
            #expect(answer["channel"]?.string == "a/b c")
        }
    }

    @Test("takes the channel from the body")
    func channelInBody() async throws {
        try await APIFixture.run { api in
            let one = await api.call(.post, "/v1/events", #"{"channel":"a","type":"t","data":1}"#)
            #expect(one.status == 201)
            #expect(one["channel"]?.string == "a")
            let several = await api.call(.post, "/v1/events", #"{"channels":["b","c"],"type":"t","data":{"n":1.0}}"#)
            #expect(several.status == 201)
            #expect(several["events"]?.elements?.compactMap { $0["channel"]?.string } == ["b", "c"])
            #expect(await api.history("c").count == 1)
        }
    }

    @Test("stores nothing when one of several channels is refused")
    func severalChannelsAtomic() async throws {
        try await APIFixture.run { api in
            let key = try await api.key([.emit], channels: ["b"])
            let answer = await api.call(.post, "/v1/events", #"{"channels":["b","c"],"data":1}"#, key: key)
            #expect(answer.status == 403)
            #expect(await api.history("b").isEmpty)
        }
    }

    @Test("refuses channels and types that a key does not reach")
    func rights() async throws {
        try await APIFixture.run { api in
            let narrow = try await api.key([.emit], channels: ["orders.*"], types: ["order.*"])
            let reader = try await api.key([.read])
            func status(_ key: String, _ channel: String, _ type: String) async -> Int {
                await api.call(.post, "/v1/channels/\(channel)/events", #"{"type":"\#(type)","data":1}"#, key: key)
                    .status
            }
            #expect(await status(narrow, "orders.eu", "order.paid") == 201)
            #expect(await status(narrow, "rooms", "order.paid") == 403)
            #expect(await status(narrow, "orders.eu", "other") == 403)
            #expect(await status(reader, "orders.eu", "order.paid") == 403)
            #expect(await status(api.adminKey, "$system", "order.paid") == 403)
        }
    }

    @Test("gives the events of one request its id as their cause, but not an event that is alone")
    func cause() async throws {
        try await APIFixture.run { api in
            let requests: [(type: String, target: String, body: String)] = [
                ("application/json", "/v1/events", #"{"channels":["a","b"],"data":1}"#),
                (
                    "application/json", "/v1/events/batch",
                    #"{"events":[{"channel":"a","data":1},{"channel":"b","data":1}]}"#
                ),
                (
                    "application/json", "/v1/events/batch",
                    #"{"mode":"each","events":[{"channel":"a","data":1},{"data":1},{"channel":"b","data":1}]}"#
                ),
                (
                    "application/cloudevents-batch+json", "/v1/events?channel=a",
                    #"[{"specversion":"1.0","id":"1","source":"/s","type":"t"},"#
                        + #"{"specversion":"1.0","id":"2","source":"/s","type":"t"}]"#
                ),
            ]
            for (index, request) in requests.enumerated() {
                let headers = [("Content-Type", request.type), ("X-Request-Id", "cause-\(index)")]
                let answer = await api.call(.post, request.target, request.body, headers: headers)
                #expect((200..<300).contains(answer.status), "\(answer.text)")
                let causes = await (api.history("a") + api.history("b")).compactMap { $0["cause"]?.string }
                #expect(causes.count { $0 == "cause-\(index)" } == 2)
            }
            let alone = [
                ("/v1/events", #"{"channels":["c"],"data":1}"#),
                ("/v1/events/batch", #"{"mode":"each","events":[{"channel":"c","data":1},{"data":1}]}"#),
            ]
            for (target, body) in alone { _ = await api.call(.post, target, body) }
            let events = await api.history("c")
            #expect(events.count == 2 && events.allSatisfy { $0["cause"] == nil })
        }
    }
}
