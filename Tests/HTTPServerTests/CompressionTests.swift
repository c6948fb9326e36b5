import TestSupport
import Testing

@testable import HTTPServer

@Suite("An answer") struct CompressionTests {
    private static let text = Array(String(repeating: "[\"some\", \"text\"], ", count: 100).utf8)

    private static func routes(_ router: inout Router, _ loop: Loop) {
        for (path, length, type, more) in [
            ("/long", 1025, "application/json", []), ("/short", 1024, "application/json", []),
            ("/page", 1800, "text/html; charset=utf-8", []), ("/image", 1800, "image/png", []),
            ("/secret", 1800, "application/json", [("Cache-Control", "no-store")]),
            ("/tagged", 1800, "application/json", [("ETag", "\"v1\"")]),
        ] as [(String, Int, String, [(name: String, value: String)])] {
            router.add(.get, RoutePattern(stringLiteral: path)) { request in
                var response = Response(contentType: type, body: Array(text[..<length]))
                response.headers += more
                if EntityTag.isKnown("\"v1\"", to: request.headers) {
                    response.status = 304
                    response.headers.removeAll { $0.name == "Content-Type" }
                }
                return response
            }
        }
        router.add(.get, "/fixed") { _ in
            Response(status: 200, headers: [("Content-Type", "application/yaml")], body: .fixed(fixed))
        }
    }

    private static let fixed: StaticBytes = {
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: text.count, alignment: 1)
        copy.copyBytes(from: text)
        return StaticBytes(start: UnsafeRawPointer(copy.baseAddress!), count: copy.count)
    }()

    private func inflated(_ bytes: [UInt8]) throws -> [UInt8] {
        let inflate = try #require(try Inflate(coding: "gzip"))
        var output: [UInt8] = []
        _ = try bytes.withUnsafeBytes { try inflate.inflate($0, limit: 1_000_000, into: &output) }
        #expect(inflate.isFinished)
        return output
    }

    @Test(
        "of text above a KiB is compressed for a client that accepts gzip",
        arguments: [("/long", 1025), ("/page", 1800), ("/fixed", text.count)],
        ["gzip", "deflate, GZIP;q=0.5", "br, *", "identity;q=0, x-gzip"])
    func compressed(_ route: (path: String, length: Int), _ accepted: String) async throws {
        try await withServer(routes: Self.routes) { server in
            let answer = try server.wire().ask("GET", route.path, ["Accept-Encoding: \(accepted)"])
            #expect(answer["Content-Encoding"] == "gzip")
            #expect(answer["Vary"] == "Accept-Encoding")
            #expect(answer["Content-Length"] == "\(answer.body.count)")
            #expect(answer.body.count < route.length)
            #expect(try inflated(answer.body) == Array(Self.text[..<route.length]))
        }
    }

    @Test(
        "is sent uncompressed to other clients, with a Vary field",
        arguments: [nil, "br", "gzip;q=0", "gzip;q=0, *"])
    func plain(_ accepted: String?) async throws {
        try await withServer(routes: Self.routes) { server in
            let answer = try server.wire().ask(
                "GET", "/long", accepted.map { ["Accept-Encoding: \($0)"] } ?? [])
            #expect(answer["Content-Encoding"] == nil)
            #expect(answer["Vary"] == "Accept-Encoding")
            #expect(answer.body == Array(Self.text[..<1025]))
        }
    }

    @Test(
        "that is short, no text, or not to be stored is never compressed", arguments: ["/short", "/image", "/secret"])
    func never(_ path: String) async throws {
        try await withServer(routes: Self.routes) { server in
            let answer = try server.wire().ask("GET", path, ["Accept-Encoding: gzip"])
            #expect(answer["Content-Encoding"] == nil)
            #expect(answer["Vary"] == nil)
            #expect(answer.body.count >= 1024)
        }
    }

    @Test("has another tag when it is compressed, and is known by either")
    func tags() async throws {
        try await withServer(routes: Self.routes) { server in
            let gzip = "Accept-Encoding: gzip"
            let wire = try server.wire()
            let compressed = try wire.ask("GET", "/tagged", [gzip])
            #expect(compressed["ETag"] == "\"v1.gzip\"")
            #expect(try wire.ask("GET", "/tagged")["ETag"] == "\"v1\"")
            for tag in ["\"v1\"", "\"v1.gzip\"", "W/\"v1.gzip\"", "\"x\", \"v1.gzip\""] {
                let known = try wire.ask("GET", "/tagged", [gzip, "If-None-Match: \(tag)"])
                #expect(known.status == 304)
                #expect(known["ETag"] == "\"v1.gzip\"")
                #expect(known["Content-Length"] == compressed["Content-Length"])
            }
            for tag in ["\"v1.gzi\"", "\"v.gzip\"", "\"v1.gzip", "\".gzip\""] {
                #expect(try wire.ask("GET", "/tagged", [gzip, "If-None-Match: \(tag)"]).status == 200)
            }
        }
    }

    @Test("to HEAD has the fields of GET's")
    func head() async throws {
        try await withServer(routes: Self.routes) { server in
            let gzip = "Accept-Encoding: gzip"
            let answer = try server.wire().ask("GET", "/long", [gzip])
            let head = try server.wire().ask("HEAD", "/long", [gzip])
            #expect(head["Content-Length"] == "\(answer.body.count)")
            #expect(head["Content-Encoding"] == "gzip")
        }
    }
}
