public import JSON

/// The record of a deleted channel whose memberships and restrictions are still to be removed. Its id is the channel's
/// id.
///
/// The record is stored in the commit that deletes the channel. While it exists, memberships and restrictions that are
/// not newer than the deletion count as removed. They count as removed even when a new channel has the same name.
public struct CascadeDeletionRecord: Sendable, Equatable {
    /// The name of the deleted channel.
    public var channel: String
    /// The time at which the channel was deleted.
    public var since: Timetoken

    /// Creates the record of a channel's deletion at a time.
    public init(channel: String, since: Timetoken) {
        self.channel = channel
        self.since = since
    }

    /// The key of the record that stores the deletion of a channel.
    public static func key(_ channel: String, in app: AppID) -> RecordKey { RecordKey(.sweep, channel, in: app) }

    /// The JSON body of the stored record.
    public var body: JSONText {
        JSONText { writer in
            writer.beginObject()
            writer.member("since_timetoken", since.description)
            writer.endObject()
        }
    }

    /// Reads a stored record; nil when the record does not contain the deletion of a channel.
    public init?(_ record: Record) {
        guard let root = try? JSONDocument(record.body).root else { return nil }
        self.init(channel: record.key.id, since: root.timetoken("since_timetoken"))
    }
}

extension RecordSnapshot {
    /// The user's membership in a channel. Nil when the user has no membership, or when the membership was in a deleted
    /// channel of the same name. The decision (`Directory.decide`) must request the keys of the membership and of the
    /// channel's ``CascadeDeletionRecord``.
    public func membership(of user: String, in channel: String, _ app: AppID) -> MembershipRecord? {
        left(MembershipRecord.key(user, channel, in: app), by: channel).flatMap { MembershipRecord($0) }
    }

    /// The user's restriction in a channel. Nil when the user has no restriction, or when the restriction was in a
    /// deleted channel of the same name. The decision (`Directory.decide`) must request the keys of the restriction and
    /// of the channel's ``CascadeDeletionRecord``.
    public func restriction(of user: String, in channel: String, _ app: AppID) -> RestrictionRecord? {
        left(RestrictionRecord.key(user, channel, in: app), by: channel).flatMap { RestrictionRecord($0) }
    }

    private func left(_ key: RecordKey, by channel: String) -> Record? {
        let sweep = self[CascadeDeletionRecord.key(channel, in: key.app)].flatMap { CascadeDeletionRecord($0) }
        return self[key].flatMap { record in sweep.map { record.updated <= $0.since } ?? false ? nil : record }
    }
}
