import ChatCore
import ChatModel
import Glibc
import Signing

/// What an empty data directory gets: one app and one admin key (`product.md` 4).
struct InitialSetup {
    let configuration: Configuration
    let keyring: Keyring
    let clock: WallClock
    /// Whether somebody sees what is said to the terminal.
    let isWatched: Bool

    /// The app's id and key in dev mode.
    static let demoApp = "demo"
    static let demoKey = "dev"

    /// Makes the app, and says where its key is to be found; nil when there was an app already.
    func establish() async throws -> FirstApp? {
        guard keyring.apps.isEmpty else { return nil }
        let app = try app()
        if configuration.isDevelopment { return try await establish(app, Self.demoKey, .known) }
        if !configuration.adminKey.isEmpty { return try await establish(app, configuration.adminKey, .known) }
        let key = SystemRandomSource().token(prefix: "parley_")
        if isWatched { return try await establish(app, key, .shown(key)) }
        // The file first: an app whose key nobody can find would lock its operator out.
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

/// The app of an empty data directory.
struct FirstApp: Equatable {
    enum KeyPlace: Equatable {
        /// Whoever set the gateway up chose it.
        case known
        /// To be said once.
        case shown(String)
        case filed(path: String)
    }

    var name: String
    var key: KeyPlace
}

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
