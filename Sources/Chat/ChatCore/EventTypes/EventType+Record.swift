import ChatModel
import JSON

extension EventType {
    static func recordKey(_ name: String, in app: AppID) -> RecordKey { RecordKey(.eventType, name, in: app) }

    var body: JSONText {
        JSONText { writer in
            writer.beginObject()
            writer.member("description", settings.description)
            writer.member("owner", settings.owner)
            writer.member("mode", settings.mode.rawValue)
            if let note = settings.deprecated { writer.member("deprecated", note) }
            writer.member("compatibility", settings.compatibility.text)
            if let retention = settings.retention {
                writer.member("retention_hours", retention.components.seconds / 3600)
            }
            writer.member("origin", origin.rawValue)
            writer.member("latest_version", latestVersion)
            writer.member("created", created.description)
            writer.endObject()
        }
    }

    /// Reads the JSON that `body` printed; nil for a record that is not an event type.
    init?(_ record: Record) {
        guard let root = try? JSONDocument(record.body).root,
            let mode = root["mode"]?.string.flatMap(Mode.init(rawValue:)),
            let rule = root["compatibility"]?.string.flatMap(CompatibilityRule.init),
            let origin = root["origin"]?.string.flatMap(Origin.init(rawValue:)),
            let latest = root["latest_version"]?.integer
        else { return nil }
        var settings = EventTypeSettings()
        settings.description = root["description"]?.string ?? ""
        settings.owner = root["owner"]?.string ?? ""
        settings.mode = mode
        settings.deprecated = root["deprecated"]?.string
        settings.compatibility = rule
        settings.retention = root["retention_hours"]?.integer.map { .seconds($0 * 3600) }
        self.init(
            name: record.key.id, settings: settings, origin: origin, latestVersion: Int(latest),
            created: root["created"]?.string.flatMap { Timetoken(text: $0) } ?? .zero, updated: record.updated,
            etag: record.etag)
    }

    /// Creates the event type that represents a built-in type in lists.
    init(_ builtIn: BuiltInType) {
        var settings = EventTypeSettings()
        settings.description = builtIn.description
        settings.owner = "parley"
        self.init(
            name: builtIn.name, settings: settings, origin: .builtIn, latestVersion: 1, created: .zero, updated: .zero,
            etag: "built-in")
    }
}
