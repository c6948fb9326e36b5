public import JSON

/// The kind of a channel. The kind decides which users may be in the channel and which users receive its events.
public enum ChannelKind: String, Sendable, CaseIterable {
    /// A channel of two users. Each pair of users has at most one.
    case direct
    /// A channel with members, who join by invitation.
    case group
    /// A channel with members that anyone may join or follow.
    case `public`
    /// A channel that users enter and exit. It has no memberships and no unread counts.
    case open

    /// True when channels of this kind have memberships.
    public var hasMembers: Bool { self != .open }
    /// True when only members receive the events of a channel of this kind on their devices.
    public var isPrivate: Bool { self == .direct || self == .group }
}

/// The record of a channel. A channel does not need one: events can be emitted on any channel name.
public struct ChannelRecord: Sendable, Equatable {
    /// The channel's name in events and requests, which never changes.
    public var id: String
    /// The kind of the channel.
    public var kind: ChannelKind
    /// The name for display.
    public var name: String?
    public var description: String?
    /// A label for grouping channels.
    public var customType: String?
    /// The address of a picture.
    public var coverURL: String?
    /// A type that the app defines, as free text. The type is not the kind of the channel.
    public var type: String?
    /// A status that the app defines, as free text.
    public var status: String?
    /// The app's own data, any JSON value.
    public var data: JSONText?
    /// The app's own data, a JSON object. Numbers keep their digits.
    public var custom: JSONText?
    /// True when only operators may write.
    public var isFrozen = false
    /// The users who moderate the channel, at most `Limits.operatorsPerChannel`.
    public var operators: [String] = []
    /// The two users of a direct channel in the order of their names; empty for other kinds.
    public var pair: [String] = []
    /// True for a distinct channel: a request to create a distinct channel with the same users returns this channel.
    /// Becomes false when the set of members changes.
    public var isDistinct = false
    /// A key made of the first members' names; nil for a channel that was never distinct. The key does not change when
    /// ``isDistinct`` becomes false. Never shown to clients.
    public var distinctKey: String?
    /// The timetoken of the pinned message; zero when no message is pinned.
    public var pinned: Timetoken = .zero
    /// The user who created the channel; nil when an API key created it and named no user.
    public var createdBy: String?
    /// The time of creation.
    public var created: Timetoken = .zero
    /// The time of the last change.
    public var updated: Timetoken = .zero
    /// The version of the record; changes with every change.
    public var etag = ""

    /// Creates a channel without optional values.
    public init(id: String, kind: ChannelKind) {
        self.id = id
        self.kind = kind
    }

    /// The key of the record of the channel with this id.
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

    /// The JSON body of the stored record.
    public var body: JSONText {
        JSONText { writer in
            writer.beginObject()
            printMembers(to: &writer)
            if let distinctKey { writer.member("distinct_key", distinctKey) }
            writer.endObject()
        }
    }

    /// Reads the JSON object of a channel, as the store or the REST API writes it; nil for an unknown kind.
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

    /// Reads a stored record; nil when the record does not contain a channel.
    public init?(_ record: Record) {
        guard let root = try? JSONDocument(record.body).root else { return nil }
        self.init(id: record.key.id, root, record.body)
        updated = record.updated
        etag = record.etag
    }

    /// Prints the JSON members that identify the channel in events about its counts. The caller has begun the object
    /// and may add further members.
    public func printReferenceMembers(to writer: inout JSONWriter) {
        writer.member("id", id)
        writer.member("kind", kind.rawValue)
        writer.nullable("name", name)
        writer.nullable("custom_type", customType)
    }

    /// Prints the channel as the REST API and events show it (`$defs/channel` of the catalogue).
    ///
    /// - Parameter counts: the numbers of members. The numbers are not printed for a channel without members.
    public func show(_ counts: MemberCounts, to writer: inout JSONWriter) {
        writer.record(id: id, created: created, etag: etag, updated: updated) { writer in
            printMembers(to: &writer)
            if kind.hasMembers { counts.printMembers(to: &writer) }
        }
    }
}

/// The exact numbers of members of a channel. Stored in a separate record, because they change more often than the
/// channel.
public struct MemberCounts: Sendable, Equatable {
    /// The number of all members, including invited ones.
    public var all = 0
    /// The number of members who have joined.
    public var joined = 0

    /// Creates the counts of a channel. By default, both counts are zero.
    public init(all: Int = 0, joined: Int = 0) {
        self.all = all
        self.joined = joined
    }

    /// Prints the counts with the names that they have in the REST API and in events.
    public func printMembers(to writer: inout JSONWriter) {
        writer.member("member_count", all)
        writer.member("joined_member_count", joined)
    }

    /// The key of the record with the member counts of a channel.
    public static func key(_ channel: String, in app: AppID) -> RecordKey {
        RecordKey(.memberCounts, channel, in: app)
    }

    /// The JSON body of the stored record.
    public var body: JSONText {
        JSONText { writer in
            writer.beginObject()
            writer.member("all", all)
            writer.member("joined", joined)
            writer.endObject()
        }
    }

    /// Reads the member counts from a stored record. The counts are zero when `record` is nil or contains no counts.
    public init(_ record: Record?) {
        guard let record, let root = try? JSONDocument(record.body).root else {
            self.init()
            return
        }
        self.init(all: root.count("all"), joined: root.count("joined"))
    }
}

/// The record that assigns one channel to a set of users. Its id is made of the users' names
/// (``ChannelRecord/distinctKey``).
///
/// The record exists exactly while the channel exists and is distinct: the commit that changes the channel also writes
/// or removes this record. Concurrent requests therefore never create two distinct channels for one set of users.
public struct DistinctChannelRecord: Sendable, Equatable {
    /// The id of the channel.
    public var channel: String

    /// Creates a record that assigns the channel with this id to a set of users.
    public init(channel: String) { self.channel = channel }

    /// The key of the record for a set of users. `distinctKey` is made of the users' names
    /// (``ChannelRecord/distinctKey``).
    public static func key(_ distinctKey: String, in app: AppID) -> RecordKey {
        RecordKey(.distinctChannel, distinctKey, in: app)
    }

    /// The JSON body of the stored record.
    public var body: JSONText {
        JSONText { writer in
            writer.beginObject()
            writer.member("channel", channel)
            writer.endObject()
        }
    }

    /// Reads a stored record; nil when the record contains no channel id.
    public init?(_ record: Record) {
        guard let channel = try? JSONDocument(record.body).root.text("channel") else { return nil }
        self.init(channel: channel)
    }
}
