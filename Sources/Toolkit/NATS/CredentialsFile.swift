internal import Glibc

extension ConnectionSettings.Credentials {
    /// The maximum size of a credentials file: 64 KiB.
    private static let fileBytes = 65_536

    /// Reads credentials from a file, so that no secret is an argument of the program. The file has one of three forms:
    ///
    /// - the user's JWT and the seed of the user's key, as `nsc` writes them (`.creds`). The client reads such a file
    ///   again with each attempt to connect.
    /// - one line `user:password`. The first colon separates the two.
    /// - one line without a colon: a token.
    ///
    /// - Throws: ``NATSFailure/Kind/invalid`` if the file cannot be read, or has another form. The message does not
    ///   repeat the content.
    public init(file path: String) throws(NATSFailure) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw NATSFailure(
                .invalid, "cannot read the credentials file '\(path)' for NATS: \(String(cString: strerror(errno)))")
        }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: Self.fileBytes)
        let count = read(descriptor, &bytes, bytes.count)
        let text = String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
        if text.contains("BEGIN NATS USER JWT") {
            self = .file(path)
            return
        }
        let lines = text.split(whereSeparator: \.isNewline)
        guard lines.count == 1, let line = lines.first else {
            throw NATSFailure(
                .invalid,
                "the credentials file '\(path)' for NATS must have one line, user:password or a token, or be a file of nsc"
            )
        }
        let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        self =
            parts.count == 2 ? .password(user: String(parts[0]), password: String(parts[1])) : .token(String(line))
    }
}
