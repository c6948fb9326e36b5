import Glibc
import HTTPServer
import TestSupport
import Testing

/// A server that answers `/deferred` when the test says so.
struct Waiting: Sendable {
    let server: Fixture
    let replies: Observed<[DeferredResponse]>
    let gone: Observed<Int>

    func hasOpened(_ count: Int) -> Bool { replies.waitBlocking { $0.count == count } }

    /// Waits until `count` connections have been taken over from the HTTP library.
    func hasParked(_ count: Int) async -> Bool {
        await waitUntil { await server.server.metrics.suspended == count }
    }

    func complete(_ index: Int, _ response: Response) async {
        await server.onLoop { [replies] in replies.value[index].complete(response) }
    }
}

func withWaiting(
    options: ServerOptions = ServerOptions(), cors: CORSPolicy = CORSPolicy(),
    onDrain: @escaping @Sendable ([DeferredResponse], Loop) async -> Void = { _, _ in },
    adjust: (inout Router) -> Void = { _ in }, body: @escaping @Sendable (Waiting) async throws -> Void
) async throws {
    let replies = Observed<[DeferredResponse]>([])
    let gone = Observed(0)
    let loops = Observed<[Loop]>([])
    try await withAsyncServer(
        options: options, cors: cors, onDrain: { await onDrain(replies.value, loops.value[0]) }
    ) { router, loop in
        loops.update { $0 = [loop] }
        router.add(.get, "/late") { _ in
            .deferred(
                DeferredStart { reply in
                    reply.onDisconnect { gone.update { $0 += 1 } }
                    replies.update { $0.append(reply) }
                })
        }
        router.add(.get, "/hello") { _ in .text("hello") }
        router.add(.post, "/echo", body: .collected(limit: 1024)) {
            .text(String(decoding: $0.body.bytes, as: UTF8.self))
        }
        adjust(&router)
    } body: { server in
        try await body(Waiting(server: server, replies: replies, gone: gone))
    }
}

@Suite("A deferred response", .timeLimit(.minutes(2))) struct DeferredResponseTests {
    @Test("is sent when it is ready, and the connection continues, again and again")
    func keepsConnection() async throws {
        try await withWaiting { waiting in
            let wire = try waiting.server.wire()
            #expect(try wire.ask("GET", "/hello").text == "hello")
            #expect(try wire.ask("POST", "/echo", body: Array("abc".utf8)).text == "abc")
            for round in 0..<3 {
                wire.request("GET", "/late", ["X-Request-Id: late-\(round)"])
                #expect(await waiting.hasParked(1))
                #expect(await waiting.server.server.metrics.connections == 1)
                await waiting.complete(round, .text("round \(round)"))
                let answer = try wire.answer()
                #expect(answer.status == 200)
                #expect(answer.text == "round \(round)")
                #expect(answer["Connection"] == nil)
                #expect(answer["X-Request-Id"] == "late-\(round)")
                #expect(answer["X-Content-Type-Options"] == "nosniff")
                #expect(answer["Date"] != nil)
            }
            #expect(try wire.ask("GET", "/hello").text == "hello")
            #expect(await waiting.hasParked(0))
            #expect(await waiting.server.server.metrics.accepted == 1)
            #expect(waiting.gone.value == 0)
        }
    }

    @Test("that is ready at once is an ordinary one")
    func atOnce() async throws {
        try await withWaiting(adjust: { router in
            router.add(.get, "/now") { _ in .deferred(DeferredStart { $0.complete(.text("now", status: 404)) }) }
        }) { waiting in
            let wire = try waiting.server.wire()
            let answer = try wire.ask("GET", "/now")
            #expect(answer.status == 404)
            #expect(answer.text == "now")
            #expect(try wire.ask("GET", "/hello").status == 200)
        }
    }

    @Test("without a body has no length", arguments: [204, 304])
    func noBody(_ status: Int) async throws {
        try await withWaiting { waiting in
            let wire = try waiting.server.wire()
            wire.request("GET", "/late")
            #expect(await waiting.hasParked(1))
            await waiting.complete(0, .empty(status: status))
            let answer = try wire.answer()
            #expect(answer.status == status)
            #expect(answer["Content-Length"] == nil)
            #expect(try wire.ask("GET", "/hello").status == 200)
        }
    }

    @Test("counts only once")
    func once() async throws {
        try await withWaiting { waiting in
            let wire = try waiting.server.wire()
            wire.request("GET", "/late")
            #expect(await waiting.hasParked(1))
            await waiting.server.onLoop {
                let reply = waiting.replies.value[0]
                reply.complete(.text("first"))
                #expect(reply.isOver)
                reply.complete(.text("second"))
            }
            #expect(try wire.answer().text == "first")
            await waiting.complete(0, .text("third"))
            #expect(try wire.ask("GET", "/hello").text == "hello")
        }
    }

    enum Leaving: CaseIterable, Sendable {
        case close, reset, halfClose
    }

    @Test("is not waited for by a client that has gone, however it went", arguments: Leaving.allCases)
    func gone(_ leaving: Leaving) async throws {
        try await withWaiting { waiting in
            let wire = try waiting.server.wire()
            wire.request("GET", "/late")
            #expect(await waiting.hasParked(1))
            switch leaving {
            case .close: wire.close()
            case .reset: wire.reset()
            case .halfClose: wire.closeWriting()
            }
            waiting.gone.waitBlocking { $0 == 1 }
            #expect(await waiting.hasParked(0))
            #expect(await waiting.server.onLoop { waiting.replies.value[0].isOver })
            await waiting.complete(0, .text("nobody"))
            #expect(heldConnections(port: waiting.server.port) == 0)
        }
    }

    @Test("comes before that of a request sent while waiting")
    func sentAhead() async throws {
        try await withWaiting { waiting in
            let wire = try waiting.server.wire()
            wire.request("GET", "/late")
            #expect(await waiting.hasParked(1))
            wire.request("GET", "/hello")
            await waiting.complete(0, .text("late"))
            #expect(try wire.answer().text == "late")
            #expect(try wire.answer().text == "hello")
        }
    }

    @Test("loses no request that came in one piece with its own")
    func pipelined() async throws {
        try await withWaiting { waiting in
            let wire = try waiting.server.wire()
            wire.send("GET /late HTTP/1.1\r\nHost: x\r\n\r\nGET /hello HTTP/1.1\r\nHost: x\r\n\r\n")
            #expect(waiting.hasOpened(1))
            #expect(await waiting.server.server.metrics.suspended == 0)
            await waiting.complete(0, .text("late"))
            #expect(try wire.answer().text == "late")
            #expect(try wire.answer().text == "hello")
            wire.request("GET", "/late")
            #expect(await waiting.hasParked(1))
        }
    }

    @Test("is waited for on the library's connection by a client of HTTP/1.0, and is the last of it")
    func oldClient() async throws {
        try await withWaiting { waiting in
            let wire = try waiting.server.wire()
            wire.request("GET", "/late", version: "1.0")
            #expect(waiting.hasOpened(1))
            #expect(await waiting.server.server.metrics.suspended == 0)
            await waiting.complete(0, .text("late"))
            #expect(try wire.answer().text == "late")
            #expect(try wire.rest().isEmpty)
        }
    }

    @Test("is the last one for a client that asks to close", arguments: ["close", "Keep-Alive , CLOSE"])
    func closing(_ field: String) async throws {
        try await withWaiting { waiting in
            let wire = try waiting.server.wire()
            wire.request("GET", "/late", ["Connection: \(field)"])
            #expect(await waiting.hasParked(1))
            await waiting.complete(0, .text("late"))
            let answer = try wire.answer()
            #expect(answer.text == "late")
            #expect(answer["Connection"] == "close")
            #expect(try wire.rest().isEmpty)
            #expect(await waiting.hasParked(0))
        }
    }

    @Test("keeps the connection of a client that asks for that explicitly")
    func keepAlive() async throws {
        try await withWaiting { waiting in
            let wire = try waiting.server.wire()
            wire.request("GET", "/late", ["Connection: keep-alive"])
            #expect(await waiting.hasParked(1))
            await waiting.complete(0, .text("late"))
            #expect(try wire.answer().text == "late")
            #expect(try wire.ask("GET", "/hello").text == "hello")
        }
    }

    @Test("to HEAD is its header")
    func head() async throws {
        try await withWaiting { waiting in
            let wire = try waiting.server.wire()
            wire.request("HEAD", "/late")
            #expect(waiting.hasOpened(1))
            await waiting.complete(0, .text("late"))
            #expect(try wire.answer(isHead: true)["Content-Length"] == "4")
            #expect(try wire.ask("GET", "/hello").text == "hello")
        }
    }

    @Test("is not waited for by a client that has gone from the library's connection")
    func goneSuspended() async throws {
        try await withWaiting { waiting in
            let wire = try waiting.server.wire()
            wire.request("GET", "/late", version: "1.0")
            #expect(waiting.hasOpened(1))
            wire.close()
            waiting.gone.waitBlocking { $0 == 1 }
            await waitUntil { await waiting.server.server.metrics.connections == 0 }
            await waiting.complete(0, .text("nobody"))
        }
    }

    @Test("that does not fit into the socket is sent as the client reads")
    func large() async throws {
        try await withWaiting { waiting in
            let wire = try waiting.server.wire(receiveBuffer: 4096)
            var body = [UInt8](repeating: 0x61, count: 8 * 1024 * 1024)
            for index in stride(from: 0, to: body.count, by: 4099) {
                body[index] = UInt8(truncatingIfNeeded: index / 4099)
            }
            let sent = body
            wire.request("GET", "/late")
            try #require(await waiting.hasParked(1))
            await waiting.complete(0, Response(contentType: "application/octet-stream", body: sent))
            #expect(try await blocking { try wire.answer().body } == sent)
            #expect(try wire.ask("GET", "/hello").text == "hello")
            #expect(await waiting.hasParked(0))
        }
    }

    @Test("reaches hundreds that wait for the same")
    func many() async throws {
        try await withWaiting { waiting in
            let wires = try (0..<600).map { _ in try waiting.server.wire() }
            for wire in wires { wire.request("GET", "/late") }
            #expect(await waiting.hasParked(600))
            await waiting.server.onLoop { for reply in waiting.replies.value { reply.complete(.text("all")) } }
            for wire in wires { #expect(try wire.answer().text == "all") }
            for wire in wires { #expect(try wire.ask("GET", "/hello").text == "hello") }
        }
    }

    @Test("is counted once, with its status, and has the CORS fields of its origin")
    func observed() async throws {
        let outcomes = Observed<[Int]>([])
        try await withWaiting(
            cors: CORSPolicy(origins: .any),
            adjust: { router in
                router.observer = { outcome in outcomes.update { $0.append(outcome.status) } }
            }
        ) { waiting in
            let wire = try waiting.server.wire()
            wire.request("GET", "/late", ["Origin: https://page.example"])
            #expect(await waiting.hasParked(1))
            #expect(outcomes.value.isEmpty)
            await waiting.complete(0, .text("gone", status: 410))
            #expect(try wire.answer()["Access-Control-Allow-Origin"] == "*")
            #expect(outcomes.value == [410])
            #expect(await waiting.server.server.metrics.requests == 1)
            #expect(await waiting.server.server.metrics.requestsInFlight == 0)
        }
    }

    @Test("is not waited for by a client that went before the handler was done", arguments: ["1.1", "1.0"])
    func goneEarly(_ version: String) async throws {
        let gate = Latch()
        let gone = Observed(0)
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
                return .deferred(DeferredStart { reply in reply.onDisconnect { gone.update { $0 += 1 } } })
            }
        }) { waiting in
            let wire = try waiting.server.wire()
            wire.request("GET", "/slow", version: version)
            entered.waitBlocking { $0 == 1 }
            // The request is suspended one turn later. Only then does its task learn of the end.
            await waiting.server.onLoop {}
            wire.closeWriting()
            left.waitBlocking { $0 == 1 }
            gate.open()
            gone.waitBlocking { $0 == 1 }
            #expect(try wire.rest().isEmpty)
        }
    }

    @Test("is not waited for by a client that disconnects in the same turn", arguments: ["1.1", "1.0"])
    func goneAtOnce(_ version: String) async throws {
        try await withWaiting { waiting in
            let wire = try waiting.server.wire()
            wire.request("GET", "/late", version: version)
            wire.closeWriting()
            waiting.gone.waitBlocking { $0 == 1 }
            #expect(try wire.rest().isEmpty)
        }
    }

    @Test("whose wait begins after the server has stopped is dropped")
    func dropped() async throws {
        var options = ServerOptions()
        options.deadlines.drain = .milliseconds(20)
        let gate = Latch()
        let entered = Observed(0)
        let dropped = Observed(0)
        try await withWaiting(
            options: options,
            adjust: { router in
                router.add(.get, "/slow") { _ in
                    entered.update { $0 += 1 }
                    await gate.pass()
                    return .deferred(
                        DeferredStart { _ in
                            Issue.record("opened")
                        } onDrop: {
                            dropped.update { $0 += 1 }
                        })
                }
            }
        ) { waiting in
            let wire = try waiting.server.wire()
            wire.request("GET", "/slow")
            entered.waitBlocking { $0 == 1 }
        }
        gate.open()
        dropped.waitBlocking { $0 == 1 }
    }
}

@Suite("Clients that wait for deferred responses", .timeLimit(.minutes(2))) struct LateReplyLimitTests {
    @Test("count as connections")
    func limit() async throws {
        var options = ServerOptions()
        options.limits.connections = 2
        try await withWaiting(options: options) { waiting in
            let wires = try (0..<2).map { _ in try waiting.server.wire() }
            for wire in wires { wire.request("GET", "/late") }
            #expect(await waiting.hasParked(2))
            #expect(try waiting.server.wire().ask("GET", "/hello").status == 503)
            await waiting.complete(0, .text("late"))
            // Either of the two now waits for its next request, and is closed in favour of a new connection.
            #expect(await waiting.hasParked(1))
            #expect(try waiting.server.wire().ask("GET", "/hello").status == 200)
        }
    }

    @Test("count as connections of their address, until they have gone")
    func addressLimit() async throws {
        var options = ServerOptions()
        options.limits.connectionsPerAddress = 1
        try await withWaiting(options: options) { waiting in
            let wire = try waiting.server.wire()
            wire.request("GET", "/late")
            #expect(await waiting.hasParked(1))
            #expect(try waiting.server.wire().ask("GET", "/hello").status == 503)
            await waiting.complete(0, .text("late"))
            #expect(try wire.answer().text == "late")
            #expect(try waiting.server.wire().ask("GET", "/hello").status == 503)
            wire.request("GET", "/late")
            #expect(await waiting.hasParked(1))
            wire.close()
            #expect(await waiting.hasParked(0))
            #expect(try waiting.server.wire().ask("GET", "/hello").status == 200)
        }
    }

    @Test("are answered when the server stops, with the end of the connection")
    func drain() async throws {
        let wires = Observed<[Wire]>([])
        try await withWaiting(onDrain: { replies, loop in
            loop.post { for reply in replies { reply.complete(.text("bye")) } }
        }) { waiting in
            let opened = try (0..<300).map { _ in try waiting.server.wire() }
            wires.update { $0 = opened }
            for wire in wires.value { wire.request("GET", "/late") }
            #expect(await waiting.hasParked(300))
        }
        for wire in wires.value {
            let answer = try wire.answer()
            #expect(answer.text == "bye")
            #expect(answer["Connection"] == "close")
            #expect(try wire.rest().isEmpty)
        }
    }

    @Test("are disconnected when the server stops without a response")
    func overdue() async throws {
        var options = ServerOptions()
        options.deadlines.drain = .milliseconds(20)
        let gone = Observed<[Observed<Int>]>([])
        let wires = Observed<[Wire]>([])
        try await withWaiting(options: options) { waiting in
            gone.update { $0 = [waiting.gone] }
            let parked = try waiting.server.wire()
            parked.request("GET", "/late")
            #expect(await waiting.hasParked(1))
            let suspended = try waiting.server.wire()
            suspended.request("GET", "/late", version: "1.0")
            #expect(waiting.hasOpened(2))
            wires.update { $0 = [parked, suspended] }
        }
        #expect(gone.value[0].value == 2)
        for wire in wires.value { #expect(try wire.rest().isEmpty) }
    }

    @Test("leave no descriptor behind, ten thousand times")
    func descriptors() async throws {
        try await withWaiting { waiting in
            for round in 0..<20 {
                let wires = try (0..<500).map { _ in try waiting.server.wire() }
                for wire in wires { wire.request("GET", "/late") }
                #expect(await waiting.hasParked(500))
                for (index, wire) in wires.enumerated() { index % 2 == 0 ? wire.close() : wire.reset() }
                #expect(await waiting.hasParked(0))
                #expect(waiting.gone.value == 500 * (round + 1))
                waiting.replies.update { $0 = [] }
            }
            #expect(heldConnections(port: waiting.server.port) == 0)
        }
    }
}
