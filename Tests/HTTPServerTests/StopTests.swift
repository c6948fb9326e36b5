import Glibc
import HTTPServer
import Logging
import TestSupport
import Testing

@Suite("Stopping") struct StopTests {
    @Test("lets streams send a last block") func goodbye() async throws {
        let wires = Observed<[Wire]>([])
        try await withStage(onDrain: { connections, loop in
            await withCheckedContinuation { continuation in
                loop.post {
                    for connection in connections.value { connection.finish(last: Array("event: closing\n\n".utf8)) }
                    continuation.resume()
                }
            }
        }) { stage in
            for _ in 0..<5 {
                let (wire, _) = try await stage.open()
                wires.update { $0.append(wire) }
            }
        }
        for wire in wires.value {
            let rest = try await blocking { try wire.rest() }
            #expect(String(decoding: rest, as: UTF8.self) == "event: closing\n\n")
        }
    }

    @Test("closes streams without a last block, once the time is up") func streamsLeft() async throws {
        var options = ServerOptions()
        options.deadlines.drain = .milliseconds(50)
        let left = Observed<[Wire]>([])
        let reasons = try await withStage(options: options) { stage in
            let (wire, _) = try await stage.open()
            left.update { $0.append(wire) }
            return stage.reasons
        }
        reasons.waitBlocking { $0 == [.drained] }
        let rest = try await blocking { try left.value[0].rest() }
        #expect(rest.isEmpty)
    }

    @Test("finishes requests in progress") func inFlight() async throws {
        let gate = Latch()
        let waiting = Observed(0)
        let wires = Observed<[Wire]>([])
        try await withServer(onDrain: { gate.open() }) { router, _ in
            router.add(.get, "/wait") { _ in
                waiting.update { $0 += 1 }
                await gate.pass()
                return .text("done")
            }
        } body: { server in
            for _ in 0..<3 {
                let wire = try server.wire()
                wire.request("GET", "/wait")
                wires.update { $0.append(wire) }
            }
            waiting.waitBlocking { $0 == 3 }
        }
        for wire in wires.value {
            let answer = try await blocking { try wire.answer() }
            #expect(answer.text == "done")
            #expect(answer["Connection"] == "close")
        }
    }

    @Test("never aborts, whatever is suspended") func suspended() async throws {
        var options = ServerOptions()
        options.deadlines.drain = .milliseconds(50)
        let gate = Latch()
        let wires = Observed<[Wire]>([])
        let waiting = Observed(0)
        try await withServer(options: options) { router, _ in
            router.add(.get, "/wait") { _ in
                waiting.update { $0 += 1 }
                await gate.pass()
                return .text("late")
            }
            router.add(.get, "/pieces") { _ in
                let never = AsyncStream<[UInt8]> { continuation in
                    continuation.yield([0x61])
                    waiting.update { $0 += 1 }
                    continuation.onTermination = { _ in }
                }
                return Response(status: 200, body: .pieces(never))
            }
            router.add(.post, "/upload", body: .streamed(limit: 1 << 30)) { request in
                waiting.update { $0 += 1 }
                await gate.pass()
                for try await _ in request.body {}
                return .empty()
            }
            router.add(.post, "/collect", body: .collected(limit: 1000)) { _ in .empty() }
        } body: { server in
            let waitingForUs = try server.wire()
            waitingForUs.request("GET", "/wait")
            let reading = try server.wire()
            reading.request("GET", "/pieces")
            _ = try reading.head()
            let uploading = try server.wire()
            uploading.limitSending(milliseconds: 200)
            uploading.send("POST /upload HTTP/1.1\r\nHost: x\r\nContent-Length: 100000000\r\n\r\n")
            uploading.send([UInt8](repeating: 1, count: 300_000))
            let halfSent = try server.wire()
            halfSent.send("POST /collect HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nabc")
            let headless = try server.wire()
            headless.send("GET /wa")
            let silent = try server.wire()
            wires.update { $0 = [waitingForUs, reading, uploading, halfSent, headless, silent] }
            waiting.waitBlocking { $0 == 3 }
        }
        for wire in wires.value { _ = try await blocking { try wire.rest() } }
        gate.open()
    }

    @Test("frees the port and every descriptor") func frees() async throws {
        var options = ServerOptions()
        for _ in 0..<5 {
            options.port = try await withServer(options: options) { router, _ in
                router.add(.get, "/hello") { _ in .text("hello") }
                router.add(.get, "/stream") { _ in .stream(StreamOpening { $0.finish() }) }
            } body: { server in
                let wire = try server.wire()
                let answer = try wire.ask("GET", "/hello")
                #expect(answer.text == "hello")
                let stream = try server.wire()
                stream.request("GET", "/stream")
                #expect(try stream.answer().body.isEmpty)
                _ = try stream.rest()
                return server.port
            }
            #expect(heldConnections(port: options.port) == 0)
        }
    }

    @Test("cannot begin on an address that is taken") func addressTaken() async throws {
        try await withAsyncServer { _, _ in
        } body: { server in
            var options = ServerOptions()
            options.port = server.port
            let second = Server(options: options, router: Router(), loop: server.loop, logger: .silent)
            await #expect(throws: ServerError.self) { try await second.start() }
            let nowhere = Server(
                options: ServerOptions(host: "not an address"), router: Router(), loop: server.loop,
                logger: .silent)
            await #expect(throws: ServerError.self) { try await nowhere.start() }
        }
    }
}
