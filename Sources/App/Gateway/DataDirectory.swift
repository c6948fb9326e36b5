import Glibc

/// The one directory the gateway writes to.
struct DataDirectory {
    let path: String

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

    var database: String { path.hasSuffix("/") ? path + "parley.db" : path + "/parley.db" }
}
