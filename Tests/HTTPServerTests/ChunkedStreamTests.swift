import HTTPServer
import TestSupport
import Testing

private let chunked: Broadcast.Options = {
    var options = Broadcast.Options()
    options.isChunked = true
    return options
}()

/// The rest of the body: its chunks, and whether the body ended as a complete one.
private func remainder(_ wire: Wire) throws -> (chunks: [[UInt8]], isWhole: Bool) {
    var chunks: [[UInt8]] = []
    do {
        while let chunk = try wire.chunk() { chunks.append(chunk) }
        #expect(try wire.rest().isEmpty)
        return (chunks, true)
    } catch Wire.Failure.closed {
        return (chunks, false)
    }
}

@Suite("A stream in chunks") struct ChunkedStreamTests {
    @Test("is what clients of HTTP/1.1 get") func header() async throws {
        try await withStage(log: chunked) { stage in
            try await blocking { [server = stage.server] in
                let wire = try server.wire()
                wire.request("GET", "/stream")
                let head = try wire.head()
                #expect(head["Transfer-Encoding"] == "chunked")
                #expect(head["Content-Length"] == nil)
                #expect(head["Connection"] == "close")
            }
        }
    }

    @Test(
        "has one chunk for each block, whatever the size",
        arguments: [[1, 15, 16, 17], [255, 256, 4095, 4096, 70_000]])
    func blocks(sizes: [Int]) async throws {
        try await withStage(log: chunked) { stage in
            let (wire, connection) = try await stage.open()
            for size in sizes {
                await stage.append([])
                await stage.append([UInt8](repeating: 0x61, count: size))
                await stage.server.onLoop {
                    #expect(connection.send([]))
                    #expect(connection.send([UInt8](repeating: 0x62, count: size)))
                }
                let (first, second) = try await blocking { (try wire.chunk(), try wire.chunk()) }
                #expect(first == [UInt8](repeating: 0x61, count: size))
                #expect(second == [UInt8](repeating: 0x62, count: size))
            }
        }
    }

    @Test("ends as a body that is whole", arguments: [true, false]) func finishing(hasLast: Bool) async throws {
        try await withStage(log: chunked) { stage in
            let (wire, connection) = try await stage.open()
            await stage.append(frame(1))
            await stage.server.onLoop { connection.finish(last: hasLast ? frame(2) : []) }
            let rest = try await blocking { try remainder(wire) }
            #expect(rest.chunks == [frame(1)] + (hasLast ? [frame(2)] : []))
            #expect(rest.isWhole)
            stage.reasons.waitBlocking { $0 == [.finished] }
        }
    }

    @Test("keeps its chunks whole when its client is slow and the log goes round many times") func slow() async throws {
        var small = chunked
        small.initialBytes = 256
        small.maximumBytes = 256 * 1024
        try await withStage(log: small) { stage in
            let (wire, connection) = try await stage.open(receiveBuffer: 4096)
            var count = 0
            for round in 0..<20 {
                while await stage.server.onLoop({ connection.lag }) == 0 {
                    await stage.append(frame(count, size: 100 + count % 900))
                    count += 1
                }
                let from = count
                await stage.server.onLoop { [broadcast = stage.broadcast] in
                    broadcast.append(frame(from))
                    // Moves the unsent part from the log to the backlog, then continues in the log.
                    if round % 2 == 0 { connection.send(frame(from + 1)) } else { broadcast.append(frame(from + 1)) }
                }
                count += 2
                let upTo = count - 1
                try await blocking {
                    var last = -1
                    while last < upTo { last = try numbers(try #require(try wire.chunk()))[0] }
                }
            }
            #expect(stage.reasons.value.isEmpty)
        }
    }

    @Test("is not ended as complete when its client falls out of the log") func cut() async throws {
        var small = chunked
        small.maximumBytes = 64 * 1024
        try await withStage(log: small) { stage in
            let (wire, _) = try await stage.open(receiveBuffer: 4096)
            await stage.server.onLoop { [broadcast = stage.broadcast] in
                broadcast.onLag = { $0.finish(last: Array("event: lagged\n\n".utf8)) }
            }
            var count = 0
            while stage.reasons.value.isEmpty, count < 100_000 {
                await stage.append(frame(count, size: 500))
                count += 1
            }
            #expect(stage.reasons.value == [.tooSlow])
            let rest = try await blocking { try remainder(wire) }
            #expect(rest.isWhole == (rest.chunks.last == Array("event: lagged\n\n".utf8)))
            let seen = try rest.chunks.dropLast(rest.isWhole ? 1 : 0).flatMap(numbers)
            #expect(seen == Array(0..<seen.count))
        }
    }
}
