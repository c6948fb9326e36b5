import ChatModel
import HTTPClient
import Signing

/// The checks of values that depend on several settings or need parsing. They run when settings are loaded, so that
/// `config check` reports the errors that `serve` would report, and again where the values are used.
extension Configuration {
    /// The minimum length of an admin key in characters. 16 random letters and digits have 95 bits of entropy.
    static let adminKeyLeast = 16

    /// Checks all settings.
    ///
    /// - Throws: `SettingError` for settings that contradict each other, and for unusable values.
    func check() throws(SettingError) {
        if isDevelopment, !ConfigurationLoader.isLoopback(listenHost) {
            throw SettingError(
                "dev mode uses well-known keys, so it cannot listen on '\(listenHost)'; "
                    + "remove --dev or listen on 127.0.0.1")
        }
        guard transportSecurity == .zero || !tlsCertificate.isEmpty || publicURL.hasPrefix("https://") else {
            throw SettingError(
                "tls.hsts_seconds can be used only with HTTPS; set tls.certificate, or a public_url that begins with https"
            )
        }
        guard tlsCertificate.isEmpty == tlsKey.isEmpty else {
            throw SettingError("tls.certificate and tls.key require each other: set both or neither")
        }
        guard limits.pageDefault <= limits.pageMost else {
            throw SettingError("limits.page_default must not be larger than limits.page_most")
        }
        try checkAdminKey()
        _ = try firstAppKeys()
        _ = try allowedNetworks()
        _ = try proxyNetworks()
        _ = try vault()
        _ = try store()
        _ = try otlpFields()
    }

    /// Rejects an admin key that can be guessed, because the key gives control of the gateway. In dev mode, the key is
    /// not checked: the gateway uses a fixed key and accepts connections only from this machine.
    private func checkAdminKey() throws(SettingError) {
        guard !isDevelopment, !adminKey.isEmpty else { return }
        let isVisible = adminKey.utf8.allSatisfy { (0x21...0x7E).contains($0) }
        guard isVisible, adminKey.utf8.count >= Self.adminKeyLeast else {
            throw SettingError(
                "admin_key must be at least \(Self.adminKeyLeast) ASCII characters without spaces; "
                    + "leave it empty to generate a key")
        }
    }

    /// Returns the PubNub keys of the first app from `demo_keys`; nil when they must be generated.
    func firstAppKeys() throws(SettingError) -> (publish: String, subscribe: String, secret: String)? {
        guard !demoKeys.isEmpty else { return nil }
        let parts = demoKeys.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 3, !parts.contains("") else {
            throw SettingError("demo_keys must have the form publish:subscribe:secret")
        }
        return (parts[0], parts[1], parts[2])
    }

    /// Returns the vault that encrypts stored secrets.
    func vault() throws(SettingError) -> Vault {
        guard secretsKey.isEmpty || secretsKeyFile.isEmpty else {
            throw SettingError("secrets_key and secrets_key_file must not both be set: remove one of them")
        }
        let setting = secretsKeyFile.isEmpty ? "secrets_key" : "secrets_key_file"
        let text = secretsKeyFile.isEmpty ? secretsKey : try KeyFile(path: secretsKeyFile).text()
        do throws(VaultError) {
            let vault = try Vault(keys: text)
            // An empty key file is an error, because an emptied file must not disable the encryption.
            guard vault.seals || secretsKeyFile.isEmpty else { throw .keyInvalid }
            return vault
        } catch {
            // The error does not contain the invalid text, because a part of the text may be a key.
            throw SettingError("\(setting): \(error), several separated by commas (openssl rand -base64 32)")
        }
    }

    /// Returns the networks of the trusted proxies, whose `X-Forwarded-For` is used.
    func proxyNetworks() throws(SettingError) -> [AddressBlock] {
        var blocks: [AddressBlock] = []
        for network in trustedProxies {
            guard let block = AddressBlock(network) else {
                throw SettingError(
                    "trusted_proxies: '\(network)' is not a network; write 10.20.0.7, 10.20.0.0/16 or fd00::/8")
            }
            blocks.append(block)
        }
        return blocks
    }

    /// Returns the private networks to which webhooks may post.
    func allowedNetworks() throws(SettingError) -> [AddressBlock] {
        var blocks: [AddressBlock] = []
        for network in webhookAllow + (isDevelopment ? ["127.0.0.0/8", "::1/128"] : []) {
            guard let block = AddressBlock(network) else {
                throw SettingError("webhook.allow: '\(network)' is not a network; write 10.20.0.0/16 or fd00::/8")
            }
            blocks.append(block)
        }
        return blocks
    }
}
