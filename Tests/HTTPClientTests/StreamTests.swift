import HTTPClient
import Locking
import TestSupport
import Testing

@Suite("A streamed answer") struct StreamTests {
    private func collect(_ stream: OutboundStream) async throws(OutboundFailure) -> [UInt8] {
        var all: [UInt8] = []
        for try await piece in stream {
            #expect(!piece.isEmpty)
            all += piece
        }
        return all
    }

    private let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"

    @Test("returns its head before its body, and each part when it arrives")
    func pieces() async throws {
        let gate = Observed(0)
        let head = head
        let server = try ScriptedServer.perConnection { peer in
            guard peer.readRequest() != nil, peer.write(head) else { return }
            // Each part is sent only after the client has asked for it by another request.
            for number in 1...3 {
                gate.waitBlocking { $0 >= number }
                peer.write("2\r\n\(number)\n\r\n")
            }
            gate.waitBlocking { $0 >= 4 }
            peer.write("0\r\n\r\n")
        }
        try await withClient { client in
            let stream = try await client.stream(OutboundRequest(url: server.url()), idleTimeout: .seconds(10))
            #expect(stream.status == 200)
            #expect(stream.headers["content-type"] == "text/event-stream")
            var iterator = stream.makeAsyncIterator()
            for number in 1...3 {
                gate.update { $0 = number }
                #expect(try await iterator.next(isolation: nil) == Array("\(number)\n".utf8))
            }
            gate.update { $0 = 4 }
            #expect(try await iterator.next(isolation: nil) == nil)
            #expect(try await iterator.next(isolation: nil) == nil)
        }
    }

    @Test("is complete, also with a slow reader and a fast sender")
    func backPressure() async throws {
        // The length is no multiple of any buffer size, so that a lost or repeated part shifts everything after it.
        let block = (0..<65_521).map { UInt8(truncatingIfNeeded: $0 / 7) }
        let count = 128
        let stuck = Observed(0)
        let offered = Lock(0)
        let server = try ScriptedServer.perConnection { peer in
            let head = "HTTP/1.1 200 OK\r\nContent-Length: \(block.count * count)\r\n\r\n"
            guard peer.readRequest() != nil, peer.write(head) else { return }
            // Send as much as fits without a reader, then the rest.
            var sent = 0
            while sent < block.count * count, let more = peer.offer(Array(block[(sent % block.count)...])) {
                sent += more
            }
            offered.withLock { $0 = sent }
            stuck.increment()
            while sent < block.count * count {
                let piece = Array(block[(sent % block.count)...])
                guard peer.write(piece) else { return }
                sent += piece.count
            }
        }
        try await withClient { client in
            let stream = try await client.stream(OutboundRequest(url: server.url()), idleTimeout: .seconds(10))
            await stuck.wait { $0 >= 1 }
            // The rest is in the sockets and in the stream's 64 KiB.
            #expect(offered.withLock { $0 } < block.count * count)
            let all = try await collect(stream)
            #expect(all.count == block.count * count)
            for number in 0..<count {
                #expect(all.dropFirst(number * block.count).prefix(block.count).elementsEqual(block))
            }
        }
    }

    @Test("has no limit to its length and no deadline, unlike an answer read whole")
    func limits() async throws {
        let server = try ScriptedServer(answering: { _ in
            "HTTP/1.1 200 OK\r\nContent-Length: 200000\r\n\r\n" + String(repeating: "a", count: 200_000)
        })
        try await withClient(testOptions { $0.totalTimeout = .milliseconds(1) }) { client in
            let stream = try await client.stream(OutboundRequest(url: server.url()), idleTimeout: .seconds(10))
            #expect(try await collect(stream).count == 200_000)
        }
    }

    @Test("fails when nothing comes for its idle time")
    func idle() async throws {
        let head = head
        let server = try ScriptedServer.perConnection { peer in
            guard peer.readRequest() != nil, peer.write(head + "1\r\na\r\n") else { return }
            peer.waitForEnd()
        }
        try await withClient { client in
            let stream = try await client.stream(OutboundRequest(url: server.url()), idleTimeout: .milliseconds(200))
            var iterator = stream.makeAsyncIterator()
            #expect(try await iterator.next(isolation: nil) == [0x61])
            let failure = await #expect(throws: OutboundFailure.self) { try await iterator.next(isolation: nil) }
            #expect(failure?.reason == .timeout)
        }
    }

    @Test("fails when no head comes for its idle time")
    func idleBeforeHead() async throws {
        let server = try ScriptedServer.perConnection { $0.waitForEnd() }
        try await withClient { client in
            let failure = await #expect(throws: OutboundFailure.self) {
                try await client.stream(OutboundRequest(url: server.url()), idleTimeout: .milliseconds(100))
            }
            #expect(failure?.reason == .timeout)
        }
    }

    @Test("is not idle while its reader is")
    func idleReader() async throws {
        let answer =
            Array("HTTP/1.1 200 OK\r\nContent-Length: 8000000\r\n\r\n".utf8)
            + [UInt8](repeating: 0x61, count: 8_000_000)
        let server = try ScriptedServer.perConnection { peer in
            guard peer.readRequest() != nil else { return }
            peer.write(answer)
        }
        try await withClient { client in
            let stream = try await client.stream(OutboundRequest(url: server.url()), idleTimeout: .milliseconds(600))
            // The idle limit of the other stream is twice as long; its end marks the time.
            let silent = try ScriptedServer.perConnection { $0.waitForEnd() }
            _ = await client.send(OutboundRequest(url: silent.url(), totalTimeout: .milliseconds(1500)))
            #expect(try await collect(stream).count == 8_000_000)
        }
    }

    @Test("that breaks off returns the received part, then the failure")
    func broken() async throws {
        let head = head
        let server = try ScriptedServer.perConnection { peer in
            guard peer.readRequest() != nil else { return }
            peer.write(head + "5\r\nabc")
        }
        try await withClient { client in
            let stream = try await client.stream(OutboundRequest(url: server.url()), idleTimeout: .seconds(10))
            var all: [UInt8] = []
            var reason: OutboundFailure.Reason?
            do throws(OutboundFailure) { for try await piece in stream { all += piece } } catch {
                reason = error.reason
            }
            #expect(all == Array("abc".utf8))
            #expect(reason == .reset)
        }
    }

    @Test("that is released or cancelled closes its connection")
    func released() async throws {
        let ended = Observed(0)
        let head = head
        let server = try ScriptedServer.perConnection { peer in
            guard peer.readRequest() != nil, peer.write(head) else { return }
            peer.waitForEnd()
            ended.increment()
        }
        try await withClient { client in
            let request = OutboundRequest(url: server.url())
            do { _ = try await client.stream(request, idleTimeout: .seconds(10)) }
            await ended.wait { $0 >= 1 }

            let stream = try await client.stream(request, idleTimeout: .seconds(10))
            let task = Task { () async throws(OutboundFailure) in try await collect(stream) }
            task.cancel()
            let failure = await #expect(throws: OutboundFailure.self) { try await task.value }
            #expect(failure?.reason == .cancelled)
            await ended.wait { $0 >= 2 }

            let other = try await client.stream(request, idleTimeout: .seconds(10))
            other.cancel()
            await #expect(throws: OutboundFailure.self) { try await collect(other) }
            await ended.wait { $0 >= 3 }
        }
    }

    @Test("ends as cancelled when the client is shut down")
    func shutdown() async throws {
        let head = head
        let server = try ScriptedServer.perConnection { peer in
            guard peer.readRequest() != nil, peer.write(head) else { return }
            peer.waitForEnd()
        }
        let client = try Client(options: testOptions())
        let stream = try await client.stream(OutboundRequest(url: server.url()), idleTimeout: .seconds(10))
        let task = Task { () async throws(OutboundFailure) in try await collect(stream) }
        await client.shutdown()
        let failure = await #expect(throws: OutboundFailure.self) { try await task.value }
        #expect(failure?.reason == .cancelled)
        let late = await #expect(throws: OutboundFailure.self) {
            try await client.stream(OutboundRequest(url: server.url()), idleTimeout: .seconds(1))
        }
        #expect(late?.reason == .cancelled)
    }

    @Test("is refused by the guard like any other")
    func guarded() async throws {
        try await withClient(ClientOptions()) { client in
            let failure = await #expect(throws: OutboundFailure.self) {
                try await client.stream(OutboundRequest(url: "https://127.0.0.1/"), idleTimeout: .seconds(1))
            }
            #expect(failure?.reason == .blockedAddress)
        }
    }
}
