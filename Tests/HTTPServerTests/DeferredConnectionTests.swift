import HTTPServer
import TestSupport
import Testing

/// The connection of a client after the response to its deferred request.
@Suite("Connections with deferred responses", .timeLimit(.minutes(2))) struct DeferredConnectionTests {
    @Test("are closed when the client sends no further request for the idle time")
    func idle() async throws {
        var options = ServerOptions()
        options.deadlines.keepAliveIdle = .milliseconds(100)
        try await withWaiting(options: options) { waiting in
            let wire = try waiting.server.wire()
            wire.request("GET", "/late")
            #expect(await waiting.hasParked(1))
            await waiting.complete(0, .text("late"))
            #expect(try wire.answer().text == "late")
            #expect(try wire.rest().isEmpty)
            #expect(await waitUntil { await waiting.server.server.metrics.connections == 0 })
            #expect(await waiting.server.server.metrics.timedOut == 1)
            #expect(heldConnections(port: waiting.server.port) == 0)
        }
    }

    @Test("accept a next request whose client then closes its side")
    func halfClose() async throws {
        try await withWaiting { waiting in
            let wire = try waiting.server.wire()
            wire.request("GET", "/late")
            #expect(await waiting.hasParked(1))
            await waiting.complete(0, .text("late"))
            #expect(try wire.answer().text == "late")
            wire.request("GET", "/hello")
            wire.closeWriting()
            #expect(try wire.answer().text == "hello")
            #expect(await waitUntil { heldConnections(port: waiting.server.port) == 0 })
        }
    }

    @Test("do not wait for a client that sends its next request and leaves at once")
    func leavesWithRequest() async throws {
        try await withWaiting { waiting in
            for _ in 0..<20 {
                let wire = try waiting.server.wire()
                wire.request("GET", "/late")
                #expect(await waiting.hasParked(1))
                await waiting.complete(waiting.replies.value.count - 1, .text("late"))
                #expect(try wire.answer().text == "late")
                wire.request("GET", "/late")
                wire.closeWriting()
                #expect(await waitUntil { heldConnections(port: waiting.server.port) == 0 })
            }
        }
    }

    @Test("lose no part of a request that arrives in pieces after an earlier response")
    func pieces() async throws {
        try await withWaiting { waiting in
            let wire = try waiting.server.wire()
            for round in 0..<3 {
                wire.send("GET /late HTTP/1.1\r\n")
                #expect(await waitUntil { await waiting.server.server.metrics.connections == 1 })
                wire.send("Host: x\r\n")
                wire.send("\r\n")
                #expect(await waiting.hasParked(1))
                await waiting.complete(round, .text("round \(round)"))
                #expect(try wire.answer().text == "round \(round)")
            }
            wire.send("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\na")
            wire.send("bc")
            #expect(try wire.answer().text == "abc")
            wire.send("GET /late HTTP/1.1\r\nHost: x\r\n\r\n")
            #expect(await waiting.hasParked(1))
            await waiting.complete(3, .text("last"))
            #expect(try wire.answer().text == "last")
        }
    }

    @Test("carry other requests in between")
    func mixed() async throws {
        try await withWaiting { waiting in
            let wire = try waiting.server.wire()
            for round in 0..<20 {
                wire.request("GET", "/late")
                #expect(await waiting.hasParked(1))
                await waiting.complete(round, .text("late"))
                #expect(try wire.answer().text == "late")
                for _ in 0..<(round % 3) { #expect(try wire.ask("GET", "/hello").text == "hello") }
            }
            #expect(await waiting.server.server.metrics.accepted == 1)
            #expect(await waiting.server.server.metrics.connections == 1)
            wire.close()
            #expect(await waitUntil { heldConnections(port: waiting.server.port) == 0 })
        }
    }

    @Test("end when the client leaves while a task handles its next request", arguments: [false, true])
    func leavesWhileHandled(_ sendsMore: Bool) async throws {
        let gate = Latch()
        let entered = Observed(0)
        let left = Observed(0)
        try await withWaiting(adjust: { router in
            router.add(.get, "/slow") { _ in
                entered.update { $0 += 1 }
                await withTaskCancellationHandler {
                    await gate.pass()
                } onCancel: {
                    left.update { $0 += 1 }
                }
                return .text("slow")
            }
        }) { waiting in
            let wire = try waiting.server.wire()
            wire.request("GET", "/late")
            #expect(await waiting.hasParked(1))
            await waiting.complete(0, .text("late"))
            #expect(try wire.answer().text == "late")
            wire.request("GET", "/slow")
            entered.waitBlocking { $0 == 1 }
            // The request is suspended one turn later. Only then does its task learn of the end.
            await waiting.server.onLoop {}
            if sendsMore { wire.send("GET /hello HTTP/1.1\r\nHost: x\r\n\r\n") }
            await waiting.server.onLoop {}
            wire.closeWriting()
            left.waitBlocking { $0 == 1 }
            gate.open()
            #expect(await waitUntil { heldConnections(port: waiting.server.port) == 0 })
        }
    }

    @Test("end at once when the client leaves after the response")
    func leavesAfterwards() async throws {
        try await withWaiting { waiting in
            let wires = try (0..<20).map { _ in try waiting.server.wire() }
            for wire in wires { wire.request("GET", "/late") }
            #expect(await waiting.hasParked(20))
            for index in wires.indices { await waiting.complete(index, .text("late")) }
            for wire in wires { #expect(try wire.answer().text == "late") }
            for (index, wire) in wires.enumerated() { index % 2 == 0 ? wire.close() : wire.reset() }
            #expect(await waitUntil { await waiting.server.server.metrics.connections == 0 })
            #expect(heldConnections(port: waiting.server.port) == 0)
            #expect(waiting.gone.value == 0)
        }
    }

    @Test("without a further request are closed when the server stops")
    func drainIdle() async throws {
        let wires = Observed<[Wire]>([])
        try await withWaiting { waiting in
            let opened = try (0..<3).map { _ in try waiting.server.wire() }
            wires.update { $0 = opened }
            for wire in opened { wire.request("GET", "/late") }
            #expect(await waiting.hasParked(3))
            for index in opened.indices { await waiting.complete(index, .text("late")) }
            for wire in opened { #expect(try wire.answer().text == "late") }
        }
        for wire in wires.value { #expect(try wire.rest().isEmpty) }
    }

    @Test("get the header fields of their own response")
    func headers() async throws {
        try await withWaiting { waiting in
            let wires = try (0..<4).map { _ in try waiting.server.wire() }
            for (index, wire) in wires.enumerated() {
                wire.request("GET", "/late", ["X-Request-Id: id-\(index)"])
                #expect(waiting.hasOpened(index + 1))
            }
            #expect(await waiting.hasParked(4))
            for index in wires.indices {
                var response = Response.text(index == 3 ? "longer" : "same", status: index == 2 ? 201 : 200)
                if index == 1 { response.headers.append(("X-Own", "1")) }
                await waiting.complete(index, response)
            }
            for (index, wire) in wires.enumerated() {
                let answer = try wire.answer()
                #expect(answer["X-Request-Id"] == "id-\(index)")
                #expect(answer.status == (index == 2 ? 201 : 200))
                #expect(answer["X-Own"] == (index == 1 ? "1" : nil))
                #expect(answer.text == (index == 3 ? "longer" : "same"))
            }
        }
    }
}
