import Glibc
import HTTPServer
import TestSupport
import Testing

@Suite("An exchange") struct ExchangeTests {
    private static func routes(_ router: inout Router, _ loop: Loop) {
        router.add(.get, "/hello") { _ in .text("hello") }
        router.add(.get, "/at-once", handler: Handler(starting: { _ in .now(.text(Self.taskName)) }))
        router.add(.get, "/in-a-task", handler: Handler(starting: { _ in .later { .text(Self.taskName) } }))
        router.add(
            .get, "/fails-at-once",
            handler: Handler(starting: { _ in
                throw Problem(status: 403, code: "closed", title: "Closed")
            }))
        router.add(.get, "/fixed") { _ in Response(status: 200, body: .fixed(StaticBytes("fixed text"))) }
        router.add(.get, "/later") { request in
            await ExchangeTests.otherThread()
            return .text("later " + (request.query["n"] ?? ""))
        }
        router.add(.get, "/target") { .text($0.target) }
        router.add(.get, "/echo/{text}") { .text($0.parameters["text"] ?? "") }
        router.add(.get, "/secure") { .text("\($0.isSecure) \($0.isLoopback) \($0.remoteAddress)") }
        router.add(.get, "/unchanged") { request in
            let body = request.query.items.isEmpty ? [] : Array("whole".utf8)
            return Response(status: 304, headers: [("ETag", "\"x\"")], body: body.isEmpty ? .empty : .bytes(body))
        }
        router.add(.get, "/split") { _ in
            Response(status: 200, headers: [("X-A", "a\r\nX-Evil: 1"), ("X-B", "b\u{0}c"), ("X-C", "fine")])
        }
        router.add(.get, "/field/{at}/{byte}") { request in
            var value = Array("0123456789abcdefghij".utf8)
            value[Int(request.parameters["at"]!)!] = UInt8(request.parameters["byte"]!)!
            return Response(status: 200, headers: [("X-Value", String(decoding: value, as: UTF8.self))])
        }
        router.add(.get, "/fails") { _ in throw Gone(secret: "database at 10.0.0.7") }
        router.add(.get, "/pieces") { request in
            let count = Int(request.query["n"] ?? "") ?? 3
            return Response(status: 200, body: .pieces(Counting(count: count, failsAt: nil)))
        }
        router.add(.get, "/broken-pieces") { _ in
            Response(status: 200, body: .pieces(Counting(count: 5, failsAt: 3)))
        }
    }

    struct Gone: Error { let secret: String }

    private static var taskName: String { withUnsafeCurrentTask { $0 == nil ? "no task" : "a task" } }

    /// Suspends the caller until a task on another thread has run.
    private static func otherThread() async { await Task.detached {}.value }

    /// Yields `0 1 2 …`, each number as its own chunk.
    struct Counting: AsyncSequence, Sendable {
        typealias Element = [UInt8]
        let count: Int
        let failsAt: Int?

        func makeAsyncIterator() -> Iterator { Iterator(counting: self) }

        struct Iterator: AsyncIteratorProtocol {
            let counting: Counting
            var next = 0

            mutating func next() async throws -> [UInt8]? {
                if next == counting.failsAt { throw Gone(secret: "x") }
                if next % 2 == 1 { await ExchangeTests.otherThread() }
                guard next < counting.count else { return nil }
                defer { next += 1 }
                return Array("\(next) ".utf8)
            }
        }
    }

    @Test("keeps the connection over many requests, waiting or not") func keepAlive() async throws {
        try await withServer(routes: Self.routes) { server in
            let wire = try server.wire()
            for number in 0..<20 {
                #expect(try wire.ask("GET", "/hello").text == "hello")
                #expect(try wire.ask("GET", "/later?n=\(number)").text == "later \(number)")
                #expect(try wire.ask("GET", "/nowhere").status == 404)
            }
        }
    }

    @Test("creates a task only for a handler that does not respond at once") func atOnce() async throws {
        try await withServer(routes: Self.routes) { server in
            let wire = try server.wire()
            #expect(try wire.ask("GET", "/at-once").text == "no task")
            #expect(try wire.ask("GET", "/in-a-task").text == "a task")
            #expect(try wire.ask("GET", "/fails-at-once").status == 403)
            #expect(try wire.ask("GET", "/at-once").text == "no task")
        }
    }

    @Test("answers all requests that arrived while the loop was busy, completely, on continuing connections")
    func answeredTogether() async throws {
        try await withAsyncServer(routes: Self.routes) { server in
            let wires = try (0..<100).map { _ in try server.wire() }
            await server.onLoop {
                for (number, wire) in wires.enumerated() {
                    let path = ["/pieces?n=50", "/later?n=\(number)", "/echo/\(number)"][number % 3]
                    wire.send("GET \(path) HTTP/1.1\r\nHost: x\r\n\r\n")
                }
            }
            try await blocking {
                for (number, wire) in wires.enumerated() {
                    let text = try wire.answer().text
                    switch number % 3 {
                    case 0: #expect(text.hasSuffix("48 49 "))
                    case 1: #expect(text == "later \(number)")
                    default: #expect(text == "\(number)")
                    }
                    #expect(try wire.ask("GET", "/hello").text == "hello")
                }
            }
        }
    }

    @Test("adds an id, nosniff and a date, and names no software") func standardFields() async throws {
        try await withServer(routes: Self.routes) { server in
            let wire = try server.wire()
            let own = try wire.ask("GET", "/hello", ["X-Request-Id: mine-1"])
            #expect(own["X-Request-Id"] == "mine-1")
            #expect(own["X-Content-Type-Options"] == "nosniff")
            #expect(own["Date"]?.hasSuffix(" GMT") == true)
            #expect(own["Server"] == nil)
            let made = try wire.ask("GET", "/hello", ["X-Request-Id: no good"])
            #expect(made["X-Request-Id"]?.hasPrefix("req_") == true)
            let another = try wire.ask("GET", "/hello")
            #expect(another["X-Request-Id"] != made["X-Request-Id"])
        }
    }

    @Test("answers pipelined requests in order") func pipelining() async throws {
        try await withServer(routes: Self.routes) { server in
            let wire = try server.wire()
            wire.send(
                (0..<10).map { "GET \($0 % 2 == 0 ? "/later?n=\($0)" : "/hello") HTTP/1.1\r\nHost: x\r\n\r\n" }.joined()
            )
            for number in 0..<10 {
                #expect(try wire.answer().text == (number % 2 == 0 ? "later \(number)" : "hello"))
            }
        }
    }

    @Test("leaves the body out of HEAD") func head() async throws {
        try await withServer(routes: Self.routes) { server in
            let wire = try server.wire()
            let answer = try wire.ask("HEAD", "/hello")
            #expect(answer.status == 200)
            #expect(answer["Content-Length"] == "5")
            #expect(try wire.ask("GET", "/fixed").text == "fixed text")
            #expect(try wire.ask("HEAD", "/pieces").status == 200)
            #expect(try wire.rest().isEmpty)
        }
    }

    @Test("answers 304 without inventing a length") func notModified() async throws {
        try await withServer(routes: Self.routes) { server in
            let wire = try server.wire()
            let known = try wire.ask("GET", "/unchanged?body")
            #expect(known.status == 304)
            #expect(known["ETag"] == "\"x\"")
            #expect(known["Content-Length"] == "5")
            #expect(try wire.ask("GET", "/hello").text == "hello")
            #expect(try wire.ask("GET", "/unchanged")["Content-Length"] == nil)
            #expect(try wire.rest().isEmpty)
        }
    }

    @Test("speaks HTTP/1.0, closing unless asked not to") func http10() async throws {
        try await withServer(routes: Self.routes) { server in
            let closing = try server.wire()
            closing.send("GET /hello HTTP/1.0\r\n\r\n")
            let answer = try closing.answer()
            #expect(answer["Connection"] == "close")
            #expect(try closing.rest().isEmpty)
            let staying = try server.wire()
            for _ in 0..<2 {
                staying.send("GET /hello HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
                #expect(try staying.answer().text == "hello")
            }
            for count in 1...4 {
                let pieces = try server.wire()
                pieces.send("GET /pieces?n=\(count) HTTP/1.0\r\n\r\n")
                #expect(try pieces.answer().text == (0..<count).map { "\($0) " }.joined())
            }
        }
    }

    @Test("may have as many parameters as fit into its line") func manyParameters() async throws {
        try await withServer(routes: Self.routes) { server in
            let wire = try server.wire()
            for _ in 0..<2 {
                let many = String(repeating: "a&", count: 10_000)
                #expect(try wire.ask("GET", "/later?\(many)n=7").text == "later 7")
                #expect(try wire.ask("GET", "/hello").text == "hello")
            }
        }
    }

    @Test("shows a target as it was sent") func rawTarget() async throws {
        try await withServer(routes: Self.routes) { server in
            let wire = try server.wire()
            #expect(try wire.ask("GET", "/target?a=%2F&b=+%41").text == "/target?a=%2F&b=+%41")
            #expect(try wire.ask("GET", "/echo/a%2Fb%25").text == "a/b%")
            #expect(try wire.ask("GET", "http://test/hello").text == "hello")
            #expect(try wire.ask("GET", "/secure").text == "false true 127.0.0.1")
        }
    }

    @Test("drops a header field with a CR, LF or NUL at any place, and sends other control characters")
    func forbiddenBytes() async throws {
        try await withServer(routes: Self.routes) { server in
            let wire = try server.wire()
            for place in 0..<20 {
                for (byte, isSent) in [(0, false), (10, false), (13, false), (1, true), (11, true), (14, true)] {
                    let answer = try wire.ask("GET", "/field/\(place)/\(byte)")
                    #expect((answer["X-Value"] != nil) == isSent, "byte \(byte) at \(place)")
                }
            }
        }
    }

    @Test("drops header fields that would split the header, and logs that") func splitHeader() async throws {
        try await withServer(routes: Self.routes) { server in
            let answer = try server.wire().ask("GET", "/split")
            #expect(answer["X-C"] == "fine")
            #expect(answer["X-A"] == nil)
            #expect(answer["X-B"] == nil)
            #expect(answer["X-Evil"] == nil)
            #expect(server.log.all.contains { $0.hasPrefix("error left an invalid header field out of a response") })
        }
    }

    @Test("keeps an unknown error's text in the log") func internalError() async throws {
        try await withServer(routes: Self.routes) { server in
            let answer = try server.wire().ask("GET", "/fails")
            #expect(answer.status == 500)
            #expect(answer["Content-Type"] == "application/problem+json")
            #expect(!answer.text.contains("10.0.0.7"))
            let id = try #require(answer["X-Request-Id"])
            #expect(server.log.all.contains { $0.contains("10.0.0.7") && $0.contains(id) })
        }
    }

    @Test("sends a body piece by piece and keeps the connection") func pieces() async throws {
        try await withServer(routes: Self.routes) { server in
            let wire = try server.wire()
            #expect(try wire.ask("GET", "/pieces").text == "0 1 2 ")
            let long = try wire.ask("GET", "/pieces?n=4000").text
            #expect(long == (0..<4000).map { "\($0) " }.joined())
            #expect(try wire.ask("GET", "/hello").text == "hello")
        }
    }

    @Test("cuts the connection when a body breaks off") func brokenPieces() async throws {
        try await withServer(routes: Self.routes) { server in
            let wire = try server.wire()
            wire.request("GET", "/broken-pieces")
            let rest = try wire.rest()
            #expect(String(decoding: rest, as: UTF8.self).hasSuffix("\r\n2\r\n2 \r\n"))
            #expect(server.log.all.contains { $0.contains("cannot complete a response") })
        }
    }

    @Test("asks for the next piece only when the client has room") func pieceBackPressure() async throws {
        let made = Observed(0)
        try await withServer { router, _ in
            router.add(.get, "/hello") { _ in .text("hello") }
            router.add(.get, "/endless") { _ in
                let endless = AsyncStream<[UInt8]>(unfolding: {
                    made.update { $0 += 1 }
                    return [UInt8](repeating: 0x61, count: 64 * 1024)
                })
                return Response(status: 200, body: .pieces(endless))
            }
        } body: { server in
            let wire = try server.wire(receiveBuffer: 4096)
            wire.request("GET", "/endless")
            _ = try wire.take(100_000)
            // Only as much as the kernel's buffers hold: the rest of "endless" is never produced. Each response on the
            // other connection is an iteration of the loop in which more could have been produced.
            let other = try server.wire()
            var last = -1
            while last != made.value {
                last = made.value
                for _ in 0..<20 { #expect(try other.ask("GET", "/hello").text == "hello") }
            }
            #expect(made.value < 200)
            wire.reset()
        }
    }

    @Test("cancels the handler when the client goes") func clientGone() async throws {
        let cancelled = Observed(0)
        let started = Observed(0)
        try await withServer { router, _ in
            router.add(.get, "/wait") { _ in
                started.update { $0 += 1 }
                // Ends only with the cancellation of the task.
                let (never, end) = AsyncStream.makeStream(of: Never.self)
                for await _ in never {}
                end.finish()
                cancelled.update { $0 += 1 }
                throw CancellationError()
            }
        } body: { server in
            let leaving = try server.wire()
            leaving.request("GET", "/wait")
            started.waitBlocking { $0 == 1 }
            leaving.close()
            cancelled.waitBlocking { $0 == 1 }
            let resetting = try server.wire()
            resetting.request("GET", "/wait")
            started.waitBlocking { $0 == 2 }
            resetting.reset()
            cancelled.waitBlocking { $0 == 2 }
        }
    }

    @Test("serves many waiting requests at once") func manyWaiting() async throws {
        let gate = Latch()
        let waiting = Observed(0)
        try await withServer { router, _ in
            router.add(.get, "/gate") { _ in
                waiting.update { $0 += 1 }
                await gate.pass()
                return .text("through")
            }
        } body: { server in
            let wires = try (0..<300).map { _ in try server.wire() }
            for wire in wires { wire.request("GET", "/gate") }
            waiting.waitBlocking { $0 == 300 }
            gate.open()
            for wire in wires { #expect(try wire.answer().text == "through") }
        }
    }

    @Test("lets handlers on an actor of the loop finish without suspending the connection") func loopActor()
        async throws
    {
        try await withAsyncServer { router, loop in
            let counter = LoopCounter(loop: loop)
            router.add(.get, "/count") { _ in .text("\(await counter.next())") }
        } body: { server in
            try await blocking {
                let wire = try server.wire()
                for number in 1...50 { #expect(try wire.ask("GET", "/count").text == "\(number)") }
            }
            #expect(await server.server.metrics.resumes == 0)
        }
    }

    @Test("reports to the observer and counts") func observerAndMetrics() async throws {
        let outcomes = Observed<[String]>([])
        try await withAsyncServer { router, loop in
            Self.routes(&router, loop)
            router.observer = { outcome in
                let pattern = outcome.pattern?.description ?? "-"
                outcomes.update { $0.append("\(outcome.method) \(pattern) \(outcome.status) \(outcome.bodyBytes)") }
            }
        } body: { server in
            try await blocking {
                let wire = try server.wire()
                _ = try wire.ask("GET", "/hello")
                _ = try wire.ask("GET", "/echo/abc")
                _ = try wire.ask("POST", "/hello", body: [1])
            }
            let metrics = await server.server.metrics
            #expect(metrics.requests == 3)
            #expect(metrics.accepted == 1)
            #expect(metrics.requestsInFlight == 0)
            #expect(metrics.bodyBytesReceived == 1)
            let seen = outcomes.value
            #expect(seen.prefix(2) == ["GET /hello 200 5", "GET /echo/{text} 200 3"])
            #expect(seen.last?.hasPrefix("POST /hello 405") == true)
        }
    }
}

actor LoopCounter {
    private let loop: Loop
    private var number = 0

    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    init(loop: Loop) { self.loop = loop }

    func next() -> Int {
        number += 1
        return number
    }
}
