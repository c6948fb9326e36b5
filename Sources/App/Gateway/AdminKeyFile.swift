import Glibc

/// Where the first admin key waits for its operator when nobody sits at a terminal: in the data directory, readable by
/// the gateway's account only. What is printed there ends up in journals and log stores, and stays.
struct AdminKeyFile {
    let path: String

    init(in directory: String) {
        path = directory.hasSuffix("/") ? directory + "admin-key" : directory + "/admin-key"
    }

    /// Writes the key and a line end, for good: who is told of the path finds it there.
    ///
    /// A file of that name is from a start that came no further, or was never removed; its key is worth nothing now.
    func write(_ key: String) throws(SettingError) {
        guard unlink(path) == 0 || errno == ENOENT else { throw failure("replace") }
        // A new file or none: no link that somebody has put there is followed.
        let file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw failure("make") }
        defer { close(file) }
        var line = key + "\n"
        let isWritten = line.withUTF8 { Glibc.write(file, $0.baseAddress, $0.count) == $0.count }
        guard isWritten, fsync(file) == 0 else { throw failure("write") }
    }

    private func failure(_ verb: String) -> SettingError {
        SettingError("data: cannot \(verb) '\(path)': \(String(cString: strerror(errno)))")
    }
}
