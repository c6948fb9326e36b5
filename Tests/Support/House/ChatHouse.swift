public import ChatCore
public import ChatModel
public import Logging
public import SQLiteEngine
import TestSupport
import Testing

/// Chat over an engine, as the tests of an interface need it: with apps, run while a test does, and closed after it.
public struct ChatHouse: Sendable {
    /// The first app.
    public static let space = SpaceID("demo")
    public static let owner = Caller(space: space, credential: "key_owner", scopes: [.admin])
    public static let quiet = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    /// Something that runs beside a test, and says when it is ready.
    public typealias Part = @Sendable (_ ready: @escaping @Sendable () -> Void) async throws -> Void

    public let engine: SQLiteEngine
    public let service: ChatService

    /// - Parameters:
    ///   - engine: closed when `run` is over, or when this fails.
    ///   - front: what the service sees in the engine's place.
    ///   - board: who is where; nil: as the service keeps it.
    ///   - apps: the ids of the apps; the first one is the operators'. They may be there already.
    public init(
        on engine: SQLiteEngine, behind front: (any Engine)? = nil, presence board: (any PresenceBoard)? = nil,
        limits: Limits = Limits(), clock: WallClock, apps: [String] = [Self.space.name]
    ) async throws {
        self.engine = engine
        service = ChatService(
            engine: front ?? engine, presence: board, limits: limits, clock: clock, executor: ThreadExecutor())
        do {
            for id in apps { try await establish(id, isFirst: id == apps[0], at: clock.now) }
        } catch {
            await engine.close()
            throw error
        }
    }

    private func establish(_ id: String, isFirst: Bool, at now: Timetoken) async throws {
        let app = AppRecord(
            space: SpaceID(id), name: id, publishKey: "pub", subscribeKey: "sub", secretKey: "sec", isFirst: isFirst,
            created: now)
        do throws(ChatError) {
            _ = try await service.keyring.establish(app, keyText: nil)
        } catch {
            // Opened again: the app is there.
            guard error.code == .conflict else { throw error }
        }
    }

    /// Runs the chat service and the parts in their order, each started when the one before is ready; then `body`; then
    /// stops them and closes the engine.
    public func run(_ parts: [Part] = [], _ body: @Sendable () async throws -> Void) async throws {
        do {
            try await withThrowingTaskGroup { group in
                try await Self.start({ [service] in try await service.run(whenReady: $0) }, in: &group)
                for part in parts { try await Self.start(part, in: &group) }
                try await body()
                group.cancelAll()
            }
        } catch {
            await engine.close()
            throw error
        }
        await engine.close()
    }

    /// Starts a part, and returns when it is ready.
    public static func start(_ part: @escaping Part, in group: inout ThrowingTaskGroup<Void, any Error>) async throws {
        let isReady = Observed<Bool?>(nil)
        group.addTask {
            defer { isReady.update { $0 = $0 ?? false } }
            try await part { isReady.update { $0 = true } }
        }
        try #require(await isReady.wait { $0 != nil } == true, "it did not start")
    }
}
