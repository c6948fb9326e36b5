import ChatCore
public import ChatModel
public import JSON
import Signing

/// A sender whose posts to ``path`` become events.
public struct Source: Sendable {
    /// The id, chosen by the owner and unique in its app.
    public var id: String
    /// The app that owns the source.
    public var app: AppID
    /// The settings that the owner chooses.
    public var settings: SourceSettings
    /// The channels and types of the events that the source may emit. They are the channels and types of the credential
    /// that last wrote the source.
    var channels: [NamePattern]
    var types: [NamePattern]
    /// The number of the current mapping. It increases with each change of the mapping; see `MappingVersion`.
    public var mappingVersion = 1
    /// The time at which the source was created.
    public var created: Timetoken
    /// The time of the record's last change. The directory (the store of records) sets the time and `etag`.
    public var updated: Timetoken
    /// An opaque value for `ETag` and `If-Match` that changes with each change of the record.
    public var etag: String
    /// True when the source belongs to the first app. The paths of such sources do not contain the app's name. The
    /// registry sets this property.
    var isOfFirstApp = false

    /// The path to which the sender posts, relative to the gateway's base URL.
    public var path: String { isOfFirstApp ? "/in/\(id)" : "/in/\(app.name)/\(id)" }

    /// The caller whose rights apply to the events of this source.
    var caller: Caller {
        Caller(app: app, credential: "source:\(id)", scopes: [.emit], channels: channels, types: types)
    }

    /// The source as the API returns it. It contains the number of secrets, but never the secrets.
    public func printed() -> JSONText { JSONText(capacity: 512) { print(to: &$0) } }

    /// Prints the source as the next value of `writer`.
    public func print(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("id", id)
        writer.member("path", path)
        writer.member("scheme", settings.scheme.name)
        writer.member("secret_count", settings.secretCount)
        settings.options.print(to: &writer, of: settings.scheme)
        writer.member("window_seconds", settings.options.window.seconds)
        writer.member("handshake", settings.handshake.rawValue)
        writer.member("mapping", settings.mapping.text)
        writer.member("mapping_version", mappingVersion)
        writer.member("description", settings.description)
        writer.member("created_at", created.timestamp)
        writer.member("etag", etag)
        writer.member("updated_at", updated.timestamp)
        writer.endObject()
    }

    /// Checks a source id: 1 to 64 characters of `A-Z a-z 0-9 _ . -`, of which the first is a letter or a digit. Such
    /// an id needs no escaping in a URL.
    ///
    /// - Throws: `.malformed`.
    static func check(id: String) throws(ChatError) {
        do throws(ChatError) {
            try Names.check(type: id)
        } catch {
            throw ChatError(
                .malformed,
                "a source's id must be 1 to 64 letters A-Z a-z, digits, '_', '.' or '-', and begin with a letter or a digit"
            )
        }
    }
}

extension Source {
    var recordKey: RecordKey { RecordKey(.source, id, in: app) }

    /// The stored form of the source, with its secrets encrypted by the vault.
    func body(sealedBy vault: Vault) -> JSONText {
        let context = recordKey.vaultContext
        return JSONText(capacity: 512) { writer in
            writer.beginObject()
            writer.member("scheme", settings.scheme.name)
            settings.options.print(to: &writer, of: settings.scheme)
            writer.member("secrets", settings.secrets.map { vault.seal(Array($0.utf8), context: context) })
            writer.member("window_seconds", settings.options.window.seconds)
            writer.member("handshake", settings.handshake.rawValue)
            if let token = settings.verifyToken {
                writer.member("verify_token", vault.seal(Array(token.utf8), context: context))
            }
            writer.member("mapping", settings.mapping.text)
            writer.member("mapping_version", mappingVersion)
            writer.member("description", settings.description)
            writer.member("channels", channels.map(\.description))
            writer.member("types", types.map(\.description))
            writer.member("created", created.description)
            writer.endObject()
        }
    }

    /// Parses the output of `body`. Returns nil for an invalid record, and when the vault cannot decrypt the secrets.
    init?(_ record: Record, _ vault: Vault) {
        func opened(_ text: String) -> String? { try? vault.openText(text, context: record.key.vaultContext) }
        guard let root = try? JSONDocument(record.body).root,
            let scheme = root["scheme"]?.string.flatMap(SourceScheme.init(name:)),
            let sealed = root["secrets"]?.strings,
            let mapping = record.body.rawMember("mapping").flatMap({ try? Mapping($0) })
        else { return nil }
        let secrets = sealed.compactMap(opened)
        guard secrets.count == sealed.count else { return nil }
        var options = SchemeSettings()
        if let seconds = root["window_seconds"]?.integer { options.window = ReplayWindow(seconds: seconds) }
        for (name, value) in root["scheme_options"]?.members ?? [] {
            guard let member = SchemeSettings.Member(rawValue: name), let text = value.string, options.set(member, text)
            else { return nil }
        }
        self.init(
            id: record.key.id, app: record.key.app,
            settings: SourceSettings(
                scheme: scheme, options: options, secrets: secrets,
                handshake: root["handshake"]?.string.flatMap(SourceHandshake.init(rawValue:)) ?? .standard(for: scheme),
                verifyToken: root["verify_token"]?.string.flatMap(opened), mapping: mapping,
                description: root["description"]?.string ?? ""),
            channels: (root["channels"]?.strings ?? []).compactMap(NamePattern.init),
            types: (root["types"]?.strings ?? []).compactMap(NamePattern.init),
            mappingVersion: root["mapping_version"]?.integer.map { Int($0) } ?? 1,
            created: root["created"]?.string.flatMap { Timetoken(text: $0) } ?? .zero, updated: record.updated,
            etag: record.etag)
    }
}
