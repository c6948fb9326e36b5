import Glibc
import HTTPServer
import TestSupport
import Testing

@Suite("Responses of one run of the library") struct HeldResponseTests {
    private static func routes(_ router: inout Router, _ loop: Loop) {
        router.add(.get, "/hello") { _ in .text("hello") }
        router.add(.get, "/nothing") { _ in .empty() }
        router.add(.get, "/long") { _ in .text(String(repeating: "x", count: 300_000)) }
    }

    @Test("are delayed with the functions of the program, which the library calls") func functions() {
        let bytes: @convention(c) (Int32, UnsafeRawPointer?, Int, Int32) -> Int = sendBytes
        let message: @convention(c) (Int32, UnsafeRawPointer?, Int32) -> Int = sendMessage
        #expect(dlsym(nil, "send") == unsafeBitCast(bytes, to: UnsafeMutableRawPointer.self))
        #expect(dlsym(nil, "sendmsg") == unsafeBitCast(message, to: UnsafeMutableRawPointer.self))
    }

    @Test("all arrive, also when there are more than are delayed together", arguments: ["/hello", "/nothing", "/long"])
    func many(_ target: String) async throws {
        try await withServer(routes: Self.routes) { server in
            let wires = try (0..<100).map { _ in try server.wire() }
            for _ in 0..<3 {
                for wire in wires { wire.request("GET", target) }
                for wire in wires { #expect(try [200, 204].contains(wire.answer().status)) }
            }
        }
    }

    @Test("all arrive when the requests of one connection arrive together") func pipelined() async throws {
        try await withServer(routes: Self.routes) { server in
            let wires = try (0..<4).map { _ in try server.wire() }
            for wire in wires { wire.send(String(repeating: "GET /hello HTTP/1.1\r\nHost: x\r\n\r\n", count: 20)) }
            for wire in wires {
                for _ in 0..<20 { #expect(try wire.answer().text == "hello") }
            }
        }
    }
}
