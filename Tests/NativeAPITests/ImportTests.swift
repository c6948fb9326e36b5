import ChatCore
import ChatModel
import HTTPServer
import JSON
import TestSupport
import Testing

@testable import NativeAPI

@Suite("An import") struct ImportTests {
    /// A message from a day before the tests' time.
    private static func message(
        _ second: Int, _ data: String = "1", more: String = "", in channel: String = "a"
    ) -> String {
        #"{"record":"message","channel":"\#(channel)","timetoken":"\#(place(second))","user":"ana","data":\#(data)\#(more)}"#
    }

    private static func place(_ second: Int) -> Timetoken {
        Timetoken(17_323_000_000_000_000 + UInt64(second) * 10_000_000)
    }

    private static func send(_ api: APIFixture, _ records: String..., more: String = "") async -> Answer {
        await api.call(.post, "/v1/import", #"{"records":[\#(records.joined(separator: ","))]\#(more)}"#)
    }

    private static func statuses(_ answer: Answer) -> [Int]? {
        answer["results"]?.elements?.compactMap { $0["status"]?.integer.map { Int($0) } }
    }

    @Test("keeps times and order, and a message that comes again is there once")
    func messages() async throws {
        try await APIFixture.run { api in
            _ = await api.call(.post, "/v1/channels/a/events", #"{"data":"now"}"#)
            let sent = [
                Self.message(1, #"{"text":"one"}"#),
                Self.message(2, "2", more: #","type":"order.paid","meta":{"k":1}"#),
            ]
            let first = await Self.send(api, sent[1], sent[0])
            #expect(Self.statuses(first) == [201, 201])
            #expect(first["results"]?[1]?["timetoken"]?.string == Self.place(1).description)
            #expect(Self.statuses(await Self.send(api, sent[0], sent[1])) == [200, 200])
            let history = await api.history("a")
            #expect(
                history.compactMap { $0["timetoken"]?.string }.prefix(2) == [
                    Self.place(1).description, Self.place(2).description,
                ])
            #expect(history.compactMap { $0["type"]?.string } == ["message.created", "order.paid", "custom"])
            #expect(history.first?["user"]?.string == "ana" && history[1]["meta"]?["k"]?.integer == 1)
        }
    }

    @Test("restores reactions, actions, edits and deletions of messages, once")
    func actions() async throws {
        try await APIFixture.run { api in
            func action(_ type: String, _ value: String, _ user: String, _ second: Int) -> String {
                #"{"type":"\#(type)","value":"\#(value)","user":"\#(user)","timetoken":"\#(Self.place(second))"}"#
            }
            let edits = [action("edited", "newer", "ana", 9), action("edited", "older", "ana", 8)]
            let reactions = [action("reactions", "+1", "ben", 7), action("seen", "yes", "ben", 6)]
            let edited = Self.message(
                1, #"{"type":"text","text":"first"}"#,
                more: #","actions":[\#((edits + reactions).joined(separator: ","))]"#)
            let deleted = Self.message(2, more: #","actions":[\#(action("deleted", "deleted", "ana", 5))]"#)
            let answer = await Self.send(api, edited, deleted)
            #expect(answer["results"]?.elements?.compactMap { $0["attached"]?.integer } == [4, 1])
            let message = await api.call(.get, "/v1/channels/a/messages/\(Self.place(1))")
            #expect(message["data"]?["text"]?.string == "newer" && message["data"]?["type"]?.string == "text")
            #expect(message["edited"]?["timetoken"]?.string == Self.place(9).description)
            #expect(message["reactions"]?["+1"]?.integer == 1 || message.text.contains("+1"))
            #expect(await api.call(.get, "/v1/channels/a/messages/\(Self.place(2))")["deleted"]?["by"]?.string == "ana")
            let again = await Self.send(api, edited, deleted)
            #expect(Self.statuses(again) == [200, 200])
            #expect(again["results"]?.elements?.compactMap { $0["attached"]?.integer } == [0, 0])
        }
    }

    @Test("sends nothing to webhooks, neither messages nor records")
    func quiet() async throws {
        try await APIFixture.run { api in
            let made = await api.call(
                .post, "/v1/webhooks", #"{"url":"https://a.example/hook","types":["*","user.*"]}"#)
            let id = try #require(made["id"]?.string)
            let answer = await Self.send(
                api, Self.message(1), #"{"record":"user","id":"ana","name":"Ana"}"#,
                #"{"record":"channel","id":"a","name":"A"}"#, #"{"record":"membership","channel":"a","user":"ana"}"#)
            #expect(Self.statuses(answer) == [201, 201, 201, 201])
            _ = await api.call(.post, "/v1/channels/a/events", #"{"type":"t","data":1}"#)
            let deliveries = await api.firstDelivery(of: id)
            #expect(deliveries["data"]?.elements?.compactMap { $0["type"]?.string } == ["t"])
        }
    }

    @Test("creates missing records, and replaces existing ones on request")
    func records() async throws {
        try await APIFixture.run { api in
            func records(_ name: String) -> [String] {
                [
                    #"{"record":"user","id":"ana","name":"\#(name)","email":"a@example.com","custom":{"level":1}}"#,
                    #"{"record":"channel","id":"room","kind":"group","name":"\#(name)"}"#,
                    #"{"record":"membership","channel":"room","user":"ana","status":"\#(name)"}"#,
                    #"{"record":"membership","channel":"unmade","user":"ana"}"#,
                    #"{"record":"group","id":"all","channels":["room","unmade"]}"#,
                    #"{"record":"restriction","channel":"room","user":"mal","ban":true,"reason":"\#(name)"}"#,
                ]
            }
            func found() async -> [String?] {
                [
                    await api.call(.get, "/v1/users/ana")["name"]?.string,
                    await api.call(.get, "/v1/channels/room")["name"]?.string,
                    await api.call(.get, "/v1/channels/room/members/ana")["status"]?.string,
                    await api.call(.get, "/v1/channels/room/restrictions/mal")["reason"]?.string,
                ]
            }
            func send(_ name: String, more: String = "") async -> [Int]? {
                Self.statuses(
                    await api.call(
                        .post, "/v1/import", #"{"records":[\#(records(name).joined(separator: ","))]\#(more)}"#))
            }
            #expect(await send("one") == [201, 201, 201, 201, 201, 201])
            #expect(await found() == ["one", "one", "one", "one"])
            #expect(await send("two") == [200, 200, 200, 200, 200, 200])
            #expect(await found() == ["one", "one", "one", "one"])
            #expect(await send("three", more: #","replace":true"#) == [200, 200, 200, 200, 200, 200])
            #expect(await found() == ["three", "three", "three", "three"])
            #expect(await api.call(.get, "/v1/channels/unmade")["kind"]?.string == "public")
        }
    }

    @Test("refuses record by record, and says why")
    func refusals() async throws {
        try await APIFixture.run { api in
            _ = await api.call(.patch, "/v1/apps/default", #"{"retention_hours":24}"#)
            let answer = await Self.send(
                api, Self.message(1), #"{"record":"message","channel":"a","timetoken":"17999999999999999","data":1}"#,
                Self.message(90_000), #"{"record":"pigeon"}"#,
                Self.message(90_001, more: #","type":"presence.joined""#),
                #"{"record":"user","id":"ana","nmae":"x"}"#)
            #expect(Self.statuses(answer) == [410, 422, 201, 400, 400, 400])
            #expect(
                answer["results"]?.elements?.map { $0["problem"]?["code"]?.string } == [
                    "outlived", "not_past", nil, "bad_member", "type_reserved", "unknown_member",
                ])
            #expect(await api.history("a").count == 1)
        }
    }

    @Test("asks the catalogue and no schema of the app's own, and keeps to the retention of a type")
    func types() async throws {
        try await APIFixture.run { api in
            let declared = await api.call(
                .put, "/v1/event-types/order.paid", #"{"mode":"enforce","retention_hours":240}"#)
            #expect(declared.status < 300)
            _ = await api.call(
                .post, "/v1/event-types/order.paid/versions", #"{"schema":{"type":"object"},"examples":[{}]}"#)
            let mention = #","type":"user.mentioned""#
            let answer = await Self.send(
                api, Self.message(1, "[]", more: #","type":"order.paid""#), Self.message(2, "[]", more: mention),
                Self.message(
                    3,
                    #"{"message":{"timetoken":"1","channel":"a","user":"b"}}"#,
                    more: mention))
            #expect(Self.statuses(answer) == [201, 422, 201])
            #expect(await api.history("a").count == 2)
            api.clock.advance(by: .seconds(240 * 3600))
            #expect(await api.history("a").compactMap { $0["type"]?.string } == ["user.mentioned"])
            let late = await Self.send(api, Self.message(4, "{}", more: #","type":"order.paid""#))
            #expect(Self.statuses(late) == [410])
        }
    }

    @Test("takes so many actions of a message at a time, and the others with the same message again")
    func manyActions() async throws {
        try await APIFixture.run { api in
            func reactions(_ range: Range<Int>) -> String {
                let actions = range.map {
                    #"{"type":"reactions","value":"+1","user":"u\#($0)","timetoken":"\#(Self.place($0))"}"#
                }
                return Self.message(1, more: #","actions":[\#(actions.joined(separator: ","))]"#)
            }
            #expect(Self.statuses(await Self.send(api, reactions(2..<1003))) == [413])
            #expect(Self.statuses(await Self.send(api, reactions(2..<602), reactions(602..<1003))) == [201, 200])
            let message = await api.call(.get, "/v1/channels/a/messages/\(Self.place(1))")
            #expect(message["reactions"]?["+1"]?.integer == 1001)
        }
    }

    @Test("needs the scopes, and stays within the key's channels")
    func rights() async throws {
        try await APIFixture.run { api in
            func status(_ key: String, _ record: String) async -> Int? {
                let answer = await api.call(.post, "/v1/import", #"{"records":[\#(record)]}"#, key: key)
                return answer.status == 200 ? Self.statuses(answer)?[0] : answer.status
            }
            let emits = try await api.key([.emit])
            #expect(await status(emits, Self.message(1)) == 403)
            #expect(await status(emits, #"{"record":"user","id":"ana"}"#) == 403)
            #expect(await status(try await api.key([.manage]), Self.message(1)) == 403)
            let narrow = try await api.key([.emit, .manage], channels: ["b"])
            #expect(await status(narrow, Self.message(1)) == 403)
            #expect(await status(narrow, Self.message(1, in: "b")) == 201)
            let audit = await api.call(.get, "/v1/audit?action=history.import")
            #expect((audit["data"]?.count ?? 0) > 0)
        }
    }
}
