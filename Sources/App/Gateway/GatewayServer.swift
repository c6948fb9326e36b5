import ChatCore
import ChatModel
import Dashboard
import HTTPClient
import HTTPServer
import InboundHooks
import JSON
import Locking
public import Logging
import NativeAPI
import Webhooks

/// The whole gateway: opens the store, serves requests, and closes everything when it stops.
///
/// Tests can run several instances, because each has its own data directory and port.
public struct GatewayServer: Sendable {
    private let configuration: Configuration
    private let logger: Logger

    /// Creates a gateway that is not started. No file and no port is opened yet.
    public init(_ configuration: Configuration, logger: Logger = Logger(label: "gateway")) {
        self.configuration = configuration
        self.logger = logger
    }

    /// Serves until `stop` returns, then drains and closes everything. When this method returns, everything that it has
    /// started has ended.
    ///
    /// - Parameters:
    ///   - whenListening: called once with the address, for example `http://127.0.0.1:8080`.
    ///   - stop: returns when the gateway must stop, for example after a signal.
    /// - Throws: `SettingError` and errors of the modules when the gateway cannot start, or when one of its parts fails
    ///   permanently.
    public func run(
        whenListening: @escaping @Sendable (String) -> Void = { _ in }, until stop: @escaping @Sendable () async -> Void
    ) async throws {
        try await run(whenListening: whenListening, reloadingUntil: { _ in await stop() })
    }

    /// The type of a function that applies the reloadable settings of a new configuration to the running gateway.
    typealias Reload = @Sendable (Configuration) async -> Void
    /// The type of a function that returns when the gateway must stop. Until then, the function may call `reload` with
    /// new configurations.
    typealias Stop = @Sendable (_ reload: @escaping Reload) async -> Void

    func run(
        whenListening: @escaping @Sendable (String) -> Void = { _ in }, reloadingUntil stop: @escaping Stop
    ) async throws {
        seedJSON()
        // The port is opened before the store, so that a second gateway that is started by mistake changes nothing.
        let claimed = try ReservedAddress(host: configuration.listenHost, port: UInt16(configuration.listenPort))
        let loop = try Loop(name: "parley-loop")
        try loop.start()
        defer { loop.stop() }
        let server = Server(
            options: configuration.serverOptions, on: claimed, router: StartupRoutes.router(configuration), loop: loop,
            logger: Logger(label: "http"))
        let assembled = Lock<ServiceContainer?>(nil)
        let opening = Task {
            try await configuration.store().openWhenAvailable(configuration, logger: logger) { reason in
                if server.address == nil { try await server.start() }
                logger.warning(
                    "the gateway waits for PostgreSQL, and is not ready",
                    metadata: ["failure": "\(reason)", "address": "\(configuration.url(of: server))"])
            }
        }
        let stopping = Task {
            await stop { configuration in
                guard let assembly = assembled.withLock({ $0 }) else {
                    return logger.error("\(ServiceContainer.notReloaded)", metadata: ["error": "the gateway starts"])
                }
                await assembly.applyConfiguration(configuration, logger: logger)
            }
            opening.cancel()
        }
        do {
            try await withTaskCancellationHandler {
                try await run(on: server, opening, loop, stopping, whenListening) { assembly in
                    assembled.withLock { $0 = assembly }
                }
            } onCancel: {
                opening.cancel()
                stopping.cancel()
            }
        } catch {
            stopping.cancel()
            await stopping.value
            try await server.close()
            throw error
        }
        stopping.cancel()
        await stopping.value
        try await server.close()
    }

    /// Waits for the store, serves until the task `stopping` has ended, and closes the store.
    private func run(
        on server: Server, _ opening: Task<OpenStore, any Error>, _ loop: Loop, _ stopping: Task<Void, Never>,
        _ whenListening: @escaping @Sendable (String) -> Void, whenAssembled: (ServiceContainer) -> Void
    ) async throws {
        let store: OpenStore
        do { store = try await opening.value } catch is CancellationError {
            // Stopped while it waited for the store.
            return logger.info("stopping the gateway")
        }
        do {
            let assembly = try ServiceContainer(configuration, on: server, store: store, loop: loop, logger: logger)
            whenAssembled(assembly)
            try await sealSecrets(assembly)
            try await serve(assembly, whenListening, stopping)
        } catch {
            await store.engine.close()
            throw error
        }
        await store.engine.close()
    }

    /// Starts the parts of the gateway in the order of their dependencies, and stops them in reverse order.
    ///
    /// A part that fails at any time ends the gateway with its error.
    private func serve(
        _ assembly: ServiceContainer, _ whenListening: @escaping @Sendable (String) -> Void,
        _ stopping: Task<Void, Never>
    ) async throws {
        // The parts start in this order. Each part waits for the signal of the part before it.
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
                try await until(stopping) {
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
            // All parts run until they are cancelled. The first part to end is therefore the serving part above, or has
            // failed.
            try await parts.next()
            parts.cancelAll()
        }
    }

    /// Runs `work` until it or the task `stopping` ends. If `stopping` ends first, `work` is cancelled, and this method
    /// waits until `work` has ended.
    private func until(
        _ stopping: Task<Void, Never>, _ work: @escaping @Sendable () async throws -> Void
    ) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask(operation: work)
            group.addTask {
                await withTaskCancellationHandler {
                    await stopping.value
                } onCancel: {
                    stopping.cancel()
                }
                logger.info("stopping the gateway")
            }
            try await group.next()
            group.cancelAll()
            // A cancellation is not an error: the start was interrupted on request.
            do { try await group.waitForAll() } catch is CancellationError {}
        }
    }

    /// Encrypts the stored secrets with the first key of `secrets_key`, before they are read.
    private func sealSecrets(_ assembly: ServiceContainer) async throws {
        let count = try await assembly.service.resealSecrets()
        guard count > 0 else { return }
        logger.notice("encrypted stored secrets with the first key of secrets_key", metadata: ["records": "\(count)"])
    }

    /// Waits until the delivery attempts in progress have ended, at most for the drain time. Attempts that have not
    /// ended by then are repeated after the next start, with the same ids.
    private func finishDeliveries(of assembly: ServiceContainer) async {
        await withTaskGroup { group in
            group.addTask {
                await assembly.webhooks.drain()
                await assembly.exporter?.flush()
            }
            // This task is cancelled when all attempts have ended.
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
                "created the first app; read its admin key from this file, then remove the file",
                metadata: ["app": "\(app.name)", "file": "\(path)"])
        }
    }
}

/// A signal for which one part of the gateway waits while the gateway starts. Opening the signal ends the wait; an open
/// signal stays open.
private struct StartSignal: Sendable {
    private let opened: AsyncStream<Never>
    private let signal: AsyncStream<Never>.Continuation

    init() { (opened, signal) = AsyncStream.makeStream() }

    @Sendable func open() { signal.finish() }

    /// Waits until the signal is opened. Only one task may wait.
    ///
    /// - Throws: `CancellationError` when the task is cancelled.
    func wait() async throws {
        for await _ in opened {}
        try Task.checkCancellation()
    }
}
