public import ChatCore
public import ChatModel
public import HTTPServer
public import Locking
public import Logging
public import SQLiteEngine
import TestSupport
import Testing

/// A chat service on an engine with some apps, for tests of the interfaces. It runs as long as a test does.
public struct ChatFixture: Sendable {
    /// The id of the first app.
    public static let app = AppID("demo")
    public static let owner = Caller(app: app, credential: "key_owner", scopes: [.admin])
    /// The text of the first app's admin key.
    public static let adminKey = "dev"
    public static let quiet = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    /// A task that runs beside a test and calls `ready` when it is ready.
    public typealias Part = @Sendable (_ ready: @escaping @Sendable () -> Void) async throws -> Void

    public let engine: SQLiteEngine
    public let service: ChatService

    /// Creates the service and its apps.
    ///
    /// - Parameters:
    ///   - engine: the engine. It is closed when `run` ends, or when this fails.
    ///   - front: the engine that the service uses in its place.
    ///   - board: the presence store; nil selects the service's own.
    ///   - apps: the ids of the apps, which may exist already. The first one belongs to the operators.
    ///   - executor: the executor of the hub: the loop, where there is one.
    public init(
        on engine: SQLiteEngine, behind front: (any Engine)? = nil, presence store: (any PresenceStore)? = nil,
        limits: Limits = Limits(), clock: WallClock, apps: [String] = [Self.app.name],
        executor: any ClosureExecutor = ThreadExecutor(name: "test-hub")!
    ) async throws {
        self.engine = engine
        service = ChatService(
            engine: front ?? engine, presence: store, limits: limits, clock: clock, executor: executor)
        do {
            for id in apps { try await establish(id, isFirst: id == apps[0], at: clock.now) }
        } catch {
            await engine.close()
            throw error
        }
    }

    /// Creates an app with the keys `pub-<id>` and `sub-<id>` and the secret `<id>-secret`.
    private func establish(_ id: String, isFirst: Bool, at now: Timetoken) async throws {
        let app = AppRecord(
            id: AppID(id), name: id, publishKey: "pub-\(id)", subscribeKey: "sub-\(id)", secretKey: "\(id)-secret",
            isFirst: isFirst, created: now)
        do throws(ChatError) {
            _ = try await service.keyring.establish(app, keyText: isFirst ? Self.adminKey : nil)
        } catch {
            // The store was opened again: the app exists.
            guard error.code == .conflict else { throw error }
        }
    }

    /// Starts the chat service and the parts in their order, each when the one before is ready. Then runs `body`, stops
    /// the parts and closes the engine.
    public func run(_ parts: [Part] = [], _ body: () async throws -> Void) async throws {
        do {
            try await runOpen(parts, body)
        } catch {
            await engine.close()
            throw error
        }
        await engine.close()
    }

    /// Does the same as ``run(_:_:)``, but leaves the engine open for other nodes.
    public func runOpen(_ parts: [Part] = [], _ body: () async throws -> Void) async throws {
        try await withThrowingTaskGroup { group in
            try await Self.start({ [service] in try await service.run(whenReady: $0) }, in: &group)
            for part in parts { try await Self.start(part, in: &group) }
            try await body()
            group.cancelAll()
            while let _ = try await group.next() {}
        }
    }

    /// Returns a part that serves on port 0 of loopback.
    ///
    /// - Parameter drain: ends suspended requests and streams when the test ends.
    public static func serving(_ server: Server, drain: @escaping @Sendable () async -> Void) -> Part {
        { ready in
            try await server.start()
            ready()
            try await server.run(onDrain: drain)
        }
    }

    /// Starts a part and returns when it is ready.
    public static func start(_ part: @escaping Part, in group: inout ThrowingTaskGroup<Void, any Error>) async throws {
        let isReady = Observed<Bool?>(nil)
        group.addTask {
            defer { isReady.update { $0 = $0 ?? false } }
            try await part { isReady.update { $0 = true } }
        }
        try #require(await isReady.wait { $0 != nil } == true, "it did not start")
    }
}

/// Runs `body` with a loop and stops the loop afterwards.
public func withLoop(_ body: (Loop) async throws -> Void) async throws {
    let loop = try Loop(name: "test")
    try loop.start()
    defer { loop.stop() }
    try await body(loop)
}
