import ChatModel
import ChatSupport
import FoundationEssentials
import JSON
import PostgresSupport
import SQLiteEngine
import TestSupport
import Testing

@testable import Gateway

@Suite(
    "The migration of a data directory", .enabled(if: PostgresServer.isInstalled, PostgresServer.installation))
struct EngineMigrationTests {
    private let folder: TemporaryFolder
    private let room = ChannelID("room", in: AppID("app"))

    init() throws { folder = try TemporaryFolder() }

    @Test("fills the database of the settings, with which a gateway then reads the same events")
    func migration() async throws {
        let source = GatewayStore.directory(folder.path)
        let engine = try await source.open(Configuration()).engine
        let drafts = (0..<100).map { EventDraft(channel: room, type: "t", data: JSONText(string: "\($0)")) }
        let events = try await engine.log.append(drafts, claim: nil).events.map(\.event.timetoken)
        await engine.close()

        var configuration = Configuration()
        configuration.engineURL = try await PostgresServer.shared().makeDatabaseURL()
        let counts = try await EngineMigration(from: folder.path, to: nil, configuration).run { _, _, _ in }
        #expect(counts.first { $0.name == "events" }?.rows == 100)

        let cluster = try await configuration.store().open(configuration).engine
        let all = ChannelSet(app: room.app, isAll: true)
        let page = try await cluster.log.events(in: all, after: events[49], limit: 99)
        #expect(page.items.map(\.timetoken) == Array(events[50...]))
        await cluster.close()
    }

    @Test("refuses a directory in use, without data, or with an unfinished restore")
    func wrongDirectory() async throws {
        let url = try await PostgresServer.shared().makeDatabaseURL()
        func failure() async -> String {
            do throws(SettingError) {
                _ = try await EngineMigration(from: folder.path, to: url, Configuration()).run { _, _, _ in }
                return "no error"
            } catch {
                return error.description
            }
        }
        #expect(await failure().contains("no database exists"))
        let engine = try await GatewayStore.directory(folder.path).open(Configuration()).engine
        #expect(await failure().contains("is in use by another gateway: stop it"))
        await engine.close()
        try Data().write(to: URL(fileURLWithPath: folder.path + "/" + DataDirectory.unfinishedName))
        #expect(await failure().contains("did not finish"))
    }
}
