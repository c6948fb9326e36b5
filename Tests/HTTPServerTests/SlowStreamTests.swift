import Glibc
import HTTPServer
import TestSupport
import Testing

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
