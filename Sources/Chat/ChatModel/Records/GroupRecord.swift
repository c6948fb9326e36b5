public import JSON

/// The record of a channel group: channels that clients follow together under one name.
public struct GroupRecord: Sendable, Equatable {
    /// The group's name in requests.
    public var id: String
    /// The names of the channels in the order in which they were added, without duplicates. At most
    /// `Limits.groupChannels`.
    public var channels: [String]
    /// The time of creation.
    public var created: Timetoken = .zero
    /// The time of the last change.
    public var updated: Timetoken = .zero
    /// The version of the record; changes with every change.
    public var etag = ""

    /// Creates a group with channels.
    public init(id: String, channels: [String]) {
        self.id = id
        self.channels = channels
    }

    /// The key of the record of the channel group with this id.
    public static func key(_ id: String, in app: AppID) -> RecordKey { RecordKey(.group, id, in: app) }

    /// Prints the JSON members that the stored body and the form of the REST API have in common.
    public func printMembers(to writer: inout JSONWriter) { writer.member("channels", channels) }

    /// The JSON body of the stored record.
    public var body: JSONText {
        JSONText { writer in
            writer.beginObject()
            printMembers(to: &writer)
            writer.member("created_timetoken", created.description)
            writer.endObject()
        }
    }

    /// Reads a stored record; nil when the record does not contain a channel group.
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
