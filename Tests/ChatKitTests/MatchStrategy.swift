import ChatKit
import ChatKitInProcess
import ChatRemote
import FoundationEssentials
import Gateway
import Locking
import SQLiteEngine
import TestSupport
import Testing

/// Where a chat does its work: every behaviour of the library is the same in both places.
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
    /// - Parameter body: gets the gateway's address too, where there is one.
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

/// Runs a gateway on a port of its own while `body` does; the key of its app `demo` is `dev`.
func withGateway(_ body: @escaping @Sendable (_ url: String) async throws -> Void) async throws {
    let folder = try TemporaryFolder()
    var configuration = Configuration()
    configuration.listenPort = 0
    configuration.isDevelopment = true
    configuration.dataDirectory = folder.path
    // On a machine with much to do nobody's typing is to end by itself between two lines of a test.
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

/// What callbacks told, and a way to wait for it.
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
