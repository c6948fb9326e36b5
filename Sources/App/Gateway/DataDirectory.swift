import Glibc

/// The one directory the gateway writes to.
struct DataDirectory {
    let path: String

    static let databaseName = "parley.db"
    /// What a restore writes until it is verified. While it is there the directory is no gateway's: a start would begin with
    /// an empty database.
    static let unfinishedName = "parley.db.restoring"

    static func database(in path: String) -> String { file(databaseName, in: path) }

    private static func file(_ name: String, in path: String) -> String {
        path.hasSuffix("/") ? path + name : "\(path)/\(name)"
    }

    /// Makes the directory when it is missing, readable by its owner only: the database holds keys and payloads.
    init(at path: String) throws(SettingError) {
        self.path = path
        var built = path.hasPrefix("/") ? "/" : ""
        for part in path.split(separator: "/") {
            built += built.isEmpty || built.hasSuffix("/") ? String(part) : "/\(part)"
            guard mkdir(built, 0o700) != 0, errno != EEXIST else { continue }
            throw SettingError("data: cannot make the directory '\(built)': \(String(cString: strerror(errno)))")
        }
        guard access(path, W_OK | X_OK) == 0 else {
            throw SettingError("data: cannot write to '\(path)': \(String(cString: strerror(errno)))")
        }
    }

    var database: String { Self.database(in: path) }

    /// - Throws: where a restore did not finish.
    func demandWhole() throws(SettingError) {
        guard access(Self.file(Self.unfinishedName, in: path), F_OK) == 0 else { return }
        throw SettingError(
            "data: a restore into '\(path)' did not finish; empty the directory and restore again, or remove "
                + "\(Self.unfinishedName) to begin with an empty database")
    }
}
