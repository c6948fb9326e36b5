import ChatCore
import ChatModel
import LongPolling
import JSON
import TestSupport
import Testing

@testable import PubNubAPI

// A test for each documented requirement of released clients, in the order of the table in the code.

@Suite("Swift's decoder can take", .timeLimit(.minutes(2))) struct SwiftDecoderTests {
    @Test("every item there is, whoever caused it, and its cursor from the first 37 bytes")
    func items() async throws {
        try await PubNubHarness.run { gateway in
            let all = try await EveryEvent(in: gateway)
            #expect(all.kinds == [nil, 1, 2, 3, 4])
            for batch in all.batches {
                #expect(StrictDecoder.swift(batch: batch.json) == [], "\(batch.text)")
                #expect(batch.text.prefix(37).wholeMatch(of: /\{"t":\{"t":"[0-9]{17}","r":[0-9]\},/) != nil)
                #expect(batch.text.contains(batch.cursor))
            }
        }
    }

    @Test("every action of presence, with integers for time and number")
    func presence() async throws {
        try await PubNubHarness.run { gateway in
            let all = try await EveryEvent(in: gateway)
            #expect(all.presenceActions == ["join", "leave", "timeout", "state-change", "interval"])
            let items = all.items.filter { $0["c"]?.string?.hasSuffix("-pnpres") == true }
            #expect(items.allSatisfy { $0["e"] == nil && $0["i"] == nil })
            for item in items {
                #expect(item["d"]?["timestamp"]?.integer != nil && item["d"]?["occupancy"]?.integer != nil)
            }
        }
    }

    @Test("every event of objects: a fraction in 'updated', an eTag in each 'set', both ends of each membership")
    func objects() async throws {
        try await PubNubHarness.run { gateway in
            let all = try await EveryEvent(in: gateway)
            #expect(
                all.objectEvents == [
                    "uuid set", "uuid delete", "channel set", "channel delete", "membership set", "membership delete",
                ])
            for batch in all.batches { #expect(StrictDecoder.swift(batch: batch.json) == []) }
        }
    }

    @Test("history in all its forms, timetokens as strings and a kind that is a number")
    func history() async throws {
        try await PubNubHarness.run { gateway in
            let calls = try await EveryCall(in: gateway)
            let names = ["history", "history of several", "history with actions", "counts", "delete history"]
            for name in names { #expect(StrictDecoder.swift(history: calls[name]?.json) == [], "\(name)") }
            let item = calls["history"]?["channels"]?["a"]?[0]
            #expect(item?["timetoken"]?.string?.count == 17 && item?["message_type"]?.integer == 0)
            let actions = calls["history with actions"]?["channels"]?["a"]?[0]?["actions"]
            #expect(actions?["reaction"]?["smile"]?[0]?["actionTimetoken"]?.string?.count == 17)
        }
    }

    @Test(
        "the error of a publish: three elements, the last a string",
        arguments: [
            "/publish/pub-other/sub-demo/0/a/0/1", "/publish/pub-demo/sub-demo/0/a*/0/1",
            "/publish/pub-demo/sub-demo/0/a-pnpres/0/1", "/publish/pub-demo/sub-demo/0/a/0/%7B",
            "/publish/pub-demo/sub-demo/0/a/0/%22%5Cud800%22", "/publish/pub-demo/sub-demo/0/a/0/1?meta=%5B",
            "/publish/pub-demo/sub-demo/0/a/0/1?custom_message_type=x", "/publish/pub-demo/sub-demo/0/a/0/1?uuid=%00",
            "/publish/pub-demo/sub-demo/0/a/0/%22\(String(repeating: "x", count: 32_767))%22",
            "/publish/pub-demo/sub-demo/0/strict/0/%7B%7D?custom_message_type=strict",
            "/signal/pub-demo/sub-demo/0/a/0/%22\(String(repeating: "x", count: 63))%22",
            "/v1/files/publish-file/pub-demo/sub-demo/0/a*/0/1",
        ])
    func publishRefusals(target: String) async throws {
        try await PubNubHarness.run { gateway in
            let schema = JSONText(trusted: Array(#"{"required":["total"]}"#.utf8))
            _ = try await gateway.chat.declare("strict", EventTypeSettings())
            _ = try await gateway.chat.addVersion(SchemaProposal(schema: schema), to: "strict")
            let answer = try await gateway.get(target)
            #expect(answer.status == 400)
            #expect(answer.json?.count == 3 && answer.json?[0]?.integer == 0)
            #expect(answer.json?[1]?.string?.isEmpty == false)
            #expect(answer.json?[2]?.string?.wholeMatch(of: /[0-9]{17}/) != nil)
        }
    }

    @Test("every answer of presence: status, message and service, and a state's user")
    func presenceAnswers() async throws {
        try await PubNubHarness.run { gateway in
            let calls = try await EveryCall(in: gateway)
            for name in [
                "heartbeat", "set state", "state", "states", "here now", "here now of several", "here now everywhere",
                "where now", "leave",
            ] {
                let answer = try #require(calls[name])
                #expect(answer["status"]?.integer == 200, "\(name)")
                #expect(answer["message"]?.string == "OK", "\(name)")
                #expect(answer["service"]?.string == "Presence", "\(name)")
            }
            #expect(calls["state"]?["uuid"]?.string == "ana" && calls["states"]?["uuid"]?.string == "ana")
        }
    }

    @Test("a list of actions, all five members strings, and a removal's status")
    func actions() async throws {
        try await PubNubHarness.run { gateway in
            let calls = try await EveryCall(in: gateway)
            let list = try #require(calls["actions"]?["data"]?.elements)
            #expect(list.count == 1)
            for action in list + [try #require(calls["add action"]?["data"])] {
                let names = ["messageTimetoken", "type", "value", "uuid", "actionTimetoken"]
                #expect(action.members?.map(\.name) == names)
                #expect(action.members?.allSatisfy { $0.value.kind == .string } == true)
            }
            #expect(calls["remove action"]?.text == #"{"status":200,"data":{}}"#)
        }
    }

    @Test("the error of any other call")
    func refusals() async throws {
        try await PubNubHarness.run { gateway in
            let admin = Caller(app: PubNubHarness.app, credential: "test", scopes: [.admin])
            func refused(_ method: String, _ target: String, _ body: String = "") async throws -> WireAnswer {
                let answer = try await gateway.call(method, target, body)
                #expect((400..<500).contains(answer.status), "\(target)")
                #expect(StrictDecoder.swift(error: answer.json) == [], "\(target): \(answer.text)")
                return answer
            }
            for target in [
                "/v2/subscribe/nobody/a/0", "/v2/subscribe/sub-demo/,/0", "/v2/subscribe/sub-demo/a/0?filter-expr=(",
                "/v3/history/sub-key/sub-demo/channel/a?max=x", "/v3/history/sub-key/nobody/channel/a",
                "/v2/presence/sub-key/nobody/channel/a", "/v1/message-actions/nobody/channel/a",
                "/v1/channel-registration/sub-key/sub-demo/channel-group/g*", "/v2/objects/nobody/uuids",
                "/v2/objects/sub-demo/uuids/nobody", "/v2/objects/sub-demo/uuids?filter=(",
                "/publish/pub-demo/nobody/0/a/0/1", "/v1/push/sub-key/sub-demo/devices/x",
            ] {
                _ = try await refused("GET", target)
            }
            _ = try await refused("DELETE", "/v2/subscribe/sub-demo/a/0")
            _ = try await refused("PATCH", "/v2/objects/sub-demo/uuids/ana", #"{"name":7}"#)
            _ = try await refused("POST", "/v3/pam/sub-demo/grant", "{}")
            _ = try await refused("POST", "/v1/files/sub-demo/channels/a/generate-upload-url", "{}")
            try await gateway.service.change(admin.app, AppChange(requiresTokens: true), by: admin)
            let denied = try await refused("GET", "/v2/subscribe/sub-demo/a,b/0?channel-group=g")
            #expect(denied["payload"]?["channels"]?.strings == ["a", "b"])
            #expect(denied["payload"]?["channel-groups"]?.strings == ["g"])
        }
    }
}

@Suite("Python's decoder can take", .timeLimit(.minutes(2))) struct PythonDecoderTests {
    @Test("every item there is, with a region beside each position")
    func items() async throws {
        try await PubNubHarness.run { gateway in
            for batch in try await EveryEvent(in: gateway).batches {
                #expect(StrictDecoder.python(batch: batch.json) == [], "\(batch.text)")
            }
        }
    }

    @Test("items of a wildcard, even from a channel whose name reads like presence")
    func presenceLikeNames() async throws {
        try await PubNubHarness.run { gateway in
            let poller = try WirePoller(gateway)
            let start = try await poller.batch("team.*,a", "0").cursor
            for channel in ["team.a-pnpres", "team.a-pnpres-b"] {
                for call in ["publish", "signal"] {
                    let refused = try await gateway.get("/\(call)/pub-demo/sub-demo/0/\(channel)/0/1")
                    #expect(refused.shape == #"[0,"Invalid Channel","<tt>"]"#)
                }
                _ = try await gateway.call("PATCH", "/v2/objects/sub-demo/channels/\(channel)", #"{"name":"A"}"#)
                let data = JSONText(trusted: Array("1".utf8))
                _ = try await gateway.chat.emit(EventDraft.event(channel: channel, type: "order.paid", data: data))
            }
            try await gateway.publish("team.a", "2")
            let batch = try await poller.batch("team.*,a", start)
            #expect(batch.items.map { $0["c"]?.string } == ["team.a"])
            #expect(StrictDecoder.python(batch: batch.json) == [])
        }
    }

    @Test("presence: a word, two integers, and a state that is an object or absent")
    func presence() async throws {
        try await PubNubHarness.run { gateway in
            let items = try await EveryEvent(in: gateway).items.filter {
                $0["c"]?.string?.contains("-pnpres") == true
            }
            let states = items.compactMap { $0["d"]?["data"] }
            #expect(!states.isEmpty && states.allSatisfy { $0.kind == .object })
            #expect(items.contains { $0["d"]?["data"] == nil })
        }
    }

    @Test("an event of objects: its type, what happened, and the data")
    func objects() async throws {
        try await PubNubHarness.run { gateway in
            let objects = try await EveryEvent(in: gateway).items.filter { $0["e"]?.integer == 2 }
            #expect(!objects.isEmpty)
            for object in objects {
                #expect(object["d"]?["type"] != nil && object["d"]?["event"] != nil && object["d"]?["data"] != nil)
            }
        }
    }

    @Test("only 200 as success, a publish's position as a number, and presence in the form of the request")
    func successes() async throws {
        try await PubNubHarness.run { gateway in
            let calls = try await EveryCall(in: gateway)
            for (name, answer) in calls.answers {
                #expect(answer.status == 200, "\(name): \(answer.text)")
                #expect(answer.header("Content-Type")?.hasPrefix("application/json") == true, "\(name)")
            }
            for name in ["publish", "publish by POST", "fire", "signal", "file"] {
                let answer = try #require(calls[name]?.json)
                #expect(answer[0]?.integer == 1 && answer[1]?.string == "Sent")
                #expect(answer[2]?.string.flatMap { UInt64($0) } != nil)
            }
            #expect(
                calls["here now"]?.text
                    == #"{"status":200,"message":"OK","uuids":[{"uuid":"ana","state":{"m":1}}],"occupancy":1,"service":"Presence"}"#
            )
            let several = calls["here now of several"]?["payload"]
            #expect(several?["channels"]?["a"]?["uuids"]?[0]?["state"]?["m"]?.integer == 1)
            #expect(several?["total_channels"]?.integer == 2 && several?["total_occupancy"]?.integer == 2)
        }
    }

    @Test("a refusal by its status, with the words in the body")
    func refusals() async throws {
        try await PubNubHarness.run { gateway in
            let bad = try await gateway.get("/v3/history/sub-key/sub-demo/channel/a?max=x")
            #expect(bad.status == 400 && bad.text.contains("Invalid Arguments"))
            let admin = Caller(app: PubNubHarness.app, credential: "test", scopes: [.admin])
            try await gateway.service.change(admin.app, AppChange(requiresTokens: true), by: admin)
            let denied = try await gateway.publish("a", "1")
            #expect(denied.status == 403 && denied.text.contains("Forbidden"))
        }
    }
}

@Suite("Kotlin and the Chat SDKs rely on", .timeLimit(.minutes(2))) struct ChatDecoderTests {
    @Test("404 for a missing object, 412 for a changed one, a total on request, and encoded names")
    func statuses() async throws {
        try await PubNubHarness.run { gateway in
            let objects = "/v2/objects/sub-demo"
            for path in ["/uuids/x", "/channels/x"] {
                let missing = try await gateway.get(objects + path)
                #expect(missing.status == 404)
                #expect(
                    missing.text
                        == #"{"status":404,"error":{"message":"Requested object was not found.","source":"objects"}}"#)
                for method in ["PATCH", "DELETE"] {
                    let stale = try await gateway.call(method, objects + path, "{}", headers: [("If-Match", "x")])
                    #expect(stale.status == 412, "\(method) \(path)")
                }
            }
            for path in ["/uuids", "/channels", "/uuids/x/channels", "/channels/x/uuids"] {
                let counted = try await gateway.get(objects + path + "?count=true")
                #expect(counted.text == #"{"status":200,"data":[],"totalCount":0}"#, "\(path)")
                #expect(try await gateway.get(objects + path).text == #"{"status":200,"data":[]}"#, "\(path)")
            }
            let name = "a b:/ä+"
            try await gateway.publish(PubNubHarness.escaped(name), "1")
            let history = try await gateway.history(PubNubHarness.escaped(name))
            #expect(history.text.contains(#""channels":{"a%20b%3A%2F%C3%A4%2B":["#))
        }
    }
}

@Suite("JavaScript's decoder can take", .timeLimit(.minutes(2))) struct ScriptDecoderTests {
    @Test(
        "a preflight of what its SDK sends, and every answer behind it",
        arguments: [
            ("PATCH", "/v2/objects/sub-demo/uuids/ana"), ("DELETE", "/v2/objects/sub-demo/channels/a"),
            ("DELETE", "/v3/history/sub-key/sub-demo/channel/a"),
            ("POST", "/v1/message-actions/sub-demo/channel/a/message/1?uuid=ana"),
            ("POST", "/publish/pub-demo/sub-demo/0/a/0"), ("GET", "/v2/subscribe/sub-demo/a/0?tt=0"),
            ("GET", "/v2/subscribe/nobody/a/0"), ("GET", "/v2/objects/sub-demo/uuids/nobody"),
        ])
    func origins(method: String, target: String) async throws {
        try await PubNubHarness.run { gateway in
            let origin = ("Origin", "https://page.example")
            let path = String(target.prefix { $0 != "?" })
            let preflight = try await gateway.call(
                "OPTIONS", path,
                headers: [
                    origin, ("Access-Control-Request-Method", method),
                    ("Access-Control-Request-Headers", "content-type,if-match"),
                ])
            #expect([200, 204].contains(preflight.status))
            #expect(preflight.header("Access-Control-Allow-Origin") == "*")
            #expect(preflight.header("Access-Control-Allow-Methods")?.contains(method) == true)
            let allowed = preflight.header("Access-Control-Allow-Headers")?.lowercased() ?? ""
            #expect(allowed.contains("content-type") && allowed.contains("if-match"))
            let answer = try await gateway.call(method, target, "{}", headers: [origin])
            #expect(answer.header("Access-Control-Allow-Origin") == "*")
        }
    }

    @Test("the answer of a poll that was held, from any page")
    func held() async throws {
        try await PubNubHarness.run { gateway in
            let place = try await gateway.publish("a", "1").timetoken
            let connection = try ByteConnection(port: gateway.port)
            try connection.send(
                Array(
                    "GET /v2/subscribe/sub-demo/a/0?tt=\(place) HTTP/1.1\r\nHost: x\r\nOrigin: https://page.example\r\n\r\n"
                        .utf8))
            await gateway.untilHeld()
            try await gateway.publish("a", "2")
            var text = ""
            while !text.hasSuffix("}]}"), let more = await connection.next() {
                text += String(decoding: more, as: UTF8.self)
            }
            #expect(text.lowercased().contains("access-control-allow-origin: *\r\n"))
        }
    }

    @Test("timetokens: strings, but for the time and the second version of history")
    func timetokens() async throws {
        try await PubNubHarness.run { gateway in
            let bare = /[^"0-9][0-9]{17}[^"0-9]/
            for (name, answer) in try await EveryCall(in: gateway).answers {
                let isBare = answer.text.contains(bare)
                #expect(isBare == ["time", "old history"].contains(name), "\(name): \(answer.text)")
            }
            for batch in try await EveryEvent(in: gateway).batches {
                #expect(!batch.text.contains(bare), "\(batch.text)")
            }
        }
    }
}
