import ChatModel
import EngineConformance
import Logging
import PostgresSupport
import StorageCore
import TestSupport
import Testing

@testable import ClusterEngine
@testable import SQLiteEngine

/// An engine that is a SQLite engine until it is restarted. The restart migrates its data, so the engine is the node of
/// a cluster afterwards.
actor MigratedUnderTest: EngineUnderTest {
    private enum Stage {
        case file(SQLiteEngine)
        case cluster(ClusterEngine)
    }

    private let folder: TemporaryFolder
    private let database: String
    private let limits: Limits
    private let clock: ManualClock
    private var stage: Stage
    nonisolated let survivesRestart = true

    init(_ limits: Limits, _ clock: ManualClock) async throws {
        folder = try TemporaryFolder()
        database = try await PostgresServer.shared().makeDatabase()
        self.limits = limits
        self.clock = clock
        stage = .file(try await SQLiteEngine(.test(folder.database, limits, clock)))
    }

    var nodes: [any Engine] {
        switch stage {
        case .file(let engine): [engine]
        case .cluster(let engine): [engine]
        }
    }

    func restart() async throws {
        let isMigrated = if case .cluster = stage { true } else { false }
        for node in nodes { await node.close() }
        if !isMigrated { try await migrate(folder.database, to: database) }
        stage = .cluster(
            try await ClusterEngine(url: database, settings: ClusterEngineSettings(limits: limits, clock: clock)))
    }

    func block() -> Bool { false }

    func unblock() {}

    func removeOutlived() async throws {
        switch stage {
        case .file(let engine): try await engine.removeOutlived()
        case .cluster(let engine): try await engine.removeOutlived()
        }
    }

    /// Migrates the data if the behaviour did not, and compares the answers of both engines.
    func end() async {
        if case .file(let engine) = stage {
            await engine.close()
            do {
                let original = try await SQLiteEngine(.test(folder.database, limits, clock))
                let expected = try await EngineContents(original)
                await original.close()
                try await restart()
                for copy in nodes { try await EngineContents(copy).expectEqual(expected) }
            } catch {
                Issue.record(error)
            }
        }
        for node in nodes { await node.close() }
    }
}

extension SQLiteEngineSettings {
    /// Settings of a test: its clock, and no logging.
    static func test(_ path: String, _ limits: Limits, _ clock: ManualClock) -> Self {
        var settings = SQLiteEngineSettings(
            path: path, limits: limits, clock: clock.wallClock,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        settings.uptime = { clock.uptime }
        return settings
    }
}

/// Migrates a file.
@discardableResult
func migrate(_ file: String, to database: String) async throws -> [(table: ContentTable, rows: Int)] {
    try await ClusterMigration(to: database).copy(from: SQLiteContents(path: file)) { _ in }
}

/// What an engine answers about its content, one line for each object.
struct EngineContents {
    private var lines: [String] = []

    init(_ engine: any Engine) async throws {
        for app in ["app", "other"].map({ AppID($0) }) {
            try await add(engine.log, app)
            try await add(engine.directory, app)
            try await add(engine.deliveries, app)
        }
        lines.append("revision \(try await engine.directory.revision())")
        for cursor in ["c", "planner", "other"] {
            lines.append("cursor \(cursor) \(try await engine.deliveries.cursor(CursorName(cursor)))")
        }
        for await changes in await engine.directory.changes(after: 0).prefix(
            try await engine.directory.revision() == 0 ? 0 : 1)
        {
            for key in changes.keys { lines.append("changed \(key.kind) \(key.id)") }
        }
    }

    private mutating func add(_ log: any EventLog, _ app: AppID) async throws {
        lines.append("watermark \(try await log.watermark(of: app))")
        let channels = ChannelSet(app: app, isAll: true)
        var position = Timetoken.zero
        var names: Set<ExactText> = []
        while true {
            let page = try await log.events(in: channels, after: position, limit: 500)
            for event in page.items { lines.append("event \(event)") }
            names.formUnion(page.items.map { ExactText($0.channel.name) })
            position = page.position
            guard page.hasMore else { break }
        }
        for name in names.sorted(by: { $0.text < $1.text }) {
            let request = HistoryRequest(channel: ChannelID(name.text, in: app), limit: 100_000)
            for event in try await log.history([request])[0].items { lines.append("history \(event)") }
            lines.append("count \(try await log.counts([request]))")
        }
        for position in [Timetoken(1), position] {
            lines.append("loss \(String(describing: try await log.loss(in: channels, types: [.all], after: position)))")
        }
    }

    private mutating func add(_ directory: any Directory, _ app: AppID) async throws {
        for kind in RecordKind.allCases {
            var query = RecordQuery(kind, in: app, limit: 100)
            query.sort = [(.updated, true), (.id, true)]
            repeat {
                let page = try await directory.list(query)
                for record in page.items { lines.append("record \(record)") }
                query.cursor = page.cursor
                if let cursor = page.cursor { lines.append("page \(cursor)") }
            } while query.cursor != nil
        }
    }

    private mutating func add(_ queue: any DeliveryQueue, _ app: AppID) async throws {
        var query = DeliveryQuery(app: app, limit: 300)
        repeat {
            let page = try await queue.list(query)
            for item in page.items.prefix(40) {
                let found = try await queue.delivery(item.id, in: app)
                lines.append("delivery \(String(describing: found))")
            }
            for item in page.items { lines.append("item \(item)") }
            query.cursor = page.cursor
            if let cursor = page.cursor { lines.append("page \(cursor)") }
        } while query.cursor != nil
    }

    func expectEqual(_ expected: EngineContents, location: SourceLocation = #_sourceLocation) {
        #expect(lines.count == expected.lines.count, sourceLocation: location)
        let difference = zip(lines, expected.lines).first { $0 != $1 }
        #expect(difference?.0 == difference?.1, sourceLocation: location)
    }
}
