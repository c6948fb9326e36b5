import Glibc
import Testing

/// Certificates for one test in its own folder. Each certificate is its own authority.
final class Certificates: Sendable {
    static let openssl = "/usr/bin/openssl"
    static let python = "/usr/bin/python3"
    /// True when the programs that the TLS tests need are installed.
    static let canBeUsed = access(openssl, X_OK) == 0 && access(python, X_OK) == 0

    let folder: String

    init() throws {
        var template = Array("/tmp/parley-identity-XXXXXX".utf8CString)
        try #require(mkdtemp(&template) != nil)
        folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit {
        // The folder holds only files of this run.
        _ = try? Program([Self.rm, "-r", folder]).wait()
    }

    private static let rm = "/bin/rm"

    /// A certificate and its key.
    struct Made {
        let certificate: String
        let key: String
        let certificatePath: String
        let keyPath: String
    }

    /// - Parameter kind: what `openssl req` takes for `-newkey`, and options.
    func make(_ name: String, _ kind: [String] = ["ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"]) throws -> Made {
        let certificate = "\(folder)/\(name).pem"
        let key = "\(folder)/\(name).key"
        try run(
            ["req", "-x509", "-newkey"] + kind + [
                "-nodes", "-days", "2", "-subj", "/CN=\(name)", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout",
                key,
                "-out", certificate,
            ])
        return Made(
            certificate: try text(of: certificate), key: try text(of: key), certificatePath: certificate, keyPath: key)
    }

    /// Converts the key to another form by a subcommand of openssl that takes `-in` and `-out`.
    func converted(_ made: Made, _ command: [String]) throws -> String {
        try run(command + ["-in", made.keyPath, "-out", made.keyPath + ".other"])
        return try text(of: made.keyPath + ".other")
    }

    private func run(_ arguments: [String]) throws {
        let program = try Program([Self.openssl] + arguments)
        let status = program.wait()
        try #require(status == 0)
    }

    private func text(of path: String) throws -> String {
        let file = try #require(fopen(path, "r"))
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 65536)
        let count = fread(&bytes, 1, bytes.count, file)
        return String(decoding: bytes.prefix(count), as: UTF8.self)
    }
}

/// A running program whose output the test reads.
final class Program: @unchecked Sendable {
    // Safe to share: one test uses it at a time.
    private let process: pid_t
    private let output: Int32

    init(_ command: [String]) throws {
        var ends: [Int32] = [-1, -1]
        // Programs that other tests start meanwhile do not inherit it.
        let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        try #require(socketpair(AF_UNIX, type, 0, &ends) == 0)
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDWR, 0)
        posix_spawn_file_actions_adddup2(&actions, ends[1], 1)
        posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_RDWR, 0)
        var words: [UnsafeMutablePointer<CChar>?] = command.map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        var process = pid_t()
        let code = posix_spawn(&process, command[0], &actions, nil, &words, environ)
        close(ends[1])
        (self.process, output) = (process, ends[0])
        try #require(code == 0)
    }

    deinit { close(output) }

    /// The next part of its output.
    func read() -> String {
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = Glibc.read(output, &bytes, bytes.count)
        return String(decoding: bytes.prefix(max(count, 0)), as: UTF8.self)
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

/// A TLS receiver. Each response names the connection of the request and the client certificate.
final class TLSReceiver: Sendable {
    private let program: Program
    let port: Int

    /// - Parameter clients: The certificates that it accepts. Without any, it requests none.
    init(_ server: Certificates.Made, accepting clients: [Certificates.Made]) throws {
        program = try Program(
            [Certificates.python, "-c", Self.script, server.certificatePath, server.keyPath]
                + clients.map(\.certificatePath))
        port = try #require(Int(program.read().split(separator: "\n").first ?? ""))
    }

    deinit { program.end() }

    var url: String { "https://127.0.0.1:\(port)/" }

    private static let script = """
        import itertools, socket, ssl, sys, threading
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(*sys.argv[1:3])
        for accepted in sys.argv[3:]:
            context.load_verify_locations(accepted)
            context.verify_mode = ssl.CERT_REQUIRED
        def serve(number, plain):
            with context.wrap_socket(plain, server_side=True) as peer:
                subject = dict(pair for part in (peer.getpeercert() or {}).get("subject", ()) for pair in part)
                text = f"{number} {subject.get('commonName', '-')}".encode()
                seen = b""
                while piece := peer.recv(65536):
                    seen += piece
                    while b"\\r\\n\\r\\n" in seen:
                        request, _, seen = seen.partition(b"\\r\\n\\r\\n")
                        last = b"GET /last" in request
                        ending = b"Connection: close\\r\\n" if last else b""
                        peer.sendall(b"HTTP/1.1 200 OK\\r\\n%sContent-Length: %d\\r\\n\\r\\n%s" % (ending, len(text), text))
                        if last: return
        listener = socket.create_server(("127.0.0.1", 0))
        print(listener.getsockname()[1], flush=True)
        for number in itertools.count(1):
            threading.Thread(target=serve, args=(number, listener.accept()[0]), daemon=True).start()
        """
}
