import ChatCore
import ChatModel
import ChatSupport
import FoundationEssentials
import Locking
import SQLiteEngine
import Testing

@testable import Gateway

@Suite("A gateway with a folder of schemas") struct SchemaFolderTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
        "parley-types-\(UUID().uuidString)")

    /// Runs `body` with settings that name an empty folder of schemas.
    private func withSettings(_ body: (Configuration) async throws -> Void) async throws {
        try FileManager.default.createDirectory(
            at: folder.appendingPathComponent("schemas"), withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        var configuration = Configuration()
        configuration.listenPort = 0
        configuration.isDevelopment = true
        configuration.dataDirectory = folder.appendingPathComponent("data").path
        configuration.schemaDirectory = folder.appendingPathComponent("schemas").path
        try await body(configuration)
    }

    private func write(_ text: String, to file: String) throws {
        try Data(text.utf8).write(to: folder.appendingPathComponent("schemas").appendingPathComponent(file))
    }

    /// Runs until the gateway listens, reloads after each step, then stops.
    private func run(_ configuration: Configuration, _ steps: [@Sendable () throws -> Void] = []) async throws {
        let (listening, signal) = AsyncStream.makeStream(of: Never.self)
        try await GatewayServer(configuration).run(
            whenListening: { _ in signal.finish() },
            reloadingUntil: { reload in
                for await _ in listening {}
                for step in steps {
                    do { try step() } catch { Issue.record(error) }
                    await reload(configuration)
                }
            })
    }

    /// The newest version of a type as stored; nil when the type is not declared.
    private func latestVersion(of type: String, _ configuration: Configuration) async throws -> Int? {
        let path = try DataDirectory(at: configuration.dataDirectory).database
        let engine = try await SQLiteEngine(
            SQLiteEngineSettings(path: path, limits: Limits(), clock: .system, logger: ChatFixture.quiet))
        let house = try await ChatFixture(on: engine, clock: .system)
        let version = Lock<Int?>(nil)
        try await house.run {
            let types = try house.service.chat(for: ChatFixture.owner).eventTypes()
            version.withLock { $0 = types.first { $0.name == type }?.latestVersion }
        }
        return version.withLock { $0 }
    }

    @Test("declares its types at the start, and on every reload")
    func declares() async throws {
        try await withSettings { configuration in
            try write(#"{"schema":{"type":"object","required":["amount"]}}"#, to: "order.paid.json")
            try write("no declaration", to: "README.md")
            try await run(configuration)
            #expect(try await latestVersion(of: "order.paid", configuration) == 1)
            try await run(
                configuration,
                [
                    { try write(#"{"schema":{"type":"object"}}"#, to: "order.paid.json") },
                    { try write("{}", to: "order.sent.json") },
                ])
            #expect(try await latestVersion(of: "order.paid", configuration) == 2)
            #expect(try await latestVersion(of: "order.sent", configuration) == 0)
        }
    }

    @Test("does not start with an invalid file, and names it")
    func refuses() async throws {
        try await withSettings { configuration in
            try write(#"{"schema":{"type":"objekt"}}"#, to: "order.paid.json")
            let error = await #expect(throws: DeclarationError.self) { try await run(configuration) }
            #expect(error?.description.hasPrefix("order.paid.json: #/schema/type: ") == true)
            #expect(try await latestVersion(of: "order.paid", configuration) == nil)
            var missing = configuration
            missing.schemaDirectory += "/none"
            await #expect(throws: DeclarationError.self) { try await run(missing) }
        }
    }

    @Test("keeps its types when a file is invalid on a reload")
    func keeps() async throws {
        try await withSettings { configuration in
            try write(#"{"schema":{"type":"object"}}"#, to: "order.paid.json")
            try await run(configuration, [{ try write("{", to: "order.paid.json") }])
            #expect(try await latestVersion(of: "order.paid", configuration) == 1)
        }
    }
}
