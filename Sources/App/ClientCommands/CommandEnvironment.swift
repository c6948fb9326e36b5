package import ChatModel
import FoundationEssentials

/// What a command sees of the process it runs in. A test hands in its own.
package struct CommandEnvironment: Sendable {
    package var environment: [String: String]
    package var console: Console
    /// The file descriptor read for `-`.
    package var input: Int32 = 0
    package var sleep: @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
    package var now: @Sendable () -> Timetoken = { WallClock.system.now }
    /// A number from 0 up to 1: the jitter of retries.
    package var draw: @Sendable () -> Double = { .random(in: 0..<1) }

    package static let process = CommandEnvironment(environment: ProcessInfo.processInfo.environment, console: .process)

    /// Commands are made by argument-parser, which hands them nothing but their arguments.
    @TaskLocal package static var current = process
}
