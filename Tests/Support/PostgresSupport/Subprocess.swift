import Glibc
import Locking
import TestSupport
import Testing

/// A program that runs as an unprivileged user and ends with the test process.
final class Subprocess: Sendable {
    struct Failure: Error { let message: String }

    /// The process; `nil` after its end.
    let process = Observed<pid_t?>(nil)
    private let status = Lock<Int32>(0)

    /// The account that runs PostgreSQL when the tests run as root; PostgreSQL refuses to run as root.
    static let account = "postgres"

    /// Starts a program. It inherits no descriptors, and its output goes to a file.
    ///
    /// A thread waits for the end of the program. It also is the parent that the kernel watches: when the thread ends
    /// with the test process, the program receives SIGQUIT.
    init(_ command: [String], output: String) async throws {
        let privileges =
            getuid() == 0
            ? ["--reuid=\(Self.account)", "--regid=\(Self.account)", "--clear-groups"] : []
        let words = ["/usr/bin/setpriv"] + privileges + ["--pdeathsig=QUIT"] + command
        let code = await withCheckedContinuation { continuation in
            let isStarted = startThread(name: "postgres-test") { [self] in
                var child = pid_t()
                let code = Self.spawn(words, output: output, &child)
                let started = child
                process.update { $0 = code == 0 ? started : nil }
                continuation.resume(returning: code)
                guard code == 0 else { return }
                var status: Int32 = 0
                while waitpid(child, &status, 0) < 0, errno == EINTR {}
                self.status.withLock { $0 = status }
                process.update { $0 = nil }
            }
            if !isStarted { continuation.resume(returning: EAGAIN) }
        }
        guard code == 0 else { throw Failure(message: "\(command[0]): \(String(cString: strerror(code)))") }
    }

    private static func spawn(_ words: [String], output: String, _ child: inout pid_t) -> Int32 {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDWR, 0)
        posix_spawn_file_actions_addopen(&actions, 1, output, O_WRONLY | O_CREAT | O_APPEND, 0o644)
        posix_spawn_file_actions_adddup2(&actions, 1, 2)
        // A descriptor that is not open is ignored.
        for descriptor in Int32(3)..<1024 { posix_spawn_file_actions_addclose(&actions, descriptor) }
        // The threads of the cooperative pool block all signals. The program needs those that end it.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        return posix_spawn(&child, words[0], &actions, &attributes, &arguments, environ)
    }

    /// Waits for the end and returns true if the program succeeded.
    func isSuccess() async -> Bool {
        await process.wait("the program did not end") { $0 == nil }
        return status.withLock { $0 == 0 }
    }

    func send(_ signal: Int32) {
        if let child = process.value { kill(child, signal) }
    }

    /// Ends the program and its children at once, as a power failure would.
    func killAll() {
        guard let child = process.value else { return }
        let children = Self.children(of: child)
        kill(child, SIGKILL)
        for descendant in children { kill(descendant, SIGKILL) }
    }

    private static func children(of parent: pid_t) -> [pid_t] {
        guard let file = fopen("/proc/\(parent)/task/\(parent)/children", "r") else { return [] }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 65_536)
        let count = fread(&bytes, 1, bytes.count, file)
        return String(decoding: bytes.prefix(count), as: UTF8.self).split(separator: " ").compactMap { pid_t($0) }
    }
}
