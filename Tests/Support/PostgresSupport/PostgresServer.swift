import Glibc
import Locking
public import Testing
import Postgres
import TestSupport

/// A PostgreSQL server of the test process, in a temporary folder. It listens on a Unix socket in the folder, and ends
/// with the process.
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
    private let settings: [String: String]
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
    /// - Parameters:
    ///   - isDurable: true to wait for the disk at each commit, so that commits survive a power failure. A killed server
    ///     loses no commit in either case.
    ///   - settings: further settings of the server.
    ///   - rules: lines of `pg_hba.conf` that precede its default. By default, the role `locked` needs a password, and no
    ///     other role does.
    ///   - tls: the paths of the server's certificate, its key, and the authority of client certificates. With them, the
    ///     server also listens on the loopback address.
    public init(
        isDurable: Bool = false, settings: [String: String] = [:], rules: [String] = [],
        tls: (certificate: String, key: String, authority: String)? = nil
    ) async throws {
        folder = try Self.makeFolder()
        let durability = isDurable ? "on" : "off"
        var all = ["fsync": durability, "full_page_writes": durability]
        if let tls {
            all["listen_addresses"] = "127.0.0.1"
            all["port"] = "\(try Self.freePort())"
            all["ssl"] = "on"
            all["ssl_cert_file"] = try Self.copy(tls.certificate, to: folder.path + "/server.pem")
            all["ssl_key_file"] = try Self.copy(tls.key, to: folder.path + "/server.key")
            all["ssl_ca_file"] = try Self.copy(tls.authority, to: folder.path + "/authority.pem")
        }
        self.settings = all.merging(settings) { $1 }
        let made = try await run(
            "initdb", ["--username=postgres", "--auth=trust", "--no-sync", "--no-locale", "--encoding=UTF8", data])
        guard await made.isSuccess() else { throw Subprocess.Failure(message: "initdb failed: \(logText)") }
        try Self.write(
            rules + ["local all locked scram-sha-256", "local all,replication all trust"], to: data + "/pg_hba.conf")
        Self.running.withLock { $0.append(self) }
        try await start()
    }

    /// Starts a standby, which follows another server with asynchronous replication.
    public init(standbyOf primary: PostgresServer) async throws {
        folder = try Self.makeFolder()
        settings = ["fsync": "off"]
        let made = try await run(
            "pg_basebackup",
            [
                "-h", primary.folder.path, "-p", primary.port, "-U", "postgres", "-D", data, "-R", "--checkpoint=fast",
                "--no-sync",
            ])
        guard await made.isSuccess() else { throw Subprocess.Failure(message: "pg_basebackup failed: \(logText)") }
        Self.running.withLock { $0.append(self) }
        try await start()
    }

    static func makeFolder() throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        try give(folder.path)
        return folder
    }

    /// Makes the account of the server the owner of a file.
    static func give(_ path: String) throws {
        guard getuid() == 0, let account = getpwnam(Subprocess.account) else { return }
        guard chown(path, account.pointee.pw_uid, account.pointee.pw_gid) == 0 else {
            throw Subprocess.Failure(message: "chown \(path)")
        }
    }

    /// Copies a small file to one that only the account of the server may read, and returns its path.
    private static func copy(_ source: String, to path: String) throws -> String {
        guard let file = fopen(source, "r") else { throw Subprocess.Failure(message: source) }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 65_536)
        let count = fread(&bytes, 1, bytes.count, file)
        try write([String(decoding: bytes.prefix(count), as: UTF8.self)], to: path)
        chmod(path, 0o600)
        try give(path)
        return path
    }

    static func write(_ lines: [String], to path: String) throws {
        guard let file = fopen(path, "w") else { throw Subprocess.Failure(message: path) }
        defer { fclose(file) }
        for line in lines { fputs(line + "\n", file) }
    }

    /// A port of the loopback address at which nothing listens.
    private static func freePort() throws -> Int {
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
        guard code == 0 else { throw Subprocess.Failure(message: "no free port") }
        return Int(UInt16(bigEndian: address.sin_port))
    }

    /// The port, also of the Unix socket.
    public var port: String { settings["port"] ?? "5432" }

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
        "host=\(folder.path) port=\(port) user=postgres dbname=\(database)"
    }

    /// The folder of the Unix socket, which is the host in a connection info.
    public var host: String { folder.path }

    /// Runs a statement as the role `postgres`.
    public func execute(_ text: String, database: String = "postgres") async throws {
        let connection = try await Connection.open(
            ConnectionSettings(connectionInfo: connectionInfo(database: database), deadline: waitLimit))
        _ = try await connection.run([Statement(text)])
        await connection.close()
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
        try await execute("CREATE DATABASE test\(number)")
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
        let all = ["listen_addresses": "", "max_connections": "200", "unix_socket_directories": folder.path]
            .merging(settings) { $1 }
        return ["-D", data] + all.flatMap { ["-c", "\($0.key)=\($0.value)"] }
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
