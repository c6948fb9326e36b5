public import ChatModel
import JSON

extension ChatAccess {
    /// Pins a message to its channel, and unpins any other message. Allowed for both users of a direct channel, and for
    /// operators of other channels.
    ///
    /// - Throws: `.notFound` when the message does not exist or the channel has no record; `.forbidden` when the caller
    ///   may not pin messages in the channel; `.gone` when the message is deleted.
    public func pin(_ timetoken: Timetoken, in channel: String, by named: String?) async throws(ChatError) {
        let context = try await context(timetoken, in: channel, for: "channel.updated", by: named, nil)
        try await pin(timetoken, in: channel, context.actor, [context.key, context.channelKey]) {
            snapshot throws(ChatError) in
            _ = try context.present(snapshot)
        }
    }

    /// Unpins the pinned message of a channel. Does nothing when no message is pinned.
    ///
    /// - Parameter timetoken: the timetoken of the message to unpin. Does nothing when another message is pinned.
    /// - Throws: `.notFound` when the channel has no record; `.forbidden` when the caller may not pin messages in the
    ///   channel.
    public func unpin(_ timetoken: Timetoken, in channel: String, by named: String?) async throws(ChatError) {
        let actor = try acting(named, in: channel, for: "channel.updated")
        try await pin(.zero, in: channel, actor, [ChannelRecord.key(channel, in: app)], instead: timetoken)
    }

    /// Pins the message at `timetoken`. If `timetoken` is zero, unpins the pinned message.
    ///
    /// - Parameter old: the timetoken of a message. If another message is pinned, the pin is not changed. Nil to change
    ///   the pin in any case.
    private func pin(
        _ timetoken: Timetoken, in channel: String, _ actor: Actor, _ keys: [RecordKey], instead old: Timetoken? = nil,
        _ check: @escaping @Sendable (RecordSnapshot) throws(ChatError) -> Void = { _ in }
    ) async throws(ChatError) {
        let membership = actor.user.map {
            [MembershipRecord.key($0, channel, in: app), CascadeDeletionRecord.key(channel, in: app)]
        }
        let channelKey = ChannelRecord.key(channel, in: app)
        _ = try await decide(keys + [MemberCounts.key(channel, in: app)] + (membership ?? [])) {
            snapshot throws(ChatError) in
            var record = snapshot[channelKey].flatMap { ChannelRecord($0) }
            guard let kind = record?.kind else {
                throw ChatError(
                    .notFound,
                    "messages can be pinned only in a channel with a record; create one with PUT /v1/channels/{channel}"
                )
            }
            let member = actor.user.flatMap { snapshot.membership(of: $0, in: channel, app) }
            if kind != .direct || member?.state != .joined { try actor.requireOperator(of: record) }
            try check(snapshot)
            var decision = Decision(())
            if old ?? record?.pinned == record?.pinned { self.pin(timetoken, in: &record, actor, &decision, snapshot) }
            if timetoken != .zero { decision.requires = [(self.channel(channel), timetoken)] }
            return decision
        }
    }

    /// Adds the change of a channel's pinned message to a decision, unless the message is already pinned. The snapshot
    /// must contain the channel's member counts.
    func pin<Value>(
        _ timetoken: Timetoken, in channel: inout ChannelRecord?, _ actor: Actor, _ decision: inout Decision<Value>,
        _ snapshot: RecordSnapshot
    ) {
        guard let record = channel?.pinning(timetoken, snapshot), channel?.pinned != timetoken else { return }
        let old = channel?.pinned ?? .zero
        let countsKey = MemberCounts.key(record.id, in: app)
        channel = record
        decision.changes.append(RecordChange(ChannelRecord.key(record.id, in: app), body: record.body))
        decision.events.append(
            draft(
                "channel.updated", on: record.id, kind: .recordChange, by: actor.user,
                audience: channel.audience(members: .members, inside: .participants)
            ) { writer in
                writer.key("changes")
                writer.beginArray()
                writer.beginObject()
                writer.member("key", "pinned_timetoken")
                if old != .zero { writer.member("old", old.description) }
                if timetoken != .zero { writer.member("new", timetoken.description) }
                writer.endObject()
                writer.endArray()
                writer.key("channel")
                record.show(MemberCounts(snapshot[countsKey]), to: &writer)
            })
    }
}

extension ChannelRecord {
    /// Returns the channel's record with `timetoken` as the pinned message; zero for no pinned message. The returned
    /// record has the version that the commit will assign.
    func pinning(_ timetoken: Timetoken, _ snapshot: RecordSnapshot) -> ChannelRecord {
        var channel = stamped(in: snapshot)
        channel.pinned = timetoken
        return channel
    }
}

extension ChatAccess {
    /// Sends a copy of a message's content to another channel. The copy names the original author and channel in
    /// `meta`.
    ///
    /// - Parameter claim: an idempotency key of the call; see `emit(_:claim:)`.
    /// - Throws: the errors of `message` and `emit`; `.gone` when the message is deleted.
    public func forward(
        _ timetoken: Timetoken, in channel: String, to target: String, by named: String?, claim: Claim? = nil
    ) async throws(ChatError) -> AppendOutcome {
        let message = try await message(timetoken, in: channel)
        guard !message.isDeleted else { throw ChatError(.gone, "the message is deleted") }
        var draft = EventDraft.message(
            channel: target, data: message.data, user: named, meta: Self.origin(of: message))
        draft.customType = message.event.customType
        return try await emit([draft], claim: claim)
    }

    /// Returns the `meta` of a forwarded message. The quotes, mentions and thread of the original message are left out.
    private static func origin(of message: Message) -> JSONText {
        let left = [
            "quotedMessage", "mentionedUsers", "mentionType", "threadOf", "originalPublisher", "originalChannelId",
        ]
        let kept = (message.event.meta?.rawMembers() ?? []).filter { !left.contains($0.name) }
        return JSONText { writer in
            writer.beginObject()
            for (name, value) in kept {
                writer.key(text: name)
                writer.raw(value)
            }
            if let user = message.event.user { writer.member("originalPublisher", user) }
            writer.member("originalChannelId", message.event.channel.name)
            writer.endObject()
        }
    }
}
