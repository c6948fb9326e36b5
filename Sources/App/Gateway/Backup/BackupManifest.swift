import ChatModel
public import JSON
import SQLiteEngine

/// The description of a backup, stored in `manifest.json`.
public struct BackupManifest: Sendable, Equatable {
    /// A file of the backup.
    public struct File: Sendable, Equatable {
        /// The name of the file in the backup's directory.
        public var name: String
        /// The size of the file in bytes.
        public var bytes: Int
        /// The SHA-256 digest of the file, in hexadecimal.
        public var sha256: String
    }

    static let fileName = "manifest.json"
    /// The version of the manifest's format.
    private static let format = 1

    /// The time at which the backup was created (RFC 3339).
    public var created: String
    /// The version of the program that made the backup.
    var productVersion: String
    /// The version of the database schema. ``SQLiteEngine`` migrates a database with an older schema when it opens the
    /// database.
    var schemaVersion: Int
    /// The number of stored events.
    public var events: Int
    /// The number of records.
    public var records: Int
    /// The number of deliveries in all states.
    public var deliveries: Int
    /// The timetoken of the newest event; `"0"` when there are no events.
    var lastTimetoken: String
    /// The files of the backup, without the manifest.
    public var files: [File]

    init(_ store: StoreSummary, created: String, productVersion: String, files: [File]) {
        self.created = created
        self.productVersion = productVersion
        schemaVersion = store.schemaVersion
        events = store.events
        records = store.records
        deliveries = store.deliveries
        lastTimetoken = store.newest.description
        self.files = files
    }

    /// Returns true when the manifest has the counts and the schema version of this store.
    func describes(_ store: StoreSummary) -> Bool {
        schemaVersion == store.schemaVersion && events == store.events && records == store.records
            && deliveries == store.deliveries && lastTimetoken == store.newest.description
    }
}

extension BackupManifest {
    /// The text of `manifest.json`.
    public var json: JSONText {
        JSONText { writer in
            writer.beginObject()
            writer.member("format", Self.format)
            writer.member("created", created)
            writer.member("product_version", productVersion)
            writer.member("schema_version", schemaVersion)
            writer.member("events", events)
            writer.member("records", records)
            writer.member("deliveries", deliveries)
            writer.member("last_timetoken", lastTimetoken)
            writer.key("files")
            writer.beginArray()
            for file in files {
                writer.beginObject()
                writer.member("name", file.name)
                writer.member("bytes", file.bytes)
                writer.member("sha256", file.sha256)
                writer.endObject()
            }
            writer.endArray()
            writer.endObject()
        }
    }

    /// Parses a manifest.
    ///
    /// - Throws: a failure when the text is not a manifest, or when a newer version of the program has written it.
    init(_ bytes: [UInt8]) throws(BackupFailure) {
        let root: JSONValue
        do { root = try JSONDocument(bytes).root } catch { throw Self.unreadable("\(error)") }
        guard let format = root["format"]?.integer else { throw Self.unreadable("the member 'format' is missing") }
        guard format == Self.format else {
            throw BackupFailure(
                "the backup has format \(format), but this version of Parley supports \(Self.format): use a newer version"
            )
        }
        guard let created = root["created"]?.string, let productVersion = root["product_version"]?.string,
            let schemaVersion = root["schema_version"]?.integer, let events = root["events"]?.integer,
            let records = root["records"]?.integer, let deliveries = root["deliveries"]?.integer,
            let lastTimetoken = root["last_timetoken"]?.string, let files = root["files"]?.elements
        else { throw Self.unreadable("required members are missing") }
        self.created = created
        self.productVersion = productVersion
        self.schemaVersion = Int(schemaVersion)
        self.events = Int(events)
        self.records = Int(records)
        self.deliveries = Int(deliveries)
        self.lastTimetoken = lastTimetoken
        self.files = []
        for file in files { self.files.append(try Self.file(file)) }
    }

    private static func file(_ value: JSONValue) throws(BackupFailure) -> File {
        guard let name = value["name"]?.string, let bytes = value["bytes"]?.integer,
            let sha256 = value["sha256"]?.string
        else { throw unreadable("a file lacks name, bytes or sha256") }
        // A name with a path would make a restore write to another directory.
        guard name == DataDirectory.databaseName else { throw unreadable("'\(name)' is not a file of a backup") }
        return File(name: name, bytes: Int(bytes), sha256: sha256)
    }

    private static func unreadable(_ reason: String) -> BackupFailure {
        BackupFailure("\(fileName) cannot be used: \(reason)")
    }
}

/// The reason why a backup or restore failed, as a text for the user.
public struct BackupFailure: Error, CustomStringConvertible, Sendable {
    public let description: String

    init(_ description: String) { self.description = description }
}
