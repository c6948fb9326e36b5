import ChatKit
import ChatModel
import JSON
import Locking
import Logging
import SQLiteEngine
import TestReceiver
import Testing

@testable import InboundHooks

/// Chat over an engine, with inbound hooks, as a gateway has it.
struct House: Sendable {
    static let space = SpaceID("demo")
    static let owner = Caller(space: space, credential: "key_owner", scopes: [.admin])
    /// 2023-11-14T22:13:20Z, the moment of the vectors in `conventions.md`.
    static let start = Timetoken(17_000_000_000_000_000)

    let engine: SQLiteEngine
    let service: ChatService
    let inbound: InboundService
    /// Moved on by tests.
    let clock: Lock<Timetoken>

    var registry: SourceRegistry { inbound.registry }
    var gate: InboundGate { inbound.gate }

    /// Starts a house, runs `body` when everything is ready, and stops it again.
    static func with(
        limits: Limits = Limits(), path: String = ":memory:",
        _ body: @escaping @Sendable (House) async throws -> Void
    ) async throws {
        let house = try await House(limits, path)
        do {
            try await house.run(body)
        } catch {
            await house.engine.close()
            throw error
        }
        await house.engine.close()
    }

    private init(_ limits: Limits, _ path: String) async throws {
        let clock = Lock(Self.start)
        self.clock = clock
        let wall = WallClock { clock.withLock { $0 } }
        let quiet = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        engine = try await SQLiteEngine(
            SQLiteEngineSettings(path: path, limits: limits, clock: wall, logger: quiet))
        service = ChatService(engine: engine, limits: limits, clock: wall, executor: HubThread())
        inbound = InboundService(service: service, logger: quiet)
        do throws(ChatError) {
            for name in ["demo", "other"] {
                _ = try await service.keyring.establish(
                    AppRecord(
                        space: SpaceID(name), name: name, publishKey: "", subscribeKey: "", secretKey: "secret",
                        isFirst: name == "demo", created: Self.start), keyText: nil)
            }
        } catch {
            // Opened again: the apps are there.
            guard error.code == .conflict else { throw error }
        }
    }

    private func run(_ body: @escaping @Sendable (House) async throws -> Void) async throws {
        try await withThrowingTaskGroup { group in
            try await start({ ready in try await service.run(whenReady: ready) }, in: &group)
            try await start({ ready in try await inbound.run(whenReady: ready) }, in: &group)
            try await body(self)
            group.cancelAll()
        }
    }

    private func start(
        _ run: @escaping @Sendable (_ ready: @escaping @Sendable () -> Void) async throws -> Void,
        in group: inout ThrowingTaskGroup<Void, any Error>
    ) async throws {
        let ready = Ledger<Bool>()
        group.addTask {
            defer { ready.append(false) }
            try await run { ready.append(true) }
        }
        let state = await ready.wait(count: 1)
        try #require(state.first == true, "it did not start")
    }
}

extension House {
    @discardableResult
    func put(_ id: String, _ document: String, by caller: Caller = House.owner) async throws -> Source {
        try await registry.put(id, try JSONDocument(Array(document.utf8)), by: caller).source
    }

    /// A source that takes the body as it is.
    @discardableResult
    func put(_ id: String, scheme: String, secret: String) async throws -> Source {
        try await put(
            id,
            #"{"scheme":"\#(scheme)","secrets":["\#(secret)"],"mapping":{"channel":"in","type":"posted","data":{"$":"body"}}}"#
        )
    }

    /// Everything kept on a channel, oldest first.
    func events(on channel: String) async throws -> [Event] {
        try await engine.log.history([HistoryRequest(channel: ChannelID(channel, in: Self.space), limit: 1000)])[0]
            .items
    }
}

extension InboundPost {
    init(_ headers: [Field] = [], query: [Field] = [], text: String) {
        self.init(headers: headers, query: query, body: Array(text.utf8))
    }
}

/// Runs `body` and returns the error it must throw.
func failure(
    sourceLocation: SourceLocation = #_sourceLocation, _ body: () async throws -> Void
) async throws -> ChatError {
    do {
        try await body()
    } catch let error as ChatError {
        return error
    }
    return try #require(nil, "nothing was thrown", sourceLocation: sourceLocation)
}
