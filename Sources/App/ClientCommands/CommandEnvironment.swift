package import ChatModel
import FoundationEssentials

/// The environment of a command: its variables, its input and its clock. Tests supply their own.
package struct CommandEnvironment: Sendable {
    package var environment: [String: String]
    package var console: Console
    /// The file descriptor that the argument `-` stands for.
    package var input: Int32 = 0
    package var sleep: @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
    package var now: @Sendable () -> Timetoken = { WallClock.system.now }
    /// Returns a random number in 0..<1, which varies the delays of retries.
    package var draw: @Sendable () -> Double = { .random(in: 0..<1) }

    package static let process = CommandEnvironment(environment: ProcessInfo.processInfo.environment, console: .process)

    /// The current environment. It is task-local because argument-parser creates commands from their arguments only.
    @TaskLocal package static var current = process
}
