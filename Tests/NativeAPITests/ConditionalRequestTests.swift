import ChatModel
import HTTPServer
import JSON
import TestSupport
import Testing

@testable import NativeAPI

@Suite("A conditional request", .timeLimit(.minutes(2))) struct ConditionalRequestTests {
    @Test("keeps its connection when nothing has changed")
    func keepsConnection() async throws {
        try await StreamHarness.run { gateway in
            let event = try await gateway.emit("a")
            let type = try await gateway.call("PUT", "/v1/event-types/t", "{}")
            #expect(type.status == 201)
            _ = try await gateway.call("POST", "/v1/event-types/t/versions", #"{"schema":true}"#)
            for target in ["/v1/events/\(event.eventID)", "/v1/event-types/t", "/v1/event-types/t/versions/1"] {
                let tag = try #require(try await gateway.call("GET", target).header("ETag"), "\(target)")
                let connection = try ByteConnection(port: gateway.port)
                for _ in 0..<3 {
                    let answer = try await ask(connection, target, tag)
                    #expect(answer.hasPrefix("HTTP/1.1 304 "), "\(target)")
                    #expect(answer.contains("ETag: \(tag)\r\n"))
                    #expect(!answer.contains("Connection: close"))
                }
                connection.close()
            }
        }
    }

    /// Records with requests that replace or change them.
    static let records: [(path: String, method: HTTPMethod, first: String, second: String)] = [
        ("/v1/users/ana", .put, #"{"name":"A"}"#, #"{"name":"B"}"#),
        ("/v1/users/ana", .patch, #"{"name":"A"}"#, #"{"name":"B"}"#),
        ("/v1/channels/room", .put, #"{"kind":"group","name":"A"}"#, #"{"kind":"group","name":"B"}"#),
        ("/v1/channels/room", .patch, #"{"name":"A"}"#, #"{"name":"B"}"#),
        ("/v1/channels/room/members/ana", .put, #"{"status":"A"}"#, #"{"status":"B"}"#),
        ("/v1/channels/room/members/ana", .patch, #"{"status":"A"}"#, #"{"status":"B"}"#),
        ("/v1/channel-groups/g", .put, #"{"channels":["a"]}"#, #"{"channels":["b"]}"#),
        ("/v1/event-types/t", .put, #"{"owner":"A"}"#, #"{"owner":"B"}"#),
        ("/v1/event-types/t/candidate", .put, #"{"schema":{"minimum":1}}"#, #"{"schema":{"minimum":2}}"#),
        ("/v1/apps/default", .patch, #"{"retention_hours":10}"#, #"{"retention_hours":11}"#),
        ("/v1/keys/{key}", .patch, #"{"rate_limit":{"quantity":1000,"window_seconds":60}}"#, "{}"),
        ("/v1/subscriptions/{subscription}", .patch, #"{"description":"A"}"#, #"{"description":"B"}"#),
        ("/v1/webhooks/{webhook}", .patch, #"{"description":"A"}"#, #"{"description":"B"}"#),
    ]

    private func prepare(_ api: APIFixture, _ path: String) async throws -> String {
        _ = await api.call(.put, "/v1/users/ana", "{}")
        _ = await api.call(.put, "/v1/channels/room", #"{"kind":"group"}"#)
        _ = await api.call(.put, "/v1/channels/room/members/ana", "{}")
        _ = await api.call(.put, "/v1/channel-groups/g", #"{"channels":["x"]}"#)
        _ = await api.call(.put, "/v1/event-types/t", "{}")
        _ = await api.call(.put, "/v1/event-types/t/candidate", #"{"schema":true}"#)
        var path = path
        for (mark, list, body) in [
            ("{key}", "/v1/keys", #"{"name":"k","scopes":["read"]}"#),
            ("{subscription}", "/v1/subscriptions", #"{"channels":["a"]}"#),
            ("{webhook}", "/v1/webhooks", #"{"url":"https://example.com/hook"}"#),
        ] where path.contains(mark) {
            let made = await api.call(.post, list, body)
            path = path.replacing(mark, with: try #require(made["id"]?.string, "\(made.text)"))
        }
        return path
    }

    @Test("of two writers who have read the same version succeeds for one and fails for the other", arguments: records)
    func twoWriters(_ path: String, _ method: HTTPMethod, _ first: String, _ second: String) async throws {
        try await APIFixture.run { api in
            let path = try await prepare(api, path)
            let tag = try #require(await api.call(.get, path).header("ETag"), "\(path)")
            let one = await api.call(method, path, first, headers: [("If-Match", tag)])
            #expect(one.status == 200, "\(one.text)")
            let other = await api.call(method, path, second, headers: [("If-Match", tag)])
            #expect(other.status == 412, "\(other.text)")
            #expect(
                await api.call(.delete, path, key: api.adminKey, headers: [("If-Match", tag)]).status == 412
                    || path.hasPrefix("/v1/apps/"))
            let now = try #require(await api.call(.get, path).header("ETag"))
            // If the body contains more than the record, a full stop divides the version from the body's digest.
            #expect(now != tag && one.header("ETag")?.dropLast() == now.dropLast().prefix { $0 != "." })
            #expect(await api.call(.get, path, headers: [("If-None-Match", now)]).status == 304)
            // The member `etag` has the value without quotes.
            #expect(
                await api.call(method, path, first, headers: [("If-Match", "0" + now.filter { $0 != "\"" })]).status
                    == 412)
            #expect(
                await api.call(method, path, first, headers: [("If-Match", now.filter { $0 != "\"" })]).status == 200)
            let last = try #require(await api.call(.get, path).header("ETag"))
            #expect(await api.call(method, path, first, headers: [("If-Match", last)]).status == 200)
        }
    }

    /// Requests that would create a record, or leave a missing one missing.
    static let ofNothing: [(method: HTTPMethod, path: String, body: String)] = [
        (.put, "/v1/users/eve", #"{"name":"E"}"#), (.delete, "/v1/users/eve", ""),
        (.put, "/v1/channels/hall", #"{"kind":"group"}"#), (.delete, "/v1/channels/hall", ""),
        (.put, "/v1/channels/room/members/eve", "{}"), (.delete, "/v1/channels/room/members/eve", ""),
        (.put, "/v1/channels/room/restrictions/eve", #"{"ban":true}"#),
        (.delete, "/v1/channels/room/restrictions/eve", ""),
        (.put, "/v1/channel-groups/h", #"{"channels":["a"]}"#),
        (.patch, "/v1/channel-groups/h", #"{"channels":["a"]}"#),
        (.delete, "/v1/channel-groups/h", ""), (.put, "/v1/event-types/u", "{}"),
        (.put, "/v1/event-types/bare/candidate", #"{"schema":true}"#),
        (
            .put, "/v1/sources/s",
            #"{"scheme":"none","mapping":{"channel":"c","type":"t","data":{"$":"body"}}}"#
        ),
    ]

    @Test("on a record that is not there is not met, by any tag", arguments: ofNothing, [#""5""#, #""5", "6""#, "*"])
    func noRecord(_ write: (method: HTTPMethod, path: String, body: String), _ tag: String) async throws {
        try await APIFixture.run { api in
            _ = try await prepare(api, "")
            _ = await api.call(.put, "/v1/event-types/bare", "{}")
            let answer = await api.call(write.method, write.path, write.body, headers: [("If-Match", tag)])
            #expect(answer.status == 412 && answer.code == "precondition_failed", "\(answer.text)")
            #expect(await api.call(.get, write.path).status == 404)
            let free = await api.call(write.method, write.path, write.body)
            #expect(write.method == .put ? (200...204).contains(free.status) : free.status == 404, "\(free.text)")
        }
    }

    @Test("of any version is met where there is a record", arguments: records)
    func anyVersion(_ path: String, _ method: HTTPMethod, _ first: String, _: String) async throws {
        try await APIFixture.run { api in
            let path = try await prepare(api, path)
            let answer = await api.call(method, path, first, headers: [("If-Match", "*")])
            #expect(answer.status == 200, "\(answer.text)")
        }
    }

    @Test("for a new record is refused where one exists", arguments: ofNothing.filter { $0.method == .put })
    func present(_ write: (method: HTTPMethod, path: String, body: String)) async throws {
        try await APIFixture.run { api in
            _ = try await prepare(api, "")
            _ = await api.call(.put, "/v1/event-types/bare", "{}")
            let fresh = [(name: "If-None-Match", value: "*")]
            let made = await api.call(write.method, write.path, write.body, headers: fresh)
            #expect((200...201).contains(made.status), "\(made.text)")
            let again = await api.call(write.method, write.path, write.body, headers: fresh)
            #expect(again.status == 412, "\(again.text)")
        }
    }

    @Test("applies to actions on a webhook", arguments: ["disable", "enable", "rotate-secret"])
    func webhookDeeds(_ deed: String) async throws {
        try await APIFixture.run { api in
            let path = try await prepare(api, "/v1/webhooks/{webhook}")
            let before = await api.call(.get, path)
            let tag = try #require(before.header("ETag"))
            let stale = await api.call(.post, "\(path)/\(deed)", headers: [("If-Match", #""5""#)])
            #expect(stale.status == 412, "\(stale.text)")
            #expect(await api.call(.get, path).bytes == before.bytes)
            #expect(await api.call(.post, "\(path)/\(deed)", headers: [("If-Match", tag)]).status == 200)
        }
    }

    @Test("is kept or refused by every write, as openapi.yaml says")
    func everyWrite() async throws {
        try await APIFixture.run { api in
            let description = try Description()
            for operation in description.operations where operation.method != "get" && operation.needsCredential {
                let name = "\(operation.method) \(operation.path)"
                let isKept = description.parameterNames(of: operation).contains("If-Match")
                #expect(isKept == (operation.response(412) != nil), "\(name)")
                guard !isKept else { continue }
                let method = HTTPMethod(rawValue: operation.method.uppercased())
                let path = operation.path.replacing(/\{[a-z]+\}/, with: "x")
                let answer = await api.call(method, path, headers: [("If-Match", #""5""#)])
                #expect(answer.code == "bad_precondition", "\(name): \(answer.status) \(answer.text)")
            }
        }
    }

    @Test(
        "is refused by resources without a version",
        arguments: [
            (.put, "/v1/channels/room/operators/ana"), (.delete, "/v1/channels/room/operators/ana"),
            (.put, "/v1/channels/room/freeze"), (.put, "/v1/channels/room/members/ana/hidden"),
            (.put, "/v1/channels/room/members/ana/read"), (.put, "/v1/users/ana/blocks/ben"),
            (.put, "/v1/channels/room/typing/ana"), (.delete, "/v1/channels/room/events?all=true"),
        ] as [(HTTPMethod, String)])
    func noVersion(_ method: HTTPMethod, _ path: String) async throws {
        try await APIFixture.run { api in
            _ = try await prepare(api, path)
            let answer = await api.call(method, path, "", headers: [("If-Match", #""1""#)])
            #expect(answer.status == 400 && answer.code == "bad_precondition", "\(answer.text)")
        }
    }

    /// The response, which is only a header; the bytes received so far if the connection ended before.
    private func ask(_ connection: ByteConnection, _ target: String, _ tag: String) async throws -> String {
        let lines = ["GET \(target) HTTP/1.1", "Host: x", "Authorization: Bearer dev", "If-None-Match: \(tag)", "", ""]
        try connection.send(Array(lines.joined(separator: "\r\n").utf8))
        var answer: [UInt8] = []
        while !answer.suffix(4).elementsEqual("\r\n\r\n".utf8), let bytes = await connection.next() { answer += bytes }
        return String(decoding: answer, as: UTF8.self)
    }

    @Test("accepts the tag of the compressed body as that of the record")
    func compressedTag() async throws {
        try await APIFixture.run { api in
            let first = await api.call(.put, "/v1/users/ana", #"{"name":"A"}"#)
            let tag = try #require(first.header("ETag")?.dropLast())
            let named = [(name: "If-Match", value: String(tag) + ".gzip\"")]
            #expect(await api.call(.patch, "/v1/users/ana", #"{"name":"B"}"#, headers: named).status == 200)
            #expect(await api.call(.patch, "/v1/users/ana", #"{"name":"C"}"#, headers: named).status == 412)
        }
    }
}
