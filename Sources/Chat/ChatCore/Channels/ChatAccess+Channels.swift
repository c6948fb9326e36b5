public import ChatModel
import JSON

extension ChatAccess {
    /// Returns the record of a channel; nil when there is none. A channel can be used without a record.
    ///
    /// - Throws: `.forbidden` when the caller may not see the channel; the errors of the store.
    public func channelView(_ name: String) async throws(ChatError) -> ChannelView? {
        try await requireVisible(of: name)
        let records = try await directory.read([
            ChannelRecord.key(name, in: app), MemberCounts.key(name, in: app),
        ])
        return records[0].flatMap(ChannelRecord.init).map {
            ChannelView(channel: $0, counts: MemberCounts(records[1]))
        }
    }

    /// Changes the app's own fields of a channel's record. Requires an operator of the channel.
    ///
    /// - Throws: `.notFound` when the channel has no record; `.forbidden` for a caller who is not an operator;
    ///   `.malformed` or `.tooLarge` for an invalid field; `.stale` when `precondition` names another version.
    public func update(
        channel name: String, _ edit: ChannelEdit, precondition: RecordChange.Precondition = .none,
        by named: String? = nil
    ) async throws(ChatError) -> ChannelView {
        try edit.check(limits)
        try requireRecord(of: name)
        return try await change(channel: name, precondition: precondition, by: try actor(named)) {
            channel throws(ChatError) in
            edit.apply(to: &channel)
            try limits.check(value: channel.data, "data")
            try limits.check(value: channel.custom, "custom")
        }
    }

    /// Sets the role of a user in a channel: operator or ordinary member. Requires an operator of the channel. If the
    /// user is a member, the role of the membership changes too.
    ///
    /// - Throws: `.notFound` when the channel has no record; `.forbidden` for a caller who is not an operator;
    ///   `.invalid` for a direct channel; `.malformed` for a bad name.
    public func appoint(
        _ user: String, in name: String, _ role: MemberRole, by named: String? = nil
    ) async throws(ChatError) -> ChannelView {
        try requireRecord(of: name)
        try Names.check(user: user)
        let actor = try actor(named)
        let keys = MemberChange.keys(of: name, users: [user], by: actor, in: app)
        let decided = try await decide(keys) { snapshot throws(ChatError) in
            var change = try MemberChange(of: name, snapshot, by: actor, in: self)
            try actor.requireOperator(of: change.channel)
            guard change.channel.kind != .direct else {
                throw ChatError(
                    .invalid, "a direct channel has no operators, because its two users have the same rights",
                    slug: "no_operators")
            }
            change.appoint(user, role)
            try change.checkOperators()
            return change.decision(ChannelView(channel: change.channel, counts: change.counts))
        }
        return decided.value.stamped(decided.record(ChannelRecord.key(name, in: app)))
    }

    /// Deletes the record of a channel with its members, restrictions, metadata and metacounters. Requires an operator
    /// of the channel. The events of the channel are not deleted.
    ///
    /// One commit deletes the channel. After this commit, no user is a member, muted or banned. The records of
    /// memberships and restrictions, and the presence of users in an open channel, may be removed later. If the gateway
    /// stops before the removal is complete, the removal continues after the next start.
    ///
    /// - Returns: true when there was a record.
    /// - Throws: `.forbidden` for a caller who is not an operator; `.stale` when `precondition` requires another
    ///   version of the record, or requires a record and there is none.
    @discardableResult public func delete(
        channel name: String, precondition: RecordChange.Precondition = .none, by named: String? = nil
    ) async throws(ChatError) -> Bool {
        try requireRecord(of: name)
        let actor = try actor(named)
        let key = ChannelRecord.key(name, in: app)
        let beside = [RecordKind.memberCounts, .channelMetadata, .channelCounters].map { self.key($0, name) }
        let deleted = try await decide([key] + beside) { snapshot throws(ChatError) in
            guard let channel = snapshot[key].flatMap(ChannelRecord.init) else {
                try precondition.check(nil)
                return Decision(ChannelKind?.none)
            }
            try actor.requireOperator(of: channel)
            try precondition.check(channel.etag)
            let counts = MemberCounts(snapshot[beside[0]])
            let sweep = CascadeDeletionRecord(channel: name, since: snapshot.next)
            let changes =
                [RecordChange(key, body: nil)] + beside.map { RecordChange($0, body: nil) }
                + [RecordChange(CascadeDeletionRecord.key(name, in: app), body: sweep.body)]
            let rest = channel.endingDistinct(before: nil, in: app)
            let event = self.deleted(channel, counts, by: actor.user, snapshot)
            return Decision(channel.kind, changes: changes + rest, events: [event])
        }.value
        // Ends the presence of the users inside before another channel with this name can be created. If this fails,
        // the cleanup of pending deletions tries again.
        if deleted == .open { try? await service.empty(channel(name)) }
        return deleted != nil
    }

    /// Changes an existing record, and announces the differences to the users in the channel.
    func change(
        channel name: String, precondition: RecordChange.Precondition, by actor: Actor,
        _ edit: @escaping @Sendable (inout ChannelRecord) throws(ChatError) -> Void
    ) async throws(ChatError) -> ChannelView {
        let (key, countsKey) = (ChannelRecord.key(name, in: app), MemberCounts.key(name, in: app))
        let decided = try await decide([key, countsKey]) { snapshot throws(ChatError) in
            let before = try existing(name, in: snapshot)
            try actor.requireOperator(of: before)
            try precondition.check(before.etag)
            var channel = before
            try edit(&channel)
            let counts = MemberCounts(snapshot[countsKey])
            let write = RecordChange(key, body: channel.body)
            let events =
                channel.body == before.body
                ? [] : [channelUpdated(from: before, to: channel, counts, by: actor.user, snapshot)]
            let rest = before.endingDistinct(before: channel, in: app)
            return Decision(ChannelView(channel: channel, counts: counts), changes: [write] + rest, events: events)
        }
        return decided.value.stamped(decided.record(key))
    }
}

extension ChannelView {
    /// Returns the view with the version and time that the store has assigned.
    func stamped(_ record: Record?) -> ChannelView {
        guard let stored = record.flatMap(ChannelRecord.init) else { return self }
        return ChannelView(channel: stored, counts: counts)
    }
}
