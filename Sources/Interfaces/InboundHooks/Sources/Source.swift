import ChatKit
public import ChatModel
public import JSON
import Signing

/// A sender whose posts to `/in/{id}` become events.
public struct Source: Sendable {
    /// Chosen by its owner, unique in the gateway.
    public var id: String
    public var space: SpaceID
    public var settings: SourceSettings
    /// Where it may emit, and what: as far as the credential that last wrote it.
    var channels: [NamePattern]
    var types: [NamePattern]
    public var created: Timetoken
    /// When the record last changed; with `etag`, set by the directory.
    public var updated: Timetoken
    /// Opaque, for `ETag` and `If-Match`; changes with each change of the record.
    public var etag: String

    /// Whose rights its events have.
    var caller: Caller {
        Caller(space: space, credential: "source:\(id)", scopes: [.emit], channels: channels, types: types)
    }

    /// The source as the native API shows it: how many secrets it has, never the secrets.
    public func printed() -> JSONText { JSONText(capacity: 512) { print(to: &$0) } }

    /// Prints it as the next value of `writer`.
    public func print(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("id", id)
        writer.member("path", "/in/\(id)")
        writer.member("scheme", settings.scheme.name)
        writer.member("secret_count", settings.secretCount)
        writer.member("window_seconds", settings.window.seconds)
        writer.member("mapping", settings.mapping.text)
        writer.member("description", settings.description)
        writer.member("created_at", created.timestamp)
        writer.member("updated_at", updated.timestamp)
        writer.endObject()
    }

    /// 1..64 of `A-Z a-z 0-9 _ . -`, beginning with a letter or digit: it stands in a URL as it is.
    static func check(id: String) throws(ChatError) {
        do throws(ChatError) {
            try Names.check(type: id)
        } catch {
            throw ChatError(
                .malformed, "a source's id must be 1 to 64 of A-Z a-z 0-9 _ . - and begin with a letter or a digit")
        }
    }
}

extension Source {
    var recordKey: RecordKey { RecordKey(.source, id, in: space) }

    /// Holds the id for this source in the whole gateway.
    var nameKey: RecordKey { RecordKey(.sourceName, id, in: .gateway) }

    var nameBody: JSONText {
        JSONText { writer in
            writer.beginObject()
            writer.member("app", space.name)
            writer.endObject()
        }
    }

    var body: JSONText {
        JSONText(capacity: 512) { writer in
            writer.beginObject()
            writer.member("scheme", settings.scheme.name)
            writer.member("secrets", settings.secrets)
            writer.member("window_seconds", settings.window.seconds)
            writer.member("mapping", settings.mapping.text)
            writer.member("description", settings.description)
            writer.member("channels", channels.map(\.description))
            writer.member("types", types.map(\.description))
            writer.member("created", created.description)
            writer.endObject()
        }
    }

    /// Reads what `body` printed; nil for a record that is no source of ours.
    init?(_ record: Record) {
        guard let root = try? JSONDocument(record.body).root,
            let scheme = root["scheme"]?.string.flatMap(SourceScheme.init(name:)),
            let secrets = root["secrets"]?.strings,
            let mapping = record.body.rawMember("mapping").flatMap({ try? Mapping($0) })
        else { return nil }
        self.init(
            id: record.key.id, space: record.key.space,
            settings: SourceSettings(
                scheme: scheme, secrets: secrets,
                window: root["window_seconds"]?.integer.map { ReplayWindow(seconds: $0) } ?? .standard,
                mapping: mapping,
                description: root["description"]?.string ?? ""),
            channels: (root["channels"]?.strings ?? []).compactMap(NamePattern.init),
            types: (root["types"]?.strings ?? []).compactMap(NamePattern.init),
            created: root["created"]?.string.flatMap { Timetoken(text: $0) } ?? .zero, updated: record.updated,
            etag: record.etag)
    }
}
