import ChatKit
import ChatModel
import Signing

/// What an empty data directory gets: one app and one admin key (`product.md` 4).
struct FirstStart {
    let configuration: Configuration
    let keyring: Keyring
    let clock: WallClock

    /// The app's id and key in dev mode.
    static let demoApp = "demo"
    static let demoKey = "dev"

    /// What was made; nil when there was an app already.
    func establish() async throws -> IssuedApp? {
        guard keyring.apps.isEmpty else { return nil }
        let key = configuration.isDevelopment ? Self.demoKey : configuration.adminKey
        return try await keyring.establish(try app(), keyText: key.isEmpty ? nil : key)
    }

    private func app() throws(SettingError) -> AppRecord {
        let random = SystemRandomSource()
        var keys = (
            publish: random.identifier(prefix: "pub-c-"), subscribe: random.identifier(prefix: "sub-c-"),
            secret: random.token(prefix: "sec-c-")
        )
        if configuration.isDevelopment { keys = ("demo", "demo", "demo-secret") }
        if !configuration.demoKeys.isEmpty {
            let parts = configuration.demoKeys.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
            guard parts.count == 3, !parts.contains("") else {
                throw SettingError("demo_keys must be publish:subscribe:secret")
            }
            keys = (parts[0], parts[1], parts[2])
        }
        let name = configuration.isDevelopment ? Self.demoApp : "default"
        return AppRecord(
            space: SpaceID(name), name: name, publishKey: keys.publish, subscribeKey: keys.subscribe,
            secretKey: keys.secret, isFirst: true, created: clock.now)
    }
}
