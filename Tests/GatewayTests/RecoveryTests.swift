import ChatCore
import ChatModel
import ChatSupport
import FoundationEssentials
import Locking
import Signing
import SQLiteEngine
import TestSupport
import Testing

@testable import Gateway

@Suite("Recovery of admin access") struct RecoveryTests {
    private let folder: TemporaryFolder
    private let configuration: Configuration

    init() throws {
        folder = try TemporaryFolder()
        configuration = try ConfigurationLoader.load(
            file: nil, environment: [:], flags: [(name: "data", value: folder.path + "/data")]
        ).configuration
    }

    private func opened(_ body: (ChatService) async throws -> Void) async throws {
        let data = try DataDirectory(at: configuration.dataDirectory)
        let engine = try await SQLiteEngine(
            SQLiteEngineSettings(path: data.database, limits: Limits(), clock: .system, logger: ChatFixture.quiet))
        let chat = try await ChatFixture(on: engine, clock: .system, apps: [])
        try await chat.run { try await body(chat.service) }
    }

    @Test("creates an admin key on the machine, which the audit log records")
    func recovers() async throws {
        try await opened { service in
            let first = InitialSetup(
                configuration: configuration, keyring: service.keyring, clock: .system, isWatched: true)
            let made = try await first.establish()
            #expect(made?.name == "default")
        }
        let recovered = try await RecoveredKey(configuration)
        #expect(recovered.app == "default")
        try await opened { service in
            let caller = try #require(service.keyring.caller(of: Secret(text: recovered.text)))
            #expect(caller.isOperator && caller.credential == recovered.id && caller.expires == nil)
            let entries = try await service.audit.entries(AuditLog.Query(RecordList(limit: 10)), by: caller).items
            #expect(entries.contains { $0.operation.action == "key.recover" && $0.resource == recovered.id })
        }
    }

    @Test("is refused while the gateway runs, and without a gateway's data")
    func refused() async throws {
        await #expect(throws: SettingError.self) { try await RecoveredKey(configuration) }
        #expect(!FileManager.default.fileExists(atPath: configuration.dataDirectory))
        try await opened { _ in
            let error = await #expect(throws: SQLiteEngineFailure.self) { try await RecoveredKey(configuration) }
            #expect(error?.reason == .inUse)
        }
    }
}
