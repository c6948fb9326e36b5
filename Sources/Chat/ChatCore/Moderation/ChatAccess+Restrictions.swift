public import ChatModel
import JSON

extension ChatAccess {
    /// Bans a user from a channel, mutes the user there, or both. Replaces a restriction in force. Repeating the call
    /// has no further effect. A banned user is no longer a member or operator of the channel.
    ///
    /// The restriction is in force until it is lifted or expires. The channel need not have a record, and the user need
    /// not be a member.
    ///
    /// - Parameters:
    ///   - precondition: the required version of the stored restriction.
    ///   - named: the operator who restricts, when the request names one; nil otherwise.
    ///   - announces: true to send an event to PubNub clients; false when the requesting client publishes the event
    ///     itself.
    /// - Throws: `.malformed` for a request without a ban or mute, or with an end in the past; `.forbidden` with the
    ///   slug `not_operator` when the caller is not an operator of the channel; the errors of
    ///   `RecordChange.Precondition.check`.
    public func restrict(
        _ user: String, in channel: String, _ restrictionRequest: RestrictionRequest,
        precondition: RecordChange.Precondition = .none,
        by named: String? = nil, announcingOnWire announces: Bool = true
    ) async throws(ChatError) -> Written<RestrictionRecord> {
        try check(restrictionRequest)
        let key = RestrictionRecord.key(user, channel, in: app)
        let decided = try await changeRestriction(of: user, in: channel, by: named) { change throws(ChatError) in
            change.announcesOnWire = announces
            try precondition.check(change.stored?.etag)
            let isNew = change.stored == nil
            let decision = change.put(restrictionRequest)
            return Decision(
                Written(record: decision.value, isNew: isNew), changes: decision.changes, events: decision.events)
        }
        let stored = decided.record(key).flatMap(RestrictionRecord.init) ?? decided.value.record
        // Ends the banned user's presence. Its events follow the event of the ban.
        if restrictionRequest.isBan { try await expel(user, from: channel, by: try actor(named).user) }
        return Written(record: stored, isNew: decided.value.isNew)
    }

    /// Ends a restriction before it expires. Does nothing when there is none.
    ///
    /// - Returns: true when a restriction was ended.
    /// - Throws: `.forbidden` with the slug `not_operator` when the caller is not an operator of the channel; the
    ///   errors of `RecordChange.Precondition.check`.
    @discardableResult
    public func lift(
        restrictionOf user: String, in channel: String, precondition: RecordChange.Precondition = .none,
        by named: String? = nil,
        announcingOnWire announces: Bool = true
    ) async throws(ChatError) -> Bool {
        let decided = try await changeRestriction(of: user, in: channel, by: named) { change throws(ChatError) in
            change.announcesOnWire = announces
            try precondition.check(change.stored?.etag)
            let (stored, decision) = (change.stored, change.lift(reason: "request"))
            return Decision(stored, changes: decision.changes, events: decision.events)
        }
        return decided.value != nil
    }

    private func changeRestriction<Value: Sendable>(
        of user: String, in channel: String, by named: String?,
        _ body: @escaping @Sendable (inout RestrictionChange) throws(ChatError) -> Decision<Value>
    ) async throws(ChatError) -> Decided<Value> {
        try requireRecord(of: channel)
        try Names.check(user: user)
        let actor = try actor(named)
        let keys = RestrictionChange.keys(of: user, in: channel, by: actor, app)
        return try await decide(keys) { snapshot throws(ChatError) in
            var change = try RestrictionChange(of: user, in: channel, snapshot, by: actor, self)
            try change.requireRights()
            return try body(&change)
        }
    }

    private func check(_ restrictionRequest: RestrictionRequest) throws(ChatError) {
        guard restrictionRequest.isBan || restrictionRequest.isMute else {
            throw ChatError(
                .malformed, "'ban' or 'mute' must be true; to end a restriction, send DELETE", slug: "bad_member",
                field: "")
        }
        try limits.check(restrictionRequest.reason, "reason")
        guard restrictionRequest.until.map({ $0 > service.clock.now }) ?? true else {
            throw ChatError(
                .malformed, "'until', the end of the restriction, must be in the future", slug: "bad_member",
                field: "until")
        }
    }
}

extension ChatAccess {
    /// Freezes a channel, so that only its operators may write in it, or unfreezes it. Repeating the call has no
    /// further effect.
    ///
    /// - Throws: `.notFound` when the channel has no record; `.forbidden` with the slug `not_operator` when the caller
    ///   is not an operator of the channel.
    public func freeze(
        _ channel: String, _ isFrozen: Bool, by named: String? = nil
    ) async throws(ChatError) -> ChannelRecord {
        try requireRecord(of: channel)
        let actor = try actor(named)
        let key = ChannelRecord.key(channel, in: app)
        let countsKey = MemberCounts.key(channel, in: app)
        let decided = try await decide([key, countsKey]) { snapshot throws(ChatError) in
            var record = try existing(channel, in: snapshot)
            try actor.requireOperator(of: record)
            guard record.isFrozen != isFrozen else { return Decision(record) }
            record.isFrozen = isFrozen
            let event = frozen(record.stamped(in: snapshot), MemberCounts(snapshot[countsKey]), by: actor)
            return Decision(record, changes: [RecordChange(key, body: record.body)], events: [event])
        }
        return decided.record(key).flatMap(ChannelRecord.init) ?? decided.value
    }

    private func frozen(_ channel: ChannelRecord, _ counts: MemberCounts, by actor: Actor) -> EventDraft {
        draft(
            channel.isFrozen ? "channel.frozen" : "channel.unfrozen", on: channel.id, by: actor.user,
            audience: .rule(channel.kind.hasMembers ? .joined : .participants)
        ) { writer in
            writer.key("channel")
            channel.show(counts, to: &writer)
        }
    }
}
