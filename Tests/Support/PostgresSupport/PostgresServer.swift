import Glibc
import Locking
public import Testing
import Postgres
import TestSupport

/// A PostgreSQL server of the test process, in a temporary folder. It listens on a Unix socket in the folder only, and
/// ends with the process.
public final class PostgresServer: Sendable {
    /// The folder of PostgreSQL's programs, of the newest installed version; `nil` if PostgreSQL is not installed.
    private static let programs: String? = {
        guard getuid() != 0 || getpwnam(Subprocess.account) != nil else { return nil }
        return (13...30).reversed().map { "/usr/lib/postgresql/\($0)/bin" }
            .first { access("\($0)/postgres", X_OK) == 0 }
    }()

    /// True if a server can be started. Suites that need one are enabled by it, with ``installation`` as comment.
    public static var isInstalled: Bool { programs != nil }
    /// The packages to install where ``isInstalled`` is false.
    public static let installation: Comment =
        "PostgreSQL is not installed: run scripts/install-test-servers, or install postgresql-15 and libpq5"

    private let folder: TemporaryFolder
    private let isDurable: Bool
    private let program = Lock<Subprocess?>(nil)
    private let databases = Lock(0)

    private static let sharedStart = Task { try await PostgresServer() }
    private static let running: Lock<[PostgresServer]> = {
        atexit { PostgresServer.endAll() }
        return Lock([])
    }()

    /// The server that all tests of the process share. The first call starts it. Do not stop it.
    public static func shared() async throws -> PostgresServer { try await sharedStart.value }

    /// Starts a server for one test.
    ///
    /// - Parameter isDurable: true to wait for the disk at each commit, so that commits survive a power failure. A
    ///   killed server loses no commit in either case.
    public init(isDurable: Bool = false) async throws {
        folder = try TemporaryFolder()
        self.isDurable = isDurable
        if getuid() == 0, let account = getpwnam(Subprocess.account) {
            chown(folder.path, account.pointee.pw_uid, account.pointee.pw_gid)
        }
        let made = try await run(
            "initdb", ["--username=postgres", "--auth=trust", "--no-sync", "--no-locale", "--encoding=UTF8", data])
        guard await made.isSuccess() else { throw Subprocess.Failure(message: "initdb failed: \(logText)") }
        // The role `locked` needs a password.
        guard let rules = fopen(data + "/pg_hba.conf", "w") else { throw Subprocess.Failure(message: "pg_hba.conf") }
        fputs("local all locked scram-sha-256\nlocal all all trust\n", rules)
        fclose(rules)
        Self.running.withLock { $0.append(self) }
        try await start()
    }

    private var data: String { folder.path + "/data" }
    private var log: String { folder.path + "/log" }

    private func run(_ name: String, _ arguments: [String]) async throws -> Subprocess {
        guard let programs = Self.programs else { throw Subprocess.Failure(message: "PostgreSQL is not installed") }
        return try await Subprocess(["\(programs)/\(name)"] + arguments, output: log)
    }

    private var logText: String {
        guard let file = fopen(log, "r") else { return "" }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 65_536)
        let count = fread(&bytes, 1, bytes.count, file)
        return String(decoding: bytes.prefix(count), as: UTF8.self)
    }

    /// The connection info of a database of the server, for the role `postgres`, which is a superuser.
    public func connectionInfo(database: String = "postgres") -> String {
        "host=\(folder.path) user=postgres dbname=\(database)"
    }

    /// Creates an empty database and returns its URL, for the role `postgres`.
    public func makeDatabaseURL() async throws -> String {
        let info = try await makeDatabase()
        return "postgres:///\(info.split(separator: "=").last!)?host=\(folder.path)&user=postgres"
    }

    /// Creates an empty database and returns its connection info.
    public func makeDatabase() async throws -> String {
        let number = databases.withLock { count in
            count += 1
            return count
        }
        let connection = try await Connection.open(
            ConnectionSettings(connectionInfo: connectionInfo(), deadline: waitLimit))
        _ = try await connection.run([Statement("CREATE DATABASE test\(number)")])
        await connection.close()
        return connectionInfo(database: "test\(number)")
    }

    /// Starts the server after ``stop()`` or ``kill()``. Returns when it accepts connections.
    public func start() async throws {
        let settings = ConnectionSettings(connectionInfo: connectionInfo(), deadline: waitLimit)
        let deadline = ContinuousClock.now + waitLimit
        while ContinuousClock.now < deadline {
            // A killed session may still hold the shared memory. The new server then ends, and is started again.
            if program.withLock({ $0?.process.value }) == nil {
                let server = try await run("postgres", arguments)
                program.withLock { $0 = server }
            }
            do throws(PostgresFailure) { return await (try Connection.open(settings)).close() } catch {
                guard error.kind == .unreachable else { throw error }
            }
            try await Task.sleep(for: .milliseconds(10))
        }
        throw Subprocess.Failure(message: "the server did not start: \(logText)")
    }

    private var arguments: [String] {
        [
            "-D", data, "-k", folder.path, "-c", "listen_addresses=", "-c", "max_connections=200",
            "-c", "fsync=\(isDurable ? "on" : "off")", "-c", "full_page_writes=\(isDurable ? "on" : "off")",
        ]
    }

    /// Stops the server. It ends its sessions first.
    public func stop() async { await end { $0.send(SIGINT) } }

    /// Kills the server and its sessions, which cannot clean up.
    public func kill() async { await end { $0.killAll() } }

    private func end(_ action: (Subprocess) -> Void) async {
        guard let server = program.withLock({ $0 }) else { return }
        action(server)
        _ = await server.isSuccess()
    }

    /// Stops the servers when the process exits.
    private static func endAll() {
        let servers = running.withLock { $0 }
        let programs = servers.compactMap { server in server.program.withLock { $0 } }
        for program in programs { program.send(SIGQUIT) }
        for _ in 0..<500 where programs.contains(where: { $0.process.value != nil }) { usleep(10_000) }
        for server in servers { server.folder.remove() }
    }
}
