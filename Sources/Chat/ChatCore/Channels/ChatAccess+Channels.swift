public import ChatModel
import JSON

extension ChatAccess {
    /// Returns the record of a channel; nil when there is none, even if the channel is in use.
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

    /// Changes what the app keeps in a channel's record. Requires an operator of the channel.
    ///
    /// - Throws: `.notFound` when the channel has no record; `.forbidden` when the caller may not change it;
    ///   `.malformed` or `.tooLarge` for a field; `.stale` when `precondition` names another version.
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

    /// Sets a user's role in a channel, so that the user becomes or stops being an operator. Requires an operator. If
    /// the user is a member, the membership's role changes with it.
    ///
    /// - Throws: `.notFound` when the channel has no record; `.forbidden` when the caller may not moderate it;
    ///   `.malformed` for a bad name.
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
                throw ChatError(.invalid, "a direct channel has no operators", slug: "no_operators")
            }
            change.appoint(user, role)
            try change.checkOperators()
            return change.decision(ChannelView(channel: change.channel, counts: change.counts))
        }
        return decided.value.stamped(decided.record(ChannelRecord.key(name, in: app)))
    }

    /// Deletes a channel's record with its members, restrictions, texts and counters. Requires an operator. The
    /// channel's events are kept.
    ///
    /// The deletion is one step, after which no user is a member or restricted. The records of members and participants
    /// are removed afterwards, at the next start if necessary.
    ///
    /// - Returns: true when there was a record.
    /// - Throws: `.forbidden` when the caller may not delete the channel; `.stale` when `precondition` names a version
    ///   and there is another, or no record.
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
        // Done before another channel of this name can be created. The cleanup of pending deletions retries what fails
        // here.
        if deleted == .open { try? await service.empty(channel(name)) }
        return deleted != nil
    }

    /// Changes an existing record and announces the differences to the users in the channel.
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
    /// The view with the version and time that the store assigned.
    func stamped(_ record: Record?) -> ChannelView {
        guard let stored = record.flatMap(ChannelRecord.init) else { return self }
        return ChannelView(channel: stored, counts: counts)
    }
}
