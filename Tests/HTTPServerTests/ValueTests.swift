import Testing
import Text

@testable import HTTPServer

@Suite("A request") struct RequestTests {
    @Test("decodes its query in order, every value of a name") func query() {
        let request = Request(.get, "/x?a=1&b=%26+%2B&a=2&c&=d&&e=%F0%9F%98%80")
        #expect(request.query[all: "a"] == ["1", "2"])
        #expect(request.query["b"] == "& +")
        #expect(request.query["c"] == "")
        #expect(request.query["e"] == "😀")
        #expect(request.query.items.map(\.name) == ["a", "b", "a", "c", "", "e"])
        #expect(request.target == "/x?a=1&b=%26+%2B&a=2&c&=d&&e=%F0%9F%98%80")
    }

    @Test(
        "has the path and the query of its target",
        arguments: [
            ("/a/b?c=d", "/a/b", "/a/b?c=d"), ("/a?", "/a", "/a"), ("/a", "/a", "/a"), ("/?a?b", "/", "/?a?b"),
            ("http://h/a?b", "/a", "/a?b"), ("HTTPS://h", "/", "/"), ("*", "*", "*"), ("/é?x=1", "/é", "/é?x=1"),
        ])
    func target(_ text: String, _ path: String, _ pathAndQuery: String) {
        let target = Array(text.utf8).withUnsafeBufferPointer { RequestTarget($0) }
        #expect(target.problem == nil)
        #expect(target.size == text.utf8.count)
        #expect(target.text == pathAndQuery)
        #expect(String(decoding: target.text.utf8.prefix(target.pathSize), as: UTF8.self) == path)
    }

    @Test("has the whole path of a target whose bytes are not UTF-8")
    func targetOfOtherBytes() {
        let target = (Array("/a".utf8) + [0xFF] + Array("b?c=d".utf8)).withUnsafeBufferPointer { RequestTarget($0) }
        #expect(String(decoding: target.text.utf8.prefix(target.pathSize), as: UTF8.self) == "/a\u{FFFD}b")
        #expect(target.query["c"] == "d")
    }

    @Test("refuses a broken query", arguments: ["a=%", "a=%4", "a=%GG", "%C3%28=1", "a=%FF"])
    func brokenQuery(_ text: String) {
        #expect(Query(parsing: text.utf8) == nil)
    }

    @Test("looks fields up whatever their case, and keeps all of them") func headers() {
        let headers = Headers([("Content-Type", " text/plain\t"), ("X-A", "1"), ("x-a", "2")])
        #expect(headers["content-TYPE"] == "text/plain")
        #expect(headers[all: "X-a"] == ["1", "2"])
        #expect(headers["X-B"] == nil)
        #expect(!headers.contains("Content-Typ"))
        #expect(headers.contains(named: "CONTENT-type"))
        #expect(!headers.contains(named: "Content-Typ"))
        let all = headers.all.map { "\($0.name)=\($0.value)" }
        #expect(all == ["Content-Type=text/plain", "X-A=1", "x-a=2"])
    }

    @Test(
        "uses the client's id only if it can be repeated safely",
        arguments: [
            ("abc-1._X", true), (String(repeating: "x", count: 128), true), (String(repeating: "x", count: 129), false),
            ("", false), ("a b", false), ("a\"", false),
        ])
    func requestID(_ id: String, _ isTaken: Bool) {
        let request = Request(.get, "/", headers: Headers([("X-Request-Id", id)]))
        #expect((request.id == id) == isTaken)
        #expect(!request.id.isEmpty)
    }

    @Test("prints addresses canonically") func addresses() {
        #expect(RemoteAddress(.v4(0xC000_0207)).description == "192.0.2.7")
        #expect(RemoteAddress(.v6(0, 0xFFFF_7F00_0001)).description == "127.0.0.1")
        #expect(RemoteAddress(.v6(0x2001_0DB8_0000_0000, 1)).description == "2001:db8::1")
        #expect(RemoteAddress(.v6(0, 1)).description == "::1")
        #expect(RemoteAddress(.v6(0, 1)).isLoopback)
        #expect(RemoteAddress(.v6(0, 0)).description == "::")
        #expect(
            RemoteAddress(.v6(0x0001_0000_0002_0003, 0x0004_0005_0006_0007)).description == "1:0:2:3:4:5:6:7")
        #expect(!RemoteAddress(.v4(0x0A00_0001)).isLoopback)
    }
}

@Suite("A problem") struct ProblemTests {
    @Test("is printed as RFC 9457 specifies") func body() {
        let problem = Problem(
            status: 422, code: "schema_violation", title: "Payload does not match the event schema",
            detail: "2 violations",
            violations: [
                Problem.Violation(
                    at: .pointer("#/amount"), keyword: "type", detail: "expected integer, got string",
                    more: [("expected", .string("integer"))]),
                Problem.Violation(at: .pointer("#"), keyword: "required", detail: "missing property currency"),
            ],
            members: [
                ("event_type", .string("order.paid")), ("schema_version", .integer(3)), ("x", .json([0x5B, 0x5D])),
            ])
        let text = String(decoding: problem.body(baseURL: "https://gw.example", requestID: "req_1"), as: UTF8.self)
        let expected = """
            {"type":"https://gw.example/problems/schema-violation","title":"Payload does not match the event schema",\
            "status":422,"code":"schema_violation","detail":"2 violations",\
            "request_id":"req_1","retryable":false,"event_type":"order.paid","schema_version":3,"x":[],\
            "errors":[{"pointer":"#/amount","keyword":"type","detail":"expected integer, got string",\
            "expected":"integer"},{"pointer":"#","keyword":"required","detail":"missing property currency"}]}
            """
        #expect(text == expected)
    }

    @Test("escapes the characters that JSON requires") func escaping() {
        let problem = Problem(status: 400, code: "x", title: "a\"b\\c\n\r\t\u{1}é😀")
        let text = String(decoding: problem.body(baseURL: "", requestID: "r"), as: UTF8.self)
        #expect(text.contains(#""title":"a\"b\\c\n\r\t\u0001é😀""#))
    }
}

@Suite("An event block") struct ServerSentEventTests {
    @Test("has the bytes of the recorded stream") func vector() throws {
        let first = try #require(
            ServerSentEvent(
                id: "1:7:42", event: "message.created", data: Array(#"{"channel":"general","text":"héllo"}"#.utf8),
                retryMilliseconds: 2000))
        let second = try #require(
            ServerSentEvent(id: "1:7:43", event: "message.created", data: Array("line1\nline2\n\nafter-blank".utf8)))
        let expected =
            "retry: 2000\nid: 1:7:42\nevent: message.created\ndata: {\"channel\":\"general\",\"text\":\"héllo\"}\n\n"
            + ":\n"
            + "id: 1:7:43\nevent: message.created\ndata: line1\ndata: line2\ndata: \ndata: after-blank\n\n"
        #expect(String(decoding: first.bytes + ServerSentEvent.heartbeat + second.bytes, as: UTF8.self) == expected)
    }

    @Test(
        "splits data at every kind of line end",
        arguments: [
            ("a\r\nb", "data: a\ndata: b\n\n"), ("a\rid: evil\rb", "data: a\ndata: id: evil\ndata: b\n\n"),
            ("a\n\rb", "data: a\ndata: \ndata: b\n\n"), ("", "data: \n\n"), ("a\n", "data: a\ndata: \n\n"),
            ("a\r", "data: a\ndata: \n\n"),
        ])
    func lineEnds(_ data: String, _ block: String) throws {
        let event = try #require(ServerSentEvent(data: Array(data.utf8)))
        #expect(String(decoding: event.bytes, as: UTF8.self) == block)
    }

    @Test("does not let fields be forged", arguments: ["a\nb", "a\rb", "a\u{0}b"])
    func forgedFields(_ text: String) {
        #expect(ServerSentEvent(id: text, data: []) == nil)
        #expect(ServerSentEvent(event: text, data: []) == nil)
        #expect(ServerSentEvent(data: [], retryMilliseconds: -1) == nil)
    }
}
