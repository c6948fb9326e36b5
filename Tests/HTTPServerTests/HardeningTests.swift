import Glibc
import HTTPServer
import TestSupport
import Testing

@Suite("Hardening: invalid HTTP") struct MalformedRequestTests {
    private static func routes(_ router: inout Router, _ loop: Loop) {
        router.add(.get, "/hello") { _ in .text("hello") }
        router.add(.get, "/a/{x}") { .text($0.parameters["x"] ?? "") }
        router.add(.get, "/long/{x*}") { .text("\($0.path.utf8.count)") }
        router.add(.post, "/echo", body: .collected(limit: 1000)) { request in
            Response(contentType: "text/plain", body: request.body.bytes)
        }
    }

    /// Ambiguous requests. Without a check each would be served, be split at another place by the next server, or be
    /// dropped silently.
    @Test(
        "is answered with a problem and the connection closed",
        arguments: [
            ("GARBAGE\r\n\r\n", 400), ("\u{16}\u{3}\u{1}\r\n\r\n", 400), ("GET /hello\r\n\r\n", 400),
            ("GET /hello HTTP/9.9\r\nHost: x\r\n\r\n", 505), ("GET /hello HTTP/0.9\r\nHost: x\r\n\r\n", 505),
            ("GET /hello HTTX/1.1\r\nHost: x\r\n\r\n", 400), ("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505),
            ("GET /hello HTTP/1.1\r\nno colon here\r\n\r\n", 400), ("GET /hello HTTP/1.1\r\n\r\n", 400),
            ("GET /hello HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n", 400),
            ("GET /hello HTTP/1.1\r\nHost: x\r\nBad name: y\r\n\r\n", 400),
            ("GET /hello HTTP/1.1\r\nHost: x\r\nContent-Length : 3\r\n\r\nabc", 400),
            ("GET /hello HTTP/1.1\r\nHost: x\r\n: y\r\n\r\n", 400),
            ("GET /hello HTTP/1.1\r\n: y\r\nHost: x\r\n\r\n", 400),
            ("GET /hello HTTP/1.1\r\nHost: x\r\nX-A: y\r\n folded\r\n\r\n", 400),
            ("GET /hello HTTP/1.1\r\nHost: x\r\nX-A: a\u{1}b\r\n\r\n", 400),
            ("GET /hello HTTP/1.1\nHost: x\n\n", 400),
            ("GET /hello HTTP/1.1\nHost: x\r\n\r\n", 400),
            ("GET /hello HTTP/1.1\r\nHost: x\nX-A: y\r\n\r\n", 400),
            ("GET /hello HTTP/1.1\r\nHost: x\r\n\n", 400),
            ("GET /hello HTTP/1.1\r\nHost: x\n\r\n", 400),
            ("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n", 400),
            ("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 3, 3\r\n\r\nabc", 400),
            ("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 0x3\r\n\r\nabc", 400),
            ("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: +3\r\n\r\nabc", 400),
            ("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd", 400),
            ("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
            ("POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\n\r\nabc", 400),
            ("POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", 400),
            ("POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n", 400),
            ("POST /echo HTTP/1.0\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
            ("POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nabc\r\n0\r\n\r\n", 400),
            ("POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabcdef\r\n0\r\n\r\n", 400),
            ("POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n", 413),
        ])
    func malformed(_ bytes: String, _ status: Int) async throws {
        try await withServer(routes: Self.routes) { server in
            let wire = try server.wire()
            wire.send(bytes)
            let answer = try wire.answer()
            #expect(answer.status == status)
            #expect(answer["Content-Type"] == "application/problem+json")
            #expect(answer["X-Content-Type-Options"] == "nosniff")
            #expect(answer["X-Request-Id"]?.isEmpty == false)
            #expect(answer["Connection"] == "close")
            #expect(answer.text.hasPrefix("{\"type\":\"http://gw.test/problems/"))
            #expect(answer.text.contains("\"status\":\(status),"))
            #expect(try wire.rest().isEmpty)
        }
    }

    @Test(
        "is not mistaken for that with fields that are empty, or end in blanks",
        arguments: [
            "Host: x \r\n", "Host: x\t \r\nX-A: y  \r\n", "Host: x\r\nX-A:\r\n", "Host: x\r\nX-A: \r\nX-B:  \r\n",
            "Host:x\r\nX-A:y\r\n", "X-A:   y z \r\nHost: x\r\nX-A:\r\n",
        ])
    func unusual(_ fields: String) async throws {
        try await withServer(routes: Self.routes) { server in
            let wire = try server.wire()
            for _ in 0..<2 {
                wire.send("GET /hello HTTP/1.1\r\n" + fields + "\r\n")
                #expect(try wire.answer().status == 200)
            }
        }
    }

    @Test("in a target is answered with 400, and the connection continues") func targets() async throws {
        let targets: [[UInt8]] = [
            Array("/a/b\u{1}c".utf8), Array("/a/b\u{7F}".utf8), Array("/a/b c".utf8),
            Array("/a/".utf8) + [0x62, 0, 0x63],
            Array("/a/%00".utf8), Array("/a/%0a".utf8), Array("/a/%".utf8), Array("/a/%ff".utf8),
            Array("/hello?a=%".utf8),
            Array("/hello?a=%ff".utf8), Array("hello".utf8), Array("*".utf8),
        ]
        try await withServer(routes: Self.routes) { server in
            let wire = try server.wire()
            for target in targets {
                wire.send(Array("GET ".utf8) + target + Array(" HTTP/1.1\r\nHost: x\r\n\r\n".utf8))
                let answer = try wire.answer()
                #expect(answer.status == (target == [0x2A] ? 404 : 400), "\(target)")
                #expect(answer["Content-Type"] == "application/problem+json")
            }
            let answer = try wire.ask("GET", "/hello")
            #expect(answer.text == "hello")
        }
    }

    @Test("too long a request line is 414, within and far beyond the memory for it") func longLine() async throws {
        try await withServer(routes: Self.routes) { server in
            let frame = "GET ".utf8.count + " HTTP/1.1".utf8.count
            let longest = 65_536 - frame - 1
            let wire = try server.wire()
            let fits = "/long/" + String(repeating: "a", count: longest - 6)
            let answer = try wire.ask("GET", fits)
            #expect(answer.text == "\(longest)")
            let again = try wire.ask("GET", fits)
            #expect(again.text == "\(longest)")
            for excess in [2, 1000, 100_000, 1_000_000] {
                let wire = try server.wire()
                wire.request("GET", fits + String(repeating: "a", count: excess))
                let answer = try wire.answer()
                #expect(answer.status == 414, "\(excess)")
                #expect(answer["Content-Type"] == "application/problem+json")
            }
        }
    }

    @Test("too much header is 431, in one field or in many") func longHeader() async throws {
        try await withServer(routes: Self.routes) { server in
            let wire = try server.wire()
            let fits = try wire.ask("GET", "/hello", ["X-A: " + String(repeating: "a", count: 65_000)])
            #expect(fits.status == 200)
            for length in [65_600, 70_000, 100_000, 1_000_000] {
                let wire = try server.wire()
                wire.request("GET", "/hello", ["X-A: " + String(repeating: "a", count: length)])
                let answer = try wire.answer()
                #expect(answer.status == 431, "\(length)")
                #expect(answer["Content-Type"] == "application/problem+json")
            }
            let many = try server.wire()
            many.request("GET", "/hello", (0..<10_000).map { "X-\($0): y" })
            #expect(try many.answer().status == 431)
        }
    }

    @Test("does not affect other clients when it is random") func randomBytes() async throws {
        try await withServer(routes: Self.routes) { server in
            var random = SeededGenerator()
            for _ in 0..<200 {
                let wire = try server.wire()
                let start = Bool.random(using: &random) ? "POST /echo HTTP/1.1\r\nHost: x\r\n" : ""
                let alphabet = Array("\r\n: /%;chunked0123456789aGETHTP.\u{0}\u{ff}".utf8)
                let bytes = (0..<Int.random(in: 1...400, using: &random)).map { _ in
                    alphabet.randomElement(using: &random) ?? 0
                }
                wire.send(Array(start.utf8) + bytes)
                wire.close()
            }
            let answer = try server.wire().ask("GET", "/hello")
            #expect(answer.text == "hello", "seed \(random.seed)")
        }
    }

}

@Suite("Hardening: slow clients") struct SlowClientTests {
    private static func routes(_ router: inout Router, _ loop: Loop) {
        router.add(.get, "/hello") { _ in .text("hello") }
        router.add(.get, "/large") { _ in
            Response(status: 200, body: .bytes([UInt8](repeating: 0x61, count: 30_000_000)))
        }
        router.add(.post, "/echo", body: .collected(limit: 100_000)) { request in
            Response(contentType: "text/plain", body: request.body.bytes)
        }
        router.add(.post, "/stream", body: .streamed(limit: 100_000)) { request in
            for try await _ in request.body {}
            return .empty()
        }
    }

    private static func options(_ change: (inout ServerOptions) -> Void) -> ServerOptions {
        var options = ServerOptions()
        change(&options)
        return options
    }

    @Test("with a header that never ends get 408, however diligently it drips") func drippingHeader() async throws {
        let options = Self.options { $0.deadlines.header = .milliseconds(200) }
        try await withServer(options: options, routes: Self.routes) { server in
            for start in ["GET /hello HTTP/1.1\r\nHost: x\r\n", "GET /hel"] {
                let wire = try server.wire()
                wire.send(start)
                // The pauses only slow the client down. The server decides when to close.
                while wire.send("X") == 1 { usleep(10_000) }
                let answer = try server.wire().ask("GET", "/hello")
                #expect(answer.text == "hello")
            }
            let silent = try server.wire()
            silent.send("GET /hello HTTP/1.1\r\nHost: x\r\n")
            let answer = try silent.answer()
            #expect(answer.status == 408)
            #expect(answer["Content-Type"] == "application/problem+json")
        }
    }

    @Test("that send nothing are closed without a response") func silentConnection() async throws {
        let options = Self.options { $0.deadlines.header = .milliseconds(50) }
        try await withAsyncServer(options: options, routes: Self.routes) { server in
            try await blocking {
                let wire = try server.wire()
                #expect(try wire.rest().isEmpty)
            }
            #expect(await server.server.metrics.timedOut == 1)
        }
    }

    @Test("that come back too late find their connection closed") func idleConnection() async throws {
        let options = Self.options { $0.deadlines.keepAliveIdle = .milliseconds(50) }
        try await withServer(options: options, routes: Self.routes) { server in
            let wire = try server.wire()
            let answer = try wire.ask("GET", "/hello")
            #expect(answer.text == "hello")
            #expect(try wire.rest().isEmpty)
        }
    }

    @Test("with a body that stops get 408", arguments: ["/echo", "/stream"])
    func stalledBody(_ path: String) async throws {
        let options = Self.options { $0.deadlines.bodyIdle = .milliseconds(100) }
        try await withServer(options: options, routes: Self.routes) { server in
            let wire = try server.wire()
            wire.send("POST \(path) HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc")
            let answer = try wire.answer()
            #expect(answer.status == 408)
            #expect(try wire.rest().isEmpty)
        }
    }

    @Test("with a body that drips get 408") func drippingBody() async throws {
        let options = Self.options {
            $0.deadlines.bodyGrace = .milliseconds(100)
            $0.deadlines.bodyMinimumRate = 100_000
        }
        try await withServer(options: options, routes: Self.routes) { server in
            let wire = try server.wire()
            wire.send("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 50000\r\n\r\n")
            for _ in 0..<40 where wire.send("x") == 1 { usleep(10_000) }
            let answer = try wire.answer()
            #expect(answer.status == 408)
        }
    }

    @Test("that do not read their answer are cut") func unreadAnswer() async throws {
        let options = Self.options { $0.deadlines.replyIdle = .milliseconds(100) }
        try await withAsyncServer(options: options, routes: Self.routes) { server in
            let wire = try server.wire(receiveBuffer: 4096)
            try await blocking {
                wire.request("GET", "/large")
                _ = try wire.head()
            }
            // Reads nothing until the server has given up. Then the bytes in flight arrive, followed by the end.
            await waitUntil { await server.server.metrics.connections == 0 }
            #expect(await server.server.metrics.timedOut == 1)
            try await blocking {
                let rest = try wire.rest()
                #expect(rest.count < 30_000_000)
            }
        }
    }

    @Test("are closed for new ones at the connection limit") func eviction() async throws {
        let options = Self.options { $0.limits.connections = 20 }
        try await withAsyncServer(options: options, routes: Self.routes) { server in
            try await blocking {
                let slow = try (0..<200).map { _ in
                    let wire = try server.wire()
                    wire.send("GET /hello HTTP/1.1\r\nHost: x\r\nX-A: ")
                    return wire
                }
                let answer = try server.wire().ask("GET", "/hello")
                #expect(answer.text == "hello")
                #expect(slow.count == 200)
            }
            #expect(await server.server.metrics.refused >= 180)
        }
    }

    @Test("do not displace active ones: the new client gets 503") func allAtWork() async throws {
        let gate = Latch()
        let waiting = Observed(0)
        let options = Self.options { $0.limits.connections = 3 }
        try await withServer(options: options) { router, _ in
            router.add(.get, "/wait") { _ in
                waiting.update { $0 += 1 }
                await gate.pass()
                return .text("done")
            }
        } body: { server in
            let atWork = try (0..<3).map { _ in
                let wire = try server.wire()
                wire.request("GET", "/wait")
                return wire
            }
            waiting.waitBlocking { $0 == 3 }
            let rejectedConnections = try server.wire().answer()
            #expect(rejectedConnections.status == 503)
            #expect(rejectedConnections["Retry-After"] == "1")
            gate.open()
            for wire in atWork { #expect(try wire.answer().text == "done") }
        }
    }

    @Test("of one address are limited") func perAddress() async throws {
        let options = Self.options { $0.limits.connectionsPerAddress = 2 }
        try await withServer(options: options, routes: Self.routes) { server in
            let first = try server.wire()
            let second = try server.wire()
            #expect(try first.ask("GET", "/hello").status == 200)
            #expect(try second.ask("GET", "/hello").status == 200)
            #expect(try server.wire().answer().status == 503)
            first.close()
            second.close()
            // The slots are free as soon as the server has noticed the closed connections.
            var status = 503
            for _ in 0..<500 where status == 503 {
                let wire = try server.wire()
                status = try wire.ask("GET", "/hello").status
            }
            #expect(status == 200)
        }
    }
}
