public import JSON

/// The distinct channel of a set of users. Its id is made of the users' names (``ChannelRecord/distinctKey``).
///
/// There is one exactly while that channel has a record and is distinct: it is written and removed in the commit that makes
/// the channel so, or ends it. So there is one distinct channel for each set, however many are created at once.
public struct DistinctChannelRecord: Sendable, Equatable {
    /// The id of the channel.
    public var channel: String

    public init(channel: String) { self.channel = channel }

    public static func key(_ distinctKey: String, in app: AppID) -> RecordKey {
        RecordKey(.distinctChannel, distinctKey, in: app)
    }

    public var body: JSONText {
        JSONText { writer in
            writer.beginObject()
            writer.member("channel", channel)
            writer.endObject()
        }
    }

    /// Nil for a record that is none of ours.
    public init?(_ record: Record) {
        guard let channel = try? JSONDocument(record.body).root.text("channel") else { return nil }
        self.init(channel: channel)
    }
}
