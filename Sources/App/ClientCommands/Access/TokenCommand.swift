import Glibc
import Locking

/// A command line that prints a token. `/bin/sh` runs the command line without input. Its error output goes to the
/// error output of this program.
///
/// The printed token never appears in a message.
package struct TokenCommand: Sendable {
    private let line: String
    private let timeout: Duration

    /// The maximum output in bytes, which is the maximum size of a token at a gateway.
    private static let outputBytes = 16 * 1024

    /// Creates the command from its command line. Does not run it yet.
    ///
    /// - Parameter timeout: the maximum duration of one run.
    package init(_ line: String, timeout: Duration = .seconds(30)) {
        self.line = line
        self.timeout = timeout
    }

    /// Runs the command on a separate thread.
    ///
    /// - Throws: a failure when the command cannot be run, takes too long, fails, or prints anything other than one
    ///   token.
    package func run() async throws(CommandFailure) -> String {
        let result = await withCheckedContinuation { continuation in
            let isStarted = startThread(name: "parley-token") { continuation.resume(returning: runHere()) }
            if !isStarted {
                continuation.resume(returning: .failure(Self.fault("cannot be run: no thread could be started")))
            }
        }
        return try result.get()
    }

    private func runHere() -> Result<String, CommandFailure> {
        do throws(CommandFailure) {
            let child = try Child(line)
            let deadline = ContinuousClock.now + timeout
            guard let output = child.output(until: deadline, limit: Self.outputBytes),
                let status = child.end(by: deadline)
            else { throw Self.fault("took longer than \(timeout.components.seconds) s, so it was stopped") }
            guard status == 0 else { throw Self.fault("failed: \(Self.words(status))") }
            return .success(try Self.token(output))
        } catch {
            return .failure(error)
        }
    }

    private static func token(_ output: [UInt8]) throws(CommandFailure) -> String {
        let text = output.drop(while: isBlank).reversed().drop(while: isBlank).reversed()
        guard !text.isEmpty else { throw fault("printed nothing; it must print the token") }
        guard output.count <= outputBytes, text.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw fault("must print one token of at most \(outputBytes) bytes; it printed something else")
        }
        return String(decoding: Array(text), as: UTF8.self)
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }

    /// Describes a status of `waitpid`: the exit code is in the second byte, and a signal is in the first byte.
    private static func words(_ status: Int32) -> String {
        status & 0x7F == 0 ? "exit code \(status >> 8 & 0xFF)" : "signal \(status & 0x7F)"
    }

    fileprivate static func fault(_ words: String) -> CommandFailure { CommandFailure("the token command \(words)") }
}

/// A process of the shell, and the read end of the pipe with its output.
private struct Child: ~Copyable {
    private let process: pid_t
    private let reading: Int32

    init(_ line: String) throws(CommandFailure) {
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else {
            throw TokenCommand.fault("cannot be run: \(String(cString: strerror(errno)))")
        }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        defer { close(ends[1]) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, ends[1], 1)
        var words: [UnsafeMutablePointer<CChar>?] = ["sh", "-c", line].map { (word: String) in strdup(word) } + [nil]
        defer { for word in words { free(word) } }
        var process = pid_t()
        let code = posix_spawn(&process, "/bin/sh", &actions, nil, &words, environ)
        guard code == 0 else {
            close(ends[0])
            throw TokenCommand.fault("cannot be run: \(String(cString: strerror(code)))")
        }
        self.process = process
        reading = ends[0]
    }

    deinit { close(reading) }

    /// Returns the output, at most one byte more than the limit. At the deadline, ends the process and returns nil.
    func output(until deadline: ContinuousClock.Instant, limit: Int) -> [UInt8]? {
        var output: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while output.count <= limit {
            var input = pollfd(fd: reading, events: Int16(POLLIN), revents: 0)
            let ready = poll(&input, 1, Self.milliseconds(until: deadline))
            if ready < 0, errno == EINTR { continue }
            guard ready > 0 else {
                terminate()
                return nil
            }
            let count = read(reading, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { break }
            output += buffer[..<count]
        }
        return output
    }

    /// Returns the exit status. At the deadline, ends the process and returns nil.
    func end(by deadline: ContinuousClock.Instant) -> Int32? {
        var status: Int32 = 0
        while true {
            let ended = waitpid(process, &status, WNOHANG)
            if ended == process { return status }
            // Another call has already waited for the process, so its status is unknown.
            if ended < 0, errno != EINTR { return -1 }
            guard ContinuousClock.now < deadline else {
                terminate()
                return nil
            }
            usleep(5000)
        }
    }

    private func terminate() {
        kill(process, SIGKILL)
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
    }

    private static func milliseconds(until deadline: ContinuousClock.Instant) -> Int32 {
        let left = (deadline - .now) / .milliseconds(1)
        return Int32(max(0, min(left.rounded(.up), 60_000)))
    }
}
