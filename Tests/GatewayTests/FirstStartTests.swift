import ChatCore
import ChatModel
import ChatSupport
import FoundationEssentials
import Signing
import SQLiteEngine
import TestSupport
import Testing

@testable import Gateway

@Suite("The first start") struct FirstStartTests {
    private struct Place: Sendable {
        let configuration: Configuration
        let keyring: Keyring

        var file: String { configuration.dataDirectory + "/admin-key" }

        func start(isWatched: Bool, adminKey: String = "") async throws -> FirstApp? {
            var configuration = configuration
            configuration.adminKey = adminKey
            return try await InitialSetup(
                configuration: configuration, keyring: keyring, clock: .system, isWatched: isWatched
            ).establish()
        }

        func opens(_ key: String) -> Bool { keyring.caller(of: Secret(text: key))?.isOperator == true }
        var hasFile: Bool { FileManager.default.fileExists(atPath: file) }
    }

    /// A gateway without apps, and a data directory that is removed afterwards.
    private func onEmptyDirectory(_ body: @escaping @Sendable (Place) async throws -> Void) async throws {
        let folder = try TemporaryFolder()
        var configuration = Configuration()
        configuration.dataDirectory = folder.path
        let engine = try await SQLiteEngine(SQLiteEngineSettings(path: ":memory:", logger: ChatFixture.quiet))
        let house = try await ChatFixture(on: engine, clock: .system, apps: [])
        let place = Place(configuration: configuration, keyring: house.service.keyring)
        try await house.run { try await body(place) }
    }

    @Test("writes the admin key into a file for the account only when output is no terminal")
    func unwatched() async throws {
        try await onEmptyDirectory { place in
            #expect(try await place.start(isWatched: false) == FirstApp(name: "default", key: .filed(path: place.file)))
            let attributes = try FileManager.default.attributesOfItem(atPath: place.file)
            #expect(attributes[.posixPermissions] as? Int == 0o600)
            let text = try String(contentsOfFile: place.file, encoding: .utf8)
            #expect(text.hasPrefix("parley_") && text.hasSuffix("\n"))
            #expect(place.opens(String(text.dropLast())))
        }
    }

    @Test("shows the admin key on a terminal, and writes it nowhere")
    func watched() async throws {
        try await onEmptyDirectory { place in
            guard case .shown(let key) = try await place.start(isWatched: true)?.key else {
                Issue.record("no key is shown")
                return
            }
            #expect(place.opens(key))
            #expect(!place.hasFile)
        }
    }

    @Test("does not print a configured key", arguments: [true, false])
    func given(isWatched: Bool) async throws {
        try await onEmptyDirectory { place in
            let app = try await place.start(isWatched: isWatched, adminKey: "parley_chosen")
            #expect(app == FirstApp(name: "default", key: .known))
            #expect(place.opens("parley_chosen"))
            #expect(!place.hasFile)
        }
    }

    @Test("happens once")
    func once() async throws {
        try await onEmptyDirectory { place in
            _ = try await place.start(isWatched: true)
            #expect(try await place.start(isWatched: false) == nil)
            #expect(!place.hasFile)
        }
    }

    @Test("replaces an existing key file, and follows no link")
    func link() async throws {
        try await onEmptyDirectory { place in
            let other = place.configuration.dataDirectory + "/other"
            try "mine".write(toFile: other, atomically: false, encoding: .utf8)
            try FileManager.default.createSymbolicLink(atPath: place.file, withDestinationPath: other)
            _ = try await place.start(isWatched: false)
            #expect(try String(contentsOfFile: other, encoding: .utf8) == "mine")
            #expect(try String(contentsOfFile: place.file, encoding: .utf8).hasPrefix("parley_"))
        }
    }

    @Test("makes no app whose key could not be written")
    func unwritable() async throws {
        try await onEmptyDirectory { place in
            try FileManager.default.createDirectory(atPath: place.file, withIntermediateDirectories: false)
            await #expect(throws: SettingError.self) { try await place.start(isWatched: false) }
            #expect(place.keyring.apps.isEmpty)
        }
    }
}
