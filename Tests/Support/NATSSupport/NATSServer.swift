internal import Glibc
internal import Locking
internal import TestSupport
public import Testing

/// A `nats-server` without JetStream on a loopback port of its own. It ends with its owner, and with the test process.
public final class NATSServer: Sendable {
    private static let program = "/usr/sbin/nats-server"

    /// True if the server and the client library are installed.
    public static let isInstalled = access(program, X_OK) == 0 && dlopen("libnats.so.3.4", RTLD_NOW) != nil
    /// The packages to install if it is not.
    public static let installation: Comment =
        "SKIPPED: these tests need the Debian packages nats-server and libnats3.4 (apt install nats-server libnats3.4)"

    private struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// One run of the program.
    private struct Run {
        /// The shell that ends the server reads the name of a signal from it.
        let control: Int32
        let hasEnded: Observed<Bool>
    }

    /// The port, which stays the same when the server starts again.
    public let port: Int
    private let folder: TemporaryFolder
    private let run: Lock<Run?>

    /// Starts the server.
    ///
    /// - Parameter configuration: lines for the server's configuration file, for instance users.
    /// - Throws: an error when the server does not start.
    public init(_ configuration: String = "") async throws {
        folder = try TemporaryFolder()
        try Self.write(configuration, to: folder.path + "/server.conf")
        let first = try Self.launch(folder.path, port: -1)
        run = Lock(first)
        do {
            port = try await Self.awaitPort(folder.path, first)
        } catch {
            close(first.control)
            throw error
        }
    }

    /// A port at which nothing listens yet.
    ///
    /// - Parameter port: the port at which ``start()`` starts the server.
    private init(port: Int) throws {
        folder = try TemporaryFolder()
        try Self.write("", to: folder.path + "/server.conf")
        self.port = port
        run = Lock(nil)
    }

    /// A server that is not started yet, on a free port.
    ///
    /// - Throws: an error when the system has no port or no folder.
    public static func stopped() throws -> NATSServer {
        let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        defer { close(socket) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let code = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(socket, $0, length) == 0 ? getsockname(socket, $0, &length) : -1
            }
        }
        guard code == 0 else { throw Failure(description: "no free port") }
        return try NATSServer(port: Int(UInt16(bigEndian: address.sin_port)))
    }

    deinit { run.withLock { if let run = $0 { close(run.control) } } }

    /// The URL for clients.
    public var url: String { "nats://127.0.0.1:\(port)" }
    /// The URL for clients with TLS.
    public var secureURL: String { "tls://127.0.0.1:\(port)" }

    /// Kills the server, and returns when it has ended.
    public func kill() async { await end("KILL") }

    /// Asks the server to end, and returns when it has ended.
    public func stop() async { await end("TERM") }

    /// Starts the server again on the same port, and returns when it accepts connections.
    ///
    /// - Parameter configuration: replaces the lines of the configuration file.
    /// - Throws: an error when the server does not start.
    public func start(_ configuration: String? = nil) async throws {
        if let configuration { try Self.write(configuration, to: folder.path + "/server.conf") }
        let next = try Self.launch(folder.path, port: port)
        run.withLock { $0 = next }
        _ = try await Self.awaitPort(folder.path, next)
    }

    /// Makes the server read a changed configuration. Its connections remain open.
    ///
    /// - Parameter configuration: replaces the lines of the configuration file.
    public func reload(_ configuration: String) throws {
        try Self.write(configuration, to: folder.path + "/server.conf")
        run.withLock { run in
            if let run { _ = Glibc.write(run.control, "HUP\n", 4) }
        }
    }

    private func end(_ signal: String) async {
        let ended = run.withLock { run -> Run? in
            defer { run = nil }
            return run
        }
        guard let ended else { return }
        let line = signal + "\n"
        _ = Glibc.write(ended.control, line, line.utf8.count)
        await ended.hasEnded.wait { $0 }
        close(ended.control)
    }

    /// Starts the server under a shell that kills it when the test process ends, because the connection then ends.
    private static func launch(_ folder: String, port: Int) throws -> Run {
        if let old = portsFile(folder) { unlink(old) }
        var ends: [Int32] = [-1, -1]
        // Programs that other tests start meanwhile do not inherit it.
        let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, type, 0, &ends) == 0 else { throw Failure(description: "no pair of sockets") }
        defer { close(ends[0]) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, ends[0], 0)
        posix_spawn_file_actions_addopen(&actions, 1, folder + "/server.log", O_WRONLY | O_CREAT | O_APPEND, 0o600)
        posix_spawn_file_actions_adddup2(&actions, 1, 2)
        // The pipes of the test runner, among others, which would wait for the server.
        for descriptor: Int32 in 3..<256 { posix_spawn_file_actions_addclose(&actions, descriptor) }
        let script = """
            "$@" </dev/null & server=$!
            while read -r signal && [ "$signal" = HUP ]; do kill -HUP $server; done
            kill -"${signal:-KILL}" $server
            wait $server
            """
        // The threads of the cooperative pool block all signals. The shell needs SIGCHLD, and the server SIGTERM.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        let words: [String] = [
            "/bin/sh", "-c", script, "sh", program, "-a", "127.0.0.1", "-p", "\(port)", "-c",
            folder + "/server.conf", "--ports_file_dir", folder,
        ]
        var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        var environment: [UnsafeMutablePointer<CChar>?] = [strdup("PATH=/usr/bin:/bin"), nil]
        defer { free(environment[0]) }
        var process = pid_t()
        guard posix_spawn(&process, "/bin/sh", &actions, &attributes, &arguments, &environment) == 0 else {
            close(ends[1])
            throw Failure(description: "cannot start /bin/sh")
        }
        let run = Run(control: ends[1], hasEnded: Observed(false))
        let child = process
        let isStarted = startThread(name: "nats-server") {
            var status: Int32 = 0
            while waitpid(child, &status, 0) == -1, errno == EINTR {}
            run.hasEnded.update { $0 = true }
        }
        guard isStarted else { throw Failure(description: "cannot start a thread") }
        return run
    }

    /// The file with the server's URLs, `nats-server_<pid>.ports`, which the server writes when it accepts connections.
    private static func portsFile(_ folder: String) -> String? {
        guard let directory = opendir(folder) else { return nil }
        defer { closedir(directory) }
        while let entry = readdir(directory) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name.hasSuffix(".ports") { return folder + "/" + name }
        }
        return nil
    }

    /// The port in the file, for instance `{"nats":["nats://127.0.0.1:4222"]}`. The file may be incomplete.
    private static func readPort(_ folder: String) -> Int? {
        guard let path = portsFile(folder), let text = try? read(path), text.hasSuffix("}") else { return nil }
        return text.firstMatch(of: /:(\d+)"/).flatMap { Int($0.1) }
    }

    private static func awaitPort(_ folder: String, _ run: Run) async throws -> Int {
        var port: Int?
        let isThere = await waitUntil("nats-server does not start") {
            port = readPort(folder)
            return port != nil || run.hasEnded.value
        }
        guard isThere, let port else {
            throw Failure(description: "nats-server does not start: \((try? read(folder + "/server.log")) ?? "")")
        }
        return port
    }

    private static func read(_ path: String) throws -> String {
        guard let file = fopen(path, "r") else { throw Failure(description: "cannot read \(path)") }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 65536)
        let count = fread(&bytes, 1, bytes.count, file)
        return String(decoding: bytes.prefix(count), as: UTF8.self)
    }

    private static func write(_ text: String, to path: String) throws {
        guard let file = fopen(path, "w") else { throw Failure(description: "cannot write \(path)") }
        defer { fclose(file) }
        fputs(text, file)
    }
}
