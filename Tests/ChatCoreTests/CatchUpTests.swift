import ChatCore
import ChatModel
import Testing

@Suite("Catching up") struct CatchUpTests {
    private func all(_ catchUp: CatchUp, limit: Int) async throws -> (timetokens: [UInt64], pages: Int) {
        var catchUp = catchUp
        var timetokens: [UInt64] = []
        var pages = 0
        while !catchUp.isOver {
            timetokens += try await catchUp.nextPage(limit: limit).map(\.timetoken.rawValue)
            pages += 1
        }
        return (timetokens, pages)
    }

    @Test("reads everything between two positions, the second included", arguments: [1, 3, 250])
    func bounds(_ limit: Int) async throws {
        try await withScriptedService(stored: (1...10).map { event($0) }) { service, _ in
            let read = try await all(
                service.demoChat().catchUp(selection(["*"]), after: 2, upTo: 8), limit: limit)
            #expect(read.timetokens == [3, 4, 5, 6, 7, 8])
        }
    }

    @Test("does not claim to have read beyond its end", arguments: [2, 250])
    func end(_ limit: Int) async throws {
        try await withScriptedService(stored: (1...10).map { event($0) }) { service, _ in
            var catchUp = service.demoChat().catchUp(selection(["*"]), after: 0, upTo: 3)
            while !catchUp.isOver { _ = try await catchUp.nextPage(limit: limit) }
            #expect(catchUp.position == 3)
        }
    }

    @Test("costs a bounded step at a time when little is wanted")
    func sparse() async throws {
        let stored = (1...100).map { event($0, type: $0 == 99 ? "rare" : "common") }
        try await withScriptedService(stored: stored) { service, log in
            let read = try await all(
                service.demoChat().catchUp(selection(["*"], types: [.exact("rare")]), after: 0, upTo: 100), limit: 10)
            #expect(read.timetokens == [99])
            #expect(read.pages == 10)
            #expect(log.limitsAsked == Array(repeating: 10, count: 10))
        }
    }

    @Test("does not read the log when there is nothing in between")
    func empty() async throws {
        try await withScriptedService(stored: [event(1)]) { service, log in
            let read = try await all(service.demoChat().catchUp(selection(["*"]), after: 1, upTo: 1), limit: 10)
            #expect(read.pages == 0)
            #expect(log.limitsAsked.isEmpty)
        }
    }

    /// A timetoken with as many digits as a current one.
    private static func long(_ number: Int) -> UInt64 { 17_324_123_456_789_000 + UInt64(number) }

    @Test(
        "starts where a cursor says",
        arguments: [
            ("latest", 9), ("17324123456789005", 5), ("17324123456789003", 3), ("17324123456789009", 9),
            ("17324123456789010", 9), ("2024-11-24T01:39:05.6789005Z", 5), ("2024-11-24T02:39:05.6789005+01:00", 5),
        ])
    func cursors(_ cursor: String, _ number: Int) async throws {
        try await withScriptedService(stored: (1...9).map { event(Self.long($0)) }) { service, log in
            log.lose(upTo: Timetoken(Self.long(3)))
            let resumption = try await service.demoChat().resume(selection(["*"]), at: cursor)
            #expect(resumption == ResumePosition(requested: cursor, from: Timetoken(Self.long(number))))
        }
    }

    @Test("starts with all stored events, which is never a gap", arguments: ["earliest", "0"])
    func everything(_ cursor: String) async throws {
        try await withScriptedService(stored: (1...9).map { event(Self.long($0)) }) { service, log in
            log.lose(upTo: Timetoken(Self.long(3)))
            let resumption = try await service.demoChat().resume(selection(["*"]), at: cursor)
            #expect(resumption == ResumePosition(requested: cursor, from: .zero))
        }
    }

    @Test(
        "reports a gap for a position after which events are lost, and continues before the oldest kept one",
        arguments: [
            ("17324123456789002", Loss.Cause.retention, 3), ("2024-01-01T00:00:00Z", .retention, 3),
            ("17324123456789002", .restore, 2), ("2024-01-01T00:00:00Z", .restore, 0),
        ])
    func gaps(_ cursor: String, _ cause: Loss.Cause, _ number: Int) async throws {
        try await withScriptedService(stored: (1...9).map { event(Self.long($0)) }) { service, log in
            log.lose(upTo: Timetoken(Self.long(3)), by: cause)
            let resumption = try await service.demoChat().resume(selection(["*"]), at: cursor)
            #expect(resumption.from == Timetoken(Self.long(number)))
            #expect(resumption.gap == (cause == .restore ? .restore : .retention))
        }
    }

    @Test("reports a gap for a position in the future, and continues from now")
    func future() async throws {
        try await withScriptedService(stored: (1...9).map { event(Self.long($0)) }) { service, _ in
            let resumption = try await service.demoChat().resume(selection(["*"]), at: "99999999999999999")
            #expect(resumption.from == Timetoken(Self.long(9)) && resumption.gap == .future)
        }
    }

    @Test(
        "reports a gap for an id that is no timetoken, and continues from now",
        arguments: ["5", "1732412345678900", "earliest", "2024-11-24T01:39:05Z", "abc", ""])
    func foreignIDs(_ cursor: String) async throws {
        try await withScriptedService(stored: (1...9).map { event($0) }) { service, _ in
            let resumption = try await service.demoChat().resume(selection(["*"]), at: cursor, orFromNow: true)
            #expect(resumption.from == 9 && resumption.gap == .unknown)
        }
    }

    @Test(
        "refuses what is no cursor",
        arguments: [
            "", "-1", "1.5", "evt_1", "Latest", "99999999999999999999", "5", "1795445757000", "1:7:42", "1\u{661}",
        ])
    func badCursors(_ cursor: String) async throws {
        try await withScriptedService { service, _ in
            let error = await #expect(throws: ChatError.self) {
                try await service.demoChat().resume(selection(["*"]), at: cursor)
            }
            #expect(error?.slug == "bad_cursor")
        }
    }
}
