public import JSON

/// A deleted channel whose memberships and restrictions are still to be removed. Its id is the channel's.
///
/// It commits with the deletion. While it exists, the channel's records that are not newer than it count as removed,
/// also for a new channel of the same name.
public struct CascadeDeletionRecord: Sendable, Equatable {
    /// The name of the deleted channel.
    public var channel: String
    /// The time at which the channel was deleted.
    public var since: Timetoken

    /// The deletion of a channel at a time.
    public init(channel: String, since: Timetoken) {
        self.channel = channel
        self.since = since
    }

    /// The key under which the store keeps the record.
    public static func key(_ channel: String, in app: AppID) -> RecordKey { RecordKey(.sweep, channel, in: app) }

    /// The record in the form that the store keeps.
    public var body: JSONText {
        JSONText { writer in
            writer.beginObject()
            writer.member("since_timetoken", since.description)
            writer.endObject()
        }
    }

    /// Nil for a record of another form.
    public init?(_ record: Record) {
        guard let root = try? JSONDocument(record.body).root else { return nil }
        self.init(channel: record.key.id, since: root.timetoken("since_timetoken"))
    }
}

extension RecordSnapshot {
    /// The user's membership in a channel; nil when the user was only a member of a deleted channel of the same name.
    /// The decision must request the keys of both the membership and the cascade deletion.
    public func membership(of user: String, in channel: String, _ app: AppID) -> MembershipRecord? {
        left(MembershipRecord.key(user, channel, in: app), by: channel).flatMap { MembershipRecord($0) }
    }

    /// The user's restriction in a channel, with the same rules as ``membership(of:in:_:)``.
    public func restriction(of user: String, in channel: String, _ app: AppID) -> RestrictionRecord? {
        left(RestrictionRecord.key(user, channel, in: app), by: channel).flatMap { RestrictionRecord($0) }
    }

    private func left(_ key: RecordKey, by channel: String) -> Record? {
        let sweep = self[CascadeDeletionRecord.key(channel, in: key.app)].flatMap { CascadeDeletionRecord($0) }
        return self[key].flatMap { record in sweep.map { record.updated <= $0.since } ?? false ? nil : record }
    }
}
