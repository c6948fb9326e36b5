public import ChatModel
import JSON
import Signing

/// One tenant of the gateway. All data of an app is stored under the app's id.
public struct AppRecord: Sendable {
    /// The app's id.
    public var id: AppID
    /// A name for display.
    public var name: String
    /// The publish key of the PubNub-compatible interface. The app's admins can read it at any time.
    public var publishKey: String
    /// The subscribe key of the PubNub-compatible interface; unique in the gateway.
    public var subscribeKey: String
    /// The secret that signs user tokens and PubNub access tokens. The app's own programs also sign with this secret,
    /// so the API must be able to return it. The vault encrypts the stored secret.
    public var secretKey: String
    /// The secret before the last rotation. The previous secret stays valid beside the current secret until the time
    /// `until`.
    public var previousSecret: (key: String, until: Timetoken)?
    /// True for the gateway's first app. The admins of that app are the operators of the gateway.
    public var isFirst: Bool
    /// The time for which events are kept; nil for no limit.
    public var retention: Duration?
    /// True to reject events of undeclared types.
    public var requiresDeclaredTypes = false
    /// True when every request of a PubNub client needs an access token or a signature.
    public var requiresTokens = false
    /// True to store the messages of PubNub clients that do not say whether to store them.
    public var storesByDefault = true
    /// The fields of other users that a user's credential may see.
    public var publicUserFields = PublicUserFields.standard
    /// The time at which the app was created.
    public var created: Timetoken
    /// The rate limits of all callers of the app together.
    public var rates = RatePolicies()
    /// The meters that count requests against `rates`; nil when the app has no rate limits, and before the app is
    /// loaded into the keyring.
    public internal(set) var meters: RateMeters?
    /// The version of the app's record; empty before the app is stored.
    public internal(set) var etag = ""
    /// The time at which the app's record last changed; zero before the app is stored.
    public internal(set) var updated = Timetoken.zero

    /// Creates an app that is not stored yet, with the default settings.
    public init(
        id: AppID, name: String, publishKey: String, subscribeKey: String, secretKey: String,
        isFirst: Bool = false, retention: Duration? = nil, created: Timetoken
    ) {
        self.id = id
        self.name = name
        self.publishKey = publishKey
        self.subscribeKey = subscribeKey
        self.secretKey = secretKey
        self.isFirst = isFirst
        self.retention = retention
        self.created = created
    }
}

extension AppRecord {
    /// Returns the secrets whose signatures are valid now, the current one first. `until` is the time at which a secret
    /// expires; nil for the current one.
    public func secrets(at now: Timetoken) -> [(key: String, until: Timetoken?)] {
        let previous = previousSecret.flatMap { now < $0.until ? $0 : nil }
        return [(secretKey, nil)] + (previous.map { [($0.key, $0.until)] } ?? [])
    }

    /// Returns a fingerprint of a secret: the first 16 hex digits of its SHA-256 digest. The fingerprint distinguishes
    /// secrets without revealing them.
    public static func print(ofSecret key: String) -> String { String(Keyring.digest(of: key).prefix(16)) }

    var recordKey: RecordKey { Self.recordKey(of: id) }

    static func recordKey(of app: AppID) -> RecordKey { RecordKey(.app, app.name, in: .gateway) }

    func body(sealedBy vault: Vault) -> JSONText {
        JSONText { writer in
            writer.beginObject()
            writer.member("name", name)
            writer.member("publish_key", publishKey)
            writer.member("subscribe_key", subscribeKey)
            writer.member("secret_key", vault.seal(secretKey, context: recordKey.vaultContext))
            if let previousSecret {
                writer.member("previous_secret_key", vault.seal(previousSecret.key, context: recordKey.vaultContext))
                writer.member("previous_secret_until", previousSecret.until.description)
            }
            if isFirst { writer.member("first", true) }
            if let retention { writer.member("retention_hours", retention.components.seconds / 3600) }
            if requiresDeclaredTypes { writer.member("require_declared_types", true) }
            if requiresTokens { writer.member("demand_tokens", true) }
            if !storesByDefault { writer.member("store_by_default", false) }
            if publicUserFields != .standard { writer.member("public_user_fields", publicUserFields.names) }
            writer.member("created", created.description)
            rates.printMembers(to: &writer)
            writer.endObject()
        }
    }

    /// Creates the app from its stored record; nil for a record that is not an app, or when the app's secret cannot be
    /// decrypted.
    init?(_ record: Record, _ vault: Vault) {
        guard let root = try? JSONDocument(record.body).root, let sealed = root["secret_key"]?.string,
            // Decryption fails when the vault lacks the key. `resealSecrets` has already reported the missing key.
            let secret = try? vault.openText(sealed, context: record.key.vaultContext)
        else { return nil }
        self.init(
            id: AppID(record.key.id), name: root["name"]?.string ?? "",
            publishKey: root["publish_key"]?.string ?? "", subscribeKey: root["subscribe_key"]?.string ?? "",
            secretKey: secret, isFirst: root["first"]?.boolean ?? false,
            retention: root["retention_hours"]?.integer.map { .seconds($0 * 3600) },
            created: root["created"]?.string.flatMap { Timetoken(text: $0) } ?? .zero)
        // An app is loaded even when its previous secret cannot be decrypted.
        if let sealed = root["previous_secret_key"]?.string,
            let key = try? vault.openText(sealed, context: record.key.vaultContext),
            let until = root["previous_secret_until"]?.string.flatMap({ Timetoken(text: $0) })
        {
            previousSecret = (key, until)
        }
        requiresDeclaredTypes = root["require_declared_types"]?.boolean ?? false
        requiresTokens = root["demand_tokens"]?.boolean ?? false
        storesByDefault = root["store_by_default"]?.boolean ?? true
        // A field name that this version does not know is treated as private.
        let names = root["public_user_fields"]?.strings
        publicUserFields =
            names.map { PublicUserFields(Set($0.compactMap(PublicUserFields.Field.init))) } ?? .standard
        rates = RatePolicies(root)
        (etag, updated) = (record.etag, record.updated)
    }
}
