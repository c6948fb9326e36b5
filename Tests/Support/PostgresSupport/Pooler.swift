import Glibc
public import Testing
import Postgres
import TestSupport

/// A `pgbouncer` between the tests and a server, in a temporary folder. It listens on a Unix socket.
public final class Pooler: Sendable {
    private static let program = "/usr/sbin/pgbouncer"
    /// True if it can be started.
    public static let isInstalled = access(program, X_OK) == 0
    /// The package to install if it cannot.
    public static let installation: Comment = "SKIPPED: these tests need the Debian package pgbouncer"

    private let folder: TemporaryFolder
    private let process: Subprocess
    private let database: String

    /// Starts the pooler.
    ///
    /// - Parameters:
    ///   - mode: `session` or `transaction`.
    ///   - ignored: the parameters of a new connection that are dropped instead of refused.
    public init(to server: PostgresServer, mode: String, ignoring ignored: String = "") async throws {
        folder = try PostgresServer.makeFolder()
        let info = try await server.makeDatabase()
        database = String(info.split(separator: "=").last ?? "")
        let configuration = folder.path + "/pgbouncer.ini"
        try PostgresServer.write(
            [
                "[databases]", "\(database) = \(info)", "[pgbouncer]", "auth_type = any", "pool_mode = \(mode)",
                "ignore_startup_parameters = \(ignored)", "unix_socket_dir = \(folder.path)", "listen_addr =",
            ], to: configuration)
        process = try await Subprocess([Self.program, configuration], output: folder.path + "/log")
        let settings = ConnectionSettings(connectionInfo: connectionInfo, deadline: waitLimit)
        await waitUntil("pgbouncer does not start") {
            do throws(PostgresFailure) { await (try Connection.open(settings)).close() } catch { return false }
            return true
        }
    }

    /// Ends the pooler.
    public func stop() async {
        process.send(SIGTERM)
        _ = await process.isSuccess()
    }

    /// The connection info of a database behind the pooler.
    public var connectionInfo: String { "host=\(folder.path) port=6432 user=postgres dbname=\(database)" }
}
