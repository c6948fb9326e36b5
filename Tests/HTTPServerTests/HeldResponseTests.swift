import Glibc
import HTTPServer
import TestSupport
import Testing

@Suite("Responses of one iteration of the loop") struct HeldResponseTests {
    private static func routes(_ router: inout Router, _ loop: Loop) {
        router.add(.get, "/hello") { _ in .text("hello") }
        router.add(.get, "/nothing") { _ in .empty() }
        router.add(.get, "/long") { _ in .text(String(repeating: "x", count: 300_000)) }
    }

    @Test("are held with the functions of the program, which the library calls") func functions() {
        let bytes: @convention(c) (Int32, UnsafeRawPointer?, Int, Int32) -> Int = sendBytes
        let message: @convention(c) (Int32, UnsafeRawPointer?, Int32) -> Int = sendMessage
        #expect(dlsym(nil, "send") == unsafeBitCast(bytes, to: UnsafeMutableRawPointer.self))
        #expect(dlsym(nil, "sendmsg") == unsafeBitCast(message, to: UnsafeMutableRawPointer.self))
    }

    @Test("all arrive, also when there are more than are held together", arguments: ["/hello", "/nothing", "/long"])
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

    @Test("all arrive in order when the client reads after its last request", arguments: [false, true])
    func late(closesWriting: Bool) async throws {
        let handled = Observed(0)
        try await withAsyncServer { router, _ in
            router.add(.get, "/page/{number}") { request in
                handled.update { $0 += 1 }
                return .text(Self.page(request.parameters["number"] ?? ""))
            }
        } body: { server in
            let wire = try server.wire(receiveBuffer: 2048)
            var sent = 0
            // The server handles the next request while its socket accepts nothing, but not the one after it.
            while await server.server.metrics.congested == 0, sent < 1000 {
                wire.request("GET", "/page/\(sent)")
                sent += 1
                await handled.wait { [sent] in $0 == sent }
            }
            #expect(sent < 1000)
            for number in sent..<sent + 20 { wire.request("GET", "/page/\(number)") }
            if closesWriting { wire.closeWriting() }
            try await blocking { [sent] in
                for number in 0..<sent + 20 {
                    let answer = try wire.answer()
                    #expect(answer.text == Self.page("\(number)"))
                }
            }
            #expect(await server.server.metrics.congested == 0)
        }
    }

    /// A body that is short enough to be held.
    private static func page(_ number: String) -> String {
        number + String(repeating: " ", count: 30_000 - number.utf8.count)
    }

    @Test("arrive after what their requests have sent to streams") func streamsFirst() async throws {
        try await withStage { stage in
            var streams: [Wire] = []
            for _ in 0..<100 { streams.append(try await stage.open().wire) }
            try await blocking { [streams, server = stage.server] in
                let publisher = try server.wire()
                for _ in 0..<10 {
                    #expect(try publisher.ask("GET", "/append").text == "appended")
                    // The server sends to the last stream last.
                    for stream in streams.reversed() {
                        var bytes = [UInt8](repeating: 0, count: 64)
                        #expect(recv(stream.descriptor, &bytes, bytes.count, 0x40 /* MSG_DONTWAIT */) == 10)
                    }
                }
            }
        }
    }
}
