import ChatKit
import ChatModel
import Dashboard
import HTTPClient
import HTTPServer
import InboundHooks
import JSON
public import Logging
import NativeAPI
import SQLiteEngine
import Webhooks

/// The whole house, assembled: opens the store, serves, and leaves nothing behind when it stops.
///
/// Usable from tests: every one has its own data directory and port.
public struct GatewayServer: Sendable {
    /// The product's version, as logs, `user-agent` and `parley --version` show it.
    public static let version = "0.1.0"

    private let configuration: Configuration
    private let logger: Logger

    public init(_ configuration: Configuration, logger: Logger = Logger(label: "gateway")) {
        self.configuration = configuration
        self.logger = logger
    }

    /// Serves until `stop` returns, then drains and closes everything; returning means all it started is over.
    ///
    /// - Parameters:
    ///   - whenListening: called once with the address, for instance `http://127.0.0.1:8080`.
    ///   - stop: waits for the reason to stop; a signal, or a test's end.
    /// - Throws: `SettingError` and errors of the rooms when it cannot start, or when a part fails for good.
    public func run(
        whenListening: @escaping @Sendable (String) -> Void = { _ in }, until stop: @escaping @Sendable () async -> Void
    ) async throws {
        seedJSON()
        let loop = try Loop(name: "parley-loop")
        try loop.start()
        defer { loop.stop() }
        let engine = try await openEngine()
        do {
            try await serve(Assembly(configuration, engine: engine, loop: loop, logger: logger), whenListening, stop)
        } catch {
            await engine.close()
            throw error
        }
        await engine.close()
    }

    private func openEngine() async throws -> SQLiteEngine {
        let data = try DataDirectory(at: configuration.dataDirectory)
        return try await SQLiteEngine(
            SQLiteEngineSettings(path: data.database, limits: configuration.limits, logger: Logger(label: "store")))
    }

    /// Starts the parts in the order in which they need each other, and stops them in the reverse one.
    private func serve(
        _ house: Assembly, _ whenListening: @Sendable (String) -> Void, _ stop: @escaping @Sendable () async -> Void
    ) async throws {
        try await withThrowingDiscardingTaskGroup { parts in
            await whenReady { ready in parts.addTask { try await house.service.run(whenReady: ready) } }
            try await establishFirstApp(house)
            await whenReady { ready in parts.addTask { try await house.inbound.run(whenReady: ready) } }
            await whenReady { ready in parts.addTask { try await house.webhooks.run(whenReady: ready) } }
            try Task.checkCancellation()

            let server = try await house.listen()
            whenListening(house.url(of: server))
            try await withThrowingTaskGroup { serving in
                serving.addTask { try await server.run(onDrain: house.sayGoodbye) }
                await stop()
                logger.info("stopping")
                serving.cancelAll()
                try await serving.waitForAll()
            }
            await house.webhooks.drain()
            await house.client.shutdown()
            parts.cancelAll()
        }
    }

    private func establishFirstApp(_ house: Assembly) async throws {
        let first = FirstStart(configuration: configuration, keyring: house.service.keyring, clock: .system)
        guard let issued = try await first.establish() else { return }
        guard !configuration.isDevelopment else { return }
        for line in Greeting.firstKey(issued, isGiven: !configuration.adminKey.isEmpty) { Terminal.say(line) }
    }

    /// Starts a part and waits until it says that it is ready, or until the group it was added to is cancelled because a
    /// part failed.
    private func whenReady(_ start: (@escaping @Sendable () -> Void) -> Void) async {
        let (ready, signal) = AsyncStream.makeStream(of: Never.self)
        start { signal.finish() }
        for await _ in ready {}
    }
}
