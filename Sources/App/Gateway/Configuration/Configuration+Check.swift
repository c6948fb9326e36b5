import ChatModel
import HTTPClient
import Signing

/// What no setting can say of itself while it is read. Asked when settings are loaded, so that `config check` refuses what
/// `serve` would, and again where the values are used.
extension Configuration {
    /// The shortest admin key that is not guessed: 16 characters drawn from letters and digits are 95 bits.
    static let adminKeyLeast = 16

    /// - Throws: for settings that do not go together, or that nothing can be made of.
    func check() throws(SettingError) {
        if isDevelopment, !ConfigurationLoader.isLoopback(listenHost) {
            throw SettingError(
                "dev mode has well-known keys, so it listens on a loopback address only, not on '\(listenHost)'; "
                    + "drop --dev or listen on 127.0.0.1")
        }
        guard transportSecurity == .zero || !tlsCertificate.isEmpty || publicURL.hasPrefix("https://") else {
            throw SettingError(
                "tls.hsts_seconds: browsers heed it over HTTPS alone; set tls.certificate, or a public_url with https")
        }
        guard tlsCertificate.isEmpty == tlsKey.isEmpty else {
            throw SettingError("tls.certificate and tls.key belong together: give both or neither")
        }
        guard limits.pageDefault <= limits.pageMost else {
            throw SettingError("limits.page_default must not be above limits.page_most")
        }
        try checkAdminKey()
        _ = try firstAppKeys()
        _ = try allowedNetworks()
        _ = try proxyNetworks()
        _ = try vault()
        _ = try otlpFields()
    }

    /// Whoever guesses the key owns the gateway. Dev mode has a key of its own, and is reached from this machine only.
    private func checkAdminKey() throws(SettingError) {
        guard !isDevelopment, !adminKey.isEmpty else { return }
        let isVisible = adminKey.utf8.allSatisfy { (0x21...0x7E).contains($0) }
        guard isVisible, adminKey.utf8.count >= Self.adminKeyLeast else {
            throw SettingError(
                "admin_key must be at least \(Self.adminKeyLeast) ASCII characters without spaces; "
                    + "leave it empty to have one drawn")
        }
    }

    /// The keys of the first app for the protocols of others; nil: to be drawn.
    func firstAppKeys() throws(SettingError) -> (publish: String, subscribe: String, secret: String)? {
        guard !demoKeys.isEmpty else { return nil }
        let parts = demoKeys.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 3, !parts.contains("") else {
            throw SettingError("demo_keys must be publish:subscribe:secret")
        }
        return (parts[0], parts[1], parts[2])
    }

    /// What seals the secrets that are stored.
    func vault() throws(SettingError) -> Vault {
        guard secretsKey.isEmpty || secretsKeyFile.isEmpty else {
            throw SettingError("secrets_key and secrets_key_file exclude each other: give one of them")
        }
        let setting = secretsKeyFile.isEmpty ? "secrets_key" : "secrets_key_file"
        let text = secretsKeyFile.isEmpty ? secretsKey : try KeyFile(path: secretsKeyFile).text()
        do throws(VaultError) {
            let vault = try Vault(keys: text)
            // A file that was emptied by mistake must not turn into storing secrets as they are.
            guard vault.seals || secretsKeyFile.isEmpty else { throw .keyInvalid }
            return vault
        } catch {
            // Never the text: part of it may be a key.
            throw SettingError("\(setting): \(error), several separated by commas (openssl rand -base64 32)")
        }
    }

    /// The machines that are believed what `X-Forwarded-For` says.
    func proxyNetworks() throws(SettingError) -> [AddressBlock] {
        var blocks: [AddressBlock] = []
        for network in trustedProxies {
            guard let block = AddressBlock(network) else {
                throw SettingError(
                    "trusted_proxies: '\(network)' is no network; write 10.20.0.7, 10.20.0.0/16 or fd00::/8")
            }
            blocks.append(block)
        }
        return blocks
    }

    /// The private networks that webhooks may reach.
    func allowedNetworks() throws(SettingError) -> [AddressBlock] {
        var blocks: [AddressBlock] = []
        for network in webhookAllow + (isDevelopment ? ["127.0.0.0/8", "::1/128"] : []) {
            guard let block = AddressBlock(network) else {
                throw SettingError("webhook.allow: '\(network)' is no network; write 10.20.0.0/16 or fd00::/8")
            }
            blocks.append(block)
        }
        return blocks
    }
}
