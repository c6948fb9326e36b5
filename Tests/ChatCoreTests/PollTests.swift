import ChatCore
import ChatModel
import Testing

@Suite("The backlog of a poll") struct PollTests {
    @Test("is read from the log, from its position up to where the hub was")
    func missed() async throws {
        try await withScriptedService(stored: (1...5).map { event($0) }) { service, _ in
            let found = try await service.demoChat().missed(selection(["*"]), after: 2, upTo: 4)
            #expect(found.reached == 4)
            #expect(found.events.map(\.timetoken) == [3, 4])
        }
    }

    private let lost = selection(["*"], types: [.exact("order.lost")])

    /// Seven events, of which the sixth is lost, read in pages of two.
    private func withOneLost(_ body: (ChatAccess) async throws -> Void) async throws {
        var limits = Limits()
        limits.pageMost = 2
        let stored = (1...7).map { event($0, type: $0 == 6 ? "order.lost" : "order.paid") }
        try await withScriptedService(limits: limits, stored: stored) { service, _ in try await body(service.demoChat())
        }
    }

    @Test("is found behind whole pages of other events")
    func pages() async throws {
        try await withOneLost { chat in
            let found = try await chat.missed(lost, after: 0, upTo: 7)
            let more = try await chat.missed(lost, after: 6, upTo: 7)
            #expect(found.events.map(\.timetoken) == [6])
            #expect(more.events.isEmpty)
            #expect(more.reached == 7)
        }
    }

    @Test("is searched within its time, and the search continues where it ended")
    func deadline() async throws {
        try await withOneLost { chat in
            var reached: [Timetoken] = [0]
            while reached.count < 3 {
                let found = try await chat.missed(lost, after: reached.last ?? 0, upTo: 7, until: .now)
                #expect(found.events.isEmpty)
                reached.append(found.reached)
            }
            #expect(reached == [0, 2, 4])
            #expect(try await chat.missed(lost, after: 4, upTo: 7, until: .now).events.map(\.timetoken) == [6])
        }
    }

    @Test("fails with the log's error")
    func failure() async throws {
        try await withScriptedService(stored: [event(1)]) { service, log in
            log.fail(with: ChatError(.unavailable, "no store"))
            await #expect(throws: ChatError.self) {
                try await service.demoChat().missed(selection(["*"]), after: 0, upTo: 1)
            }
        }
    }

    @Test("is returned in batches whose cursor skips no matching event")
    func batches() {
        let events = (3...5).map { event($0) }
        let first = PollBatch(events, limit: 2, upTo: 9)
        #expect(first.events.map(\.timetoken) == [3, 4])
        #expect(first.cursor == 4)
        #expect(PollBatch(events, limit: 3, upTo: 9).cursor == 5)
        #expect(PollBatch([], limit: 3, upTo: 9).cursor == 9)
    }

    @Test("is returned half a MiB at a time, and at least one event")
    func longBatches() {
        let long = "\"" + String(repeating: "x", count: 300 * 1024) + "\""
        let events = (3...6).map { event($0, data: long) }
        let first = PollBatch(events, limit: 100, upTo: 9)
        #expect(first.events.map(\.timetoken) == [3, 4])
        #expect(first.cursor == 4)
        let longer = event(3, data: "[" + long + "," + long + "]")
        #expect(PollBatch([longer, event(4)], limit: 100, upTo: 9).events.map(\.timetoken) == [3])
    }
}
