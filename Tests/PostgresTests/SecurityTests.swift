import Postgres
import PostgresSupport
import TestSupport
import Testing

@Suite(
    "TLS to PostgreSQL", .enabled(if: PostgresServer.isInstalled, PostgresServer.installation),
    .enabled(if: CertificateAuthority.canBeUsed, CertificateAuthority.installation))
struct PostgresTLSTests {
    @Test("checks the certificate and the host of the server, and proves the client's identity")
    func certificates() async throws {
        let authority = try await CertificateAuthority()
        let own = try await authority.sign("server", name: "IP:127.0.0.1")
        let client = try await authority.sign("node", name: "DNS:node")
        let server = try await PostgresServer(
            rules: ["hostssl all node 127.0.0.1/32 cert", "host all all 127.0.0.1/32 reject"],
            tls: (own.certificate, own.key, authority.certificate))
        try await server.execute("CREATE ROLE node LOGIN")
        func open(_ host: String, _ parameters: String) async throws(PostgresFailure) -> String? {
            let connection = try await Connection.open(
                ConnectionSettings(
                    connectionInfo: "postgresql://node@\(host):\(server.port)/postgres?\(parameters)",
                    deadline: waitLimit))
            let rows = try await connection.run(
                "SELECT version FROM pg_stat_ssl WHERE pid = pg_backend_pid()")
            await connection.close()
            return rows.text(0, 0)
        }
        let trust = "sslmode=verify-full&sslrootcert=\(authority.certificate)"
        let identity = "sslcert=\(client.certificate)&sslkey=\(client.key)"
        #expect(try await open("127.0.0.1", "\(trust)&\(identity)")?.hasPrefix("TLS") == true)

        // The address is that of the server, and the name is not in its certificate.
        let otherHost = try await failure { () async throws(PostgresFailure) in
            try await open("db.example", "\(trust)&\(identity)&hostaddr=127.0.0.1")
        }
        #expect(otherHost.message.contains("does not match host name"), "\(otherHost.message)")
        let stranger = try await CertificateAuthority()
        let untrusted = try await failure { () async throws(PostgresFailure) in
            try await open("127.0.0.1", "sslmode=verify-full&sslrootcert=\(stranger.certificate)&\(identity)")
        }
        #expect(untrusted.message.contains("certificate verify failed"), "\(untrusted.message)")
        let anonymous = try await failure { () async throws(PostgresFailure) in try await open("127.0.0.1", trust) }
        #expect(anonymous.message.contains("certificate"), "\(anonymous.message)")
        let plain = try await failure { () async throws(PostgresFailure) in
            try await open("127.0.0.1", "sslmode=disable")
        }
        #expect(plain.kind == .rejected && plain.sqlState == "28000", "\(plain.message)")
        await server.stop()
    }

    @Test("carries a password with SCRAM, and a wrong password is not shown")
    func scram() async throws {
        let authority = try await CertificateAuthority()
        let own = try await authority.sign("server", name: "IP:127.0.0.1")
        let server = try await PostgresServer(
            rules: ["hostssl all node 127.0.0.1/32 scram-sha-256", "host all all 127.0.0.1/32 reject"],
            tls: (own.certificate, own.key, authority.certificate))
        try await server.execute("CREATE ROLE node LOGIN PASSWORD 'correct-word'")
        func settings(_ password: String) -> ConnectionSettings {
            ConnectionSettings(
                connectionInfo: """
                    postgresql://node:\(password)@127.0.0.1:\(server.port)/postgres?sslmode=verify-full\
                    &sslrootcert=\(authority.certificate)&channel_binding=require
                    """, deadline: waitLimit)
        }
        await (try Connection.open(settings("correct-word"))).close()
        let refused = try await failure { () async throws(PostgresFailure) in
            try await Connection.open(settings("wrong-word"))
        }
        #expect(refused.kind == .rejected && refused.sqlState == "28P01")
        #expect(!refused.message.contains("word-word") && !refused.message.contains("wrong-word"))
        await server.stop()
    }
}

@Suite(
    "A connection that needs writes", .enabled(if: PostgresServer.isInstalled, PostgresServer.installation))
struct StandbyTests {
    @Test("uses the primary of several hosts, and refuses a standby whatever the connection info says")
    func standby() async throws {
        let primary = try await PostgresServer()
        let standby = try await PostgresServer(standbyOf: primary)
        func isStandby(_ info: String, needsWrites: Bool) async throws(PostgresFailure) -> Bool? {
            let connection = try await Connection.open(
                ConnectionSettings(connectionInfo: info, deadline: waitLimit, needsWrites: needsWrites))
            let rows = try await connection.run("SELECT pg_is_in_recovery()")
            await connection.close()
            return rows.boolean(0, 0)
        }
        let both = "host=\(standby.host),\(primary.host) user=postgres"
        #expect(try await isStandby(both, needsWrites: false) == true)
        #expect(try await isStandby(both, needsWrites: true) == false)
        #expect(try await isStandby("\(both) target_session_attrs=any", needsWrites: true) == false)
        let alone = try await failure { () async throws(PostgresFailure) in
            try await isStandby(standby.connectionInfo(), needsWrites: true)
        }
        #expect(alone.kind == .unreachable && alone.message.contains("read-only"), "\(alone.message)")
        await standby.stop()
        await primary.stop()
    }
}
