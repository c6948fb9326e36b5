import Glibc
import HTTPServer
import TestSupport
import Testing

/// A certificate for 127.0.0.1, made for this run in its own folder.
private final class Certificate: Sendable {
    let folder: String
    var certificate: String { folder + "/cert.pem" }
    var key: String { folder + "/key.pem" }

    init() throws {
        var template = Array("/tmp/parley-tls-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw Failure.folder }
        folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let process = try Program.start(
            [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", folder + "/key.pem",
                "-out", folder + "/cert.pem",
            ], descriptor: nil)
        guard process.wait() == 0 else { throw Failure.openssl }
    }

    deinit {
        unlink(certificate)
        unlink(key)
        rmdir(folder)
    }

    enum Failure: Error { case folder, openssl }
}

/// A running `openssl` process.
private final class Program: @unchecked Sendable {
    // Safe to share: one test uses it at a time.
    static let path = "/usr/bin/openssl"
    static let isThere = access(path, X_OK) == 0

    private let process: pid_t

    private init(process: pid_t) { self.process = process }

    /// - Parameter descriptor: becomes its standard input and output.
    static func start(_ arguments: [String], descriptor: Int32?) throws -> Program {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for target in [Int32(0), 1] {
            if let descriptor {
                posix_spawn_file_actions_adddup2(&actions, descriptor, target)
            } else {
                posix_spawn_file_actions_addopen(&actions, target, "/dev/null", O_RDWR, 0)
            }
        }
        posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_RDWR, 0)
        var words: [UnsafeMutablePointer<CChar>?] = ([path] + arguments).map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        var process = pid_t()
        guard posix_spawn(&process, path, &actions, nil, &words, environ) == 0 else {
            throw Certificate.Failure.openssl
        }
        return Program(process: process)
    }

    func wait() -> Int32 {
        var status: Int32 = 0
        waitpid(process, &status, 0)
        return status
    }

    func end() {
        kill(process, SIGKILL)
        _ = wait()
    }
}

/// A connection through TLS: `openssl s_client` runs between the test and the server.
private final class EncryptedWire: @unchecked Sendable {
    // Safe to share: one test uses it at a time.
    let wire: Wire
    private let program: Program

    init(port: UInt16, certificate: Certificate) throws {
        var ends: [Int32] = [-1, -1]
        guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue) | 0o2000000 /* SOCK_CLOEXEC */, 0, &ends) == 0 else {
            throw Certificate.Failure.openssl
        }
        program = try Program.start(
            [
                "s_client", "-quiet", "-verify_return_error", "-CAfile", certificate.certificate, "-connect",
                "127.0.0.1:\(port)",
            ], descriptor: ends[1])
        close(ends[1])
        wire = Wire(descriptor: ends[0])
    }

    func end() {
        wire.close()
        program.end()
    }
}

@Suite("Encrypted", .enabled(if: Program.isThere)) struct TLSTests {
    private func withTLS(
        _ routes: (inout Router, Loop) -> Void, deadline: Duration = .seconds(10),
        body: @escaping @Sendable (Fixture, Certificate) async throws -> Void
    ) async throws {
        let certificate = try Certificate()
        var options = ServerOptions()
        options.deadlines.drain = .milliseconds(200)
        options.deadlines.header = deadline
        options.tls = ServerOptions.TLSFiles(
            certificatePath: certificate.certificate, keyPath: certificate.key)
        try await withAsyncServer(options: options, routes: routes) { try await body($0, certificate) }
    }

    @Test("requests are answered and keep their connection") func requests() async throws {
        try await withTLS { router, loop in
            router.add(.get, "/secure") { .text("\($0.isSecure)") }
            router.add(.get, "/later") { _ in
                await withCheckedContinuation { continuation in loop.post { continuation.resume() } }
                return .text("later")
            }
            router.add(.post, "/echo", body: .collected(limit: 200_000)) { request in
                Response(contentType: "text/plain", body: request.body.bytes)
            }
        } body: { server, certificate in
            try await blocking {
                let client = try EncryptedWire(port: server.port, certificate: certificate)
                defer { client.end() }
                let body = [UInt8](repeating: 0x61, count: 150_000)
                for _ in 0..<3 {
                    let secure = try client.wire.ask("GET", "/secure")
                    #expect(secure.text == "true")
                    #expect(secure.headers.count { $0.name == "Date" } == 1)
                    #expect(try client.wire.ask("GET", "/later").text == "later")
                    #expect(try client.wire.ask("POST", "/echo", body: body).body == body)
                    #expect(try client.wire.ask("GET", "/nowhere").status == 404)
                }
                #expect(try client.wire.ask("POST", "/echo", body: body + body).status == 413)
            }
        }
    }

    @Test(
        "connections agree on TLS 1.2 or 1.3 and on nothing older",
        arguments: [("-tls1", false), ("-tls1_1", false), ("-tls1_2", true), ("-tls1_3", true)])
    func versions(_ version: String, _ isAccepted: Bool) async throws {
        try await withTLS { router, _ in
            router.add(.get, "/secure") { .text("\($0.isSecure)") }
        } body: { server, certificate in
            let status = try await blocking {
                // Ciphers of any strength, so that the client's own policy does not refuse first.
                try Program.start(
                    [
                        "s_client", version, "-cipher", "ALL:@SECLEVEL=0", "-CAfile", certificate.certificate,
                        "-connect",
                        "127.0.0.1:\(server.port)",
                    ], descriptor: nil
                ).wait()
            }
            #expect((status == 0) == isAccepted)
        }
    }

    @Test("a renewed certificate is used for new connections, and a broken one for none") func renewal() async throws {
        try await withTLS { router, _ in
            router.add(.get, "/secure") { .text("\($0.isSecure)") }
        } body: { server, certificate in
            let early = try await blocking { try EncryptedWire(port: server.port, certificate: certificate) }
            defer { early.end() }
            let first = try await blocking { try early.wire.ask("GET", "/secure").text }
            #expect(first == "true")

            let other = try Certificate()
            try copy(other.key, to: certificate.key)
            // Only half of the pair is new, so certificate and key do not match.
            await #expect(throws: ServerError.self) { try await server.server.reloadCertificate() }
            try copy(other.certificate, to: certificate.certificate)
            try await server.server.reloadCertificate()
            try await blocking {
                let late = try EncryptedWire(port: server.port, certificate: other)
                defer { late.end() }
                #expect(try late.wire.ask("GET", "/secure").text == "true")
                #expect(try early.wire.ask("GET", "/secure").text == "true")
            }
        }
    }

    private func copy(_ source: String, to target: String) throws {
        let from = open(source, O_RDONLY)
        let to = open(target, O_WRONLY | O_TRUNC)
        defer {
            close(from)
            close(to)
        }
        var bytes = [UInt8](repeating: 0, count: 64 * 1024)
        let count = read(from, &bytes, bytes.count)
        guard count > 0, write(to, bytes, count) == count else { throw Certificate.Failure.folder }
    }

    @Test("deferred responses are sent on the library's connection, which continues") func lateAnswers() async throws {
        let opened = Observed(0)
        let gone = Observed(0)
        try await withTLS { router, loop in
            router.add(.get, "/late") { _ in
                .deferred(DeferredStart { reply in loop.post { reply.complete(.text("late")) } })
            }
            router.add(.get, "/never") { _ in
                .deferred(
                    DeferredStart { reply in
                        reply.onDisconnect { gone.update { $0 += 1 } }
                        opened.update { $0 += 1 }
                    })
            }
        } body: { server, certificate in
            try await blocking {
                let client = try EncryptedWire(port: server.port, certificate: certificate)
                for _ in 0..<3 { #expect(try client.wire.ask("GET", "/late").text == "late") }
                client.wire.request("GET", "/never")
                opened.waitBlocking { $0 == 1 }
                client.end()
            }
            gone.waitBlocking { $0 == 1 }
        }
    }

    @Test("streams behave like others, the last block included") func streams() async throws {
        let connections = Observed<[StreamConnection]>([])
        let reasons = Observed<[StreamConnection.CloseReason]>([])
        let broadcasts = Observed<[Broadcast]>([])
        // The last client stays until the server has closed its connection.
        let held = Observed<[EncryptedWire]>([])
        try await withTLS { router, _ in
            router.add(.get, "/stream") { _ in
                .stream(
                    StreamOpening(headers: StreamOpening.eventStreamHeaders) { connection in
                        connections.update { $0.append(connection) }
                        connection.onClose { reason in reasons.update { $0.append(reason) } }
                        connection.send(Array("event: ready\n\n".utf8))
                        _ = connection.join(broadcasts.value[0], at: broadcasts.value[0].head)
                    })
            }
        } body: { server, certificate in
            let broadcast = await server.broadcast()
            broadcasts.update { $0 = [broadcast] }
            let clients = try await blocking {
                try (0..<3).map { _ in
                    let client = try EncryptedWire(port: server.port, certificate: certificate)
                    client.wire.request("GET", "/stream")
                    let head = try client.wire.head()
                    #expect(head["Content-Type"] == "text/event-stream; charset=utf-8")
                    _ = try client.wire.read(through: "event: ready\n\n")
                    return client
                }
            }
            held.update { $0 = clients }
            for number in 0..<300 {
                await server.onLoop {
                    broadcast.append(Array("data: \(number) \(String(repeating: "x", count: number))\n\n".utf8))
                }
            }
            try await blocking {
                for client in clients {
                    for number in 0..<300 { _ = try client.wire.read(through: "data: \(number) ") }
                }
            }
            clients[0].end()
            reasons.waitBlocking { $0 == [.peerDisconnected] }
            await server.onLoop { connections.value[1].finish(last: Array("event: bye\n\n".utf8)) }
            try await blocking { _ = try clients[1].wire.read(through: "event: bye\n\n") }
            reasons.waitBlocking { $0 == [.peerDisconnected, .finished] }
            clients[1].end()
            #expect(await server.server.metrics.streams == 1)
        }
        reasons.waitBlocking { $0 == [.peerDisconnected, .finished, .drained] }
        held.update { $0 = [] }
    }

    @Test("silence is not waited for") func silence() async throws {
        try await withTLS({ _, _ in }, deadline: .milliseconds(50)) { server, _ in
            try await blocking {
                let wire = try server.wire()
                let rest = try wire.rest()
                #expect(rest.isEmpty)
                let plain = try server.wire()
                plain.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
                _ = try plain.rest()
            }
        }
    }

    @Test("service does not begin without a usable certificate") func badCertificate() async throws {
        let loop = try Loop(name: "test")
        try loop.start()
        defer { loop.stop() }
        var options = ServerOptions()
        for path in ["/nonexistent", "/etc/hostname"] {
            options.tls = ServerOptions.TLSFiles(certificatePath: path, keyPath: path)
            let server = Server(options: options, router: Router(), loop: loop, logger: .silent)
            await #expect(throws: ServerError.self) { try await server.start() }
        }
    }
}
