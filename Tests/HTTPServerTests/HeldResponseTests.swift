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

    @Test(
        "all arrive in order when the client reads after its last request", arguments: [false, true], [3500, 300])
    func late(closesWriting: Bool, size: Int) async throws {
        let handled = Observed(0)
        try await withAsyncServer { router, _ in
            router.add(.get, "/page/{number}") { request in
                handled.update { $0 += 1 }
                return .text(Self.page(request.parameters["number"] ?? "", size))
            }
        } body: { server in
            // The client's window is smaller than a response, so the first response stays unacknowledged.
            let wire = try server.wire(receiveBuffer: 2048)
            for number in 0..<4 {
                wire.request("GET", "/page/\(number)")
                await handled.wait { $0 == number + 1 }
            }
            for number in 4..<1000 { wire.request("GET", "/page/\(number)") }
            if closesWriting { wire.closeWriting() }
            try await blocking {
                for number in 0..<1000 {
                    let answer = try wire.answer()
                    #expect(answer.text == Self.page("\(number)", size))
                }
            }
        }
    }

    @Test("all arrive when the socket's buffer is as small as Linux allows") func smallBuffer() async throws {
        try await withServer(routes: Self.routes) { server in
            for _ in 0..<20 {
                let wire = try server.wire(segment: 536)
                #expect(try wire.ask("GET", "/hello").text == "hello")
                var size: Int32 = 1
                let peer = try #require(Self.otherEnd(of: wire))
                #expect(setsockopt(peer, SOL_SOCKET, SO_SNDBUF, &size, socklen_t(MemoryLayout<Int32>.size)) == 0)
                // The client acknowledges late, because it sends nothing and reads nothing.
                wire.send(String(repeating: "GET /hello HTTP/1.1\r\nHost: x\r\n\r\n", count: 100))
                for _ in 0..<100 { #expect(try wire.answer().text == "hello") }
            }
        }
    }

    /// The server's descriptor of a connection; nil when there is none.
    private static func otherEnd(of wire: Wire) -> Int32? {
        func port(
            _ descriptor: Int32, _ name: (Int32, UnsafeMutablePointer<sockaddr>?, inout socklen_t) -> Int32
        ) -> UInt16? {
            var address = sockaddr_in()
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            let code = withUnsafeMutableBytes(of: &address) {
                name(descriptor, $0.baseAddress?.assumingMemoryBound(to: sockaddr.self), &length)
            }
            return code == 0 && address.sin_family == sa_family_t(AF_INET) ? address.sin_port : nil
        }
        let own = port(wire.descriptor) { getsockname($0, $1, &$2) }
        return (0..<65_536).first { own != nil && port($0, { getpeername($0, $1, &$2) }) == own }
    }

    /// A body that is short enough to be held.
    private static func page(_ number: String, _ size: Int) -> String {
        number + String(repeating: " ", count: size - number.utf8.count)
    }

    @Test("arrive as a whole when the connection ends after them", arguments: [false, true])
    func ending(closesWriting: Bool) async throws {
        for size in [100, 3500, 31_500] {
            try await withAsyncServer { router, _ in
                router.add(.get, "/page") { _ in .text(String(repeating: "x", count: size)) }
            } body: { server in
                let wire = try server.wire(receiveBuffer: 2048, segment: 1040)
                wire.request("GET", "/page", closesWriting ? [] : ["Connection: close"])
                if closesWriting { wire.closeWriting() }
                try await blocking {
                    let answer = try wire.answer()
                    #expect(answer.body.count == size)
                }
            }
        }
    }

    @Test(
        "have each general field once, whoever formats them",
        arguments: [
            ("/hello", "1.1", false), ("/hello", "1.1", true), ("/hello", "1.0", false), ("/nothing", "1.1", true),
            ("/long", "1.1", false), ("/long", "1.1", true), ("/missing", "1.1", true), ("/hello", "9.9", false),
        ])
    func fields(target: String, version: String, isLast: Bool) async throws {
        try await withServer(routes: Self.routes) { server in
            let wire = try server.wire()
            wire.request("GET", target, isLast ? ["Connection: close"] : [], version: version)
            let answer = try wire.answer()
            for name in ["Date", "X-Request-Id", "X-Content-Type-Options"] {
                #expect(answer.headers.count { $0.name == name } == 1, "\(name)")
            }
            #expect(answer.headers.count { $0.name == "Content-Length" } == (answer.status == 204 ? 0 : 1))
            let ends = isLast || version != "1.1"
            #expect(answer.headers.count { $0.name == "Connection" && $0.value == "close" } == (ends ? 1 : 0))
            if ends { #expect(try wire.rest().isEmpty) } else { #expect(try wire.ask("GET", "/hello").text == "hello") }
        }
    }

    @Test("are as long as the library says after HEAD, and the connection continues") func head() async throws {
        try await withServer(routes: Self.routes) { server in
            let wire = try server.wire()
            for target in ["/hello", "/long", "/hello"] {
                let length = try wire.ask("GET", target)["Content-Length"]
                #expect(try wire.ask("HEAD", target)["Content-Length"] == length)
            }
        }
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
