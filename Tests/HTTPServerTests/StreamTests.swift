import Glibc
import HTTPServer
import Logging
import TestSupport
import Testing

/// A server whose `/stream` subscribes to a broadcast.
struct Stage: Sendable {
    let server: Fixture
    let broadcast: Broadcast
    let connections: Observed<[StreamConnection]>
    let reasons: Observed<[StreamConnection.CloseReason]>
    /// Holds clients open that a test does not name.
    let clients = Observed<[Wire]>([])

    func append(_ frame: [UInt8]) async {
        await server.onLoop { [broadcast] in broadcast.append(frame) }
    }

    func append(_ text: String) async { await append(Array(text.utf8)) }

    /// Opens a stream, reads its header and `ready`, and returns both ends. The rest is plain bytes, as for HTTP/1.0
    /// clients, unless the log is in chunks.
    func open(receiveBuffer: Int32? = nil) async throws -> (wire: Wire, connection: StreamConnection) {
        let before = connections.value.count
        let wire = try await blocking { [server, isChunked = broadcast.isChunked] in
            let wire = try server.wire(receiveBuffer: receiveBuffer)
            wire.request("GET", "/stream", version: isChunked ? "1.1" : "1.0")
            let head = try wire.head()
            #expect(head.status == 200)
            let ready = isChunked ? try #require(try wire.chunk()) : try wire.read(through: "\n\n")
            #expect(String(decoding: ready, as: UTF8.self) == "event: ready\n\n")
            return wire
        }
        clients.update { $0.append(wire) }
        return (wire, connections.value[before])
    }
}

func withStage<Value: Sendable>(
    options: ServerOptions = ServerOptions(), log: Broadcast.Options = Broadcast.Options(),
    onDrain: @escaping @Sendable (Observed<[StreamConnection]>, Loop) async -> Void = { _, _ in },
    body: @escaping @Sendable (Stage) async throws -> Value
) async throws -> Value {
    let connections = Observed<[StreamConnection]>([])
    let reasons = Observed<[StreamConnection.CloseReason]>([])
    let broadcasts = Observed<[Broadcast]>([])
    let loops = Observed<[Loop]>([])
    return try await withAsyncServer(
        options: options, onDrain: { await onDrain(connections, loops.value[0]) }
    ) { router, loop in
        loops.update { $0 = [loop] }
        router.add(.get, "/stream") { _ in
            .stream(
                StreamOpening(headers: StreamOpening.eventStreamHeaders) { connection in
                    connections.update { $0.append(connection) }
                    connection.onClose { reason in reasons.update { $0.append(reason) } }
                    connection.send(Array("event: ready\n\n".utf8))
                    if let broadcast = broadcasts.value.first {
                        _ = connection.join(broadcast, at: broadcast.head)
                    }
                })
        }
        router.add(.get, "/hello") { _ in .text("hello") }
    } body: { server in
        let broadcast = await server.broadcast(log)
        broadcasts.update { $0 = [broadcast] }
        return try await body(
            Stage(server: server, broadcast: broadcast, connections: connections, reasons: reasons))
    }
}

func frame(_ number: Int, size: Int = 20) -> [UInt8] {
    let text = "data: \(number) "
    return Array((text + String(repeating: "x", count: max(0, size - text.utf8.count - 2)) + "\n\n").utf8)
}

/// The numbers of the frames in a stream's bytes. Records a failure for any bytes between them.
func numbers(_ bytes: [UInt8]) throws -> [Int] {
    try String(decoding: bytes, as: UTF8.self).split(separator: "\n\n").map { block in
        let words = block.split(separator: " ")
        return try #require(words.count >= 2 && words[0] == "data:" ? Int(words[1]) : nil, "\(block.prefix(80))")
    }
}

@Suite("A stream") struct StreamTests {
    @Test("begins with the header of an event stream") func header() async throws {
        try await withStage { stage in
            try await blocking { [server = stage.server] in
                let wire = try server.wire()
                wire.request("GET", "/stream", ["X-Request-Id: s1"], version: "1.0")
                let head = try wire.head()
                #expect(head["Content-Type"] == "text/event-stream; charset=utf-8")
                #expect(head["Cache-Control"] == "no-cache, no-transform")
                #expect(head["X-Accel-Buffering"] == "no")
                #expect(head["X-Request-Id"] == "s1")
                #expect(head["X-Content-Type-Options"] == "nosniff")
                #expect(head["Connection"] == "close")
                #expect(head["Content-Length"] == nil)
                #expect(head["Transfer-Encoding"] == nil)
                #expect(head["Date"]?.hasSuffix("GMT") == true)
                let question = try server.wire().ask("HEAD", "/stream")
                #expect(question.status == 200)
            }
            #expect(stage.connections.value.first?.requestID == "s1")
            #expect(stage.connections.value.count == 1)
        }
    }

    @Test("gets every frame once and in order, among many") func order() async throws {
        try await withStage { stage in
            var wires: [Wire] = []
            for _ in 0..<50 { wires.append(try await stage.open().wire) }
            for number in 0..<200 { await stage.append(frame(number, size: number % 300)) }
            await stage.append("data: -1 end\n\n")
            for wire in wires {
                let seen = try await blocking { try numbers(wire.read(through: "data: -1 end\n\n")) }
                #expect(seen == Array(0..<200) + [-1])
            }
        }
    }

    @Test("gets accumulated frames in one system call") func coalescing() async throws {
        try await withStage { stage in
            let (wire, _) = try await stage.open()
            let before = await stage.server.server.metrics.streamTraffic
            await stage.server.onLoop { [broadcast = stage.broadcast] in
                for number in 0..<100 { broadcast.append(frame(number)) }
            }
            _ = try await blocking { try wire.read(through: "data: 99 ") }
            let after = await stage.server.server.metrics.streamTraffic
            #expect(after.sendCalls - before.sendCalls == 1)
            #expect(after.bytesSent - before.bytesSent == 2000)
        }
    }

    @Test("gets frames appended before its turn once, although the log had a turn pending")
    func appendedBeforeThePass() async throws {
        try await withStage { stage in
            var wires: [Wire] = []
            for _ in 0..<20 { wires.append(try await stage.open().wire) }
            let before = await stage.server.server.metrics.streamTraffic
            await stage.server.onLoop { [broadcast = stage.broadcast] in
                broadcast.append(frame(0))
                broadcast.append(frame(1))
            }
            for wire in wires { _ = try await blocking { try wire.read(through: "data: 1 ") } }
            let after = await stage.server.server.metrics.streamTraffic
            #expect(after.sendCalls - before.sendCalls == 20)
            // No reader lags, so the log need not grow.
            await stage.server.onLoop { [broadcast = stage.broadcast] in
                #expect(broadcast.allocatedBytes == 4096)
            }
        }
    }

    @Test("continues from its log where it left off, as far back as the log reaches") func joining() async throws {
        // The log does not grow: frames that are appended in one turn of the loop would otherwise make it reach back to
        // its beginning.
        var log = Broadcast.Options()
        log.maximumBytes = log.initialBytes
        try await withStage(log: log) { stage in
            let (wire, connection) = try await stage.open()
            for number in 0..<10 { await stage.append(frame(number, size: 100)) }
            _ = try await blocking { try wire.read(through: "data: 9 ") }
            let outcome = await stage.server.onLoop { [broadcast = stage.broadcast] in
                connection.leave()
                let isTooFar = connection.join(broadcast, at: broadcast.head + 1)
                let isBack = connection.join(broadcast, at: broadcast.head - 300)
                return (isTooFar, isBack, broadcast.connectionCount)
            }
            #expect(outcome == (false, true, 1))
            _ = try await blocking { try wire.read(through: "\n\n") }
            let again = try await blocking { try numbers(wire.take(300)) }
            #expect(again == [7, 8, 9])
            for number in 10..<200 { await stage.append(frame(number, size: 100)) }
            let isJoined = await stage.server.onLoop { [broadcast = stage.broadcast] in
                connection.join(broadcast, at: 0)
            }
            #expect(!isJoined)
        }
    }

    @Test("moves between broadcasts without losing or repeating a byte") func moving() async throws {
        try await withStage { stage in
            let (wire, connection) = try await stage.open()
            let other = await stage.server.broadcast()
            var next = 0
            for round in 0..<200 {
                let first = next
                await stage.server.onLoop { [broadcast = stage.broadcast] in
                    let (old, new) = round % 2 == 0 ? (broadcast, other) : (other, broadcast)
                    old.append(frame(first))
                    old.append(frame(first + 1))
                    #expect(connection.join(new, at: new.head))
                    old.append(frame(-5))
                    connection.send(frame(first + 2))
                    new.append(frame(first + 3))
                }
                next += 4
            }
            let last = next
            let seen = try await blocking { try numbers(wire.take(last * 20)) }
            #expect(seen == Array(0..<last))
        }
    }

    @Test("notices at once when the client goes, in whatever way") func clientGone() async throws {
        try await withStage { stage in
            let (closing, _) = try await stage.open()
            let (resetting, _) = try await stage.open()
            closing.close()
            stage.reasons.waitBlocking { $0.count == 1 }
            resetting.reset()
            stage.reasons.waitBlocking { $0.count == 2 }
            #expect(stage.reasons.value == [.peerDisconnected, .peerDisconnected])
            let metrics = await stage.server.server.metrics
            #expect(metrics.streams == 0)
            #expect(metrics.streamTraffic.slowCloses == 0)
            let count = await stage.server.onLoop { [broadcast = stage.broadcast] in broadcast.connectionCount }
            #expect(count == 0)
        }
    }

    @Test("ends with its last block") func finishing() async throws {
        try await withStage { stage in
            let (wire, connection) = try await stage.open()
            await stage.append(frame(1))
            await stage.server.onLoop {
                connection.finish(last: frame(2))
                #expect(!connection.isOpen)
                #expect(!connection.send(frame(3)))
            }
            let rest = try await blocking { try numbers(wire.rest()) }
            #expect(rest == [1, 2])
            stage.reasons.waitBlocking { $0 == [.finished] }
        }
    }

    @Test("closes only once, whatever happens together") func closesOnce() async throws {
        try await withStage { stage in
            let (wire, connection) = try await stage.open()
            wire.close()
            await stage.server.onLoop {
                connection.finish(last: frame(1))
                connection.finish()
            }
            stage.reasons.waitBlocking { !$0.isEmpty }
            await stage.server.onLoop {}
            #expect(stage.reasons.value.count == 1)
            let late = Observed<[StreamConnection.CloseReason]>([])
            await stage.server.onLoop { connection.onClose { reason in late.update { $0.append(reason) } } }
            late.waitBlocking { $0.count == 1 }
        }
    }

    @Test("leaves no descriptor behind") func descriptors() async throws {
        try await withStage { stage in
            _ = try await stage.open()
            for _ in 0..<100 {
                let (wire, connection) = try await stage.open()
                if Bool.random() { wire.close() } else { await stage.server.onLoop { connection.finish() } }
            }
            await waitUntil { await stage.server.server.metrics.streams == 1 }
            await waitUntil { heldConnections(port: stage.server.port) == 1 }
        }
    }

    @Test("is refused beyond the limits") func limits() async throws {
        var options = ServerOptions()
        options.limits.streams = 3
        options.limits.streamsPerAddress = 2
        try await withStage(options: options) { stage in
            let first = try await stage.open()
            _ = try await stage.open()
            try await blocking { [server = stage.server] in
                let wire = try server.wire()
                let answer = try wire.ask("GET", "/stream")
                #expect(answer.status == 429)
                #expect(answer["Retry-After"] == "10")
                let hello = try wire.ask("GET", "/hello")
                #expect(hello.text == "hello")
            }
            first.wire.close()
            stage.reasons.waitBlocking { $0.count == 1 }
            _ = try await stage.open()
        }
    }
}

@Suite("A stream whose client is slow") struct SlowStreamTests {
    private static let small: Broadcast.Options = {
        var options = Broadcast.Options()
        options.maximumBytes = 64 * 1024
        return options
    }()

    /// Appends until the socket of a client that does not read is full.
    private func fill(_ stage: Stage, _ connection: StreamConnection, from first: Int = 0) async -> Int {
        var number = first
        while await stage.server.onLoop({ connection.lag }) == 0 {
            let next = number
            await stage.server.onLoop { [broadcast = stage.broadcast] in
                for offset in 0..<50 { broadcast.append(frame(next + offset, size: 500)) }
            }
            number += 50
        }
        return number
    }

    @Test("continues where it stopped when it reads again") func catchesUp() async throws {
        try await withStage { stage in
            let (wire, connection) = try await stage.open(receiveBuffer: 4096)
            let count = await fill(stage, connection)
            await stage.append("data: -1 end\n\n")
            let seen = try await blocking { try numbers(wire.read(through: "data: -1 end\n\n")) }
            #expect(seen == Array(0..<count) + [-1])
            #expect(await stage.server.onLoop { connection.lag } == 0)
            #expect(stage.reasons.value.isEmpty)
        }
    }

    @Test("is closed when it falls out of the log, and the others lose nothing") func cut() async throws {
        try await withStage(log: Self.small) { stage in
            let (slow, connection) = try await stage.open(receiveBuffer: 4096)
            let (quick, _) = try await stage.open()
            let lagged = Observed(0)
            await stage.server.onLoop { [broadcast = stage.broadcast] in
                broadcast.onLag = { connection in
                    lagged.update { $0 += 1 }
                    connection.finish(last: Array("event: lagged\n\n".utf8))
                }
            }
            let reading = Task { try await blocking { try numbers(quick.read(through: "data: -1 end\n\n")) } }
            var count = await fill(stage, connection)
            while stage.reasons.value.isEmpty, count < 100_000 {
                await stage.append(frame(count, size: 500))
                count += 1
            }
            await stage.append("data: -1 end\n\n")
            #expect(stage.reasons.value == [.tooSlow])
            #expect(lagged.value == 1)
            #expect(try await reading.value == Array(0..<count) + [-1])
            let rest = try await blocking { try slow.rest() }
            // At the end of the stream, a client discards an incomplete block.
            let whole = String(decoding: rest, as: UTF8.self).split(separator: "\n\n", omittingEmptySubsequences: false)
            let seen = try numbers(Array(whole.dropLast().joined(separator: "\n\n").utf8))
            #expect(seen == Array(0..<seen.count))
            let metrics = await stage.server.server.metrics
            #expect(metrics.streamTraffic.slowCloses == 1)
            let size = await stage.server.onLoop { [broadcast = stage.broadcast] in broadcast.allocatedBytes }
            #expect(size == 64 * 1024)
        }
    }

    @Test("does not make a burst disconnect fast clients") func burst() async throws {
        try await withStage(log: Self.small) { stage in
            let (wire, _) = try await stage.open()
            let reading = Task { try await blocking { try numbers(wire.read(through: "data: -1 end\n\n")) } }
            // Eight times the log at once, but no more than a socket accepts while its client reads.
            await stage.server.onLoop { [broadcast = stage.broadcast] in
                for number in 0..<500 { broadcast.append(frame(number, size: 1000)) }
            }
            await stage.append("data: -1 end\n\n")
            #expect(try await reading.value == Array(0..<500) + [-1])
        }
    }

    @Test("gets control blocks between two frames, never inside one") func controlBlocks() async throws {
        try await withStage { stage in
            let (wire, connection) = try await stage.open(receiveBuffer: 4096)
            var number = await fill(stage, connection)
            for _ in 0..<20 {
                let next = number
                await stage.server.onLoop { [broadcast = stage.broadcast] in
                    connection.send(frame(next))
                    broadcast.append(frame(next + 1, size: 3000))
                }
                number += 2
            }
            await stage.append("data: -1 end\n\n")
            let seen = try await blocking { try numbers(wire.read(through: "data: -1 end\n\n")) }
            #expect(seen == Array(0..<number) + [-1])
        }
    }

    @Test("keeps a small log small and gives it back when unused") func memory() async throws {
        var log = Broadcast.Options()
        log.idleRelease = .milliseconds(20)
        try await withStage(log: log) { stage in
            let (wire, _) = try await stage.open()
            let allocated: @Sendable () async -> Int = {
                await stage.server.onLoop { [broadcast = stage.broadcast] in broadcast.allocatedBytes }
            }
            #expect(await allocated() == 0)
            await stage.append(frame(1))
            let (size, grown) = await stage.server.onLoop { [broadcast = stage.broadcast] in
                broadcast.append(frame(2))
                let size = broadcast.allocatedBytes
                broadcast.append(frame(3, size: 300_000))
                return (size, broadcast.allocatedBytes)
            }
            #expect(size == 4096)
            #expect(grown == 2 * 1024 * 1024)
            _ = try await blocking { try wire.take(300_000) }
            await waitUntil { await allocated() == 0 }
            await stage.append(frame(4))
            _ = try await blocking { try wire.read(through: "data: 4 ") }
        }
    }

    @Test("sets the pace of its own history") func pages() async throws {
        var options = ServerOptions()
        options.limits.streamLowMarkBytes = 10_000
        try await withStage(options: options) { stage in
            let (wire, connection) = try await stage.open(receiveBuffer: 4096)
            let sent = Observed(0)
            let producer = Task {
                for page in 0..<150 {
                    let bytes = (0..<100).flatMap { frame(page * 100 + $0, size: 1000) }
                    try await connection.sendPage(bytes)
                    sent.update { $0 += 1 }
                }
            }
            // The kernel's buffers are full and the producer waits, long before everything is produced.
            await waitUntil { await stage.server.onLoop { connection.lag } > 10_000 }
            #expect(sent.value < 150)
            let seen = try await blocking { try numbers(wire.take(150 * 100 * 1000)) }
            #expect(seen == Array(0..<15_000))
            try await producer.value
        }
    }

    @Test("stands still too long and is closed, and its history with it") func stalls() async throws {
        var options = ServerOptions()
        options.deadlines.streamStall = .milliseconds(100)
        try await withStage(options: options) { stage in
            let (_, connection) = try await stage.open(receiveBuffer: 4096)
            await #expect(throws: StreamConnection.StreamClosedError(reason: .tooSlow)) {
                for _ in 0..<400 { try await connection.sendPage([UInt8](repeating: 0x61, count: 100_000)) }
            }
            stage.reasons.waitBlocking { $0 == [.tooSlow] }
            await #expect(throws: StreamConnection.StreamClosedError(reason: .tooSlow)) {
                try await connection.sendPage([1])
            }
        }
    }

    @Test("may not fill the memory with control blocks") func backlogBound() async throws {
        var options = ServerOptions()
        options.limits.streamBacklogBytes = 100_000
        try await withStage(options: options) { stage in
            let (_, connection) = try await stage.open(receiveBuffer: 4096)
            let isRefused = await stage.server.onLoop {
                for _ in 0..<10_000 where !connection.send(frame(1, size: 10_000)) { return true }
                return false
            }
            #expect(isRefused)
            stage.reasons.waitBlocking { $0 == [.tooSlow] }
        }
    }
}

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
