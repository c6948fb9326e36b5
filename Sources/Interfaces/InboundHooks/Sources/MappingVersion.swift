import ChatCore
public import ChatModel
public import JSON

/// A current or earlier mapping of a source. The latest 20 mappings are stored. They explain the results of past
/// requests, and an earlier mapping can be restored.
public struct MappingVersion: Sendable {
    static let most = 20

    /// The number of the version, from 1.
    public var version: Int
    /// The text of the mapping.
    public var mapping: JSONText
    /// The time at which the mapping was set.
    public var created: Timetoken
    /// The id of the credential that set the mapping; empty if unknown.
    public var credential: String
    private var source: RecordKey

    init(of source: Source, at created: Timetoken, by credential: String) {
        version = source.mappingVersion
        mapping = source.settings.mapping.text
        self.created = created
        self.credential = credential
        self.source = source.recordKey
    }

    /// Prints the version as the next value of `writer`.
    public func print(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("version", version)
        writer.member("mapping", mapping)
        writer.member("created_at", created.timestamp)
        if credential.isEmpty { writer.nullMember("created_by") } else { writer.member("created_by", credential) }
        writer.endObject()
    }
}

extension MappingVersion {
    var change: RecordChange {
        let body = JSONText(capacity: mapping.count + 128) { writer in
            writer.beginObject()
            writer.member("version", version)
            writer.member("mapping", mapping)
            writer.member("created", created.description)
            writer.member("credential", credential)
            writer.endObject()
        }
        return RecordChange(Self.key(version, of: source), body: body, parent: source.id)
    }

    /// Parses the record that `change` wrote. Returns nil for an invalid record.
    init?(_ record: Record) {
        guard let root = try? JSONDocument(record.body).root, let version = root["version"]?.integer,
            let mapping = record.body.rawMember("mapping")
        else { return nil }
        self.version = Int(version)
        self.mapping = mapping
        created = root["created"]?.string.flatMap { Timetoken(text: $0) } ?? record.updated
        credential = root["credential"]?.string ?? ""
        source = RecordKey(.source, record.parent ?? "", in: record.key.app)
    }

    /// The change that removes the oldest stored version once this version is added; nil while there are at most 20
    /// versions.
    var removal: RecordChange? {
        version > Self.most ? RecordChange(Self.key(version - Self.most, of: source), body: nil) : nil
    }

    /// The keys of the stored versions, the newest first.
    static func keys(of source: Source) -> [RecordKey] {
        let oldest = max(1, source.mappingVersion - most + 1)
        return (oldest...source.mappingVersion).reversed().map { key($0, of: source.recordKey) }
    }

    static func removals(of source: Source) -> [RecordChange] { keys(of: source).map { RecordChange($0, body: nil) } }

    private static func key(_ version: Int, of source: RecordKey) -> RecordKey {
        RecordKey(.sourceMapping, "\(source.id)/\(version)", in: source.app)
    }
}
