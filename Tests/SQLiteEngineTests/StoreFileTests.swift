import ChatModel
import EngineConformance
import FoundationEssentials
import JSON
import Locking
import SQLite
import TestSupport
import Testing

@testable import SQLiteEngine

@Suite("A store's file") struct StoreFileTests {
    let folder: TemporaryFolder
    let clock = ManualClock()
    let room = ChannelID("room", in: AppID("app"))

    init() throws { folder = try TemporaryFolder() }

    var settings: SQLiteEngineSettings { SQLiteEngineSettings(path: folder.database, clock: clock) }

    func draft(_ text: String, bytes: Int = 0) -> EventDraft {
        EventDraft(channel: room, type: "t", data: JSONText(string: text + String(repeating: "x", count: bytes)))
    }

    func history(_ engine: SQLiteEngine) async throws -> [Timetoken] {
        try await engine.log.history([HistoryRequest(channel: room, limit: 1_000_000)])[0].items.map(\.timetoken)
    }

    @Test("is copied in its state of one moment, while the engine writes on")
    func copying() async throws {
        let engine = try await SQLiteEngine(settings)
        let before = try await engine.log.append((0..<500).map { draft("\($0)", bytes: 1000) }, claim: nil)
        let copy = folder.path + "/copy.db"
        let writer = Task {
            while !Task.isCancelled { _ = try await engine.log.append([draft("more", bytes: 1000)], claim: nil) }
        }
        var steps: [Int] = []
        try StoreFile(at: folder.database).copy(to: copy) { copied, _ in steps.append(copied) }
        writer.cancel()
        try await writer.value
        #expect(steps == steps.sorted() && steps.count > 2)
        let found = StoreFile(at: copy)
        #expect(try found.faults(isThorough: true).isEmpty)
        let summary = try found.summary()
        #expect(summary.events >= 500)
        #expect(!FileManager.default.fileExists(atPath: copy + "-wal"))

        let all = try await history(engine)
        await engine.close()
        let revived = try await SQLiteEngine(SQLiteEngineSettings(path: copy, clock: clock))
        let copied = try await history(revived)
        #expect(copied == Array(all.prefix(copied.count)) && copied.count == summary.events)
        #expect(copied.starts(with: before.events.map(\.event.timetoken)))
        #expect(copied.last == summary.newest)
        await revived.close()
    }

    @Test("is not copied over an existing file")
    func existing() async throws {
        let engine = try await SQLiteEngine(settings)
        await engine.close()
        let other = folder.path + "/other"
        try Data("mine".utf8).write(to: URL(filePath: other))
        #expect(throws: SQLiteEngineFailure.self) {
            try StoreFile(at: folder.database).copy(to: other) { _, _ in }
        }
        #expect(try String(contentsOfFile: other, encoding: .utf8) == "mine")
    }

    @Test("reports its contents and its faults")
    func looking() async throws {
        let engine = try await SQLiteEngine(settings)
        let events = try await engine.log.append((0..<2000).map { draft("\($0)", bytes: 100) }, claim: nil)
        await engine.close()
        let file = StoreFile(at: folder.database)
        let summary = try file.summary()
        #expect(summary.schemaVersion == StoreFile.knownVersion)
        #expect(summary.events == 2000 && summary.newest == events.events.last?.event.timetoken)
        #expect(try file.faults(isThorough: true).isEmpty)

        var bytes = try Data(contentsOf: URL(filePath: folder.database))
        for index in (bytes.count / 2)..<(bytes.count / 2 + 4096) { bytes[index] = 0x55 }
        try bytes.write(to: URL(filePath: folder.database))
        // Damage is reported as a finding or as an error, depending on its place.
        let isFound = (try? file.faults(isThorough: true).isEmpty) != true
        #expect(isFound)
    }

    @Test("does not block the writer while a reader holds an old snapshot, and restarts its log afterwards")
    func oldSnapshot() async throws {
        var settings = settings
        settings.logPages = SQLiteEngineSettings.LogPages(long: 20, tooLong: 100)
        let engine = try await SQLiteEngine(settings)
        _ = try await engine.log.append([draft("first")], claim: nil)
        let reader = try Database(path: folder.database, mode: .readOnly)
        try reader.execute("BEGIN; SELECT count(*) FROM event")
        /// The number of times the log was restarted: the checkpoint sequence number in its header.
        func sequence() throws -> [UInt8] {
            Array(try Data(contentsOf: URL(filePath: folder.database + "-wal"))[12..<16])
        }
        // A log that was copied completely into the file may be restarted once more.
        _ = try await engine.log.append([draft("second")], claim: nil)
        let held = try sequence()
        for _ in 0..<60 { _ = try await engine.log.append([draft("", bytes: 20_000)], claim: nil) }
        #expect(try sequence() == held)
        reader.rollback()
        for _ in 0..<1000 where try sequence() == held {
            _ = try await engine.log.append([draft("", bytes: 20_000)], claim: nil)
        }
        #expect(try sequence() != held)
        #expect(try await history(engine).count > 60)
        await engine.close()
    }
}
