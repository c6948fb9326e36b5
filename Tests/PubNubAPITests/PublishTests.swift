import ChatCore
import ChatModel
import JSON
import TestSupport
import Testing

@testable import PubNubAPI

@Suite("A PubNub publish", .timeLimit(.minutes(2))) struct PublishTests {
    @Test("is answered with its timetoken as a string, and is kept byte for byte")
    func sent() async throws {
        try await PubNubHarness.run { gateway in
            let answer = try await gateway.publish("room.1", #"{"b":1.10,"a":12345678901234567890,"b":1e400}"#)
            #expect(answer.status == 200)
            #expect(answer.shape == #"[1,"Sent","<tt>"]"#)
            #expect(answer.header("Content-Type") == "application/json; charset=UTF-8")
            #expect(answer.header("Cache-Control") == "no-cache")
            let event = try #require(try await gateway.events("room.1").first)
            #expect(event.type == "message.created")
            #expect(event.user == "ana")
            #expect(event.timetoken.description == answer.timetoken)
            #expect(event.data.description == #"{"b":1.10,"a":12345678901234567890,"b":1e400}"#)
        }
    }

    @Test(
        "accepts any JSON value by GET and by POST",
        arguments: ["42", "\"hi\"", "null", "[1,2]", "true", "{\"a\":\"/\"}"])
    func values(json: String) async throws {
        try await PubNubHarness.run { gateway in
            #expect(try await gateway.publish("a", json).shape == #"[1,"Sent","<tt>"]"#)
            for end in ["", "/"] {
                let posted = try await gateway.call("POST", "/publish/pub-demo/sub-demo/0/a/0\(end)?uuid=ana", json)
                #expect(posted.shape == #"[1,"Sent","<tt>"]"#)
            }
            #expect(try await gateway.events("a").map(\.data.description) == [json, json, json])
        }
    }

    @Test("takes slashes in the path as they are")
    func slashes() async throws {
        try await PubNubHarness.run { gateway in
            let answer = try await gateway.get("/publish/pub-demo/sub-demo/0/a%2Fb/0/%22x/y//z%22")
            #expect(answer.status == 200)
            #expect(try await gateway.events("a/b").map(\.data.description) == [#""x/y//z""#])
        }
    }

    @Test(
        "is refused in the wire's words and in its order",
        arguments: [
            (
                "/publish/pub-demo/nobody/0/a/0/1", 400,
                #"{"message":"Invalid Subscribe Key","error":true,"service":"Access Manager","status":400}"#
            ),
            (
                "/publish/nobody/nobody/0/a/0/1", 400,
                #"{"message":"Invalid Subscribe Key","error":true,"service":"Access Manager","status":400}"#
            ),
            ("/publish/pub-other/sub-demo/0/a/0/1", 400, #"[0,"Invalid Key","<tt>"]"#),
            ("/publish/pub-demo/sub-demo/0/a*/0/1", 400, #"[0,"Invalid Channel","<tt>"]"#),
            ("/publish/pub-demo/sub-demo/0/a-pnpres/0/1", 400, #"[0,"Invalid Channel","<tt>"]"#),
            ("/publish/pub-demo/sub-demo/0/$system/0/1", 400, #"[0,"Invalid Channel","<tt>"]"#),
            ("/publish/pub-demo/sub-demo/0/a%2Cb/0/x", 400, #"[0,"Invalid Channel","<tt>"]"#),
            ("/publish/pub-demo/sub-demo/0/a/0/%7Bx?custom_message_type=pn_x", 400, #"[0,"Invalid JSON","<tt>"]"#),
            ("/publish/pub-demo/sub-demo/0/a/0/%FF", 400, #"[0,"Invalid JSON","<tt>"]"#),
            ("/publish/pub-demo/sub-demo/0/a/0/", 400, #"[0,"Invalid JSON","<tt>"]"#),
            (
                "/publish/pub-demo/sub-demo/0/a/0/1?custom_message_type=pn_x", 400,
                #"[0,"Invalid custom_message_type","<tt>"]"#
            ),
            (
                "/publish/pub-demo/sub-demo/0/a/0/1?custom_message_type=ab", 400,
                #"[0,"Invalid custom_message_type","<tt>"]"#
            ),
            ("/publish/pub-demo/sub-demo/0/a/0/1?meta=%7B", 400, #"[0,"Invalid JSON","<tt>"]"#),
            (
                "/publish/pub-demo/sub-demo/0/a/0", 405,
                #"{"message":"Method Not Allowed","error":true,"service":"Balancer","status":405}"#
            ),
        ])
    func refused(target: String, status: Int, shape: String) async throws {
        try await PubNubHarness.run { gateway in
            let answer = try await gateway.get(target)
            #expect(answer.status == status)
            #expect(answer.shape == shape)
            #expect(try await gateway.events("a").count == 0)
        }
    }

    @Test("is refused past the limit of its size, however it comes")
    func size() async throws {
        var limits = Limits()
        limits.pubnubMessageBytes = 64
        try await PubNubHarness.run(limits: limits) { gateway in
            let long = "\"" + String(repeating: "x", count: 63) + "\""
            #expect(try await gateway.publish("a", long).shape == #"[0,"Message Too Large","<tt>"]"#)
            #expect(
                try await gateway.publish("a", String(long.dropFirst().dropLast()) + " ").text.contains("Invalid JSON"))
            let posted = try await gateway.call("POST", "/publish/pub-demo/sub-demo/0/a/0", long)
            #expect(posted.shape == #"[0,"Message Too Large","<tt>"]"#)
            let huge = String(repeating: "1", count: limits.emitBodyBytes + 1)
            let unread = try await gateway.call("POST", "/publish/pub-demo/sub-demo/0/a/0", huge)
            #expect(unread.status == 400 && unread.shape == #"[0,"Message Too Large","<tt>"]"#)
            let fitting = "\"" + String(repeating: "x", count: 62) + "\""
            #expect(try await gateway.publish("a", fitting).status == 200)
        }
    }

    @Test("keeps its metadata and its label; null is none")
    func metadata() async throws {
        try await PubNubHarness.run { gateway in
            try await gateway.publish("a", "1", "&meta=%7B%22lang%22%3A%22en%22%7D&custom_message_type=text-message")
            try await gateway.publish("a", "2", "&meta=null")
            let events = try await gateway.events("a")
            #expect(events.map(\.meta?.description) == [#"{"lang":"en"}"#, nil])
            #expect(events.map(\.customType) == ["text-message", nil])
            #expect(events.allSatisfy { $0.type == "message.created" })
        }
    }

    @Test("is stored only on request in an app that does not store by default")
    func storing() async throws {
        try await PubNubHarness.run { gateway in
            let admin = Caller(app: PubNubHarness.app, credential: "test", scopes: [.admin])
            try await gateway.service.change(admin.app, AppChange(storesByDefault: false), by: admin)
            for (number, query) in ["", "&ttl=5", "&store=0", "&store=1", "&store=1&ttl=0"].enumerated() {
                #expect(try await gateway.publish("a", "\(number)", query).status == 200)
            }
            #expect(try await gateway.events("a").map(\.data.description) == ["3", "4"])
            try await gateway.service.change(admin.app, AppChange(storesByDefault: true), by: admin)
            try await gateway.publish("a", "5")
            #expect(try await gateway.events("a").map(\.data.description) == ["3", "4", "5"])
        }
    }

    @Test("that is fired reaches webhooks only", arguments: ["&norep=1", "&norep=true", "&store=0&ttl=0"])
    func fired(query: String) async throws {
        try await PubNubHarness.run { gateway in
            let answer = try await gateway.publish("a", "1", query)
            #expect(answer.shape == #"[1,"Sent","<tt>"]"#)
            let place = try #require(Timetoken(text: answer.timetoken))
            let event = try await gateway.chat.event(place)
            #expect(event.audience == .webhooks)
            #expect(event.retention == .passing)
        }
    }

    @Test("that is not to be stored is passing, and one with a life expires")
    func storage() async throws {
        try await PubNubHarness.run { gateway in
            let passing = try await gateway.publish("a", "1", "&store=0")
            let place = try #require(Timetoken(text: passing.timetoken))
            #expect(try await gateway.chat.event(place).audience == .subscribers)
            try await gateway.publish("a", "2", "&ttl=0.5")
            try await gateway.publish("a", "3", "&store=1&ttl=0")
            #expect(try await gateway.events("a").map(\.data.description) == ["2", "3"])
            gateway.clock.advance(by: .seconds(31 * 60))
            #expect(try await gateway.events("a").map(\.data.description) == ["3"])
        }
    }

    @Test("may come compressed, and zlib's form may be called gzip")
    func compressed() async throws {
        // {"text":"hello"} as Python's zlib compresses it at level 2.
        let zlib: [UInt8] = [
            0x78, 0x5E, 0xAB, 0x56, 0x2A, 0x49, 0xAD, 0x28, 0x51, 0xB2, 0x52, 0xCA, 0x48, 0xCD, 0xC9, 0xC9, 0x57, 0xAA,
            0x05, 0x00, 0x2F, 0x51, 0x05, 0x94,
        ]
        try await PubNubHarness.run { gateway in
            let connection = try ByteConnection(port: gateway.port)
            let head =
                "POST /publish/pub-demo/sub-demo/0/a/0?uuid=ana HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
                + "Content-Encoding: gzip\r\nContent-Length: \(zlib.count)\r\n\r\n"
            try connection.send(Array(head.utf8) + zlib)
            var answer: [UInt8] = []
            while let more = await connection.next() { answer += more }
            #expect(String(decoding: answer, as: UTF8.self).contains(#"[1,"Sent","#))
            #expect(try await gateway.events("a").map(\.data.description) == [#"{"text":"hello"}"#])
        }
    }

    @Test("accepts pages of any origin, also with a preflight")
    func origins() async throws {
        try await PubNubHarness.run { gateway in
            let preflight = try await gateway.call(
                "OPTIONS", "/v3/history/sub-key/sub-demo/channel/a",
                headers: [("Origin", "https://page.example"), ("Access-Control-Request-Method", "DELETE")])
            #expect(preflight.status == 204)
            #expect(preflight.header("Access-Control-Allow-Origin") == "*")
            #expect(preflight.header("Access-Control-Allow-Methods")?.contains("DELETE") == true)
            #expect(preflight.header("Access-Control-Allow-Headers")?.contains("Content-Encoding") == true)
            #expect(preflight.header("Access-Control-Allow-Headers")?.hasSuffix(", *") == true)
            let time = try await gateway.call("GET", "/time/0", headers: [("Origin", "https://page.example")])
            #expect(time.header("Access-Control-Allow-Origin") == "*")
        }
    }

    @Test("and the time agree: its timetoken is at or below the next value of the time")
    func time() async throws {
        try await PubNubHarness.run { gateway in
            let told = try #require(Timetoken(text: try await gateway.publish("a", "1").timetoken))
            let time = try await gateway.get("/time/0")
            #expect(time.shape == "[<tt>]")
            let now = try #require(time.json?[0]?.integer)
            #expect(UInt64(now) >= told.rawValue)
        }
    }
}
