import ChatCore
import ChatModel
import Glibc
import Signing

/// Sets up an empty store: creates one app and one admin key.
struct InitialSetup {
    let configuration: Configuration
    let keyring: Keyring
    let clock: WallClock
    /// True when stderr is a terminal. The new key is then printed; otherwise the key is written to a file.
    let isWatched: Bool

    /// The id and name of the app in dev mode.
    static let demoApp = "demo"
    /// The admin key of the app in dev mode.
    static let demoKey = "dev"

    /// Creates the first app. Returns the app and the location of its key; nil when an app already exists, because this
    /// is not the first start, or because another node of the cluster has created the app at the same time.
    func establish() async throws -> FirstApp? {
        guard keyring.apps.isEmpty else { return nil }
        let app = try app()
        if configuration.isDevelopment { return try await establish(app, Self.demoKey, .known) }
        if !configuration.adminKey.isEmpty { return try await establish(app, configuration.adminKey, .known) }
        let key = SystemRandomSource().token(prefix: "parley_")
        if isWatched { return try await establish(app, key, .shown(key)) }
        // The file is written before the app is created, because an app whose key is lost would lock its operator out.
        // A node of a cluster has no data directory until then.
        let file = AdminKeyFile(in: try DataDirectory(at: configuration.dataDirectory).path)
        let draft = try file.draft(key)
        guard let made = try await establish(app, key, .filed(path: file.path)) else {
            draft.remove()
            return nil
        }
        try draft.keep()
        return made
    }

    private func establish(
        _ app: AppRecord, _ key: String, _ place: FirstApp.KeyPlace
    ) async throws(ChatError) -> FirstApp? {
        do throws(ChatError) { _ = try await keyring.establish(app, keyText: key) } catch {
            guard error.code == .conflict else { throw error }
            return nil
        }
        return FirstApp(name: app.name, key: place)
    }

    private func app() throws(SettingError) -> AppRecord {
        let random = SystemRandomSource()
        var keys = (
            publish: random.identifier(prefix: "pub-c-"), subscribe: random.identifier(prefix: "sub-c-"),
            secret: random.token(prefix: "sec-c-")
        )
        if configuration.isDevelopment { keys = ("demo", "demo", "demo-secret") }
        if let chosen = try configuration.firstAppKeys() { keys = chosen }
        let name = configuration.isDevelopment ? Self.demoApp : "default"
        return AppRecord(
            id: AppID(name), name: name, publishKey: keys.publish, subscribeKey: keys.subscribe,
            secretKey: keys.secret, isFirst: true, created: clock.now)
    }
}

/// The app of a new store.
struct FirstApp: Equatable {
    enum KeyPlace: Equatable {
        /// The user knows the key already: it is set in the settings, or it is the fixed key of dev mode.
        case known
        /// The key, which is to be shown once on the terminal.
        case shown(String)
        case filed(path: String)
    }

    var name: String
    var key: KeyPlace
}

/// The file with the first admin key, for a start without a terminal. It is in the data directory, and only the
/// gateway's account may read it. A printed key would be stored in journals and log collectors.
struct AdminKeyFile {
    let path: String

    init(in directory: String) {
        path = directory.hasSuffix("/") ? directory + "admin-key" : directory + "/admin-key"
    }

    /// Writes the key and a line end to a file of this process in the same directory, which ``Draft/keep()`` renames. The
    /// file is synchronized to disk, because its path is reported afterwards.
    ///
    /// - Throws: `SettingError` when the file cannot be written.
    func draft(_ key: String) throws(SettingError) -> Draft {
        let draft = Draft(path: "\(path).\(getpid())", target: path)
        var status = stat()
        guard lstat(path, &status) != 0 || status.st_mode & S_IFMT != S_IFDIR else {
            throw SettingError("data: cannot replace '\(path)', because it is a directory")
        }
        // A file with this name is from an interrupted start of a process with the same number. Its key is not in use,
        // because the store is empty.
        guard unlink(draft.path) == 0 || errno == ENOENT else { throw draft.failure("replace") }
        // O_EXCL creates a new file or fails. It does not follow a symbolic link that another user may have created.
        let file = open(draft.path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw draft.failure("create") }
        defer { close(file) }
        var line = key + "\n"
        let isWritten = line.withUTF8 { Glibc.write(file, $0.baseAddress, $0.count) == $0.count }
        guard isWritten, fsync(file) == 0 else { throw draft.failure("write") }
        return draft
    }

    /// The file before the app is created. Nodes of a cluster that start at the same time in the same directory do not
    /// overwrite each other's file.
    struct Draft {
        let path: String
        let target: String

        /// Gives the file its name. An existing file with that name is one that the operator has not removed. Its key is
        /// not in use, because the store was empty.
        func keep() throws(SettingError) {
            guard rename(path, target) == 0 else { throw failure("rename") }
        }

        /// Removes the file.
        func remove() { unlink(path) }

        func failure(_ verb: String) -> SettingError {
            SettingError("data: cannot \(verb) '\(path)': \(String(cString: strerror(errno)))")
        }
    }
}
