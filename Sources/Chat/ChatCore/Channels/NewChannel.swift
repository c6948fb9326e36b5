public import ChatModel
import JSON
import Signing

/// A request to create a channel.
public struct NewChannel: Sendable {
    /// The kind of the channel. The kind can change later only between `group` and `public`.
    public var kind: ChannelKind
    /// The id of the channel; nil to generate one. The id must be nil for a direct channel, because the id of a direct
    /// channel is derived from the names of its two users.
    public var id: String?
    /// The fields of the record.
    public var edit = ChannelEdit()
    /// The first members besides the creator. For a direct channel: both users, or only the user other than the
    /// creator.
    public var users: [String] = []
    /// True to return the distinct channel of the creator and `users`, regardless of their order. If there is no such
    /// channel, it is created. Only for the kind `group`.
    public var isDistinct = false

    /// Creates a request for a channel without fields and members.
    public init(kind: ChannelKind, id: String? = nil) {
        self.kind = kind
        self.id = id
    }
}

extension ChannelRecord {
    /// Creates the record of the direct channel of two users. The order of the users does not matter.
    static func direct(between pair: [String]) -> ChannelRecord {
        let pair = pair.sorted { ExactText($0) < ExactText($1) }
        var channel = ChannelRecord(id: "direct." + key(of: pair), kind: .direct)
        channel.pair = pair
        return channel
    }
}

extension ChatAccess {
    /// Creates a channel with its first members.
    ///
    /// The creator joins the channel as its operator, and the other users are invited. If an app creates the channel
    /// for no user, all users join immediately. A direct or distinct channel that already exists is returned unchanged.
    ///
    /// - Throws: `.malformed` for a bad name, field or list of users; `.conflict` with `current` when another channel
    ///   has the id; `.forbidden` with the slug `name_in_use` when only an app may create the record for this name.
    public func make(_ new: NewChannel, by named: String? = nil) async throws(ChatError) -> Written<ChannelView> {
        try new.edit.check(limits)
        let actor = try actor(named)
        var channel = try blank(new, by: actor)
        new.edit.apply(to: &channel)
        let users = try firstMembers(new, of: channel, by: actor)
        if new.isDistinct { return try await make(distinct: channel, users, by: actor) }
        return try await make(channel, users, by: actor)
    }

    /// Creates the record of a channel with this name, or replaces the app's own fields of the existing record. The
    /// creator joins the channel as its operator. Replacing requires an operator.
    ///
    /// - Parameter kind: the kind of the channel. An existing channel can change only between `group` and `public`.
    /// - Throws: `.conflict` with the slug `kind_fixed` for a kind to which the channel cannot change; `.malformed` for
    ///   a bad name or field; `.forbidden` when the caller may not change the channel; the errors of
    ///   `RecordChange.Precondition.check`.
    public func put(
        channel name: String, kind: ChannelKind, _ edit: ChannelEdit, precondition: RecordChange.Precondition = .none,
        by named: String? = nil
    ) async throws(ChatError) -> Written<ChannelView> {
        try edit.check(limits)
        try requireRecord(of: name)
        let actor = try actor(named)
        let key = ChannelRecord.key(name, in: app)
        let record = try await directory.read(key)
        if record == nil, case .none = precondition {
            var new = NewChannel(kind: kind, id: name)
            new.edit = edit
            do throws(ChatError) {
                return try await make(new, by: named)
            } catch {
                // Another caller created the record first. It is replaced like any existing record.
                guard error.code == .conflict, error.current?.key == key else { throw error }
            }
        } else if case .absent = precondition {
            var new = NewChannel(kind: kind, id: name)
            new.edit = edit
            return try await make(new, by: named)
        } else {
            try precondition.check(record?.etag)
        }
        let view = try await change(channel: name, precondition: precondition, by: actor) { channel throws(ChatError) in
            try channel.set(kind)
            edit.replace(in: &channel)
        }
        return Written(record: view, isNew: false)
    }

    private func make(
        _ channel: ChannelRecord, _ users: [String], by actor: Actor
    ) async throws(ChatError) -> Written<ChannelView> {
        try requireRecord(of: channel.id)
        try await requireUnused(channel, by: actor)
        let members = (actor.user.map { [$0] } ?? []) + users
        let key = ChannelRecord.key(channel.id, in: app)
        let keys = MemberChange.keys(of: channel.id, users: members, by: actor, in: app)
        let decided = try await decide(keys) { snapshot throws(ChatError) in
            if let record = snapshot[key], let present = ChannelRecord(record) {
                guard channel.kind == .direct, present.kind == .direct else { throw .channelExists(record) }
                let counts = MemberCounts(snapshot[MemberCounts.key(channel.id, in: app)])
                return Decision(Written(record: ChannelView(channel: present, counts: counts), isNew: false))
            }
            return try first(channel, users, snapshot, by: actor)
        }
        guard decided.value.isNew, let record = decided.record(key), let made = ChannelRecord(record) else {
            return decided.value
        }
        return Written(record: ChannelView(channel: made, counts: decided.value.record.counts), isNew: true)
    }

    /// Checks that the actor may create the record of a channel with this name. The creator of a record becomes the
    /// channel's operator, and can exclude all other users. So three kinds of names require a credential with the scope
    /// `manage`: the name of a channel with stored events, the name of another user, and the name of a channel of
    /// message reports.
    ///
    /// - Throws: `.forbidden` with the slug `name_in_use`.
    func requireUnused(_ channel: ChannelRecord, by actor: Actor) async throws(ChatError) {
        guard !actor.isManager, channel.kind != .direct else { return }
        let records = try await directory.read([
            ChannelRecord.key(channel.id, in: app), UserRecord.key(channel.id, in: app),
        ])
        // A channel that already has a record is not rejected here: the caller of this method handles it.
        guard records[0] == nil else { return }
        let isOthers = records[1] != nil && actor.user.map { ExactText($0) != ExactText(channel.id) } ?? true
        let isModerators = Self.channel(moderatedOn: channel.id) != nil
        let said = try await log.history([HistoryRequest(channel: self.channel(channel.id), limit: 1)])[0].items
        guard isOthers || isModerators || !said.isEmpty else { return }
        throw ChatError(
            .forbidden,
            "channel '\(channel.id)' is in use without a record; only a credential with the scope 'manage' may create the record",
            slug: "name_in_use")
    }

    /// Returns the decision that creates the record of a channel and its first members. Its events announce, in this
    /// order: the channel, its creator, the other members, and the number of members.
    func first(
        _ channel: ChannelRecord, _ users: [String], _ snapshot: RecordSnapshot, by actor: Actor
    ) throws(ChatError) -> Decision<Written<ChannelView>> {
        var channel = channel
        channel.created = snapshot.now
        var change = MemberChange(making: channel, snapshot, by: actor, in: self)
        if channel.kind.hasMembers {
            if let maker = actor.user {
                try change.join([maker])
                try change.invite(users)
            } else {
                try change.join(users)
            }
        }
        let view = ChannelView(channel: change.channel, counts: change.counts)
        var decision = change.decision(Written(record: view, isNew: true))
        let record = RecordChange(
            ChannelRecord.key(channel.id, in: app), body: change.channel.body, precondition: .absent)
        decision.changes.insert(record, at: 0)
        decision.events.insert(change.channelCreated, at: 0)
        return decision
    }

    private func blank(_ new: NewChannel, by actor: Actor) throws(ChatError) -> ChannelRecord {
        var channel: ChannelRecord
        if new.kind == .direct {
            guard new.id == nil else {
                throw ChatError(
                    .malformed, "the id of a direct channel is derived from its users; leave 'id' out",
                    slug: "bad_member",
                    field: "id")
            }
            channel = .direct(between: try pair(new.users, by: actor))
        } else {
            channel = ChannelRecord(
                id: new.id ?? SystemRandomSource().identifier(prefix: "ch_"), kind: new.kind)
            channel.operators = actor.user.map { [$0] } ?? []
        }
        channel.createdBy = actor.user
        return channel
    }

    /// Returns the two users of a direct channel. If a user creates the channel, that user must be one of the two.
    private func pair(_ users: [String], by actor: Actor) throws(ChatError) -> [String] {
        for user in users { try Names.check(user: user) }
        let pair = try distinct(users + (users.count == 1 ? actor.user.map { [$0] } ?? [] : []))
        guard pair.count == 2 else {
            throw ChatError(
                .malformed,
                "'users' of a direct channel must name two different users, or only the user other than 'by'",
                slug: "bad_member", field: "users")
        }
        if let maker = actor.user, !pair.contains(where: { ExactText($0) == ExactText(maker) }) {
            throw ChatError(
                .forbidden, "a direct channel can be created only by one of its two users", slug: "not_of_pair")
        }
        return pair
    }

    private func firstMembers(
        _ new: NewChannel, of channel: ChannelRecord, by actor: Actor
    ) throws(ChatError) -> [String] {
        let wanted = channel.kind == .direct ? channel.pair : new.users
        guard !wanted.isEmpty else { return [] }
        guard channel.kind.hasMembers else {
            throw ChatError(.invalid, "an open channel has no members; leave 'users' out", slug: "no_members")
        }
        let users = try distinct(wanted)
        for user in users { try Names.check(user: user) }
        return users.filter { user in actor.user.map { ExactText($0) != ExactText(user) } ?? true }
    }
}

extension ChannelRecord {
    /// Changes the kind of the channel. A channel can change only between `group` and `public`. The two users of a
    /// direct channel are fixed, and an open channel has no members, so these kinds cannot change.
    ///
    /// - Throws: `.conflict` with the slug `kind_fixed` for any other change.
    fileprivate mutating func set(_ kind: ChannelKind) throws(ChatError) {
        let exchangeable: [ChannelKind] = [.group, .public]
        guard kind == self.kind || (exchangeable.contains(kind) && exchangeable.contains(self.kind)) else {
            throw ChatError(
                .conflict, "channel '\(id)' is of kind '\(self.kind.rawValue)' and cannot become '\(kind.rawValue)'",
                slug: "kind_fixed")
        }
        self.kind = kind
        if kind != .group { isDistinct = false }
    }
}

extension ChatError {
    static func channelExists(_ record: Record) -> ChatError {
        var error = ChatError(.conflict, "channel '\(record.key.id)' already exists", slug: "already_exists")
        error.current = record
        return error
    }
}
