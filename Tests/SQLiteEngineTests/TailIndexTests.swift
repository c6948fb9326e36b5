import ChatModel
import EngineConformance
import JSON
import SQLiteEngine
import TestSupport
import Testing

@Suite("Reading few channels of many near the end of the log", .timeLimit(.minutes(2))) struct TailIndexTests {
    let folder: TemporaryFolder
    let clock = ManualClock()
    let app = AppID("app")

    init() throws { folder = try TemporaryFolder() }

    private func run(
        tailBytes: Int, at path: String? = nil, _ body: (SQLiteEngine) async throws -> Void
    ) async throws {
        var settings = SQLiteEngineSettings(path: path ?? folder.database, clock: clock)
        settings.tailBytes = tailBytes
        let engine = try await SQLiteEngine(settings)
        try await body(engine)
        await engine.close()
    }

    /// Emits events on twenty channels, some ephemeral and some that expire.
    private func fill(
        _ engine: SQLiteEngine, _ count: Int, _ random: inout SeededGenerator
    ) async throws
        -> [Event]
    {
        var events: [Event] = []
        while events.count < count {
            let drafts = (0..<Int.random(in: 1...60, using: &random)).map { _ in
                let channel = ChannelID("c\(Int.random(in: 0..<20, using: &random))", in: app)
                var draft = EventDraft(channel: channel, type: "t", data: JSONText(string: "x"))
                if Int.random(in: 0..<5, using: &random) == 0 { draft.retention = .passing }
                if Int.random(in: 0..<9, using: &random) == 0 { draft.expires = clock.now.adding(.seconds(30)) }
                return draft
            }
            events += try await engine.log.append(drafts, claim: nil).events.map(\.event)
        }
        return events
    }

    private func read(
        _ engine: SQLiteEngine, _ channels: ChannelSet, after: Timetoken, _ limit: Int
    ) async throws
        -> [Timetoken]
    {
        var found: [Timetoken] = []
        var position = after
        while true {
            let page = try await engine.log.events(in: channels, after: position, limit: limit)
            #expect(page.items.count <= limit)
            found += page.items.map(\.timetoken)
            position = page.position
            guard page.hasMore else { return found }
        }
    }

    @Test("returns what a scan of all events returns", arguments: [64 * 1024, 8 * 1024 * 1024])
    func same(tailBytes: Int) async throws {
        try await run(tailBytes: tailBytes) { engine in
            var random = SeededGenerator()
            var events: [Event] = []
            for round in 0..<4 {
                events += try await fill(engine, 700, &random)
                if round == 2 { clock.advance(by: .seconds(31)) }
                for _ in 0..<12 {
                    let names = Set((0..<Int.random(in: 1...4, using: &random)).map { _ in random.below(22) })
                    let channels = ChannelSet(app: app, names: names.map { "c\($0)" })
                    let start = events.randomElement(using: &random)?.timetoken ?? .zero
                    let expected = events.filter { event in
                        event.timetoken > start && channels.contains(event.channel)
                            && event.draft.expires.map { $0 > clock.now } ?? true
                    }
                    let found = try await read(engine, channels, after: start, Int.random(in: 1...200, using: &random))
                    #expect(found == expected.map(\.timetoken), "seed \(random.seed)")
                }
            }
        }
    }

    @Test("does not return events that were deleted since the last read", arguments: [Place.memory, .disk])
    func deleted(place: Place) async throws {
        let path = place == .memory ? ":memory:" : folder.database
        try await run(tailBytes: 8 * 1024 * 1024, at: path) { engine in
            var random = SeededGenerator()
            let events = try await fill(engine, 2000, &random)
            let channels = ChannelSet(app: app, names: ["c3"])
            let before = try await read(engine, channels, after: .zero, 250)
            let gone = try #require(
                events.last { $0.channel.name == "c3" && $0.retention == .kept && $0.draft.expires == nil })
            _ = try await engine.log.delete(
                after: Timetoken(gone.timetoken.rawValue - 1), before: Timetoken(gone.timetoken.rawValue + 1),
                in: gone.channel)
            #expect(
                try await read(engine, channels, after: .zero, 250) == before.filter { $0 != gone.timetoken },
                "seed \(random.seed)")
        }
    }

    @Test("reaches as far back as the log, beyond the events in memory")
    func farBack() async throws {
        try await run(tailBytes: 4096) { engine in
            var random = SeededGenerator()
            let events = try await fill(engine, 3000, &random)
            let channels = ChannelSet(app: app, names: ["c1", "c2"])
            let expected = events.filter { channels.contains($0.channel) }.map(\.timetoken)
            #expect(try await read(engine, channels, after: .zero, 100) == expected, "seed \(random.seed)")
        }
    }
}
