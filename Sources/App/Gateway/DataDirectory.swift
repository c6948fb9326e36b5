import ChatCore
import ChatModel
import Glibc
import Locking

/// The data directory of a gateway.
struct DataDirectory {
    let path: String

    static let databaseName = "parley.db"
    /// The name of the database file while a restore is writing the file. While a file with this name exists, no
    /// gateway may use the data directory, because the gateway would start with an empty database.
    static let unfinishedName = "parley.db.restoring"

    static func database(in path: String) -> String { file(databaseName, in: path) }

    private static func file(_ name: String, in path: String) -> String {
        path.hasSuffix("/") ? path + name : "\(path)/\(name)"
    }

    /// Creates the data directory if it is missing. Only the owner of a new data directory may read it, because the
    /// database contains keys and payloads. If other accounts have access to an existing data directory, ``close()``
    /// removes their access.
    ///
    /// - Throws: `SettingError` when the data directory cannot be created or written; the errors of ``close()``.
    init(at path: String) throws(SettingError) {
        self.path = path
        var built = path.hasPrefix("/") ? "/" : ""
        for part in path.split(separator: "/") {
            built += built.isEmpty || built.hasSuffix("/") ? String(part) : "/\(part)"
            guard mkdir(built, 0o700) != 0, errno != EEXIST else { continue }
            throw SettingError("data: cannot create the directory '\(built)': \(String(cString: strerror(errno)))")
        }
        guard access(path, W_OK | X_OK) == 0 else {
            throw SettingError("data: cannot write to '\(path)': \(String(cString: strerror(errno)))")
        }
        try close()
    }

    /// Removes the access of other accounts to the data directory.
    ///
    /// The mode is set to 0700 if two conditions are met: this account is root or the owner of the directory, and the
    /// directory is empty or has a database. A directory of another account is left unchanged if only its owner and its
    /// group have access, because container volumes are shared in this way (`fsGroup`).
    ///
    /// - Throws: `SettingError` for any other directory to which other accounts have access.
    private func close() throws(SettingError) {
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & 0o077 != 0 else { return }
        let isOwn = status.st_uid == geteuid() || geteuid() == 0
        if isOwn, isEmpty || access(database, F_OK) == 0 {
            guard chmod(path, 0o700) == 0 else {
                throw SettingError("data: cannot close '\(path)': \(String(cString: strerror(errno)))")
            }
        } else if isOwn || status.st_mode & 0o007 != 0 {
            let mode = String(status.st_mode & 0o7777, radix: 8)
            throw SettingError(
                "data: '\(path)' is open to other accounts (mode \(mode)); use a directory that only the gateway uses, or "
                    + "set the mode 0700 and the gateway's account as its owner")
        }
    }

    private var isEmpty: Bool {
        guard let folder = opendir(path) else { return false }
        defer { closedir(folder) }
        var count = 0
        while readdir(folder) != nil, count < 3 { count += 1 }
        // An empty directory has only the entries `.` and `..`.
        return count <= 2
    }

    var database: String { Self.database(in: path) }

    /// Requires that no restore into the data directory was interrupted.
    ///
    /// - Throws: `SettingError` when a restore did not finish.
    func requireComplete() throws(SettingError) {
        guard access(Self.file(Self.unfinishedName, in: path), F_OK) == 0 else { return }
        throw SettingError(
            "data: a restore into '\(path)' did not finish; empty the directory and restore again, or remove "
                + "\(Self.unfinishedName) to start with an empty database")
    }
}

/// A new admin key of the first app, for an operator who has lost the key. It is created in the data directory of a
/// stopped gateway, or in the database of a cluster, which may be running. This is safe, because an account that can
/// write the store can already read all data.
public struct RecoveredKey: Sendable {
    /// The id of the first app.
    public let app: String
    /// The id of the new key, which is not secret.
    public let id: String
    /// The key. It is shown only once.
    public let text: String

    /// Creates the key and stores it.
    ///
    /// - Throws: `SettingError` or an error of the store: when the data directory does not contain the data of a
    ///   gateway, when a gateway is using the data directory, or when the store cannot be used.
    public init(_ configuration: Configuration) async throws {
        let store = try configuration.store()
        try store.requireData()
        let engine = try await store.open(configuration).engine
        do {
            guard let executor = ThreadExecutor(name: "recover") else {
                throw SettingError("the system cannot start a thread")
            }
            let service = ChatService(
                engine: engine, limits: configuration.limits, vault: try configuration.vault(), executor: executor)
            guard let issued = try await service.recoverAdminKey() else { throw store.missingData }
            (app, id, text) = (issued.key.app.name, issued.key.id, issued.text)
        } catch {
            await engine.close()
            throw error
        }
        await engine.close()
    }
}
