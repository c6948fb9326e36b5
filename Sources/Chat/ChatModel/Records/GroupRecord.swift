public import JSON

/// A channel group: channels under one name that are followed together.
public struct GroupRecord: Sendable, Equatable {
    /// The group's name in requests.
    public var id: String
    /// The channels in the order they were added, without duplicates. At most `Limits.groupChannels`.
    public var channels: [String]
    /// The time of creation.
    public var created: Timetoken = .zero
    /// The time of the last change.
    public var updated: Timetoken = .zero
    /// The version of the record; changes with every change.
    public var etag = ""

    /// A group with its channels.
    public init(id: String, channels: [String]) {
        self.id = id
        self.channels = channels
    }

    /// The key under which the store keeps the record.
    public static func key(_ id: String, in app: AppID) -> RecordKey { RecordKey(.group, id, in: app) }

    /// Prints the members that the store keeps.
    public func printMembers(to writer: inout JSONWriter) { writer.member("channels", channels) }

    /// The record in the form that the store keeps.
    public var body: JSONText {
        JSONText { writer in
            writer.beginObject()
            printMembers(to: &writer)
            writer.member("created_timetoken", created.description)
            writer.endObject()
        }
    }

    /// Nil for a record of another form.
    public init?(_ record: Record) {
        guard let root = (try? JSONDocument(record.body))?.root, let channels = root["channels"]?.strings else {
            return nil
        }
        self.init(id: record.key.id, channels: channels)
        created = root.timetoken("created_timetoken")
        updated = record.updated
        etag = record.etag
    }
}
