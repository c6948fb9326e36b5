import ChatCore
import ChatModel
import Glibc
import Signing

/// The setup of an empty data directory: one app and one admin key.
struct InitialSetup {
    let configuration: Configuration
    let keyring: Keyring
    let clock: WallClock
    /// True when standard error is a terminal. The new key is then printed; otherwise it is written to a file.
    let isWatched: Bool

    /// The app's id and key in dev mode.
    static let demoApp = "demo"
    static let demoKey = "dev"

    /// Creates the app and returns the location of its key; nil when an app existed already.
    func establish() async throws -> FirstApp? {
        guard keyring.apps.isEmpty else { return nil }
        let app = try app()
        if configuration.isDevelopment { return try await establish(app, Self.demoKey, .known) }
        if !configuration.adminKey.isEmpty { return try await establish(app, configuration.adminKey, .known) }
        let key = SystemRandomSource().token(prefix: "parley_")
        if isWatched { return try await establish(app, key, .shown(key)) }
        // The file comes first: an app whose key cannot be found would lock its operator out.
        let file = AdminKeyFile(in: configuration.dataDirectory)
        try file.write(key)
        return try await establish(app, key, .filed(path: file.path))
    }

    private func establish(_ app: AppRecord, _ key: String, _ place: FirstApp.KeyPlace) async throws -> FirstApp {
        _ = try await keyring.establish(app, keyText: key)
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

/// The app of a new data directory.
struct FirstApp: Equatable {
    enum KeyPlace: Equatable {
        /// The operator set the key.
        case known
        /// The key, to be shown once.
        case shown(String)
        case filed(path: String)
    }

    var name: String
    var key: KeyPlace
}

/// The file with the first admin key, for a start without a terminal: in the data directory, readable by the gateway's
/// account only. A printed key would end up in journals and log stores, and stay there.
struct AdminKeyFile {
    let path: String

    init(in directory: String) {
        path = directory.hasSuffix("/") ? directory + "admin-key" : directory + "/admin-key"
    }

    /// Writes the key and a line end, durably, because the file's path is reported afterwards.
    ///
    /// An existing file of that name comes from a start that did not finish, or was never removed. Its key is invalid
    /// now.
    func write(_ key: String) throws(SettingError) {
        guard unlink(path) == 0 || errno == ENOENT else { throw failure("replace") }
        // O_EXCL creates a new file or fails, and does not follow a planted link.
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
