import HTTPServer
import TestSupport
import Testing

/// The operations of requests that wait, in the order of the requests. A test ends them one by one.
private final class Operations: Sendable {
    private let waiting = Observed<[@Sendable () -> Void]>([])

    /// Waits until this number of operations have begun.
    func wait(for count: Int) { waiting.waitBlocking { $0.count >= count } }

    var count: Int { waiting.value.count }

    func end(_ index: Int) { waiting.value[index]() }

    func reply(isShort: Bool = true, _ conclude: @escaping @Sendable () throws -> Handler.Reply) -> Handler.Reply {
        .after({ completed in self.waiting.update { $0.append(completed) } }, isShort: isShort, conclude: conclude)
    }
}

@Suite("A request that waits for an operation with a short response") struct DetachedRequestTests {
    private static func routes(_ operations: Operations) -> (inout Router, Loop) -> Void {
        { router, loop in
            func add(_ method: HTTPMethod, _ path: RoutePattern, _ reply: @escaping @Sendable () -> Handler.Reply) {
                let body: BodyPolicy = method == .post ? .collected(limit: 1024) : .none
                router.add(method, path, body: body, handler: Handler(starting: { _ in reply() }))
            }
            add(.get, "/now") { .now(.text("now")) }
            for method in [HTTPMethod.get, .post] {
                add(method, "/wait") { operations.reply { .now(.text("done")) } }
            }
            add(.get, "/problem") {
                operations.reply { throw Problem(status: 409, code: "taken", title: "Taken") }
            }
            add(.get, "/task") { operations.reply { .later { .text("in a task") } } }
            // `Exchange.ready` runs at most 16 jobs of the loop, so the request is detached before its reply is made.
            add(.get, "/gap") {
                .after(
                    { completed in
                        for _ in 0..<16 { loop.post {} }
                        completed()
                    }, isShort: true, conclude: { .now(.text("after a gap")) })
            }
            add(.get, "/huge") { .now(.text(String(repeating: "x", count: 300_000))) }
            add(.get, "/long") { operations.reply { .now(.text(String(repeating: "x", count: 8000))) } }
        }
    }

    @Test("gets its response, and so do the next requests of the connection")
    func responses() async throws {
        let operations = Operations()
        try await withServer(routes: Self.routes(operations)) { server in
            let wire = try server.wire()
            let cases = [
                ("GET", "/wait", 200, "done"), ("POST", "/wait", 200, "done"), ("GET", "/task", 200, "in a task"),
                ("GET", "/problem", 409, nil), ("GET", "/long", 200, String(repeating: "x", count: 8000)),
            ]
            for (index, (method, path, status, text)) in cases.enumerated() {
                wire.request(method, path, body: method == "POST" ? Array("{}".utf8) : [])
                operations.wait(for: index + 1)
                operations.end(index)
                let answer = try wire.answer()
                #expect(answer.status == status)
                if let text { #expect(answer.text == text) }
                #expect(try wire.ask("GET", "/now").text == "now")
            }
        }
    }

    @Test("gets its response before the next request is processed", arguments: [false, true])
    func order(_ isPipelined: Bool) async throws {
        let operations = Operations()
        try await withServer(routes: Self.routes(operations)) { server in
            let wire = try server.wire()
            let first = "GET /wait HTTP/1.1\r\nHost: x\r\n\r\n"
            let others = "GET /now HTTP/1.1\r\nHost: x\r\n\r\nGET /wait HTTP/1.1\r\nHost: x\r\n\r\n"
            if isPipelined {
                wire.send(first + others)
                operations.wait(for: 1)
            } else {
                wire.send(first)
                operations.wait(for: 1)
                wire.send(others)
                // The server has processed the bytes above before it responds here.
                #expect(try server.wire().ask("GET", "/now").text == "now")
            }
            operations.end(0)
            #expect(try wire.answer().text == "done")
            #expect(try wire.answer().text == "now")
            operations.wait(for: 2)
            operations.end(1)
            #expect(try wire.answer().text == "done")
        }
    }

    @Test("does not drop a later response if its own is sent before the library writes the placeholder")
    func placeholder() async throws {
        try await withServer(routes: Self.routes(Operations())) { server in
            for count in 1...4 {
                let wire = try server.wire()
                let now = String(repeating: "GET /now HTTP/1.1\r\nHost: x\r\n\r\n", count: count)
                wire.send(now + "GET /gap HTTP/1.1\r\nHost: x\r\n\r\n")
                for _ in 0..<count { #expect(try wire.answer().text == "now") }
                #expect(try wire.answer().text == "after a gap")
                #expect(try wire.ask("GET", "/huge").text.utf8.count == 300_000)
            }
        }
    }

    @Test("gets its response if the client has closed its side")
    func halfClosed() async throws {
        let operations = Operations()
        try await withServer(routes: Self.routes(operations)) { server in
            let wire = try server.wire()
            wire.request("GET", "/wait")
            operations.wait(for: 1)
            wire.closeWriting()
            #expect(try server.wire().ask("GET", "/now").text == "now")
            operations.end(0)
            #expect(try wire.answer().text == "done")
            #expect(try wire.rest().isEmpty)
        }
    }

    @Test("ends with its connection, and affects no other one", arguments: [false, true])
    func clientLeft(_ isReset: Bool) async throws {
        let operations = Operations()
        try await withServer(routes: Self.routes(operations)) { server in
            let leaving = try server.wire()
            leaving.request("GET", "/task")
            operations.wait(for: 1)
            isReset ? leaving.reset() : leaving.close()
            let staying = try server.wire()
            staying.request("GET", "/wait")
            operations.wait(for: 2)
            operations.end(0)
            operations.end(1)
            #expect(try staying.answer().text == "done")
            #expect(try staying.ask("GET", "/now").text == "now")
        }
    }

    @Test("gets its response while the server drains, and the connection then ends")
    func draining() async throws {
        let operations = Operations()
        let isDraining = Observed(false)
        let onDrain: @Sendable () async -> Void = { isDraining.update { $0 = true } }
        let wire = Observed<Wire?>(nil)
        try await withServer(onDrain: onDrain, routes: Self.routes(operations)) { server in
            let open = try server.wire()
            open.request("GET", "/wait")
            operations.wait(for: 1)
            wire.update { $0 = open }
            // Ends after the server has begun to stop, when this closure has returned.
            Task.detached {
                _ = await isDraining.wait { $0 }
                operations.end(0)
            }
        }
        let open = try #require(wire.value)
        let answer = try open.answer()
        #expect(answer.text == "done")
        #expect(answer["Connection"] == "close")
        #expect(try open.rest().isEmpty)
    }

    @Test("ends without a response if the server stops first, also if its operation ends later")
    func overdue() async throws {
        let operations = Operations()
        var options = ServerOptions()
        options.deadlines.drain = .milliseconds(50)
        let wire = Observed<Wire?>(nil)
        try await withServer(options: options, routes: Self.routes(operations)) { server in
            for path in ["/wait", "/task"] {
                let open = try server.wire()
                open.request("GET", path)
                wire.update { $0 = open }
            }
            operations.wait(for: 2)
        }
        let open = try #require(wire.value)
        #expect(try open.rest().isEmpty)
        operations.end(0)
        operations.end(1)
    }

    @Test("gets its response if the connection closes after it", arguments: ["1.0", "1.1"])
    func lastRequest(_ version: String) async throws {
        let operations = Operations()
        try await withServer(routes: Self.routes(operations)) { server in
            let wire = try server.wire()
            wire.request("GET", "/wait", ["Connection: close"], version: version)
            operations.wait(for: 1)
            operations.end(0)
            #expect(try wire.answer().text == "done")
            #expect(try wire.rest().isEmpty)
        }
    }
}
