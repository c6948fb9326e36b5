public import JSON

/// The kind of a channel. It decides who may be in the channel and who receives its events.
public enum ChannelKind: String, Sendable, CaseIterable {
    /// A channel of two users. Each pair of users has at most one.
    case direct
    /// A channel with members, who join by invitation.
    case group
    /// A channel with members that anyone may join or follow.
    case `public`
    /// A channel that users enter and exit. It has no memberships and no unread counts.
    case open

    /// True when the channel has memberships.
    public var hasMembers: Bool { self != .open }
    /// True when only members receive its events on their devices.
    public var isPrivate: Bool { self == .direct || self == .group }
}

/// A channel's record in an app. Emitting does not require one: a channel without a record exists while it is used.
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
    /// A type, as free text of the app.
    public var type: String?
    /// A state, as free text of the app.
    public var status: String?
    /// Data of the app.
    public var data: JSONText?
    /// An object of the app; numbers keep their digits.
    public var custom: JSONText?
    /// True when only operators may write.
    public var isFrozen = false
    /// The users who moderate the channel, at most `Limits.operatorsPerChannel`.
    public var operators: [String] = []
    /// The two users of a direct channel, smaller name first; empty for other kinds.
    public var pair: [String] = []
    /// True when creating a distinct channel of the same users returns this one. Becomes false when the set of members
    /// changes.
    public var isDistinct = false
    /// A key made of a distinct channel's first members. It stays when ``isDistinct`` becomes false. Never shown to
    /// clients.
    public var distinctKey: String?
    /// The pinned message; zero when none is pinned.
    public var pinned: Timetoken = .zero
    /// The user who created the channel; nil when no user did.
    public var createdBy: String?
    /// The time of creation.
    public var created: Timetoken = .zero
    /// The time of the last change.
    public var updated: Timetoken = .zero
    /// The version of the record; changes with every change.
    public var etag = ""

    /// A new record without further values.
    public init(id: String, kind: ChannelKind) {
        self.id = id
        self.kind = kind
    }

    /// The key under which the store keeps the record.
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

    /// The record in the form that the store keeps.
    public var body: JSONText {
        JSONText { writer in
            writer.beginObject()
            printMembers(to: &writer)
            if let distinctKey { writer.member("distinct_key", distinctKey) }
            writer.endObject()
        }
    }

    /// Reads the form that the store or the REST API has; nil for an unknown kind.
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

    /// Nil for a record of another form.
    public init?(_ record: Record) {
        guard let root = try? JSONDocument(record.body).root else { return nil }
        self.init(id: record.key.id, root, record.body)
        updated = record.updated
        etag = record.etag
    }

    /// Prints the members that identify the channel in events of its counts, into an object with further members.
    public func printReferenceMembers(to writer: inout JSONWriter) {
        writer.member("id", id)
        writer.member("kind", kind.rawValue)
        writer.nullable("name", name)
        writer.nullable("custom_type", customType)
    }

    /// Prints the channel as the REST API and events show it (`$defs/channel` of the catalogue).
    ///
    /// - Parameter counts: left out for a channel without members.
    public func show(_ counts: MemberCounts, to writer: inout JSONWriter) {
        writer.record(id: id, created: created, etag: etag, updated: updated) { writer in
            printMembers(to: &writer)
            if kind.hasMembers { counts.printMembers(to: &writer) }
        }
    }
}

/// The exact number of members of a channel. Stored beside the channel, because it changes more often.
public struct MemberCounts: Sendable, Equatable {
    /// All members, including invited ones.
    public var all = 0
    /// The members who have joined.
    public var joined = 0

    /// The counts of a channel; zero for one without members.
    public init(all: Int = 0, joined: Int = 0) {
        self.all = all
        self.joined = joined
    }

    /// Prints the counts with their names in the REST API and in events.
    public func printMembers(to writer: inout JSONWriter) {
        writer.member("member_count", all)
        writer.member("joined_member_count", joined)
    }

    /// The key under which the store keeps the record.
    public static func key(_ channel: String, in app: AppID) -> RecordKey {
        RecordKey(.memberCounts, channel, in: app)
    }

    /// The record in the form that the store keeps.
    public var body: JSONText {
        JSONText { writer in
            writer.beginObject()
            writer.member("all", all)
            writer.member("joined", joined)
            writer.endObject()
        }
    }

    /// Reads a record; the counts are zero without one.
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
/// It exists exactly while the channel has a record and is distinct: the commit that makes the channel distinct writes
/// it, and the commit that ends this removes it. Each set of users therefore has one distinct channel, however many are
/// created concurrently.
public struct DistinctChannelRecord: Sendable, Equatable {
    /// The id of the channel.
    public var channel: String

    /// A record that names the channel of a set of users.
    public init(channel: String) { self.channel = channel }

    /// The key under which the store keeps the record.
    public static func key(_ distinctKey: String, in app: AppID) -> RecordKey {
        RecordKey(.distinctChannel, distinctKey, in: app)
    }

    /// The record in the form that the store keeps.
    public var body: JSONText {
        JSONText { writer in
            writer.beginObject()
            writer.member("channel", channel)
            writer.endObject()
        }
    }

    /// Nil for a record of another form.
    public init?(_ record: Record) {
        guard let channel = try? JSONDocument(record.body).root.text("channel") else { return nil }
        self.init(channel: channel)
    }
}
