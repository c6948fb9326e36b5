import FoundationEssentials
import Gateway
import Locking
import TestSupport
import Testing

/// A gateway that can be stopped and restarted on the same data and port.
final class RestartingGateway: Sendable {
    private struct Running: Sendable {
        let stop: AsyncStream<Never>.Continuation
        let task: Task<Void, any Error>
    }

    private let configuration: Lock<Configuration>
    private let running = Lock<Running?>(nil)

    init(_ configuration: Configuration) { self.configuration = Lock(configuration) }

    /// - Parameter isAnother: True for a gateway that has neither the data of the first one nor the key `dev`.
    func start(isAnother: Bool = false) async throws -> String {
        if isAnother {
            configuration.withLock { configuration in
                configuration.isDevelopment = false
                configuration.dataDirectory += "/another"
            }
        }
        let (stopped, stop) = AsyncStream.makeStream(of: Never.self)
        let (addresses, heard) = AsyncStream.makeStream(of: String.self)
        let configuration = configuration.withLock { $0 }
        let task = Task {
            defer { heard.finish() }
            try await GatewayServer(configuration).run(
                whenListening: { heard.yield($0) }, until: { for await _ in stopped {} })
        }
        running.withLock { $0 = Running(stop: stop, task: task) }
        var iterator = addresses.makeAsyncIterator()
        let url = try #require(await iterator.next())
        let port = try #require(url.split(separator: ":").last.flatMap { Int($0) })
        self.configuration.withLock { $0.listenPort = port }
        return url
    }

    func stop() async throws {
        let ended = running.withLock { running in
            defer { running = nil }
            return running
        }
        ended?.stop.finish()
        try await ended?.task.value
    }
}

/// Runs `body` with a gateway that it starts, on an empty data directory that is removed afterwards.
func withGatewayRestarts(_ body: (RestartingGateway) async throws -> Void) async throws {
    let folder = try TemporaryFolder()
    var configuration = Configuration()
    configuration.listenPort = 0
    configuration.isDevelopment = true
    configuration.dataDirectory = folder.path
    let gateway = RestartingGateway(configuration)
    do { try await body(gateway) } catch {
        try await gateway.stop()
        throw error
    }
    try await gateway.stop()
}
