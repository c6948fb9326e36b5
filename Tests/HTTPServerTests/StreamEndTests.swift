import Glibc
import TestSupport
import Testing

@testable import HTTPServer

@Suite("The end of a stream", .timeLimit(.minutes(2))) struct StreamEndTests {
    /// A client that has stopped reading, with data pending that its socket does not accept.
    private func stuck(_ stage: Stage) async throws -> StreamConnection {
        let (_, connection) = try await stage.open(receiveBuffer: 4096)
        let isStuck = await stage.server.onLoop {
            // The kernel may accept some more later, so a small lag does not last.
            for _ in 0..<10_000 where connection.lag < 200_000 { connection.send(frame(1, size: 10_000)) }
            return connection.lag >= 200_000
        }
        try #require(isStuck)
        return connection
    }

    @Test("waits for a client that does not read only for the given time")
    func deadline() async throws {
        try await withStage { stage in
            let connection = try await stuck(stage)
            await stage.server.onLoop { connection.finish(last: frame(2), within: .milliseconds(50)) }
            stage.reasons.waitBlocking { $0 == [.tooSlow] }
        }
    }

    @Test("comes at the given time, even if the stream was slow before, and is not delayed")
    func earlier() async throws {
        try await withStage { stage in
            let connection = try await stuck(stage)
            await stage.server.onLoop {
                connection.finish(last: frame(2))
                connection.finish(within: .milliseconds(50))
                connection.finish(within: .seconds(40))
            }
            stage.reasons.waitBlocking { $0 == [.tooSlow] }
        }
    }

    @Test("leaves a client that reads all there is, however soon it is to come")
    func reading() async throws {
        try await withStage { stage in
            let (wire, connection) = try await stage.open()
            await stage.server.onLoop { connection.finish(last: frame(2), within: .zero) }
            #expect(try await blocking { try numbers(wire.rest()) } == [2])
            stage.reasons.waitBlocking { $0 == [.finished] }
        }
    }

    @Test(
        "of a stalled one is decided by the server before the system's timeout",
        arguments: [5, 30, 300])
    func stall(silence: Int) {
        let options = ServerOptions()
        let kernel = Socket.timeout(for: .seconds(silence))
        #expect(kernel < .seconds(silence))
        #expect(min(options.deadlines.streamStall, kernel * 4 / 5) < kernel)
        #expect(Socket.timeout(for: options.deadlines.silence) > options.deadlines.streamStall)
    }

    @Test("before its beginning is reported to its receiver")
    func dropped() async throws {
        let (opened, dropped) = (Observed(0), Observed(0))
        var options = ServerOptions()
        options.limits.streams = 1
        try await withAsyncServer(options: options) { router, _ in
            router.add(.get, "/stream") { _ in
                .stream(
                    StreamOpening { _ in
                        opened.update { $0 += 1 }
                    } onDrop: {
                        dropped.update { $0 += 1 }
                    })
            }
        } body: { server in
            try await blocking {
                let first = try server.wire()
                first.request("GET", "/stream")
                #expect(try first.head().status == 200)
                #expect(try server.wire().ask("GET", "/stream").status == 503)
                dropped.waitBlocking { $0 == 1 }
                #expect(opened.value == 1)
            }
        }
        #expect(dropped.value == 1)
    }
}

@Suite("Logs that share a budget", .timeLimit(.minutes(2))) struct LogBudgetTests {
    private static let page = 64 * 1024

    @Test("grow for lagging readers as far as it permits, and release the memory")
    func growth() async throws {
        try await withAsyncServer { _, _ in
        } body: { server in
            let budget = LogBudget(loop: server.loop, bytes: Self.page)
            var options = Broadcast.Options()
            options.budget = budget
            var logs: [Broadcast] = [await server.broadcast(options), await server.broadcast(options)]
            let sizes = await server.onLoop { [logs] in
                logs[0].reserve(1 << 20)
                let alone = logs[0].allocatedBytes
                // The log always gets the minimum that it needs for sending, and no more.
                logs[1].reserve(1 << 20)
                logs[1].append(frame(1, size: 8_000))
                return [alone, logs[1].allocatedBytes, budget.usedBytes]
            }
            #expect(sizes == [Self.page, 8 * 1024, Self.page + 8 * 1024])
            logs = []
            await waitUntil { await server.onLoop { budget.usedBytes } == 0 }
        }
    }

    @Test("overtake a reader that lags past it, and only such a one")
    func overtaking() async throws {
        let budgets = Observed<[LogBudget]>([])
        try await withStage { stage in
            let budget = LogBudget(loop: stage.server.loop, bytes: Self.page)
            budgets.update { $0 = [budget] }
            var options = Broadcast.Options()
            options.budget = budget
            let log = await stage.server.broadcast(options)
            let (_, slow) = try await stage.open(receiveBuffer: 4096)
            let (wire, quick) = try await stage.open()
            await stage.server.onLoop { for one in [slow, quick] { _ = one.join(log, at: log.head) } }
            let reading = Task { try await blocking { try numbers(wire.read(through: "data: -1 end\n\n")) } }
            var count = 0
            while stage.reasons.value.isEmpty, count < 100_000 {
                let number = count
                await stage.server.onLoop { log.append(frame(number, size: 500)) }
                count += 1
            }
            await stage.server.onLoop { log.append(Array("data: -1 end\n\n".utf8)) }
            #expect(stage.reasons.value == [.tooSlow])
            #expect(try await reading.value == Array(0..<count) + [-1])
            #expect(await stage.server.onLoop { log.allocatedBytes } == Self.page)
        }
    }
}
