import ChatModel
import EngineConformance
import JSON
import Locking
import Logging
import SQLite
import Testing
import TestSupport

@testable import SQLiteEngine

/// The location of a test's engine.
enum Place: String, CaseIterable, Sendable {
    case memory, disk

    var factory: EngineFactory {
        { limits, clock in try await SQLiteUnderTest(self, limits, clock) }
    }
}

extension SQLiteEngineSettings {
    /// Settings of a test: its clock, no logging, and a cache small enough that reads from the file are tested as well.
    init(path: String, limits: Limits = Limits(), clock: ManualClock) {
        self.init(
            path: path, limits: limits, clock: clock.wallClock,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        uptime = { clock.uptime }
        tailBytes = 64 * 1024
    }
}

actor SQLiteUnderTest: EngineUnderTest {
    private let settings: SQLiteEngineSettings
    private let folder: TemporaryFolder
    private var engine: SQLiteEngine
    private var blocker: Database?
    nonisolated let survivesRestart: Bool

    init(_ place: Place, _ limits: Limits, _ clock: ManualClock) async throws {
        folder = try TemporaryFolder()
        survivesRestart = place == .disk
        settings = SQLiteEngineSettings(
            path: place == .disk ? folder.database : ":memory:", limits: limits, clock: clock)
        engine = try await SQLiteEngine(settings)
    }

    var nodes: [any Engine] { [engine] }

    func restart() async throws {
        await engine.close()
        engine = try await SQLiteEngine(settings)
    }

    func block() throws -> Bool {
        guard survivesRestart else { return false }
        let database = try Database(path: settings.path, mode: .readWrite)
        try database.execute("BEGIN IMMEDIATE")
        blocker = database
        return true
    }

    func unblock() { blocker = nil }

    func removeOutlived() async throws { try await engine.removeOutlived() }

    func end() async { await engine.close() }
}

@Suite("The SQLite engine conforms to the contract") struct ConformanceTests {
    @Test(arguments: Behaviour.all)
    func inMemory(_ behaviour: Behaviour) async throws { try await behaviour.run(Place.memory.factory) }

    @Test(arguments: Behaviour.all)
    func onDisk(_ behaviour: Behaviour) async throws { try await behaviour.run(Place.disk.factory) }
}

/// The writer waits for callers of the last batch to return. It must not wait for those that do not.
@Suite("The writer") struct AttemptBatcherTests {
    @Test("answers few callers after many, and one caller after few", arguments: Place.allCases)
    func fewAfterMany(_ place: Place) async throws {
        let folder = try TemporaryFolder()
        let path = place == .disk ? folder.database : ":memory:"
        let engine = try await SQLiteEngine(SQLiteEngineSettings(path: path, clock: ManualClock()))
        let room = ChannelID("room", in: AppID("app"))
        for callers in [200, 3, 1, 50, 1, 1] {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<callers {
                    let draft = EventDraft(channel: room, type: "t", data: JSONText(string: "\(number)"))
                    group.addTask { _ = try await engine.log.append([draft], claim: nil) }
                }
                try await group.waitForAll()
            }
        }
        #expect(try await engine.log.counts([HistoryRequest(channel: room, limit: 1)]) == [256])
        await engine.close()
    }
}

/// An event that is not written to disk does not wait for the disk writer.
@Suite("An ephemeral event") struct PassingEventTests {
    private func draft(_ text: String) -> EventDraft {
        EventDraft(
            channel: ChannelID("room", in: AppID("app")), type: "t", retention: .passing, data: JSONText(string: text)
        )
    }

    @Test("is visible when append returns, if no earlier event is pending", arguments: Place.allCases)
    func atOnce(_ place: Place) async throws {
        let folder = try TemporaryFolder()
        let path = place == .disk ? folder.database : ":memory:"
        let engine = try await SQLiteEngine(SQLiteEngineSettings(path: path, clock: ManualClock()))
        // The writer reserves timetokens for this event and the following ones.
        let first = try await engine.log.append([draft("first")], claim: nil)
        let timetokens = Lock<[Timetoken]>([])
        let sender = Task.immediate {
            let outcome = try await engine.log.append([draft("second"), draft("third")], claim: nil)
            timetokens.withLock { $0 = outcome.events.map(\.event.timetoken) }
        }
        let given = timetokens.withLock { $0 }
        #expect(given.count == 2)
        #expect(try await engine.log.watermark(of: AppID("app")) == given.last)
        try await sender.value
        let all = ChannelSet(app: AppID("app"), names: ["room"])
        let page = try await engine.log.events(in: all, after: .zero, limit: 10)
        #expect(page.items.map(\.timetoken) == first.events.map(\.event.timetoken) + given)
        await engine.close()
    }

    @Test("is refused once the store is closed")
    func afterTheEnd() async throws {
        let engine = try await SQLiteEngine(SQLiteEngineSettings(path: ":memory:", clock: ManualClock()))
        _ = try await engine.log.append([draft("first")], claim: nil)
        await engine.close()
        let late = draft("late")
        await #expect(throws: ChatError.self) { _ = try await engine.log.append([late], claim: nil) }
    }
}

/// Expired data is removed in rounds.
@Suite("Housekeeping") struct HousekeepingTests {
    @Test("ends although the clock runs, and removes other data beside outlived events", arguments: Place.allCases)
    func ends(_ place: Place) async throws {
        let folder = try TemporaryFolder()
        let path = place == .disk ? folder.database : ":memory:"
        // Each reading of the clock advances it by 1 ms.
        let clock = ManualClock(.ticksPerReading(10_000))
        let engine = try await SQLiteEngine(SQLiteEngineSettings(path: path, clock: clock))
        let app = AppID("app")
        let room = ChannelID("room", in: app)
        var expired = EventDraft(channel: room, type: "t", data: .null)
        expired.expires = clock.now
        _ = try await engine.log.append([expired, EventDraft(channel: room, type: "t", data: .null)], claim: nil)
        try await engine.log.setRetention(.seconds(3600), of: app)
        try await engine.removeOutlived()
        let statistics = try await engine.statistics()
        #expect(statistics.oldestEvent == statistics.newestEvent && statistics.oldestEvent != nil)
        await engine.close()
    }
}
