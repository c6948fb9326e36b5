import Postgres
import PostgresSupport
import TestSupport
import Testing

@Suite("A connection", .enabled(if: PostgresServer.isInstalled, PostgresServer.installation)) struct ConnectionTests {
    @Test("is closed by the deadline of a run, which ends the runs that wait")
    func deadline() async throws {
        let (connection, _) = try await openDatabase { $0.deadline = .seconds(2) }
        async let waiting = failure { () async throws(PostgresFailure) in
            try await connection.run("SELECT pg_sleep(60)")
        }
        let second = try await failure { () async throws(PostgresFailure) in
            try await connection.run("SELECT pg_sleep(60)")
        }
        let kinds = try await [waiting.kind, second.kind]
        #expect(kinds.contains(.timedOut) && kinds.allSatisfy { $0 == .timedOut || $0 == .connectionLost })
        #expect(!second.isConnectionUsable)
        let later = try await failure { () async throws(PostgresFailure) in try await connection.run("SELECT 1") }
        #expect(later.kind == .connectionLost)
    }

    @Test("is lost when the server is killed, and can be opened again after the restart")
    func killed() async throws {
        let server = try await PostgresServer()
        let settings = ConnectionSettings(connectionInfo: try await server.makeDatabase(), deadline: waitLimit)
        let connection = try await Connection.open(settings)
        let idle = try await Connection.open(settings)
        let observer = try await Connection.open(settings)
        try await observer.run("CREATE TABLE t AS SELECT 1")
        async let waiting = failure { () async throws(PostgresFailure) in
            try await connection.run("SELECT pg_sleep(600)")
        }
        try await waitUntil {
            try await observer.run("SELECT 1 FROM pg_stat_activity WHERE query = 'SELECT pg_sleep(600)'").count == 1
        }
        await server.kill()
        let lost = try await waiting
        #expect(lost.kind == .connectionLost && !lost.isConnectionUsable)
        for connection in [connection, idle] {
            let later = try await failure { () async throws(PostgresFailure) in try await connection.run("SELECT 1") }
            #expect(later.kind == .connectionLost)
        }
        let down = try await failure { () async throws(PostgresFailure) in try await Connection.open(settings) }
        #expect(down.kind == .unreachable)
        try await server.start()
        #expect(try await Connection.open(settings).run("SELECT * FROM t").count == 1)
        await server.stop()
    }

    @Test("is lost with the server's reason when an administrator ends its session")
    func terminated() async throws {
        let (connection, settings) = try await openDatabase()
        let pid = try #require(try await connection.run("SELECT pg_backend_pid()").integer(0, 0))
        let observer = try await Connection.open(settings)
        async let waiting = failure { () async throws(PostgresFailure) in
            try await connection.run([Statement("SELECT 1"), Statement("SELECT pg_sleep(600)")])
        }
        try await waitUntil {
            try await observer.run("SELECT 1 FROM pg_stat_activity WHERE query = 'SELECT pg_sleep(600)'").count == 1
        }
        try await observer.run("SELECT pg_terminate_backend($1::int)", .integer(pid))
        let lost = try await waiting
        #expect(lost.kind == .connectionLost && lost.sqlState == "57P01")
    }

    @Test("fails at once after it was closed, and ends its session when it is released")
    func closing() async throws {
        let (observer, settings) = try await openDatabase()
        var named = settings
        named.applicationName = "released"
        var connection: Connection? = try await Connection.open(named)
        let sessions = "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND application_name = $1"
        #expect(try await observer.run(sessions, .text("released")).count == 1)
        #expect(try await connection?.run("SELECT 1").count == 1)
        connection = nil
        try await waitUntil { try await observer.run(sessions, .text("released")).count == 0 }
        await observer.close()
        await observer.close()
        let later = try await failure { () async throws(PostgresFailure) in try await observer.run("SELECT 1") }
        #expect(later.kind == .connectionLost)
    }

    @Test("has the settings of its session")
    func sessionSettings() async throws {
        let (connection, _) = try await openDatabase {
            $0.connectionInfo += " options='-c lock_timeout=3s'"
            $0.applicationName = "a name"
            $0.sessionSettings = ["statement_timeout": "4s", "search_path": #""a \b", public"#]
        }
        let rows = try await connection.run(
            """
            SELECT current_setting('statement_timeout'), current_setting('search_path'),
                current_setting('application_name'), current_setting('lock_timeout'), current_setting('client_encoding')
            """)
        #expect((0..<5).map { rows.text(0, $0) } == ["4s", #""a \b", public"#, "a name", "3s", "UTF8"])
    }

    @Test("does not print notices, and reports a setting that the server rejects")
    func rejectedSetting() async throws {
        let (connection, settings) = try await openDatabase()
        try await connection.run("DO $$ BEGIN RAISE NOTICE 'this must not be printed'; END $$")
        var wrong = settings
        wrong.sessionSettings = ["no_such_setting": "1"]
        let rejected = try await failure { () async throws(PostgresFailure) in try await Connection.open(wrong) }
        #expect(rejected.kind == .rejected && rejected.sqlState == "42704")
    }

    @Test("runs the first statements of the settings, and is not opened if one of them fails")
    func firstStatements() async throws {
        let (connection, settings) = try await openDatabase()
        try await connection.run("CREATE TABLE visit(n integer)")
        var counted = settings
        counted.firstStatements = [Statement("INSERT INTO visit(n) VALUES (1)"), Statement("SET lock_timeout = '7s'")]
        let visitor = try await Connection.open(counted)
        #expect(try await visitor.run("SELECT current_setting('lock_timeout')").text(0, 0) == "7s")
        #expect(try await connection.run("SELECT n FROM visit").count == 1)
        counted.firstStatements.append(Statement("SELECT 1 / 0"))
        let wrong = counted
        let refused = try await failure { () async throws(PostgresFailure) in try await Connection.open(wrong) }
        #expect(refused.kind == .rejected && refused.sqlState == "22012")
    }

    @Test("goes to the first host that can be reached")
    func hosts() async throws {
        let (_, settings) = try await openDatabase()
        let info = settings.connectionInfo.replacing("host=/", with: "host=/nowhere,/")
        let connection = try await Connection.open(ConnectionSettings(connectionInfo: info, deadline: waitLimit))
        #expect(try await connection.run("SELECT 1").count == 1)
    }

    @Test("is rejected for a wrong password, which no message shows")
    func wrongPassword() async throws {
        let (connection, settings) = try await openDatabase()
        // A role belongs to all databases of the server. Only this test uses this one.
        try await connection.run("CREATE ROLE locked LOGIN PASSWORD 'correct-horse'")
        let info = settings.connectionInfo.replacing("user=postgres", with: "user=locked")
        let right = ConnectionSettings(connectionInfo: info + " password=correct-horse", deadline: waitLimit)
        _ = try await Connection.open(right)
        for secret in ["wrong-battery", "'wrong battery'"] {
            let wrong = ConnectionSettings(connectionInfo: info + " password=\(secret)", deadline: waitLimit)
            let rejected = try await failure { () async throws(PostgresFailure) in try await Connection.open(wrong) }
            #expect(rejected.kind == .rejected && rejected.sqlState == "28P01", "\(rejected)")
            #expect(!"\(rejected)".contains("battery") && !"\(wrong)".contains("battery"))
            var dumped = ""
            dump(wrong, to: &dumped)
            #expect(!dumped.contains("battery") && !String(reflecting: wrong).contains("battery"))
        }
        let missing = try await failure { () async throws(PostgresFailure) in
            try await Connection.open(ConnectionSettings(connectionInfo: info, deadline: waitLimit))
        }
        #expect(missing.kind == .rejected)
    }
}
