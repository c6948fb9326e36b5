import HTTPServer
import TestSupport
import Testing

@Suite("A long header") struct LongHeaderTests {
    private static let lengths = [1_000, 5_900, 6_100, 8_192, 16_384, 32_768, 60_000]

    private static func routes(_ router: inout Router, _ loop: Loop) {
        router.add(.get, "/size/{text}") { .text("\($0.path.utf8.count) \($0.headers["X-Long"]?.utf8.count ?? 0)") }
        router.add(.post, "/body", body: .collected(limit: 100_000)) { .text("\($0.body.bytes.count)") }
    }

    private static func target(_ length: Int) -> String { "/size/" + String(repeating: "a", count: length) }

    @Test("is read on a new connection, which then carries short requests", arguments: lengths)
    func newConnection(_ length: Int) async throws {
        try await withServer(routes: Self.routes) { server in
            let wire = try server.wire()
            #expect(try wire.ask("GET", Self.target(length)).text == "\(length + 6) 0")
            #expect(try wire.ask("GET", Self.target(1)).text == "7 0")
        }
    }

    @Test("is read on a connection that has carried short requests", arguments: lengths)
    func keptConnection(_ length: Int) async throws {
        try await withServer(routes: Self.routes) { server in
            let wire = try server.wire()
            for _ in 0..<2 {
                #expect(try wire.ask("GET", Self.target(1)).text == "7 0")
                #expect(try wire.ask("POST", "/body", body: [1, 2, 3]).text == "3")
                #expect(try wire.ask("GET", Self.target(length)).text == "\(length + 6) 0")
            }
        }
    }

    @Test("is read in one long field, or in many short ones") func fields() async throws {
        try await withServer(routes: Self.routes) { server in
            let wire = try server.wire()
            let field = "X-Long: " + String(repeating: "b", count: 30_000)
            #expect(try wire.ask("GET", "/size/a", [field]).text == "7 30000")
            let many = try server.wire()
            #expect(try many.ask("GET", "/size/a", (0..<400).map { "X-\($0): y" }).text == "7 0")
        }
    }

    @Test("is read with many cookies, which take much memory", arguments: [40, 600])
    func cookies(_ number: Int) async throws {
        try await withServer(routes: Self.routes) { server in
            let cookies = "Cookie: " + (0..<number).map { "c\($0)" }.joined(separator: ",")
            let answer = try server.wire().ask("GET", "/size/a", [cookies])
            #expect(answer.text == "7 0")
        }
    }

    @Test("is read when it arrives in pieces, with its body", arguments: [20_000, 50_000])
    func pieces(_ length: Int) async throws {
        try await withServer(routes: Self.routes) { server in
            let wire = try server.wire()
            #expect(try wire.ask("GET", Self.target(1)).text == "7 0")
            let field = String(repeating: "b", count: length)
            let header = "POST /body HTTP/1.1\r\nHost: test\r\nX-Long: \(field)\r\nContent-Length: 40000\r\n\r\n"
            let message = Array(header.utf8) + [UInt8](repeating: 0x20, count: 40_000)
            for start in stride(from: 0, to: message.count, by: 1_500) {
                wire.send(message[start..<min(start + 1_500, message.count)])
            }
            #expect(try wire.answer().text == "40000")
            #expect(try wire.ask("GET", Self.target(1)).text == "7 0")
        }
    }

    @Test("that does not end is dropped with its connection, and leaves nothing for the next one")
    func unfinished() async throws {
        try await withServer(routes: Self.routes) { server in
            for _ in 0..<20 {
                let wire = try server.wire()
                wire.send("GET " + Self.target(20_000))
                wire.close()
                #expect(try server.wire().ask("GET", Self.target(10_000)).text == "10006 0")
            }
        }
    }

    @Test("gets 414 after a chunked body, because the bytes read so far are not known") func afterChunks() async throws
    {
        try await withServer(routes: Self.routes) { server in
            let wire = try server.wire()
            wire.send("POST /body HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n")
            #expect(try wire.answer().text == "3")
            #expect(try wire.ask("GET", Self.target(30_000)).status == 414)
        }
    }
}
