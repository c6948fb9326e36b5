import ChatModel
import JSON

/// A change of a channel's members that is being prepared in a decision. A decision is a step that reads and changes
/// records in one commit.
///
/// The change reads the decision's snapshot. It collects records and events in this order: memberships, member counts,
/// the channel's own record. Bans and deletions also use this type, so that the counts are always exact.
struct MemberChange {
    let chat: ChatAccess
    let snapshot: RecordSnapshot
    let actor: Actor
    /// The channel's record, including the changes made so far.
    private(set) var channel: ChannelRecord
    private(set) var counts: MemberCounts
    private(set) var events: [EventDraft] = []
    private let channelBefore: ChannelRecord?
    private let countsBefore: MemberCounts
    private var memberships: [ExactText: MembershipRecord?] = [:]
    /// The users whose memberships changed, in the order of the changes. The dictionary `memberships` has no order.
    private var changed: [String] = []

    /// Returns the keys of all records that a change of the memberships of `users` reads.
    static func keys(of channel: String, users: [String], by actor: Actor, in app: AppID) -> [RecordKey] {
        var keys = [
            ChannelRecord.key(channel, in: app), MemberCounts.key(channel, in: app),
            CascadeDeletionRecord.key(channel, in: app),
        ]
        for user in users {
            keys.append(UserRecord.key(user, in: app))
            keys.append(MembershipRecord.key(user, channel, in: app))
            keys.append(RestrictionRecord.key(user, channel, in: app))
        }
        if let user = actor.user {
            keys.append(UserRecord.key(user, in: app))
            keys.append(MembershipRecord.key(user, channel, in: app))
        }
        return keys
    }

    /// Creates a change of the members of an existing channel.
    ///
    /// - Throws: `.notFound` for a channel without a record.
    init(of name: String, _ snapshot: RecordSnapshot, by actor: Actor, in chat: ChatAccess) throws(ChatError) {
        let channel = try chat.existing(name, in: snapshot)
        self.init(chat, snapshot, actor, channel: channel, before: channel)
        counts = countsBefore
    }

    /// Creates a change that adds the first members of a new channel.
    init(making channel: ChannelRecord, _ snapshot: RecordSnapshot, by actor: Actor, in chat: ChatAccess) {
        self.init(chat, snapshot, actor, channel: channel, before: nil)
    }

    private init(
        _ chat: ChatAccess, _ snapshot: RecordSnapshot, _ actor: Actor, channel: ChannelRecord, before: ChannelRecord?
    ) {
        self.chat = chat
        self.snapshot = snapshot
        self.actor = actor
        self.channel = channel
        channelBefore = before
        countsBefore = MemberCounts(before.flatMap { snapshot[MemberCounts.key($0.id, in: chat.app)] })
        counts = MemberCounts()
    }

    // MARK: Reading

    /// Returns the membership of a user, including the changes made so far; nil when the user is not a member.
    func membership(of user: String) -> MembershipRecord? {
        if let changed = memberships[ExactText(user)] { return changed }
        // A channel that is being created has no stored members.
        guard channelBefore != nil else { return nil }
        return snapshot.membership(of: user, in: channel.id, chat.app)
    }

    /// Returns the user's record. If there is none, returns a record with only the id.
    func user(_ id: String) -> UserRecord {
        snapshot[UserRecord.key(id, in: chat.app)].flatMap(UserRecord.init) ?? UserRecord(id: id)
    }

    /// Prints the JSON member `channel` with the channel's record, including the changes made so far.
    func printChannel(to writer: inout JSONWriter) {
        writer.key("channel")
        (channel == channelBefore ? channel : channel.stamped(in: snapshot)).show(counts, to: &writer)
    }

    /// The memberships of the changed users, without the users who are no longer members.
    var members: [MembershipRecord] { changed.compactMap { membership(of: $0) } }

    func isOperator(_ user: String) -> Bool { channel.isOperator(user) }

    /// Requires that the user is not banned.
    ///
    /// - Throws: `.forbidden` with the slug `banned` for a banned user.
    func refuseBanned(_ user: String) throws(ChatError) {
        guard snapshot.rights(of: user, in: channel.id, chat.app).access(at: snapshot.now).contains(.banned) else {
            return
        }
        throw ChatError(
            .forbidden, "user '\(user)' is banned from channel '\(channel.id)'; lift the ban first", slug: "banned")
    }

    // MARK: Writing

    /// Stores a membership in the change, and updates the member counts and the operators.
    mutating func put(_ membership: MembershipRecord) {
        let before = self.membership(of: membership.user)
        if before == nil { endDistinct() }
        count(before, -1)
        count(membership, 1)
        setOperator(membership.user, membership.role == .operator)
        store(membership, of: membership.user)
    }

    /// Removes a membership, and the user from the operators.
    mutating func remove(_ user: String) {
        guard let membership = membership(of: user) else { return }
        count(membership, -1)
        setOperator(user, false)
        store(nil, of: user)
        endDistinct()
    }

    /// Makes the channel no longer distinct, because this change alters its members. A request to create a distinct
    /// channel with the same first members then no longer returns this channel. Does nothing for a new channel.
    private mutating func endDistinct() {
        if channelBefore != nil { channel.isDistinct = false }
    }

    mutating func add(_ event: EventDraft) { events.append(event) }

    private mutating func store(_ membership: MembershipRecord?, of user: String) {
        if memberships.updateValue(membership, forKey: ExactText(user)) == nil { changed.append(user) }
    }

    mutating func setOperator(_ user: String, _ isOne: Bool) {
        guard isOperator(user) != isOne else { return }
        if isOne {
            channel.operators.append(user)
        } else {
            channel.operators.removeAll { ExactText($0) == ExactText(user) }
        }
    }

    private mutating func count(_ membership: MembershipRecord?, _ step: Int) {
        guard let membership else { return }
        counts.all += step
        if membership.state == .joined { counts.joined += step }
    }

    /// Returns the decision with all collected records and events; empty when nothing changed.
    func decision<Value>(_ value: Value) -> Decision<Value> {
        var changes = changed.map { user in
            RecordChange(
                MembershipRecord.key(user, channel.id, in: chat.app), body: membership(of: user)?.body,
                parent: channel.id)
        }
        var events = events
        if counts != countsBefore {
            changes.append(RecordChange(MemberCounts.key(channel.id, in: chat.app), body: counts.body))
            events.append(countsChanged)
        }
        guard let before = channelBefore, before.body != channel.body else {
            return Decision(value, changes: changes, events: events)
        }
        changes.append(RecordChange(ChannelRecord.key(channel.id, in: chat.app), body: channel.body))
        changes += before.endingDistinct(before: channel, in: chat.app)
        events.append(chat.channelUpdated(from: before, to: channel, counts, by: actor.user, snapshot))
        return Decision(value, changes: changes, events: events)
    }
}
