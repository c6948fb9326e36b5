import NATS
import NATSSupport
import TestSupport
import Testing

@Suite("Credentials for NATS", .enabled(if: NATSServer.isInstalled, NATSServer.installation))
struct CredentialTests {
    @Test("are a user and a password, and a wrong password is not shown")
    func password() async throws {
        let server = try await NATSServer("authorization { user: node, password: correct }")
        var settings = Events().settings(server.url)
        settings.credentials = .password(user: "node", password: "correct")
        try await use(settings)
        settings.credentials = .password(user: "node", password: "Authorization")
        let refused = await failure { try await Connection.open(settings) }
        #expect(refused?.kind == .unauthorized)
        #expect(refused?.message.contains("Authorization") == false)
    }

    @Test("are a token, and a wrong token is not shown")
    func token() async throws {
        let server = try await NATSServer("authorization { token: correct }")
        var settings = Events().settings(server.url)
        settings.credentials = .token("correct")
        try await use(settings)
        settings.credentials = .token("Violation")
        let refused = await failure { try await Connection.open(settings) }
        #expect(refused?.kind == .unauthorized)
        #expect(refused?.message.contains("Violation") == false)
    }

    @Test("are a user key with its seed")
    func key() async throws {
        // The key pair of the Ed25519 seed 00 01 … 1f.
        let publicKey = "UAB2CB576PHBBPQ5ODORRZ2LYCMWPZGWGCN2KDK7DXOIMZASKUY3RLKK"
        let seed = "SUAAAAICAMCAKBQHBAEQUCYMBUHA6EARCIJRIFIWC4MBSGQ3DQOR4H776Y"
        let server = try await NATSServer("authorization { users: [ { nkey: \(publicKey) } ] }")
        let folder = try TemporaryFolder()
        let path = folder.path + "/user.nk"
        try write(seed, to: path)
        var settings = Events().settings(server.url)
        settings.credentials = .key(publicKey: publicKey, seedFile: path)
        try await use(settings)
    }

    @Test("in a file that is missing are an error that names the file")
    func missingFile() async throws {
        let server = try await NATSServer("authorization { token: correct }")
        var settings = Events().settings(server.url)
        settings.credentials = .file("/nonexistent/user.creds")
        let refused = await failure { try await Connection.open(settings) }
        #expect(refused?.message.contains("/nonexistent/user.creds") == true)
    }

    @Test("that are refused are an event while the client goes on trying")
    func refusedLater() async throws {
        let server = try await NATSServer("authorization { token: correct }")
        let events = Events()
        var settings = events.settings(server.url)
        settings.credentials = .token("wrong")
        settings.retriesFirstConnection = true
        let connection = try await Connection.open(settings)
        await events.seen.wait(count: 1)
        guard case .refused(let failure) = events.seen.value.first else {
            Issue.record("\(events.seen.value)")
            return
        }
        #expect(failure.kind == .unauthorized)
        #expect(!connection.isConnected)
        await connection.close()
    }

    @Test("that a server refuses for a while leave the subscriptions intact")
    func refusedForAWhile() async throws {
        let server = try await NATSServer("authorization { token: correct }")
        let events = Events()
        var settings = events.settings(server.url)
        settings.credentials = .token("correct")
        let connection = try await Connection.open(settings)
        let messages = Observed([[UInt8]]())
        _ = try await connection.collect("a", into: messages)

        await server.kill()
        try await server.start("authorization { token: other }")
        await events.seen.wait { events in
            events.contains { event in
                if case .refused(let failure) = event { failure.kind == .unauthorized } else { false }
            }
        }
        let later = Observed([[UInt8]]())
        _ = try connection.subscribe("b", pendingBytes: 1000) { later.append($0) }
        #expect(await failure { try await connection.flush() }?.kind == .notConnected)

        await server.kill()
        try await server.start("authorization { token: correct }")
        await events.wait(for: .reconnected)
        try connection.publish([1], to: "a")
        try connection.publish([2], to: "b")
        #expect(await messages.wait(count: 1) == [[1]])
        #expect(await later.wait(count: 1) == [[2]])
        #expect(events.seen.value.first == .disconnected)
        await connection.close()
    }

    @Test("without the permission for a subject are an event, and leave the other subjects alone")
    func permissions() async throws {
        let server = try await NATSServer(
            """
            authorization { users: [
              { user: node, password: pw, permissions: { publish: [allowed], subscribe: [allowed] } }
            ] }
            """)
        let events = Events()
        var settings = events.settings(server.url)
        settings.credentials = .password(user: "node", password: "pw")
        let connection = try await Connection.open(settings)
        let messages = Observed([[UInt8]]())
        _ = try await connection.collect("forbidden", into: messages)
        _ = try await connection.collect("allowed", into: messages)
        try connection.publish([1], to: "forbidden")
        try connection.publish([2], to: "allowed")
        try await connection.flush()
        #expect(await messages.wait(count: 1) == [[2]])
        await events.wait(for: .denied("Permissions Violation for Publish to \"forbidden\""))
        await events.wait(for: .denied("Permissions Violation for Subscription to \"forbidden\""))
        await connection.close()
    }

    @Test("come from a file of nsc, which has a JWT and a key")
    func fileOfNSC() async throws {
        let server = try await NATSServer(NATSOperator.configuration)
        let folder = try TemporaryFolder()
        try write(NATSOperator.credentials, to: folder.path + "/node.creds")
        var settings = Events().settings(server.url)
        settings.credentials = try .init(file: folder.path + "/node.creds")
        try await use(settings)
        settings.credentials = .none
        #expect(await failure { try await Connection.open(settings) }?.kind == .unauthorized)
    }

    @Test("come from a file with a user and a password, or with a token")
    func file() throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/file"
        try write("node:with:colons\n", to: path)
        #expect(try .init(file: path) == ConnectionSettings.Credentials.password(user: "node", password: "with:colons"))
        try write("secret\n", to: path)
        #expect(try .init(file: path) == ConnectionSettings.Credentials.token("secret"))
        for text in ["", "\n", "secret\nword\n"] {
            try write(text, to: path)
            let refused = #expect(throws: NATSFailure.self) { try ConnectionSettings.Credentials(file: path) }
            #expect(refused?.kind == .invalid && refused?.message.contains(path) == true)
            #expect(refused?.message.contains("secret") == false)
        }
        let missing = #expect(throws: NATSFailure.self) { try ConnectionSettings.Credentials(file: path + "x") }
        #expect(missing?.message.contains("No such file") == true)
    }
}

@Suite(
    "TLS to NATS", .enabled(if: NATSServer.isInstalled, NATSServer.installation),
    .enabled(if: CertificateAuthority.canBeUsed, CertificateAuthority.installation))
struct TLSTests {
    @Test("checks both certificates")
    func certificates() async throws {
        let authority = try await CertificateAuthority()
        let server = try await authority.sign("server", name: "IP:127.0.0.1")
        let client = try await authority.sign("client", name: "DNS:node")
        let program = try await NATSServer(
            """
            tls { cert_file: "\(server.certificate)", key_file: "\(server.key)", ca_file: "\(authority.certificate)",
                  verify: true }
            """)
        var settings = Events().settings(program.secureURL)
        settings.tls = .init(
            authorities: authority.certificate, certificate: client.certificate, key: client.key)
        try await use(settings)

        settings.tls = .init(authorities: authority.certificate)
        let anonymous = await failure { try await Connection.open(settings) }
        #expect(anonymous != nil)

        let stranger = try await CertificateAuthority()
        settings.tls = .init(
            authorities: stranger.certificate, certificate: client.certificate, key: client.key)
        let untrusted = await failure { try await Connection.open(settings) }
        #expect(untrusted?.kind == .tls, "\(untrusted?.message ?? "")")

        settings.tls = .init(authorities: "/nonexistent.pem")
        #expect(await failure { try await Connection.open(settings) }?.message.contains("/nonexistent.pem") == true)

        settings.tls = .init(certificate: client.certificate)
        #expect(await failure { try await Connection.open(settings) }?.kind == .invalid)
    }

    @Test("refuses a certificate of another host")
    func otherHost() async throws {
        let authority = try await CertificateAuthority()
        let server = try await authority.sign("server", name: "DNS:elsewhere")
        let program = try await NATSServer(
            "tls { cert_file: \"\(server.certificate)\", key_file: \"\(server.key)\" }")
        var settings = Events().settings(program.secureURL)
        settings.tls = .init(authorities: authority.certificate)
        #expect(await failure { try await Connection.open(settings) }?.kind == .tls)
    }

    @Test("is refused when only one side wants it")
    func oneSide() async throws {
        let authority = try await CertificateAuthority()
        let server = try await authority.sign("server", name: "IP:127.0.0.1")
        let secure = try await NATSServer(
            "tls { cert_file: \"\(server.certificate)\", key_file: \"\(server.key)\" }")
        #expect(await failure { try await Connection.open(Events().settings(secure.url)) }?.kind == .tls)
        let plain = try await NATSServer()
        #expect(await failure { try await Connection.open(Events().settings(plain.secureURL)) }?.kind == .tls)
    }
}

/// Opens a connection, uses it and closes it.
private func use(_ settings: ConnectionSettings) async throws {
    let connection = try await Connection.open(settings)
    try await connection.flush()
    await connection.close()
}
