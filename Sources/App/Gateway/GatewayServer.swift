import ChatCore
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

/// The assembled gateway: opens the store, serves, and releases everything when it stops.
///
/// Tests can use it too: each instance has its own data directory and port.
public struct GatewayServer: Sendable {
    private let configuration: Configuration
    private let logger: Logger

    /// A gateway that has not been started: nothing is opened or bound yet.
    public init(_ configuration: Configuration, logger: Logger = Logger(label: "gateway")) {
        self.configuration = configuration
        self.logger = logger
    }

    /// Serves until `stop` returns, then drains and closes everything. When this returns, all that it started has
    /// ended.
    ///
    /// - Parameters:
    ///   - whenListening: called once with the address, for example `http://127.0.0.1:8080`.
    ///   - stop: waits for the reason to stop: a signal, or the end of a test.
    /// - Throws: `SettingError` and errors of the modules when the gateway cannot start, or when a part fails
    ///   permanently.
    public func run(
        whenListening: @escaping @Sendable (String) -> Void = { _ in }, until stop: @escaping @Sendable () async -> Void
    ) async throws {
        try await run(whenListening: whenListening, reloadingUntil: { _ in await stop() })
    }

    /// Applies a reloaded configuration to the running gateway, as far as possible.
    typealias Reload = @Sendable (Configuration) async -> Void
    /// Waits for the reason to stop. It may reload in the meantime.
    typealias Stop = @Sendable (_ reload: @escaping Reload) async -> Void

    func run(
        whenListening: @escaping @Sendable (String) -> Void = { _ in }, reloadingUntil stop: @escaping Stop
    ) async throws {
        seedJSON()
        // Before the data directory is touched, so that a second gateway started by mistake changes nothing.
        let claimed = try ReservedAddress(host: configuration.listenHost, port: UInt16(configuration.listenPort))
        let loop = try Loop(name: "parley-loop")
        try loop.start()
        defer { loop.stop() }
        let engine = try await openEngine()
        do {
            let assembly = try ServiceContainer(configuration, on: claimed, engine: engine, loop: loop, logger: logger)
            try await sealSecrets(assembly)
            try await serve(assembly, whenListening, stop)
        } catch {
            await engine.close()
            throw error
        }
        await engine.close()
    }

    private func openEngine() async throws -> SQLiteEngine {
        let data = try DataDirectory(at: configuration.dataDirectory)
        try data.requireComplete()
        return try await SQLiteEngine(
            SQLiteEngineSettings(path: data.database, limits: configuration.limits, logger: Logger(label: "store")))
    }

    /// Starts the parts in the order of their dependencies, and stops them in reverse order.
    ///
    /// The first part that fails ends the gateway with its error, at any time.
    private func serve(
        _ assembly: ServiceContainer, _ whenListening: @escaping @Sendable (String) -> Void, _ stop: @escaping Stop
    ) async throws {
        // The parts start in this order. Each waits for the one before it.
        let (chat, app, sources, hooks) = (StartSignal(), StartSignal(), StartSignal(), StartSignal())
        try await withThrowingTaskGroup(of: Void.self) { parts in
            parts.addTask { try await assembly.service.run(whenReady: chat.open) }
            if let exporter = assembly.exporter { parts.addTask { await exporter.run() } }
            parts.addTask {
                try await app.wait()
                try await assembly.inbound.run(whenReady: sources.open)
            }
            parts.addTask {
                try await sources.wait()
                try await assembly.webhooks.run(whenReady: hooks.open)
            }
            parts.addTask {
                try await untilStopped(to: { await stop { await assembly.applyConfiguration($0, logger: logger) } }) {
                    try await chat.wait()
                    try await establishFirstApp(assembly)
                    try await assembly.declareTypes(of: configuration)
                    app.open()
                    try await hooks.wait()
                    try await assembly.listen()
                    whenListening(assembly.url)
                    try await assembly.server.run(onDrain: assembly.announceStop)
                }
                await finishDeliveries(of: assembly)
            }
            // Parts run until they are cancelled. The first to end has failed, or is the last one above.
            try await parts.next()
            parts.cancelAll()
        }
    }

    /// Runs `work` until it ends or `stop` returns. Then `work` is cancelled and may finish its cleanup.
    private func untilStopped(
        to stop: @escaping @Sendable () async -> Void, _ work: @escaping @Sendable () async throws -> Void
    ) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask(operation: work)
            group.addTask {
                await stop()
                logger.info("stopping")
            }
            try await group.next()
            group.cancelAll()
            // This error means that the start was interrupted on request.
            do { try await group.waitForAll() } catch is CancellationError {}
        }
    }

    /// Encrypts the stored secrets with the first key, before they are read.
    private func sealSecrets(_ assembly: ServiceContainer) async throws {
        let count = try await assembly.service.resealSecrets()
        guard count > 0 else { return }
        logger.notice("sealed the stored secrets with the first key of secrets_key", metadata: ["records": "\(count)"])
    }

    /// Waits up to the drain time for the attempts under way. The remaining attempts are repeated after the next start
    /// with the same ids.
    private func finishDeliveries(of assembly: ServiceContainer) async {
        await withTaskGroup { group in
            group.addTask {
                await assembly.webhooks.drain()
                await assembly.exporter?.flush()
            }
            // Cancelled when the attempts have ended.
            group.addTask { try? await Task.sleep(for: configuration.limits.drain) }
            await group.next()
            group.cancelAll()
        }
        await assembly.client.shutdown()
        await assembly.exporter?.client.shutdown()
    }

    private func establishFirstApp(_ assembly: ServiceContainer) async throws {
        let first = InitialSetup(
            configuration: configuration, keyring: assembly.service.keyring, clock: .system,
            isWatched: Terminal.isWatched)
        guard let app = try await first.establish(), !configuration.isDevelopment else { return }
        switch app.key {
        case .known: logger.notice("created the first app", metadata: ["app": "\(app.name)"])
        case .shown(let key): StartupMessage.firstKey(key, of: app.name).forEach(Terminal.printLine)
        case .filed(let path):
            logger.warning(
                "created the first app; read its admin key from the file, then remove the file",
                metadata: ["app": "\(app.name)", "file": "\(path)"])
        }
    }
}

/// A signal that others wait for during the start. It is opened once.
private struct StartSignal: Sendable {
    private let opened: AsyncStream<Never>
    private let signal: AsyncStream<Never>.Continuation

    init() { (opened, signal) = AsyncStream.makeStream() }

    @Sendable func open() { signal.finish() }

    /// Waits until the signal is opened. Supports one waiter.
    ///
    /// - Throws: `CancellationError` when the wait was cancelled.
    func wait() async throws {
        for await _ in opened {}
        try Task.checkCancellation()
    }
}
