public import JSON

/// What a channel is, for who may be in it and who hears it.
public enum ChannelKind: String, Sendable, CaseIterable {
    /// Between two users; there is one for each pair.
    case direct
    /// With members, who are invited.
    case group
    /// With members; anyone may join, and anyone may follow it.
    case `public`
    /// Users enter and exit it; there is no membership and nothing unread.
    case open

    public var hasMembers: Bool { self != .open }
    /// Whether only members hear it on their devices.
    public var isPrivate: Bool { self == .direct || self == .group }
}

/// A channel as an app keeps it. Nobody needs one to emit: a channel without a record exists by being used.
public struct ChannelRecord: Sendable, Equatable {
    public var id: String
    public var kind: ChannelKind
    public var name: String?
    public var description: String?
    /// A label for grouping channels.
    public var customType: String?
    public var coverURL: String?
    /// A kind and a state, in the app's own words.
    public var type: String?
    public var status: String?
    /// Whatever the app keeps with the channel.
    public var data: JSONText?
    /// An object of the app's own; numbers keep their digits.
    public var custom: JSONText?
    /// Only operators may write.
    public var isFrozen = false
    /// Users who moderate the channel. At most `Limits.operatorsPerChannel`.
    public var operators: [String] = []
    /// The two of a direct channel, smaller name first; empty for other kinds.
    public var pair: [String] = []
    /// Whether creating a distinct channel of the same users returns this one. Ends when its set of members changes.
    public var isDistinct = false
    /// What a distinct channel's first members are known by; it stays when ``isDistinct`` ends. The store alone keeps it.
    public var distinctKey: String?
    /// The message that is shown first, if one is pinned.
    public var pinned: Timetoken = .zero
    public var createdBy: String?
    public var created: Timetoken = .zero
    public var updated: Timetoken = .zero
    public var etag = ""

    public init(id: String, kind: ChannelKind) {
        self.id = id
        self.kind = kind
    }

    public static func key(_ id: String, in app: AppID) -> RecordKey { RecordKey(.channel, id, in: app) }

    private func printMembers(to writer: inout JSONWriter) {
        writer.member("kind", kind.rawValue)
        writer.nullable("name", name)
        writer.nullable("description", description)
        writer.nullable("custom_type", customType)
        writer.nullable("cover_url", coverURL)
        writer.nullable("type", type)
        writer.nullable("status", status)
        writer.nullable("data", data)
        writer.nullable("custom", custom)
        writer.member("frozen", isFrozen)
        writer.member("operators", operators)
        if kind == .direct { writer.member("pair", pair) }
        writer.member("distinct", isDistinct)
        writer.nullable("pinned_timetoken", pinned)
        writer.nullable("created_by", createdBy)
        writer.member("created_timetoken", created.description)
    }

    public var body: JSONText {
        JSONText { writer in
            writer.beginObject()
            printMembers(to: &writer)
            if let distinctKey { writer.member("distinct_key", distinctKey) }
            writer.endObject()
        }
    }

    /// Reads what the store keeps, or what the REST API shows; nil without a kind we know.
    public init?(id: String, _ value: JSONValue, _ text: JSONText) {
        guard let kind = value.text("kind").flatMap(ChannelKind.init(rawValue:)) else { return nil }
        self.init(id: id, kind: kind)
        name = value.text("name")
        description = value.text("description")
        customType = value.text("custom_type")
        coverURL = value.text("cover_url")
        type = value.text("type")
        status = value.text("status")
        data = text.part("data")
        custom = text.part("custom")
        isFrozen = value.flag("frozen")
        operators = value["operators"]?.strings ?? []
        pair = value["pair"]?.strings ?? []
        isDistinct = value.flag("distinct")
        distinctKey = value.text("distinct_key")
        pinned = value.timetoken("pinned_timetoken")
        createdBy = value.text("created_by")
        created = value.timetoken("created_timetoken")
    }

    /// Nil for a record that is none of ours.
    public init?(_ record: Record) {
        guard let root = try? JSONDocument(record.body).root else { return nil }
        self.init(id: record.key.id, root, record.body)
        updated = record.updated
        etag = record.etag
    }

    /// Prints the members of the channel that events of its counts name it by, into an object that has more.
    public func printReferenceMembers(to writer: inout JSONWriter) {
        writer.member("id", id)
        writer.member("kind", kind.rawValue)
        writer.nullable("name", name)
        writer.nullable("custom_type", customType)
    }

    /// Prints the channel as the REST API and events show it (`$defs/channel` of the catalogue).
    ///
    /// - Parameter counts: Left out for a channel without members.
    public func show(_ counts: MemberCounts, to writer: inout JSONWriter) {
        writer.record(id: id, created: created, etag: etag, updated: updated) { writer in
            printMembers(to: &writer)
            if kind.hasMembers { counts.printMembers(to: &writer) }
        }
    }
}

/// How many members a channel has, exact; kept beside the channel, since it changes more often.
public struct MemberCounts: Sendable, Equatable {
    /// The invited ones too.
    public var all = 0
    public var joined = 0

    public init(all: Int = 0, joined: Int = 0) {
        self.all = all
        self.joined = joined
    }

    /// Prints the counts as the REST API and events name them.
    public func printMembers(to writer: inout JSONWriter) {
        writer.member("member_count", all)
        writer.member("joined_member_count", joined)
    }

    public static func key(_ channel: String, in app: AppID) -> RecordKey {
        RecordKey(.memberCounts, channel, in: app)
    }

    public var body: JSONText {
        JSONText { writer in
            writer.beginObject()
            writer.member("all", all)
            writer.member("joined", joined)
            writer.endObject()
        }
    }

    /// None where there is no record.
    public init(_ record: Record?) {
        guard let record, let root = try? JSONDocument(record.body).root else {
            self.init()
            return
        }
        self.init(all: root.count("all"), joined: root.count("joined"))
    }
}

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
