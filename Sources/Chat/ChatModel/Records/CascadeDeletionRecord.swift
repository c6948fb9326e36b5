public import JSON

/// That a channel was deleted, and what its members and restrictions left is still to be removed. Its id is the channel's.
///
/// It commits with the deletion. Until it goes, records of the channel that are no younger than it count as removed, also
/// for a new channel of the same name.
public struct CascadeDeletionRecord: Sendable, Equatable {
    public var channel: String
    /// When the channel was deleted.
    public var since: Timetoken

    public init(channel: String, since: Timetoken) {
        self.channel = channel
        self.since = since
    }

    public static func key(_ channel: String, in app: AppID) -> RecordKey { RecordKey(.sweep, channel, in: app) }

    public var body: JSONText {
        JSONText { writer in
            writer.beginObject()
            writer.member("since_timetoken", since.description)
            writer.endObject()
        }
    }

    /// Nil for a record that is none of ours.
    public init?(_ record: Record) {
        guard let root = try? JSONDocument(record.body).root else { return nil }
        self.init(channel: record.key.id, since: root.timetoken("since_timetoken"))
    }
}

extension RecordSnapshot {
    /// The user as a member of a channel; nil too where only a former channel of that name had such a member. A decision
    /// that asks must have the keys of both, the membership and the sweep.
    public func membership(of user: String, in channel: String, _ app: AppID) -> MembershipRecord? {
        left(MembershipRecord.key(user, channel, in: app), by: channel).flatMap { MembershipRecord($0) }
    }

    /// What is upon the user in a channel, likewise.
    public func restriction(of user: String, in channel: String, _ app: AppID) -> RestrictionRecord? {
        left(RestrictionRecord.key(user, channel, in: app), by: channel).flatMap { RestrictionRecord($0) }
    }

    private func left(_ key: RecordKey, by channel: String) -> Record? {
        let sweep = self[CascadeDeletionRecord.key(channel, in: key.app)].flatMap { CascadeDeletionRecord($0) }
        return self[key].flatMap { record in sweep.map { record.updated <= $0.since } ?? false ? nil : record }
    }
}
