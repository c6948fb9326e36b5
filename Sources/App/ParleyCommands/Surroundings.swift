import ChatModel
import FoundationEssentials

/// What a command sees of the process it runs in. A test hands in its own.
struct Surroundings: Sendable {
    var environment: [String: String]
    var console: Console
    /// The file descriptor read for `-`.
    var input: Int32 = 0
    var sleep: @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
    var now: @Sendable () -> Timetoken = { WallClock.system.now }
    /// A number from 0 up to 1: the jitter of retries.
    var draw: @Sendable () -> Double = { .random(in: 0..<1) }

    static let process = Surroundings(environment: ProcessInfo.processInfo.environment, console: .process)

    /// Commands are made by argument-parser, which hands them nothing but their arguments.
    @TaskLocal static var current = process
}
