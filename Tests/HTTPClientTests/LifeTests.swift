import HTTPClient
import TestSupport
import Testing

@Suite("A transfer") struct TransferLifeTests {
    @Test("that is cancelled ends at once and closes its connection")
    func cancelled() async throws {
        let (started, ended) = (Observed(0), Observed(0))
        let server = try ScriptedServer.perConnection { peer in
            guard peer.readRequest() != nil else { return }
            started.increment()
            peer.waitForEnd()
            ended.increment()
        }
        try await withClient { client in
            let task = Task { await client.send(OutboundRequest(url: server.url())) }
            await started.wait { $0 >= 1 }
            task.cancel()
            #expect(await task.value.failure?.reason == .cancelled)
            await ended.wait { $0 >= 1 }
        }
    }

    @Test("of a cancelled task is not begun")
    func cancelledBefore() async throws {
        let server = try ScriptedServer(answering: { _ in ok })
        try await withClient { client in
            let task = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                return await client.send(OutboundRequest(url: server.url()))
            }
            #expect(await task.value.failure?.reason == .cancelled)
        }
        #expect(server.connectionCount == 0)
    }

    @Test("that waits too long for a connection fails, and one that waits less continues")
    func waitedTooLong() async throws {
        let (started, latch) = (Observed(0), Latch())
        let server = try ScriptedServer { _ in
            started.increment()
            return .held(latch, then: .status(204))
        }
        let options = testOptions {
            $0.perHostConnections = 1
            $0.queueTimeout = .milliseconds(50)
        }
        try await withClient(options) { client in
            let first = Task { await client.send(OutboundRequest(url: server.url())) }
            await started.wait { $0 >= 1 }
            #expect(await client.send(OutboundRequest(url: server.url())).failure?.reason == .overloaded)
            latch.open()
            #expect(await first.value.status == 204)
            #expect(await client.send(OutboundRequest(url: server.url())).status == 204)
        }
        #expect(server.requests.value.count == 2)
    }

    @Test("that waits for a connection can be cancelled, and leaves its place to the next")
    func cancelledWaiting() async throws {
        let started = Observed(0)
        let server = try ScriptedServer.perConnection { peer in
            guard peer.readRequest() != nil else { return }
            started.increment()
            peer.waitForEnd()
        }
        let options = testOptions {
            $0.perHostConnections = 1
            $0.waitingLimit = 1
        }
        try await withClient(options) { client in
            let first = Task { await client.send(OutboundRequest(url: server.url())) }
            await started.wait { $0 >= 1 }
            for _ in 0..<5 {
                let waiting = Task { await client.send(OutboundRequest(url: server.url())) }
                waiting.cancel()
                #expect(await waiting.value.failure?.reason == .cancelled)
            }
            first.cancel()
            #expect(await first.value.failure?.reason == .cancelled)
        }
        #expect(server.connectionCount == 1)
    }

    @Test("is refused when too many wait")
    func overloaded() async throws {
        let started = Observed(0)
        let server = try ScriptedServer.perConnection { peer in
            guard peer.readRequest() != nil else { return }
            started.increment()
            peer.waitForEnd()
        }
        let options = testOptions {
            $0.perHostConnections = 1
            $0.waitingLimit = 3
        }
        try await withClient(options) { client in
            let first = Task { await client.send(OutboundRequest(url: server.url())) }
            await started.wait { $0 >= 1 }
            // Of ten requests, three may wait and seven are refused. The waiting ones end once the first ones are
            // certain to end.
            await withTaskGroup(of: OutboundFailure.Reason?.self) { group in
                for _ in 0..<10 {
                    group.addTask { await client.send(OutboundRequest(url: server.url())).failure?.reason }
                }
                var refused = 0
                for await reason in group where reason == .overloaded {
                    refused += 1
                    if refused == 7 { group.cancelAll() }
                }
                #expect(refused == 7)
            }
            first.cancel()
            _ = await first.value
        }
    }

    @Test("can be cancelled at any moment of its life")
    func cancelledAnytime() async throws {
        let server = try ScriptedServer(answering: { _ in ok })
        try await withClient(testOptions { $0.perHostConnections = 4 }) { client in
            await withTaskGroup(of: OutboundResult.self) { group in
                for number in 0..<400 {
                    let task = Task { await client.send(OutboundRequest(url: server.url())) }
                    if number % 2 == 0 { task.cancel() }
                    group.addTask {
                        if number % 3 == 0 { task.cancel() }
                        return await task.value
                    }
                }
                for await result in group { #expect(result.status == 200 || result.failure?.reason == .cancelled) }
            }
            #expect(await client.send(OutboundRequest(url: server.url())).status == 200)
        }
    }
}

@Suite("A client that is shut down") struct ShutdownTests {
    @Test("ends running and waiting requests as cancelled, and closes its connections")
    func pending() async throws {
        let (started, ended) = (Observed(0), Observed(0))
        let server = try ScriptedServer.perConnection { peer in
            guard peer.readRequest() != nil else { return }
            started.increment()
            peer.waitForEnd()
            ended.increment()
        }
        let client = try Client(options: testOptions { $0.perHostConnections = 2 })
        let tasks = (0..<6).map { _ in Task { await client.send(OutboundRequest(url: server.url())) } }
        await started.wait { $0 >= 2 }
        await client.shutdown()
        for task in tasks { #expect(await task.value.failure?.reason == .cancelled) }
        await ended.wait { $0 >= 2 }
        #expect(await client.send(OutboundRequest(url: server.url())).failure?.reason == .cancelled)
        await client.shutdown()
        #expect(server.connectionCount == 2)
    }

    @Test("closes the connections it kept")
    func idle() async throws {
        let ended = Observed(0)
        let server = try ScriptedServer.perConnection { peer in
            guard peer.readRequest() != nil else { return }
            peer.write(ok)
            peer.waitForEnd()
            ended.increment()
        }
        let client = try Client(options: testOptions())
        #expect(await client.send(OutboundRequest(url: server.url())).status == 200)
        await client.shutdown()
        await ended.wait { $0 >= 1 }
    }

    @Test("by being released does the same")
    func released() async throws {
        let ended = Observed(0)
        let server = try ScriptedServer.perConnection { peer in
            guard peer.readRequest() != nil else { return }
            peer.write(ok)
            peer.waitForEnd()
            ended.increment()
        }
        do {
            let client = try Client(options: testOptions())
            #expect(await client.send(OutboundRequest(url: server.url())).status == 200)
        }
        await ended.wait { $0 >= 1 }
    }

    @Test("can be shut down by several callers at once")
    func several() async throws {
        let client = try Client(options: testOptions())
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<8 { group.addTask { await client.shutdown() } }
        }
    }
}
