import ChatModel
import HTTPServer
import JSON
import TestSupport
import Testing

/// Invalid input gets a clear error, and nothing is stored.
@Suite("Hardening", .serialized) struct HardeningTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var name: String
        var body: [UInt8]
        var status: Int
        var code: String

        init(_ name: String, _ body: String, _ status: Int, _ code: String) {
            self.init(name, Array(body.utf8), status, code)
        }

        init(_ name: String, _ body: [UInt8], _ status: Int, _ code: String) {
            self.name = name
            self.body = body
            self.status = status
            self.code = code
        }

        var testDescription: String { name }
    }

    private static func text(_ count: Int) -> String { String(repeating: "x", count: count) }

    static let bodies: [Case] = [
        Case("empty", "", 400, "member_missing"),
        Case("white space", " \n", 400, "member_missing"),
        Case("broken", #"{"data":"#, 400, "malformed_request"),
        Case("trailing text", #"{"data":1} x"#, 400, "malformed_request"),
        Case("single quotes", "{'data':1}", 400, "malformed_request"),
        Case("NaN", #"{"data":NaN}"#, 400, "malformed_request"),
        Case("number overflow", #"{"data":1e400}"#, 400, "malformed_request"),
        Case("byte order mark", "\u{FEFF}{\"data\":1}", 400, "malformed_request"),
        Case("invalid UTF-8", Array(#"{"data":""#.utf8) + [0xFF, 0xFE] + Array(#""}"#.utf8), 400, "malformed_request"),
        Case(
            "overlong UTF-8", Array(#"{"data":""#.utf8) + [0xC0, 0xAF] + Array(#""}"#.utf8), 400, "malformed_request"),
        Case("raw NUL", Array(#"{"data":""#.utf8) + [0] + Array(#""}"#.utf8), 400, "malformed_request"),
        Case("NUL in a name", #"{"data":{"a\u0000b":1}}"#, 400, "malformed_request"),
        Case("lone surrogate", #"{"data":"\ud800"}"#, 400, "malformed_request"),
        Case("raw line break in a string", "{\"data\":\"a\nb\"}", 400, "malformed_request"),
        Case("duplicate member", #"{"data":1,"data":2}"#, 400, "duplicate_name"),
        Case("duplicate inside the payload", #"{"data":{"a":1,"a":2}}"#, 400, "duplicate_name"),
        Case(
            "65 levels", #"{"data":"# + String(repeating: "[", count: 64) + String(repeating: "]", count: 64) + "}",
            400, "too_deep"),
        Case("10,000 levels", #"{"data":"# + String(repeating: "[", count: 10_000), 400, "too_deep"),
        Case("an array", "[]", 400, "wrong_type"),
        Case("a text", #""data""#, 400, "wrong_type"),
        Case("no payload", #"{"type":"t"}"#, 400, "member_missing"),
        Case("type is a number", #"{"data":1,"type":7}"#, 400, "wrong_type"),
        Case("user is an object", #"{"data":1,"user":{}}"#, 400, "wrong_type"),
        Case("store is a text", #"{"data":1,"store":"yes"}"#, 400, "wrong_type"),
        Case("hours are a fraction", #"{"data":1,"ttl_hours":1.5}"#, 400, "wrong_type"),
        Case("hours are negative", #"{"data":1,"ttl_hours":-1}"#, 400, "bad_member"),
        Case("hours beyond measure", #"{"data":1,"ttl_hours":99999999999999999999}"#, 400, "bad_member"),
        Case("unknown member", #"{"data":1,"usr":"ana"}"#, 400, "unknown_member"),
        Case("a member of another resource", #"{"data":1,"thread_of":"1"}"#, 400, "unknown_member"),
        Case("empty type", #"{"data":1,"type":""}"#, 400, "bad_member"),
        Case("CR and LF in the type", #"{"data":1,"type":"a\r\nid: 1"}"#, 400, "bad_member"),
        Case("type of 65", #"{"data":1,"type":"\#(text(65))"}"#, 400, "bad_member"),
        Case("reserved type", #"{"data":1,"type":"message.created"}"#, 400, "type_reserved"),
        Case("type of EventSource itself", #"{"data":1,"type":"error"}"#, 400, "type_reserved"),
        Case("empty user", #"{"data":1,"user":""}"#, 400, "bad_member"),
        Case("user of 93", #"{"data":1,"user":"\#(text(93))"}"#, 400, "bad_member"),
        Case("LF in the user", #"{"data":1,"user":"a\nb"}"#, 400, "bad_member"),
        Case("payload of 64 KiB and one", #"{"data":"\#(text(65_535))"}"#, 413, "content_too_large"),
        Case("metadata of 8 KiB and one", #"{"data":1,"meta":"\#(text(8191))"}"#, 413, "content_too_large"),
        Case(
            "body of 128 KiB and one", #"{"data":1}"# + String(repeating: " ", count: 131_063), 413, "content_too_large"
        ),
    ]

    @Test("a body is refused", arguments: bodies)
    func body(_ input: Case) async throws {
        try await APIFixture.run { api in
            let answer = await api.call(.post, "/v1/channels/a/events", input.body, key: api.adminKey)
            #expect(answer.status == input.status)
            #expect(answer.code == input.code)
            #expect(answer.header("Content-Type") == "application/problem+json")
            #expect(await api.history("a").isEmpty)
        }
    }

    @Test("a value exactly at a limit is accepted")
    func atTheLimits() async throws {
        try await APIFixture.run { api in
            func status(_ body: String) async -> Int { await api.call(.post, "/v1/channels/a/events", body).status }
            #expect(await status(#"{"data":"\#(Self.text(65_534))"}"#) == 201)
            #expect(await status(#"{"data":1,"meta":"\#(Self.text(8190))"}"#) == 201)
            #expect(await status(#"{"data":1}"# + String(repeating: " ", count: 131_062)) == 201)
            #expect(await status(#"{"data":1,"type":"\#(Self.text(64))","user":"\#(Self.text(92))"}"#) == 201)
            let nested = String(repeating: "[", count: 63) + String(repeating: "]", count: 63)
            #expect(await status(#"{"data":\#(nested)}"#) == 201)
        }
    }

    @Test("a signal of more than 64 bytes is refused")
    func signal() async throws {
        try await APIFixture.run { api in
            func status(_ count: Int) async -> Int {
                await api.call(.post, "/v1/channels/a/signals", #"{"data":"\#(Self.text(count - 2))"}"#).status
            }
            #expect(await status(64) == 202)
            #expect(await status(65) == 413)
        }
    }

    @Test(
        "a channel's name is refused",
        arguments: [
            "a%2Cb", "a%0Ab", "a%00b", "a.*", "*", "%24gateway", "%FF", "%E2%80%A8", String(repeating: "x", count: 256),
        ])
    func channel(_ name: String) async throws {
        try await APIFixture.run { api in
            let answer = await api.call(.post, "/v1/channels/\(name)/events", #"{"data":1}"#)
            #expect(answer.status == 400)
        }
    }

    @Test("JSON that cannot be read is placed by line and column")
    func position() async throws {
        try await APIFixture.run { api in
            let answer = await api.call(.post, "/v1/channels/a/events", "{\n  \"data\": tru\n}")
            #expect(answer.status == 400)
            #expect(answer["line"]?.integer == 2)
            #expect((answer["column"]?.integer ?? 0) > 0)
        }
    }

    @Test("a wrong type is placed by a pointer, an unknown name gets the nearest known one")
    func pointers() async throws {
        try await APIFixture.run { api in
            let type = await api.call(.post, "/v1/channels/a/events", #"{"data":1,"user":7}"#)
            #expect(type["errors"]?[0]?["pointer"]?.string == "#/user")
            #expect(type["errors"]?[0]?["detail"]?.string == "expected string, got integer")
            let name = await api.call(.post, "/v1/channels/a/events", #"{"data":1,"usr":"ana"}"#)
            #expect(name["errors"]?[0]?["pointer"]?.string == "#/usr")
            #expect(name["errors"]?[0]?["detail"]?.string == "unknown member; did you mean 'user'?")
        }
    }

    @Test(
        "unknown query parameters are refused everywhere",
        arguments: [
            "afetr=1", "before=1&before=2", "limit=0", "limit=251", "limit=x", "order=up", "after=-1", "cursor=x",
            "type=a*b",
        ])
    func query(_ query: String) async throws {
        try await APIFixture.run { api in
            _ = await api.call(.post, "/v1/channels/a/events", #"{"data":1}"#)
            let answer = await api.call(.get, "/v1/channels/a/events?\(query)")
            #expect(answer.status == 400)
        }
    }

    @Test("a mistyped bound does not widen a deletion")
    func deletion() async throws {
        try await APIFixture.run { api in
            _ = await api.call(.post, "/v1/channels/a/events", #"{"data":1}"#)
            let answer = await api.call(.delete, "/v1/channels/a/events?befor=1")
            #expect(answer.code == "unknown_parameter")
            #expect(await api.history("a").count == 1)
        }
    }

    @Test("unknown paths are 404 and unknown methods 405 with Allow")
    func routes() async throws {
        try await APIFixture.run { api in
            let unknown = await api.call(.get, "/v1/nothing", key: nil)
            #expect(unknown.status == 404 && unknown.code == "unknown_route")
            #expect(await api.call(.get, "/v1/users/nobody").code == "not_found")
            #expect(await api.call(.get, "/problems/unknown-route", key: nil).status == 200)
            for path in ["/v1/nothing", "/v1", "/nothing", "/openapi.json"] {
                let foreign = await api.call(.get, path, key: nil)
                #expect(foreign.status == 404 && foreign.code == "unknown_route")
                #expect(foreign["error"] == nil && foreign["message"] == nil && foreign["service"] == nil)
            }
            for path in ["/v1/users", "/v1/channels/a/members"] {
                let collection = await api.call(.post, path, "{}")
                #expect(collection.status == 405 && collection.header("Allow") == "GET, HEAD, OPTIONS")
                let pattern = path.replacing("/a/", with: "/{channel}/") + "/{user}"
                #expect(
                    collection["detail"]?.string
                        == "POST is not allowed for this path; allowed are GET, HEAD, OPTIONS; to create one, send PUT \(pattern)"
                )
            }
            #expect(await api.call(.post, "/v1/audit", "{}")["detail"]?.string?.contains("PUT") == false)
            let method = await api.call(.put, "/v1/channels/a/events", "{}")
            #expect(method.status == 405)
            #expect(method.header("Allow")?.contains("POST") == true)
        }
    }

    @Test("random bodies are answered with 201 or a 4xx, never a 500")
    func randomBodies() async throws {
        try await APIFixture.run { api in
            var random = SeededGenerator(seed: 20_261_121)
            let seeds = [
                #"{"type":"order.paid","data":{"amount":4200},"user":"ana","ttl_hours":24}"#,
                #"{"mode":"each","events":[{"channel":"a","data":1},{"channel":"b","type":"t","data":{}}]}"#,
                #"{"specversion":"1.0","id":"1","source":"/s","type":"t","subject":"a","data":[1]}"#,
            ].map { Array($0.utf8) }
            for round in 0..<300 {
                var body = seeds[round % seeds.count]
                for _ in 0...Int.random(in: 0..<4, using: &random) {
                    let place = Int.random(in: 0..<body.count, using: &random)
                    body[place] = UInt8.random(in: 0...255, using: &random)
                }
                let route = ["/v1/channels/a/events", "/v1/events/batch", "/v1/events"][round % 3]
                let headers = round % 3 == 2 ? [(name: "Content-Type", value: "application/cloudevents+json")] : []
                let answer = await api.call(.post, route, body, key: api.adminKey, headers: headers)
                #expect(answer.status < 500, "seed \(random.seed), round \(round): \(body)")
            }
        }
    }
}
