import Glibc
import Locking
import TestSupport
import Testing

@testable import ClientCommands
@testable import ParleyCommands

/// Runs the program as a shell would, in an environment that the test controls.
struct ProgramRun {
    let code: Int32
    let output: String
    let errors: String
    /// The waits that the program requested before each repetition. The test does not wait.
    let waits: [Duration]

    var lines: [String] { output.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(String.init) }
}

func parley(
    _ arguments: String..., at gateway: ScriptedServer? = nil, input: String = "", key: String? = "test-key",
    isTerminal: Bool = false, environment: [String: String] = [:]
) async throws -> ProgramRun {
    try await parley(
        arguments, at: gateway, input: input, key: key, isTerminal: isTerminal, environment: environment)
}

func parley(
    _ arguments: [String], at gateway: ScriptedServer? = nil, input: String = "", key: String? = "test-key",
    isTerminal: Bool = false, environment others: [String: String] = [:]
) async throws -> ProgramRun {
    let output = Lock<[UInt8]>([])
    let errors = Lock<[UInt8]>([])
    let waits = Lock<[Duration]>([])
    func sink(_ bytes: Lock<[UInt8]>) -> Sink {
        Sink(isTerminal: isTerminal, style: .plain, width: { 80 }) { part in bytes.withLock { $0 += part } }
    }
    var environment = others
    environment["PARLEY_URL"] = gateway?.baseURL ?? others["PARLEY_URL"]
    environment["PARLEY_KEY"] = key ?? others["PARLEY_KEY"]
    let descriptor = try temporaryFile(input)
    defer { close(descriptor) }
    let commandEnvironment = CommandEnvironment(
        environment: environment, console: Console(output: sink(output), errors: sink(errors)), input: descriptor,
        sleep: { wait in waits.withLock { $0.append(wait) } }, draw: { 0.5 })
    let code = await ParleyProgram.run(arguments, in: commandEnvironment)
    return ProgramRun(
        code: code, output: String(decoding: output.withLock { $0 }, as: UTF8.self),
        errors: String(decoding: errors.withLock { $0 }, as: UTF8.self), waits: waits.withLock { $0 })
}

/// An unnamed file with this text, open at its beginning.
private func temporaryFile(_ text: String) throws -> Int32 {
    var name = Array("/tmp/parley-test-XXXXXX".utf8CString)
    let descriptor = mkstemp(&name)
    try #require(descriptor >= 0)
    unlink(name)
    let bytes = Array(text.utf8)
    try #require(write(descriptor, bytes, bytes.count) == bytes.count)
    lseek(descriptor, 0, SEEK_SET)
    return descriptor
}

extension ScriptedReply {
    /// A response that closes the connection, so that every request has its own.
    static func answer(_ status: Int, _ body: String, headers: [(name: String, value: String)] = []) -> ScriptedReply {
        .status(status, body, headers: headers + [("connection", "close")])
    }
}
