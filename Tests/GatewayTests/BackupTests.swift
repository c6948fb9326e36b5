import ChatModel
import ChatSupport
import FoundationEssentials
import JSON
import SQLiteEngine
import Testing

@testable import Gateway

@Suite("A backup") struct BackupTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
        "parley-backup-\(UUID().uuidString)")

    private func path(_ name: String) -> String { folder.appendingPathComponent(name).path }

    /// Runs `body` with a data directory that holds some events, and passes it their timetokens.
    private func withData(_ body: ([Timetoken]) async throws -> Void) async throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let engine = try await open(try DataDirectory(at: path("data")))
        let drafts = (0..<100).map { number in
            EventDraft(
                channel: ChannelID("room", in: AppID("app")), type: "t",
                data: JSONText(string: "\(number)" + String(repeating: "x", count: 500)))
        }
        let events = try await engine.log.append(drafts, claim: nil).events.map(\.event.timetoken)
        await engine.close()
        try await body(events)
    }

    private func open(_ data: DataDirectory) async throws -> SQLiteEngine {
        try await SQLiteEngine(
            SQLiteEngineSettings(path: data.database, limits: Limits(), clock: .system, logger: ChatFixture.quiet))
    }

    private func refusal(_ body: () throws(BackupFailure) -> BackupManifest) -> String {
        do throws(BackupFailure) {
            _ = try body()
            return ""
        } catch { return error.description }
    }

    private func restore() throws(BackupFailure) -> BackupManifest {
        try RestoreOperation(path("backup"), into: path("restored")).run { _ in }
    }

    private func mode(_ name: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path(name))[.posixPermissions] as? Int
    }

    @Test("becomes a data directory with the same events, and describes its contents")
    func roundTrip() async throws {
        try await withData { events in
            var steps: [BackupProgress] = []
            let manifest = try Backup(of: path("data")).write(to: path("backup")) { steps.append($0) }
            #expect(manifest.events == 100 && manifest.lastTimetoken == events.last?.description)
            #expect(manifest.schemaVersion == StoreFile.knownVersion)
            #expect(steps.contains(.checking))
            #expect(
                try BackupManifest(Array(Data(contentsOf: folder.appendingPathComponent("backup/manifest.json"))))
                    == manifest)
            #expect(try mode("data/parley.db") == 0o600)
            for file in ["parley.db", "manifest.json"] { #expect(try mode("backup/\(file)") == 0o600) }
            #expect(try mode("backup") == 0o700)

            #expect(try restore() == manifest)
            #expect(try mode("restored/parley.db") == 0o600)
            let engine = try await open(try DataDirectory(at: path("restored")))
            let page = try await engine.log.history([
                HistoryRequest(channel: ChannelID("room", in: AppID("app")), limit: 1000)
            ])[0]
            #expect(page.items.map(\.timetoken) == events)
            // Events between the backup and now are lost, and no new ones take their place.
            let room = ChannelSet(app: AppID("app"), names: ["room"])
            let loss = try #require(await engine.log.loss(in: room, types: [.all], after: events[50]))
            #expect(loss.cause == .restore && loss.upTo > events[99])
            #expect(try await engine.log.loss(in: room, types: [.all], after: loss.upTo) == nil)
            let draft = EventDraft(channel: ChannelID("room", in: AppID("app")), type: "t", data: .null)
            let next = try await engine.log.append([draft], claim: nil).events[0].event.timetoken
            #expect(next > loss.upTo)
            await engine.close()
        }
    }

    @Test("with any byte changed is refused, and leaves nothing behind", arguments: [0.1, 0.5, 0.99])
    func damage(_ place: Double) async throws {
        try await withData { _ in
            _ = try Backup(of: path("data")).write(to: path("backup")) { _ in }
            let file = folder.appendingPathComponent("backup/parley.db")
            var bytes = try Data(contentsOf: file)
            bytes[Int(Double(bytes.count) * place)] ^= 0x01
            try bytes.write(to: file)
            #expect(refusal(restore).contains("SHA-256"))
            #expect(!FileManager.default.fileExists(atPath: path("restored")))
        }
    }

    @Test("that is incomplete or of a newer program is refused with an explanation")
    func otherBackups() async throws {
        try await withData { _ in
            #expect(refusal(restore).contains("manifest.json"))
            _ = try Backup(of: path("data")).write(to: path("backup")) { _ in }
            let file = folder.appendingPathComponent("backup/manifest.json")
            let text = try String(contentsOf: file, encoding: .utf8)
            func altered(_ old: String, _ new: String) throws -> String {
                #expect(text.contains(old))
                try Data(text.replacing(old, with: new).utf8).write(to: file)
                return refusal(restore)
            }
            #expect(try altered("\"format\":1", "\"format\":2").contains("newer"))
            #expect(
                try altered("\"schema_version\":\(StoreFile.knownVersion)", "\"schema_version\":99").contains("newer"))
            #expect(try altered("\"events\":100", "\"events\":101").contains("differ from manifest.json"))
            #expect(
                try altered("\"name\":\"parley.db\"", "\"name\":\"../parley.db\"").contains("not a file of a backup"))
            #expect(try altered("{", "[").contains("manifest.json"))
            #expect(!FileManager.default.fileExists(atPath: path("restored")))
        }
    }

    @Test("is restored only into an empty directory")
    func occupied() async throws {
        try await withData { _ in
            _ = try Backup(of: path("data")).write(to: path("backup")) { _ in }
            _ = try DataDirectory(at: path("restored"))
            try FileManager.default.createDirectory(
                atPath: path("restored/lost+found"), withIntermediateDirectories: false)
            try Data("mine".utf8).write(to: folder.appendingPathComponent("restored/notes"))
            #expect(refusal(restore).contains("not empty"))
            #expect(try String(contentsOf: folder.appendingPathComponent("restored/notes"), encoding: .utf8) == "mine")
            try FileManager.default.removeItem(atPath: path("restored/notes"))
            _ = try restore()
        }
    }

    @Test("that was restored partially lets no gateway start")
    func unfinished() async throws {
        try await withData { _ in
            let data = try DataDirectory(at: path("restored"))
            try Data().write(to: folder.appendingPathComponent("restored/parley.db.restoring"))
            #expect(throws: SettingError.self) { try data.requireComplete() }
            var configuration = Configuration()
            configuration.listenPort = 0
            configuration.isDevelopment = true
            configuration.dataDirectory = path("restored")
            await #expect(throws: SettingError.self) { try await GatewayServer(configuration).run(until: {}) }
            #expect(!FileManager.default.fileExists(atPath: path("restored/parley.db")))
        }
    }

    @Test("is made of an existing database, under an unused name")
    func places() async throws {
        try await withData { _ in
            func backUp(_ data: String) throws(BackupFailure) -> BackupManifest {
                try Backup(of: path(data)).write(to: path("backup")) { _ in }
            }
            let missing = refusal { () throws(BackupFailure) in try backUp("nowhere") }
            #expect(missing.contains("no database"))
            _ = try backUp("data")
            let taken = refusal { () throws(BackupFailure) in try backUp("data") }
            #expect(taken.contains("exists already"))
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == ["backup", "data"])
        }
    }
}
