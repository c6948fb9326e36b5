import Glibc
import Locking
public import Testing

/// Certificates of one authority for TLS tests, in a folder of their own.
public final class CertificateAuthority: Sendable {
    private static let openssl = "/usr/bin/openssl"
    /// True if certificates can be made.
    public static let canBeUsed = access(openssl, X_OK) == 0
    /// The package to install if they cannot.
    public static let installation: Comment = "SKIPPED: these tests need the Debian package openssl"

    private let folder: TemporaryFolder
    /// The path of the authority's certificate.
    public var certificate: String { folder.path + "/ca.pem" }

    /// Makes an authority.
    public init() async throws {
        folder = try TemporaryFolder()
        try await make("authority", ["-keyout", folder.path + "/ca.key", "-out", certificate])
    }

    /// Makes a certificate that the authority signs, with `file` as its common name.
    ///
    /// - Parameter name: the alternative name, for instance `IP:127.0.0.1`.
    /// - Returns: the paths of the certificate and of its key, which only the account of the tests may read.
    public func sign(_ file: String, name: String) async throws -> (certificate: String, key: String) {
        let (certificate, key) = ("\(folder.path)/\(file).pem", "\(folder.path)/\(file).key")
        try await make(
            file,
            [
                "-addext", "subjectAltName=\(name)", "-addext", "basicConstraints=critical,CA:false",
                "-CA", self.certificate, "-CAkey", folder.path + "/ca.key", "-keyout", key, "-out", certificate,
            ])
        return (certificate, key)
    }

    private func make(_ name: String, _ arguments: [String]) async throws {
        let fixed = [
            "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
            "-subj", "/CN=\(name)",
        ]
        let status = Observed<Int32?>(nil)
        #expect(
            startThread(name: "openssl") {
                var actions = posix_spawn_file_actions_t()
                posix_spawn_file_actions_init(&actions)
                defer { posix_spawn_file_actions_destroy(&actions) }
                for descriptor: Int32 in 0...2 {
                    posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_RDWR, 0)
                }
                var words = ([Self.openssl] + fixed + arguments).map { strdup($0) } + [nil]
                defer { for word in words { free(word) } }
                var process = pid_t()
                var code = posix_spawn(&process, Self.openssl, &actions, nil, &words, environ)
                if code == 0 { waitpid(process, &code, 0) }
                status.update { [code] in $0 = code }
            })
        try #require(await status.wait { $0 != nil } == 0)
    }
}
