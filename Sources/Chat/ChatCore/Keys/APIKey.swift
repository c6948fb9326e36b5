public import ChatModel
import JSON

/// A credential of an app as it is kept: never the key itself, only its digest.
public struct APIKey: Sendable {
    public var id: String
    public var space: SpaceID
    public var name: String
    /// SHA-256 of the key's text, in hex.
    public var digest: String
    public var scopes: Scopes
    public var channels: [NamePattern]
    public var types: [NamePattern]
    public var expires: Timetoken?
    public var created: Timetoken

    public init(
        id: String, space: SpaceID, name: String, digest: String, scopes: Scopes, channels: [NamePattern] = [.all],
        types: [NamePattern] = [.all], expires: Timetoken? = nil, created: Timetoken
    ) {
        self.id = id
        self.space = space
        self.name = name
        self.digest = digest
        self.scopes = scopes
        self.channels = channels
        self.types = types
        self.expires = expires
        self.created = created
    }
}

extension APIKey {
    var recordKey: RecordKey { RecordKey(.key, id, in: space) }

    var body: JSONText {
        JSONText { writer in
            writer.beginObject()
            writer.member("name", name)
            writer.member("digest", digest)
            writer.member("scopes", scopes.names)
            writer.member("channels", channels.map(\.description))
            writer.member("types", types.map(\.description))
            if let expires { writer.member("expires", expires.description) }
            writer.member("created", created.description)
            writer.endObject()
        }
    }

    /// Reads what `body` printed; nil for a record that is no key of ours.
    init?(_ record: Record) {
        guard let root = try? JSONDocument(record.body).root, let digest = root["digest"]?.string,
            let scopes = root["scopes"]?.strings.flatMap(Scopes.init(names:))
        else { return nil }
        self.init(
            id: record.key.id, space: record.key.space, name: root["name"]?.string ?? "", digest: digest,
            scopes: scopes, channels: (root["channels"]?.strings ?? []).compactMap(NamePattern.init),
            types: (root["types"]?.strings ?? []).compactMap(NamePattern.init),
            expires: root["expires"]?.string.flatMap { Timetoken(text: $0) },
            created: root["created"]?.string.flatMap { Timetoken(text: $0) } ?? .zero)
    }
}
