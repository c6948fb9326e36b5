public import ChatModel
import JSON
import Signing

/// One tenant: its id is the space everything of it lives in (`product.md` 2).
public struct AppRecord: Sendable {
    public var id: AppID
    public var name: String
    /// For the PubNub wire, and readable again by the app's admin.
    public var publishKey: String
    public var subscribeKey: String
    /// Signs tokens of users and PubNub's access tokens, also in programs of the app's own, so it must be readable again:
    /// stored through the vault.
    public var secretKey: String
    /// The one before the last exchange, which counts beside the present one for a while.
    public var previousSecret: (key: String, until: Timetoken)?
    /// The first app: its admins are the operators (`product.md` 5).
    public var isFirst: Bool
    /// How long kept events stay; nil is for ever.
    public var retention: Duration?
    /// Events of types that are not declared are refused.
    public var requiresDeclaredTypes = false
    /// PubNub's clients need an access token for whatever they do, or sign it.
    public var demandsTokens = false
    /// The fields of other users that a user's credential may see.
    public var publicUserFields = PublicUserFields.standard
    public var created: Timetoken
    /// What all its callers together are held to.
    public var rates = RatePolicies()
    /// The meters of that; nil where there is nothing to hold, and before the key ring has it.
    public internal(set) var meters: RateMeters?
    /// The version of its record; empty before it is stored.
    public internal(set) var etag = ""
    /// When its record last changed; zero before it is stored.
    public internal(set) var updated = Timetoken.zero

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
    /// What may have signed something that holds now, the present one first, and when it ends.
    public func secrets(at now: Timetoken) -> [(key: String, until: Timetoken?)] {
        let previous = previousSecret.flatMap { now < $0.until ? $0 : nil }
        return [(secretKey, nil)] + (previous.map { [($0.key, $0.until)] } ?? [])
    }

    /// Tells secrets apart, and tells nothing of them.
    public static func print(ofSecret key: String) -> String { String(Keyring.digest(of: key).prefix(16)) }

    var recordKey: RecordKey { RecordKey(.app, id.name, in: .gateway) }

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
            if demandsTokens { writer.member("demand_tokens", true) }
            if publicUserFields != .standard { writer.member("public_user_fields", publicUserFields.names) }
            writer.member("created", created.description)
            rates.printMembers(to: &writer)
            writer.endObject()
        }
    }

    /// Reads what `body` printed; nil for a record that is no app of ours.
    init?(_ record: Record, _ vault: Vault) {
        guard let root = try? JSONDocument(record.body).root, let sealed = root["secret_key"]?.string,
            // A key the vault has not: `resealSecrets` has said so before.
            let secret = try? vault.openText(sealed, context: record.key.vaultContext)
        else { return nil }
        self.init(
            id: AppID(record.key.id), name: root["name"]?.string ?? "",
            publishKey: root["publish_key"]?.string ?? "", subscribeKey: root["subscribe_key"]?.string ?? "",
            secretKey: secret, isFirst: root["first"]?.boolean ?? false,
            retention: root["retention_hours"]?.integer.map { .seconds($0 * 3600) },
            created: root["created"]?.string.flatMap { Timetoken(text: $0) } ?? .zero)
        // A previous one that cannot be opened is no reason to have no app.
        if let sealed = root["previous_secret_key"]?.string,
            let key = try? vault.openText(sealed, context: record.key.vaultContext),
            let until = root["previous_secret_until"]?.string.flatMap({ Timetoken(text: $0) })
        {
            previousSecret = (key, until)
        }
        requiresDeclaredTypes = root["require_declared_types"]?.boolean ?? false
        demandsTokens = root["demand_tokens"]?.boolean ?? false
        // A name that this version does not know is private.
        let names = root["public_user_fields"]?.strings
        publicUserFields =
            names.map { PublicUserFields(Set($0.compactMap(PublicUserFields.Field.init))) } ?? .standard
        rates = RatePolicies(root)
        (etag, updated) = (record.etag, record.updated)
    }
}
