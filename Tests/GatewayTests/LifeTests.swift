import ChatModel
import FoundationEssentials
import Glibc
import HTTPServer
import Locking
import TestSupport
import Testing

@testable import Gateway

@Suite("A gateway") struct LifeTests {
    /// Runs `body` with settings on a fresh data directory, which is removed afterwards.
    func withSettings(_ body: (Configuration) async throws -> Void) async throws {
        let folder = try TemporaryFolder()
        var configuration = Configuration()
        configuration.listenPort = 0
        configuration.isDevelopment = true
        configuration.dataDirectory = folder.path + "/data"
        try await body(configuration)
    }

    /// Runs until it listens, then stops.
    func startAndStop(_ configuration: Configuration) async throws -> String {
        let heard = Lock("")
        let (listening, signal) = AsyncStream.makeStream(of: Never.self)
        try await GatewayServer(configuration).run(
            whenListening: { address in
                heard.withLock { $0 = address }
                signal.finish()
            }, until: { for await _ in listening {} })
        return heard.withLock { $0 }
    }

    @Test("starts on an empty directory, stops, and starts again on its data")
    func startsAndStops() async throws {
        try await withSettings { configuration in
            for _ in 0..<3 {
                let address = try await startAndStop(configuration)
                #expect(address.hasPrefix("http://127.0.0.1:"))
            }
        }
    }

    @Test("exits with an error when it cannot listen, instead of waiting to be stopped")
    func failsToListen() async throws {
        try await withSettings { configuration in
            var taken = configuration
            taken.tlsCertificate = "no-such-file.pem"
            taken.tlsKey = "no-such-file.pem"
            await #expect(throws: (any Error).self) { _ = try await startAndStop(taken) }
        }
    }

    @Test("names an address that is taken, before it makes its data directory")
    func takenAddress() async throws {
        let other = try ScriptedServer()
        try await withSettings { configuration in
            var taken = configuration
            taken.listenPort = Int(other.port)
            let error = await #expect(throws: ServerError.self) { _ = try await startAndStop(taken) }
            #expect(
                error?.description
                    == "another program listens on 127.0.0.1:\(other.port) already; stop that program, or choose another address"
            )
            #expect(!FileManager.default.fileExists(atPath: taken.dataDirectory))
        }
    }

    @Test("restricts a data directory that others may read, and refuses one with other files")
    func openDirectory() async throws {
        try await withSettings { configuration in
            let path = configuration.dataDirectory
            mkdir(path, 0o755)
            _ = try await startAndStop(configuration)
            #expect(try mode(of: path) == 0o700)
            chmod(path, 0o777)
            _ = try await startAndStop(configuration)
            #expect(try mode(of: path) == 0o700)
        }
        try await withSettings { configuration in
            let path = configuration.dataDirectory
            mkdir(path, 0o755)
            #expect(FileManager.default.createFile(atPath: path + "/notes.txt", contents: nil))
            let error = await #expect(throws: SettingError.self) { _ = try await startAndStop(configuration) }
            #expect(error?.description.contains("is open to other accounts (mode 755)") == true)
            #expect(try mode(of: path) == 0o755)
            #expect(!FileManager.default.fileExists(atPath: path + "/parley.db"))
            chmod(path, 0o700)
            _ = try await startAndStop(configuration)
        }
    }

    private func mode(of path: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }

    @Test("ends when a part fails at the start, instead of waiting for it")
    func failsToStart() async throws {
        try await withSettings { configuration in
            var broken = configuration
            broken.isDevelopment = false
            broken.demoKeys = "only:two"
            await #expect(throws: SettingError.self) { _ = try await startAndStop(broken) }
        }
    }

    @Test("encrypts existing secrets when it gets a key, and does not start without it again")
    func sealsSecrets() async throws {
        try await withSettings { configuration in
            var sealing = configuration
            sealing.secretsKey = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
            _ = try await startAndStop(configuration)
            #expect(try !holds("sealed:v1:", configuration.dataDirectory))
            _ = try await startAndStop(sealing)
            #expect(try holds("sealed:v1:", configuration.dataDirectory))
            await #expect(throws: ChatError.self) { _ = try await startAndStop(configuration) }
            _ = try await startAndStop(sealing)
        }
    }

    /// True when any file of a directory contains the text.
    private func holds(_ text: String, _ directory: String) throws -> Bool {
        try FileManager.default.contentsOfDirectory(atPath: directory).contains { name in
            guard let bytes = FileManager.default.contents(atPath: directory + "/" + name) else { return false }
            return Array(bytes).firstRange(of: Array(text.utf8)) != nil
        }
    }

    @Test("can be stopped before it listens")
    func stopsEarly() async throws {
        try await withSettings { configuration in
            try await GatewayServer(configuration).run(until: {})
        }
    }
}
