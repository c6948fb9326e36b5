public import ChatModel
import JSON

extension ChatAccess {
    /// Freezes a channel, where only operators may write then, or unfreezes it. Once more changes nothing.
    ///
    /// - Throws: `.notFound` for a channel without a record; `.forbidden`, slug `not_operator`.
    public func freeze(
        _ channel: String, _ isFrozen: Bool, by named: String? = nil
    ) async throws(ChatError) -> ChannelRecord {
        try demandRecord(of: channel)
        let actor = try actor(named)
        let key = ChannelRecord.key(channel, in: app)
        let countsKey = MemberCounts.key(channel, in: app)
        let decided = try await decide([key, countsKey]) { snapshot throws(ChatError) in
            var record = try existing(channel, in: snapshot)
            try actor.demandOperator(of: record)
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
