import ChatModel
import JSON

/// A message that is about to be changed: its event, the acting user, and the keys of the records that decide.
struct MessageContext: Sendable {
    let event: Event
    let actor: Actor
    let key: RecordKey
    let channelKey: RecordKey
    /// The permission that the actor needs; nil for none.
    let permission: ChannelPermission?

    var timetoken: Timetoken { event.timetoken }
    var channel: String { event.channel.name }

    /// The message's record, as the decision sees it.
    func record(_ snapshot: RecordSnapshot) -> MessageRecord {
        snapshot[key].flatMap { MessageRecord($0) } ?? MessageRecord(channel: channel, timetoken: timetoken)
    }

    /// The message's record, for changes that require an existing message.
    ///
    /// - Throws: `.gone` when it is deleted; `.stale` when it does not have the required version.
    func present(_ snapshot: RecordSnapshot, ifMatch etag: String? = nil) throws(ChatError) -> MessageRecord {
        let record = record(snapshot)
        guard record.deletion == nil else { throw ChatError(.gone, "the message is deleted") }
        try record.require(etag)
        return record
    }

    func channelRecord(_ snapshot: RecordSnapshot) -> ChannelRecord? {
        snapshot[channelKey].flatMap { ChannelRecord($0) }
    }

    /// The message with a decision's changes, as the REST API shows it from then on.
    func message(_ record: MessageRecord, _ snapshot: RecordSnapshot) -> Message {
        var record = record
        (record.etag, record.updated) = (snapshot.etag, snapshot.next)
        return Message(event, record)
    }

    /// Limits the expiry of an event that repeats the message's text to that of the message.
    func limit(_ copy: inout EventDraft) { copy.end(with: event.draft) }

    /// Requires the author of the message or a moderator of the channel.
    func requireAuthority(in channel: ChannelRecord?) throws(ChatError) {
        guard let author = event.user else { return try actor.requireOperator(of: channel) }
        try actor.require(over: author, in: channel)
    }
}

extension EventDraft {
    /// Limits the event's expiry to that of a message whose text it repeats.
    mutating func end(with message: EventDraft) {
        (expires, isEndedByType) = (message.expires, message.isEndedByType)
    }
}

extension MessageRecord {
    /// Requires a version.
    ///
    /// - Throws: `.stale` when the record has another version.
    func require(_ etag: String?) throws(ChatError) {
        guard let etag, etag != self.etag else { return }
        throw ChatError(.stale, "the message has changed since it was read; read it again")
    }
}

extension ChatAccess {
    /// Makes every check that precedes a change of a message.
    ///
    /// - Parameters:
    ///   - type: the type of the resulting event, which the caller must reach.
    ///   - named: the acting user, if the caller names one.
    ///   - permission: the permission that the acting user needs in the channel; nil for none.
    ///   - isTyped: true when the operation also accepts events of an app's own types.
    func context(
        _ timetoken: Timetoken, in channel: String, for type: String, by named: String?,
        _ permission: ChannelPermission? = .writing,
        orTyped isTyped: Bool = false
    ) async throws(ChatError) -> MessageContext {
        let actor = try acting(named, in: channel, for: type)
        if let permission { try await require(permission, of: actor.user, in: channel) }
        return MessageContext(
            event: try await sent(timetoken, in: channel, orTyped: isTyped), actor: actor,
            key: MessageRecord.key(channel, timetoken, in: app), channelKey: ChannelRecord.key(channel, in: app),
            permission: permission)
    }

    /// Runs a decision about a message, if the actor still has permission and the message still exists.
    ///
    /// - Parameter keys: the records that the decision reads in addition to the message's and its channel's.
    func decide<Value: Sendable>(
        _ context: MessageContext, _ keys: [RecordKey] = [],
        _ body: @escaping @Sendable (RecordSnapshot) throws(ChatError) -> Decision<Value>
    ) async throws(ChatError) -> Decided<Value> {
        let rights = context.permission == nil ? [] : rightsKeys(of: context.actor.user, in: context.channel)
        let counts = MemberCounts.key(context.channel, in: app)
        return try await decide([context.key, context.channelKey, counts] + rights + keys) {
            snapshot throws(ChatError) in
            if let permission = context.permission {
                try self.require(permission, of: context.actor.user, in: context.channel, snapshot)
            }
            var decision = try body(snapshot)
            // A decision without changes may be about a message that is gone.
            if !decision.changes.isEmpty || !decision.events.isEmpty {
                decision.requires.append((context.event.channel, context.timetoken))
            }
            return decision
        }
    }

    /// Prints the member `channel`: the channel as the REST API shows it; nothing for a channel without a record. The
    /// snapshot must contain the member counts.
    func printChannel(_ channel: ChannelRecord?, _ snapshot: RecordSnapshot, to writer: inout JSONWriter) {
        guard let channel else { return }
        writer.key("channel")
        channel.show(MemberCounts(snapshot[MemberCounts.key(channel.id, in: app)]), to: &writer)
    }

    /// The actor of an operation in a channel that emits an event of this type.
    ///
    /// - Throws: `.malformed` for an invalid channel name; `.forbidden` when the caller does not reach the channel or
    ///   the type.
    func acting(_ named: String?, in channel: String, for type: String) throws(ChatError) -> Actor {
        try Names.check(channel: channel)
        guard channel != ChannelID.systemName else {
            throw ChatError(.forbidden, "'\(ChannelID.systemName)' is written by the gateway only")
        }
        let actor = try actor(named)
        try caller.require(channel: channel)
        try caller.require(type: type)
        return actor
    }
}
