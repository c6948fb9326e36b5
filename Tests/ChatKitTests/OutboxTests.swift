import ChatKit
import ChatModel
import TestReceiver
import Testing

@Suite("An outbox") struct OutboxTests {
    @Test("gives what is waiting in one batch, then waits for more")
    func batches() async {
        let outbox = Outbox(capacity: 10)
        outbox.take([event(1), event(2)])
        outbox.take([event(3)])
        #expect(await outbox.batch()?.map(\.timetoken) == [1, 2, 3])
        async let next = outbox.batch()
        outbox.take([event(4)])
        #expect(await next?.map(\.timetoken) == [4])
    }

    @Test("ends after what was waiting when it is closed")
    func close() async {
        let outbox = Outbox(capacity: 10)
        outbox.take([event(1)])
        outbox.close()
        outbox.take([event(2)])
        #expect(await outbox.batch()?.map(\.timetoken) == [1])
        #expect(await outbox.batch() == nil)
        #expect(!outbox.hasOverflown)
    }

    @Test("takes no more than it has room for, and never a part of a turn")
    func overflow() async {
        let outbox = Outbox(capacity: 3)
        outbox.take([event(1), event(2)])
        outbox.take([event(3), event(4)])
        outbox.take([event(5)])
        #expect(outbox.hasOverflown)
        #expect(await outbox.batch()?.map(\.timetoken) == [1, 2])
        #expect(await outbox.batch() == nil)
    }

    @Test("lets its reader go when the task is cancelled, also when that came first")
    func cancellation() async {
        let outbox = Outbox(capacity: 3)
        let reader = Task { await outbox.batch() }
        reader.cancel()
        #expect(await reader.value == nil)
        #expect(await outbox.batch() == nil)
    }

    @Test("wakes a reader that waits when it overflows at once")
    func overflowWhileWaiting() async {
        let outbox = Outbox(capacity: 1)
        async let batch = outbox.batch()
        outbox.take([event(1), event(2)])
        #expect(await batch == nil)
        #expect(outbox.hasOverflown)
    }
}

@Suite("A long poll") struct PollTests {
    private let forever: @Sendable () async -> Void = {
        let (stream, _) = AsyncStream.makeStream(of: Never.self)
        for await _ in stream {}
    }

    private func tokens(_ batch: PollBatch) -> [UInt64] { batch.events.map(\.timetoken.rawValue) }

    @Test("answers at once from the log, and says where to go on")
    func missed() async throws {
        try await withScriptedService(stored: (1...5).map { event($0) }) { service, _ in
            let chat = service.demoChat()
            let first = try await chat.poll(selection(["*"]), after: 2, limit: 2, hold: forever)
            #expect(tokens(first) == [3, 4])
            #expect(first.cursor == 4)
            let second = try await chat.poll(selection(["*"]), after: first.cursor, limit: 2, hold: forever)
            #expect(tokens(second) == [5])
            #expect(await service.hub.feedCount == 0)
        }
    }

    @Test("waits for the first event that comes")
    func wait() async throws {
        try await withScriptedService(stored: [event(1)]) { service, log in
            let chat = service.demoChat()
            async let batch = chat.poll(selection(["*"]), after: 1, limit: 10, hold: forever)
            while await service.hub.feedCount == 0 { await Task.yield() }
            log.commit([event(2), event(3)])
            let answer = try await batch
            #expect(tokens(answer) == [2, 3])
        }
    }

    @Test("ends empty when the hold does, at the position everything was looked at up to")
    func hold() async throws {
        try await withScriptedService(stored: [event(1)]) { service, log in
            let chat = service.demoChat()
            let batch = try await chat.poll(selection(["quiet"]), after: 1, limit: 10) {
                log.commit([event(2)])
                _ = await service.hub.reach(2)
            }
            #expect(batch.events.isEmpty)
            #expect(batch.cursor == 2)
        }
    }

    @Test("does not give again what its client knows and the hub has not seen yet")
    func aheadOfTheHub() async throws {
        try await withScriptedService(stored: [event(1)]) { service, log in
            let chat = service.demoChat()
            // Appended and acknowledged, so the client's cursor is 2; the hub is told later.
            log.store([event(2)])
            async let batch = chat.poll(selection(["*"]), after: 2, limit: 10, hold: forever)
            log.tell([event(2)])
            while await service.hub.feedCount == 0 { await Task.yield() }
            log.commit([event(3)])
            let answer = try await batch
            #expect(tokens(answer) == [3])
        }
    }

    @Test("reads from the log what was too much for it at once")
    func overflow() async throws {
        var limits = Limits()
        limits.listenerBacklog = 2
        try await withScriptedService(limits: limits, stored: [event(1)]) { service, log in
            let chat = service.demoChat()
            async let batch = chat.poll(selection(["*"]), after: 1, limit: 10, hold: forever)
            while await service.hub.feedCount == 0 { await Task.yield() }
            log.commit([event(2), event(3), event(4)])
            let answer = try await batch
            #expect(tokens(answer) == [2, 3, 4])
        }
    }

    @Test("leaves nothing behind when the log fails or the client goes")
    func failures() async throws {
        try await withScriptedService(stored: [event(1), event(2)]) { service, log in
            let chat = service.demoChat()
            let waiting = Task { try await chat.poll(selection(["*"]), after: 2, limit: 10, hold: forever) }
            while await service.hub.feedCount == 0 { await Task.yield() }
            waiting.cancel()
            let answer = try await waiting.value
            #expect(answer.events.isEmpty)
            #expect(await service.hub.feedCount == 0)
            log.fail(with: ChatError(.unavailable, "no store"))
            await #expect(throws: ChatError.self) {
                try await chat.poll(selection(["*"]), after: 1, limit: 10, hold: forever)
            }
            #expect(await service.hub.feedCount == 0)
        }
    }

    @Test("is refused while events do not reach subscribers")
    func notRunning() async throws {
        let service = ChatService(
            engine: ScriptedEngine(scripted: ScriptedLog()), executor: HubThread())
        await #expect(throws: ChatError.self) {
            try await service.demoChat().poll(selection(["*"]), after: 0, limit: 1, hold: forever)
        }
    }
}
