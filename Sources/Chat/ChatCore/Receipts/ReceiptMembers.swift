import ChatModel

/// Counts the members of a channel whose marks are before the mark of a receipt.
///
/// The members are read before the decision that moves the mark. In the decision, only the members whose marks were
/// before the new mark are read again; this is sufficient, because marks only move forward. If members joined or left
/// meanwhile, the decision fails with `.conflict`, and the caller repeats it.
struct ReceiptMembers: Sendable {
    /// The maximum number of members of a channel, invited users included, for which `behind` counts members.
    static let most = 100
    /// The number of attempts of a decision in which members are counted. In a later attempt, members are not counted,
    /// so that the attempt cannot fail because members join or leave.
    static let attempts = 3

    private let channel: ChannelID
    /// The number of joined members; nil when members are not counted.
    private let joined: Int?
    private let lagging: [MembershipRecord]

    /// The keys of the records that a decision reads to count the members and to print the channel.
    var keys: [RecordKey] {
        let (name, app) = (channel.name, channel.app)
        return [
            CascadeDeletionRecord.key(name, in: app), ChannelRecord.key(name, in: app), MemberCounts.key(name, in: app),
        ] + lagging.map { MembershipRecord.key($0.user, name, in: app) }
    }

    /// Reads the members of a channel whose marks are before a mark.
    ///
    /// - Parameter attempt: the number of the attempt, from 0. From ``attempts`` on, members are not counted.
    init(
        _ kind: ReceiptKind, _ mark: Timetoken, in channel: ChannelID, _ chat: ChatAccess, attempt: Int
    ) async throws(ChatError) {
        self.channel = channel
        let counts = MemberCounts(try await chat.directory.read(MemberCounts.key(channel.name, in: channel.app)))
        guard attempt < Self.attempts, counts.all <= Self.most else {
            joined = nil
            lagging = []
            return
        }
        var query = RecordQuery(.membership, in: channel.app, limit: Self.most)
        query.parent = channel.name
        let members = try await chat.directory.list(query).items.compactMap { MembershipRecord($0) }.filter {
            $0.state == .joined && !chat.service.pendingDeletions.hide($0, in: channel.app)
        }
        joined = members.count
        lagging = members.filter { kind.mark(of: $0) < mark }
    }

    /// Returns the number of other members whose marks are before a moved mark; nil when members are not counted.
    ///
    /// - Parameter own: the key of the membership whose mark moved.
    /// - Throws: `.conflict` when members joined or left after they were read.
    func behind(
        _ kind: ReceiptKind, _ mark: Timetoken, besides own: RecordKey, _ snapshot: RecordSnapshot
    ) throws(ChatError) -> Int? {
        guard let joined else { return nil }
        let (name, app) = (channel.name, channel.app)
        guard MemberCounts(snapshot[MemberCounts.key(name, in: app)]).joined == joined else {
            throw ChatError(.conflict, "the members changed during the request; send the request again")
        }
        return lagging.count { member in
            guard MembershipRecord.key(member.user, name, in: app) != own,
                let membership = snapshot.membership(of: member.user, in: name, app)
            else { return false }
            return membership.state == .joined && kind.mark(of: membership) < mark
        }
    }
}
