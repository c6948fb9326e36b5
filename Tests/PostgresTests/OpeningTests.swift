import Glibc
import PostgresSupport
import TestSupport
import Testing

@testable import Postgres

@Suite("Opening a connection", .enabled(if: hasLibrary, "install libpq5: scripts/install-test-servers"))
struct OpeningTests {
    @Test("names the package if the library is missing")
    func missingLibrary() async throws {
        let missing = try await failure { () async throws(PostgresFailure) in
            try await Connection.open(ConnectionSettings(connectionInfo: "host=/nowhere"), libraryFile: "libnone.so.5")
        }
        #expect(missing.kind == .libraryMissing)
        #expect(missing.message.contains("libnone.so.5") && missing.message.contains("libpq5"))
    }

    @Test("fails for a server that does not exist")
    func unreachable() async throws {
        for info in ["host=/nowhere", "postgresql://user:secret-word@127.0.0.1:1/db", "host=127.0.0.1,/nowhere port=1"]
        {
            let failed = try await failure { () async throws(PostgresFailure) in
                try await Connection.open(ConnectionSettings(connectionInfo: info, deadline: waitLimit))
            }
            #expect(failed.kind == .unreachable && failed.sqlState == nil && !failed.isConnectionUsable)
            #expect(!failed.message.isEmpty && !failed.message.contains("secret-word"))
        }
    }

    @Test("ends at the deadline if the server accepts the connection and does not respond")
    func silentServer() async throws {
        let folder = try TemporaryFolder()
        let listener = try silentListener(in: folder)
        defer { close(listener) }
        let settings = ConnectionSettings(
            connectionInfo: "host=\(folder.path),\(folder.path)", deadline: .milliseconds(200))
        let failed = try await failure { () async throws(PostgresFailure) in try await Connection.open(settings) }
        #expect(failed.kind == .timedOut)
    }

    @Test(
        "tries the host of the last connection first",
        .enabled(if: PostgresServer.isInstalled, PostgresServer.installation))
    func preferredHost() async throws {
        let folder = try TemporaryFolder()
        let listener = try silentListener(in: folder)
        defer { close(listener) }
        let server = try await PostgresServer.shared()
        let settings = ConnectionSettings(
            connectionInfo: "host=\(folder.path),\(server.host) port=5432,\(server.port) user=postgres dbname=postgres",
            deadline: .seconds(4))
        for _ in 0..<3 {
            let copy = settings
            await (try await Connection.open(copy)).close()
        }
        #expect(accept(listener, nil, nil) >= 0, "the first connection tried both hosts")
        #expect(accept(listener, nil, nil) == -1 && errno == EAGAIN)
    }

    @Test(
        "does not repeat malformed connection info, which may contain a password",
        arguments: [
            "host=a password=my secret-word", "postgresql://user:secret-word@@host/db", "secret-word",
            "postgresql://user:secret/word@host:1/db", "postgres://user:se?cret-word=1@host",
            "postgresql://user:secret@word@host/db",
        ])
    func malformed(_ info: String) async throws {
        let failed = try await failure { () async throws(PostgresFailure) in
            try await Connection.open(ConnectionSettings(connectionInfo: info, deadline: .milliseconds(200)))
        }
        #expect(failed.kind == .rejected && failed.message.hasPrefix("the connection info is malformed"))
        #expect(!failed.message.contains("secret") && !failed.message.contains("word@"))
    }

    @Test("reads the server's error code from libpq's message")
    func report() {
        let report = OpeningReport(
            """
            connection to server at "::1", port 5432 failed: FATAL:  57P03: the database system is starting up
            LOCATION:  ProcessStartupPacket, postmaster.c:2369

            """)
        #expect(report.sqlState == "57P03" && report.isTemporary("57P03") && !report.isTemporary("28P01"))
        #expect(report.message.hasSuffix("FATAL:  57P03: the database system is starting up"))
        #expect(OpeningReport("connection to server at \"a\" (10.0.0.1), port 1 failed: refused\n").sqlState == nil)
    }

    @Test("gives each host its address and port")
    func hosts() {
        let info = ConnectionInfo(parameters: ["host": "a,b", "port": "1,2", "user": "u"])
        #expect(info.hosts.map { $0["host"] } == ["a", "b"] && info.hosts.map { $0["port"] } == ["1", "2"])
        #expect(ConnectionInfo(parameters: ["host": "a,b", "port": "3"]).hosts.map { $0["port"] } == ["3", "3"])
        #expect(ConnectionInfo(parameters: ["host": "a"]).hosts == [["host": "a"]])
    }

    @Test("notices a lost network by itself, unless the text has other parameters")
    func network() {
        var info = ConnectionInfo(parameters: ["host": "a", "keepalives_idle": "60"])
        info.apply(ConnectionSettings(connectionInfo: "", deadline: .milliseconds(2500)))
        #expect(info.parameters["tcp_user_timeout"] == "2500" && info.parameters["keepalives_count"] == "3")
        #expect(info.parameters["keepalives_idle"] == "60" && info.parameters["keepalives_interval"] == "5")
    }
}

private let hasLibrary = dlopen(Library.fileName, RTLD_NOW) != nil

/// A server that accepts connections and does not respond.
private func silentListener(in folder: TemporaryFolder) throws -> Int32 {
    let listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: "\(folder.path)/.s.PGSQL.5432".utf8) }
    let code = withUnsafePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            bind(listener, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
        }
    }
    try #require(code == 0 && listen(listener, 8) == 0)
    return listener
}
