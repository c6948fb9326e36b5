public import JSON

/// The record of a ban or a mute of a user in a channel. Its id is `user/channel` and its parent is the channel.
///
/// A restriction has no effect after `until`, even while its record still exists.
public struct RestrictionRecord: Sendable, Equatable {
    /// The restricted user.
    public var user: String
    /// The channel that the restriction applies to.
    public var channel: String
    /// True when the user may neither write nor receive events.
    public var isBanned: Bool
    /// True when the user may not write.
    public var isMuted: Bool
    /// The moderator's reason, as free text.
    public var reason: String?
    /// The user who made the restriction; nil when an API key made it and named no user.
    public var moderator: String?
    /// The time at which the restriction began.
    public var since: Timetoken = .zero
    /// The end of the restriction; nil for a restriction without an end.
    public var until: Timetoken?
    /// The time of the last change.
    public var updated: Timetoken = .zero
    /// The version of the record; changes with every change.
    public var etag = ""

    /// Creates a restriction without a reason and without an end.
    public init(user: String, channel: String, isBanned: Bool, isMuted: Bool) {
        self.user = user
        self.channel = channel
        self.isBanned = isBanned
        self.isMuted = isMuted
    }

    /// The id of the record, `user/channel`.
    var id: String { RecordKey.id([user, channel]) }

    /// The key of the record of a user's restriction in a channel.
    public static func key(_ user: String, _ channel: String, in app: AppID) -> RecordKey {
        RecordKey(.restriction, parts: [user, channel], in: app)
    }

    /// True when the restriction has ended at the time `now`.
    public func isOver(at now: Timetoken) -> Bool { until.map { $0 <= now } ?? false }

    private func printMembers(to writer: inout JSONWriter) {
        writer.member("user", user)
        writer.member("channel", channel)
        writer.member("ban", isBanned)
        writer.member("mute", isMuted)
        writer.nullable("reason", reason)
        writer.nullable("moderator", moderator)
        writer.member("since_timetoken", since.description)
        writer.nullable("until_timetoken", until ?? .zero)
    }

    /// Prints the restriction as the REST API and events show it (`$defs/restriction` of the catalogue).
    public func show(to writer: inout JSONWriter) {
        writer.record(id: id, created: since, etag: etag, updated: updated) { writer in
            printMembers(to: &writer)
            writer.nullable("until", until?.timestamp)
        }
    }

    /// The JSON body of the stored record.
    public var body: JSONText {
        JSONText { writer in
            writer.beginObject()
            printMembers(to: &writer)
            writer.endObject()
        }
    }

    /// Reads the JSON object of a restriction, as the store or the REST API writes it; nil when the object does not
    /// contain a restriction.
    public init?(_ value: JSONValue) {
        guard let user = value.text("user"), let channel = value.text("channel") else { return nil }
        self.init(user: user, channel: channel, isBanned: value.flag("ban"), isMuted: value.flag("mute"))
        reason = value.text("reason")
        moderator = value.text("moderator")
        since = value.timetoken("since_timetoken")
        let end = value.timetoken("until_timetoken")
        until = end == .zero ? nil : end
    }

    /// Reads a stored record; nil when the record does not contain a restriction.
    public init?(_ record: Record) {
        guard let root = try? JSONDocument(record.body).root else { return nil }
        self.init(root)
        updated = record.updated
        etag = record.etag
    }
}
