public import ChatModel
import JSON
public import Signing

/// A stored credential of an app. The value never contains the text of the key.
public struct APIKey: Sendable {
    /// The evidence with which a caller proves that it has the key.
    public enum TokenEvidence: Sendable {
        /// The text of the key. Only its SHA-256 digest is stored, in hex.
        case text(digest: String)
        /// A user token signed with the private half of the key (`WebTokenKey`). Only the public half is stored, in
        /// PEM.
        case signature(WebTokenKey, pem: String)
    }

    /// The key's id, which is not secret.
    public var id: String
    /// The app that the key gives access to.
    public var app: AppID
    /// A name for display.
    public var name: String
    /// The evidence with which callers prove that they have the key.
    public var proof: TokenEvidence
    /// The scopes of operations that the key permits.
    public var scopes: Scopes
    /// The channels that the key may use.
    public var channels: [NamePattern]
    /// The event types that the key may use.
    public var types: [NamePattern]
    /// The time at which the key expires; nil for never.
    public var expires: Timetoken?
    /// The time at which the key was created.
    public var created: Timetoken
    /// The key's own rate limits, which apply in addition to the rate limits of the app.
    public var rates = RatePolicies()
    /// The version of the key's record; empty before the key is stored.
    public internal(set) var etag = ""
    /// The time at which the key's record last changed; zero before the key is stored.
    public internal(set) var updated = Timetoken.zero

    /// Creates a key that is not stored yet. By default, it gives access to every channel and every type.
    init(
        id: String, app: AppID, name: String, proof: TokenEvidence, scopes: Scopes, channels: [NamePattern] = [.all],
        types: [NamePattern] = [.all], expires: Timetoken? = nil, created: Timetoken
    ) {
        self.id = id
        self.app = app
        self.name = name
        self.proof = proof
        self.scopes = scopes
        self.channels = channels
        self.types = types
        self.expires = expires
        self.created = created
    }
}

extension APIKey {
    var recordKey: RecordKey { RecordKey(.key, id, in: app) }

    var body: JSONText {
        JSONText { writer in
            writer.beginObject()
            writer.member("name", name)
            switch proof {
            case .text(let digest): writer.member("digest", digest)
            case .signature(let key, let pem):
                writer.member("algorithm", key.algorithm.rawValue)
                writer.member("public_key", pem)
            }
            writer.member("scopes", scopes.names)
            writer.member("channels", channels.map(\.description))
            writer.member("types", types.map(\.description))
            if let expires { writer.member("expires", expires.description) }
            writer.member("created", created.description)
            rates.printMembers(to: &writer)
            writer.endObject()
        }
    }

    /// Creates the key from its stored record; nil for a record that is not a key.
    init?(_ record: Record) {
        guard let root = try? JSONDocument(record.body).root, let proof = TokenEvidence(root),
            let scopes = root["scopes"]?.strings.flatMap(Scopes.init(names:))
        else { return nil }
        self.init(
            id: record.key.id, app: record.key.app, name: root["name"]?.string ?? "", proof: proof,
            scopes: scopes, channels: (root["channels"]?.strings ?? []).compactMap(NamePattern.init),
            types: (root["types"]?.strings ?? []).compactMap(NamePattern.init),
            expires: root["expires"]?.string.flatMap { Timetoken(text: $0) },
            created: root["created"]?.string.flatMap { Timetoken(text: $0) } ?? .zero)
        rates = RatePolicies(root)
        (etag, updated) = (record.etag, record.updated)
    }
}

extension APIKey.TokenEvidence {
    fileprivate init?(_ root: JSONValue) {
        if let digest = root["digest"]?.string {
            self = .text(digest: digest)
        } else if let algorithm = root["algorithm"]?.string.flatMap(WebTokenKey.Algorithm.init(rawValue:)),
            let pem = root["public_key"]?.string, let key = WebTokenKey(algorithm, pem: pem)
        {
            self = .signature(key, pem: pem)
        } else {
            return nil
        }
    }
}
