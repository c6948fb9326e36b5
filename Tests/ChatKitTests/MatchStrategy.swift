import ChatKit
import ChatKitInProcess
import ChatRemote
import FoundationEssentials
import Gateway
import Locking
import SQLiteEngine
import Testing
import TestSupport

/// The place where a chat does its work. Every behaviour of the library is the same in both places.
enum MatchStrategy: String, CaseIterable, Sendable, CustomTestStringConvertible {
    case inProcess = "in process"
    case gateway = "over a gateway"

    var testDescription: String { rawValue }

    /// Runs `body` with the chat of the user `ana` on an empty store.
    func withChat(_ body: @escaping @Sendable (Chat) async throws -> Void) async throws {
        try await withBackend { backend, _ in try await body(try await Chat(backend)) }
    }

    /// Runs `body` with the backend of that user, and closes it.
    ///
    /// - Parameter body: Also receives the gateway's address, if there is a gateway.
    func withBackend(
        _ body: @escaping @Sendable (any ChatBackend, _ url: String?) async throws -> Void
    ) async throws {
        switch self {
        case .inProcess:
            let engine = try await SQLiteEngine(path: ":memory:")
            try await Self.closing(try await EngineBackend(engine, app: "demo", user: "ana")) { backend in
                try await body(backend, nil)
            }
        case .gateway:
            try await withGateway { url in
                try await Self.closing(try GatewayBackend(url: url, key: "dev", user: "ana")) { backend in
                    try await body(backend, url)
                }
            }
        }
    }

    private static func closing(
        _ backend: any ChatBackend, _ body: (any ChatBackend) async throws -> Void
    ) async throws {
        do { try await body(backend) } catch {
            await backend.close()
            throw error
        }
        await backend.close()
    }
}

/// Runs a gateway on its own port while `body` runs. The key of its app `demo` is `dev`.
func withGateway(_ body: @escaping @Sendable (_ url: String) async throws -> Void) async throws {
    let folder = try TemporaryFolder()
    var configuration = Configuration()
    configuration.listenPort = 0
    configuration.isDevelopment = true
    configuration.dataDirectory = folder.path
    // On a busy machine, typing must not expire between two lines of a test.
    configuration.limits.typingAge = .seconds(300)
    let (addresses, heard) = AsyncStream.makeStream(of: String.self)
    let failure = Lock<(any Error)?>(nil)
    try await GatewayServer(configuration).run(
        whenListening: { heard.yield($0) },
        until: {
            for await url in addresses {
                do { try await body(url) } catch { failure.withLock { $0 = error } }
                return
            }
        })
    if let error = failure.withLock({ $0 }) { throw error }
}

/// Collects the values of callbacks and waits for them.
final class Heard<Value: Sendable>: Sendable {
    private let values: AsyncStream<Value>
    private let told: AsyncStream<Value>.Continuation

    init() { (values, told) = AsyncStream.makeStream() }

    @Sendable func callAsFunction(_ value: Value) { told.yield(value) }

    /// The next `count` values.
    func next(_ count: Int = 1) async -> [Value] {
        var heard: [Value] = []
        for await value in values {
            heard.append(value)
            if heard.count == count { break }
        }
        return heard
    }
}

@Suite("Values that are kept with a channel") struct ChannelValueTests {
    @Test("are texts, made, changed, added and removed", arguments: MatchStrategy.allCases)
    func metaData(way: MatchStrategy) async throws {
        try await way.withChat { chat in
            let room = try await chat.createChannel(id: "room.1")
            #expect(try await room.getMetaData() == [:])
            #expect(try await room.createMetaData(["topic": "tea", "lang": "en"]) == ["topic": "tea", "lang": "en"])
            let again = await #expect(throws: ChatError.self) { try await room.createMetaData(["topic": "x"]) }
            #expect(again?.code == .conflict)
            #expect(try await room.updateMetaData(["topic": "cups", "new": "1"], upsert: false) == ["topic": "cups"])
            #expect(try await room.updateMetaData(["new": "1"]) == ["new": "1"])
            try await room.deleteMetaData(key: "lang")
            #expect(try await room.getMetaData() == ["topic": "cups", "new": "1"])
            try await room.deleteAllMetaData()
            #expect(try await room.getMetaData() == [:])
        }
    }

    @Test("are counters, of which no step is lost", arguments: MatchStrategy.allCases)
    func counters(way: MatchStrategy) async throws {
        try await way.withChat { chat in
            let room = try await chat.createChannel(id: "room.1")
            #expect(try await room.createMetaCounters(["likes": 0]) == ["likes": 0])
            await withThrowingTaskGroup { group in
                for _ in 0..<10 { group.addTask { try await room.increaseMetaCounters(["likes": 2]) } }
            }
            #expect(try await room.decreaseMetaCounters(["likes": 5, "none": 1]) == ["likes": 15])
            #expect(try await room.updateMetaCounters(["likes": 1, "new": 7]) == ["likes": 1, "new": 7])
            #expect(try await room.getMetaCounters() == ["likes": 1, "new": 7])
            try await room.deleteMetaCounter(key: "new")
            #expect(try await room.getMetaCounters() == ["likes": 1])
            try await room.deleteAllMetaCounters()
            #expect(try await room.getMetaCounters() == [:])
        }
    }
}
