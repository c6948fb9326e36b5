import ChatCore
import ChatModel
import JSON
import Testing

@testable import PubNubAPI

@Suite("PubNub history", .timeLimit(.minutes(2))) struct HistoryTests {
    private static func numbers(_ answer: WireAnswer, _ channel: String = "a") -> [Int64] {
        answer["channels"]?[channel]?.elements?.compactMap { $0["message"]?.integer } ?? []
    }

    /// Publishes the numbers from 1 on and returns their timetokens.
    private static func fill(
        _ gateway: PubNubHarness, _ count: Int, _ channel: String = "a"
    ) async throws -> [Timetoken] {
        var places: [Timetoken] = []
        for n in 1...count {
            places.append(try #require(Timetoken(text: try await gateway.publish(channel, String(n)).timetoken)))
        }
        return places
    }

    @Test("is printed as strict decoders want it, members in their order")
    func form() async throws {
        try await PubNubHarness.run { gateway in
            try await gateway.publish("a%20b", #"{"text":"hi"}"#, "&custom_message_type=text-message")
            try await gateway.publish("a%20b", "1", "&meta=%7B%22x%22%3A1%7D")
            let plain = try await gateway.history("a%20b")
            #expect(
                plain.shape
                    == #"{"status":200,"error":false,"error_message":"","channels":{"a%20b":[{"message":{"text":"hi"},"timetoken":"<tt>"},{"message":1,"timetoken":"<tt>"}]}}"#
            )
            let all = try await gateway.history(
                "a%20b",
                "&include_meta=true&include_uuid=true&include_message_type=true&include_custom_message_type=true&encode_channels=false"
            )
            #expect(
                all.shape
                    == #"{"status":200,"error":false,"error_message":"","channels":{"a b":[{"message":{"text":"hi"},"timetoken":"<tt>","uuid":"ana","meta":"","message_type":0,"custom_message_type":"text-message"},{"message":1,"timetoken":"<tt>","uuid":"ana","meta":{"x":1},"message_type":0,"custom_message_type":null}]}}"#
            )
        }
    }

    @Test("leaves out empty channels, signals and unstored messages")
    func empty() async throws {
        try await PubNubHarness.run { gateway in
            try await gateway.signal("a", "1")
            try await gateway.publish("a", "2", "&store=0")
            try await gateway.publish("a", "3", "&norep=1")
            #expect(
                try await gateway.history("a").text
                    == #"{"status":200,"error":false,"error_message":"","channels":{}}"#)
        }
    }

    @Test("gives the newest, oldest first; start is exclusive and end inclusive")
    func bounds() async throws {
        try await PubNubHarness.run { gateway in
            let places = try await Self.fill(gateway, 9)
            func ask(_ query: String) async throws -> [Int64] { Self.numbers(try await gateway.history("a", query)) }
            #expect(try await ask("") == Array(1...9))
            #expect(try await ask("&max=3") == [7, 8, 9])
            #expect(try await ask("&max=3&start=\(places[6])") == [4, 5, 6])
            #expect(try await ask("&end=\(places[6])") == [7, 8, 9])
            #expect(try await ask("&start=\(places[5])&end=\(places[2])") == [3, 4, 5])
            // One message by its timetoken.
            #expect(try await ask("&start=\(places[4].after)&end=\(places[4])&max=1") == [5])
            // The opposite range: the oldest messages after one position, up to the other.
            #expect(try await ask("&start=\(places[2])&end=\(places[5])&max=2") == [4, 5])
            #expect(try await ask("&reverse=true&max=2") == [1, 2])
            #expect(try await ask("&reverse=true&max=2&start=\(places[2])") == [4, 5])
            #expect(try await ask("&reverse=true&max=2&end=\(places[0])") == [1])
            #expect(try await ask("&reverse=true&max=2&start=\(places[6])&end=\(places[2])") == [3, 4])
            #expect(try await ask("&reverse=true&max=2&start=\(places[2])&end=\(places[6])") == [4, 5])
            #expect(try await ask("&max=0") == Array(1...9))
        }
    }

    @Test("gives no more than the ceilings, and several channels at once")
    func ceilings() async throws {
        try await PubNubHarness.run { gateway in
            _ = try await Self.fill(gateway, 101)
            _ = try await Self.fill(gateway, 2, "b")
            #expect(Self.numbers(try await gateway.history("a", "&max=500")) == Array(2...101))
            let both = try await gateway.history("a,b,c", "&max=500")
            #expect(Self.numbers(both).count == 25)
            #expect(Self.numbers(both, "b") == [1, 2])
            #expect(both["channels"]?["c"] == nil)
        }
    }

    @Test("shows native events in the wire's form, and reads past those that it does not show")
    func native() async throws {
        try await PubNubHarness.run { gateway in
            let data = JSONText(trusted: Array(#"{"n":1}"#.utf8))
            _ = try await gateway.chat.emit(EventDraft.event(channel: "a", type: "order-paid", data: data))
            let text = JSONText(trusted: Array(#"{"text":"hi"}"#.utf8))
            _ = try await gateway.chat.emit(.message(channel: "a", data: text, user: "bob", meta: nil))
            #expect(
                try await gateway.history("a", "&include_custom_message_type=true").shape
                    == #"{"status":200,"error":false,"error_message":"","channels":{"a":[{"message":{"n":1},"timetoken":"<tt>","custom_message_type":"order-paid"},{"message":{"type":"text","text":"hi","files":[]},"timetoken":"<tt>","custom_message_type":null}]}}"#
            )
        }
    }

    @Test(
        "reports bad arguments in its own form",
        arguments: [
            "channel/a?max=x", "channel/a?start=x", "channel/a?end=-1", "channel/a*", "channel/,", "channel/$system",
            "message-counts/a", "message-counts/a?timetoken=x", "message-counts/a?timetoken=1&channelsTimetoken=1",
            "message-counts/a,b,c?channelsTimetoken=1,2", "message-counts/a,b?channelsTimetoken=1,x",
        ])
    func refused(target: String) async throws {
        try await PubNubHarness.run { gateway in
            let answer = try await gateway.get("/v3/history/sub-key/sub-demo/\(target)")
            #expect(answer.status == 400)
            #expect(answer.text == #"{"status":400,"error":true,"error_message":"Invalid Arguments","channels":{}}"#)
        }
    }

    @Test("knows an app by its subscribe key only")
    func keys() async throws {
        try await PubNubHarness.run { gateway in
            try await gateway.publish("a", "1")
            #expect(
                try await gateway.get("/v3/history/sub-key/nobody/channel/a").text
                    == #"{"message":"Invalid Subscribe Key","error":true,"service":"Access Manager","status":400}"#)
            #expect(
                try await gateway.get("/v3/history/sub-key/sub-other/channel/a").text
                    == #"{"status":200,"error":false,"error_message":"","channels":{}}"#)
        }
    }

    @Test("counts what came after a position, for all channels or each")
    func counts() async throws {
        try await PubNubHarness.run { gateway in
            let places = try await Self.fill(gateway, 5)
            _ = try await Self.fill(gateway, 2, "b")
            func ask(_ channels: String, _ query: String) async throws -> String {
                try await gateway.get("/v3/history/sub-key/sub-demo/message-counts/\(channels)?\(query)").text
            }
            let head = #"{"status":200,"error":false,"error_message":"","channels":"#
            #expect(try await ask("a,b,c", "timetoken=\(places[1])") == head + #"{"a":3,"b":2,"c":0}}"#)
            #expect(try await ask("a,b", "channelsTimetoken=\(places[4]),0") == head + #"{"a":0,"b":2}}"#)
            #expect(try await ask("a,b", "channelsTimetoken=\(places[1]),\(places[1])") == head + #"{"a":3,"b":2}}"#)
            #expect(try await ask("a,b", "channelsTimetoken=0") == head + #"{"a":5,"b":2}}"#)
        }
    }

    @Test("deletes after start up to end, or all, and always reports success")
    func deletion() async throws {
        try await PubNubHarness.run { gateway in
            let places = try await Self.fill(gateway, 6)
            func delete(_ query: String) async throws {
                let answer = try await gateway.call("DELETE", "/v3/history/sub-key/sub-demo/channel/a?\(query)")
                #expect(answer.text == #"{"status":200,"error":false,"error_message":""}"#)
            }
            func left() async throws -> [Int64] { Self.numbers(try await gateway.history("a")) }
            try await delete("start=\(places[1].before)&end=\(places[1])")
            #expect(try await left() == [1, 3, 4, 5, 6])
            try await delete("start=\(places[3])&end=\(places[2])")
            #expect(try await left() == [1, 3, 5, 6])
            try await delete("start=\(places[4])")
            #expect(try await left() == [1, 3, 5])
            try await delete("end=\(places[0])")
            #expect(try await left() == [3, 5])
            try await delete("")
            try await delete("")
            #expect(try await left().count == 0)
            let admin = Caller(app: PubNubHarness.app, credential: "test", scopes: [.admin])
            let noted = try await gateway.service.audit.entries(AuditLog.Query(RecordList(limit: 10)), by: admin).items
            #expect(
                noted.count == 6 && noted.allSatisfy { $0.operation.action == "events.delete" && $0.resource == "a" })
            let refused = try await gateway.call("DELETE", "/v3/history/sub-key/sub-demo/channel/a,b")
            #expect(refused.text == #"{"status":400,"error":true,"error_message":"Invalid Arguments"}"#)
        }
    }
}
