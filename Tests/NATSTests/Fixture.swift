import Glibc
import Locking
import NATS
import NATSSupport
import TestSupport
import Testing

/// The events of a test's connection, and its settings.
final class Events: Sendable {
    let seen = Observed([ConnectionEvent]())

    func settings(_ servers: String...) -> ConnectionSettings {
        ConnectionSettings(servers: servers, name: "test") { [seen] in seen.append($0) }
    }

    /// Waits until an event has occurred.
    func wait(for event: ConnectionEvent, sourceLocation: SourceLocation = #_sourceLocation) async {
        await seen.wait("no \(event)", sourceLocation: sourceLocation) { $0.contains(event) }
    }
}

/// The failure of an operation, or nil with a recorded issue when it succeeds.
func failure<Value>(
    sourceLocation: SourceLocation = #_sourceLocation, _ body: () async throws -> Value
) async -> NATSFailure? {
    do {
        _ = try await body()
        Issue.record("no failure", sourceLocation: sourceLocation)
    } catch let failure as NATSFailure {
        return failure
    } catch {
        Issue.record(error, sourceLocation: sourceLocation)
    }
    return nil
}

extension Connection {
    /// Subscribes with a large buffer, and waits until the subscription is active.
    func collect(_ subject: String, into messages: Observed<[[UInt8]]>) async throws -> Subscription {
        let subscription = try subscribe(subject, pendingBytes: 64 << 20) { messages.append($0) }
        try await flush()
        return subscription
    }
}

/// Certificates of one authority in a folder of their own.
final class Authority: Sendable {
    private static let openssl = "/usr/bin/openssl"
    static let canBeUsed = NATSServer.isInstalled && access(openssl, X_OK) == 0
    static let installation: Comment =
        "SKIPPED: these tests need the Debian packages nats-server, libnats3.4 and openssl"

    private let folder: TemporaryFolder
    var certificate: String { folder.path + "/ca.pem" }

    init() async throws {
        folder = try TemporaryFolder()
        try await run([
            "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
            "-subj",
            "/CN=authority", "-keyout", folder.path + "/ca.key", "-out", certificate,
        ])
    }

    /// Makes a certificate that the authority signs.
    ///
    /// - Parameter name: the alternative name, for instance `IP:127.0.0.1`.
    func sign(_ file: String, name: String) async throws -> (certificate: String, key: String) {
        let (certificate, key) = ("\(folder.path)/\(file).pem", "\(folder.path)/\(file).key")
        try await run([
            "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
            "-subj",
            "/CN=\(file)", "-addext", "subjectAltName=\(name)", "-addext", "basicConstraints=critical,CA:false", "-CA",
            self.certificate, "-CAkey", folder.path + "/ca.key", "-keyout", key, "-out", certificate,
        ])
        return (certificate, key)
    }

    private func run(_ arguments: [String]) async throws {
        let status = Observed<Int32?>(nil)
        #expect(
            startThread(name: "openssl") {
                var actions = posix_spawn_file_actions_t()
                posix_spawn_file_actions_init(&actions)
                defer { posix_spawn_file_actions_destroy(&actions) }
                for descriptor: Int32 in 0...2 {
                    posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_RDWR, 0)
                }
                var words = ([Self.openssl] + arguments).map { strdup($0) } + [nil]
                defer { for word in words { free(word) } }
                var process = pid_t()
                var code = posix_spawn(&process, Self.openssl, &actions, nil, &words, environ)
                if code == 0 { waitpid(process, &code, 0) }
                status.update { [code] in $0 = code }
            })
        try #require(await status.wait { $0 != nil } == 0)
    }
}

/// Writes a small text file.
func write(_ text: String, to path: String) throws {
    let file = try #require(fopen(path, "w"))
    defer { fclose(file) }
    fputs(text, file)
}
