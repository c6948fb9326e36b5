import ChatModel
import EngineConformance
import Locking
import Logging
import SQLite
@testable import SQLiteEngine
import TestSupport

/// Where a test keeps its engine.
enum Place: String, CaseIterable, Sendable {
    case memory, disk

    var factory: EngineFactory {
        { limits, clock in try await SQLiteUnderTest(self, limits, clock) }
    }
}

extension SQLiteEngineSettings {
    /// Settings of a test: its clock, no chatter, and a memory small enough that reading from the file is tried as well.
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
