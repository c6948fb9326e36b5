import Glibc
import HTTPServer
import TestSupport
import Testing

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
