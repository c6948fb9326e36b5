import ChatModel
import JSON

/// The context of a change of a message: the message's event, the acting user, and the keys of the records that the
/// decision reads.
struct MessageContext: Sendable {
    let event: Event
    let actor: Actor
    let key: RecordKey
    let channelKey: RecordKey
    /// The permission that the acting user needs in the channel; nil when no permission is needed.
    let permission: ChannelPermission?

    var timetoken: Timetoken { event.timetoken }
    var channel: String { event.channel.name }

    /// Returns the message's record in the snapshot of the decision; an empty record when none is stored.
    func record(_ snapshot: RecordSnapshot) -> MessageRecord {
        snapshot[key].flatMap { MessageRecord($0) } ?? MessageRecord(channel: channel, timetoken: timetoken)
    }

    /// Returns the message's record, and requires that the message is not deleted.
    ///
    /// - Throws: `.gone` when the message is deleted; `.stale` when its version is not `etag`.
    func present(_ snapshot: RecordSnapshot, ifMatch etag: String? = nil) throws(ChatError) -> MessageRecord {
        let record = record(snapshot)
        guard record.deletion == nil else { throw ChatError(.gone, "the message is deleted") }
        try record.require(etag)
        return record
    }

    func channelRecord(_ snapshot: RecordSnapshot) -> ChannelRecord? {
        snapshot[channelKey].flatMap { ChannelRecord($0) }
    }

    /// Returns the message with the changed `record`, which gets the etag and the time that the commit will assign.
    func message(_ record: MessageRecord, _ snapshot: RecordSnapshot) -> Message {
        var record = record
        (record.etag, record.updated) = (snapshot.etag, snapshot.next)
        return Message(event, record)
    }

    /// Lets an event that contains the message's text expire together with the message.
    func limit(_ copy: inout EventDraft) { copy.end(with: event.draft) }

    /// Requires that the actor is the author of the message, or an operator of the channel.
    func requireAuthority(in channel: ChannelRecord?) throws(ChatError) {
        guard let author = event.user else { return try actor.requireOperator(of: channel) }
        try actor.require(over: author, in: channel)
    }
}

extension EventDraft {
    /// Lets the event expire together with a message whose text it contains.
    mutating func end(with message: EventDraft) {
        (expires, isEndedByType) = (message.expires, message.isEndedByType)
    }
}

extension MessageRecord {
    /// Requires that the message has this version; nil accepts any version.
    ///
    /// - Throws: `.stale` when the message has another version.
    func require(_ etag: String?) throws(ChatError) {
        guard let etag, etag != self.etag else { return }
        throw ChatError(.stale, "the message has changed since it was read; read it again")
    }
}

extension ChatAccess {
    /// Returns the context of a change of a message, after the checks that precede the change.
    ///
    /// - Parameters:
    ///   - type: the type of the event that the change causes. The caller's patterns must match it.
    ///   - named: the acting user that the request names; nil when it names none.
    ///   - permission: the permission that the acting user needs in the channel; nil when none is needed.
    ///   - isTyped: true when the operation also accepts events of an app's own types.
    /// - Throws: `.notFound` when the channel has no such message; `.forbidden` without the permission; the errors of
    ///   ``acting(_:in:for:)``.
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

    /// Runs a decision about a message. Fails when the actor no longer has the permission, or when the message no
    /// longer exists.
    ///
    /// - Parameter keys: the keys of the records that the decision reads in addition to the records of the message and
    ///   its channel.
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
            // A decision that changes nothing does not require that the message still exists.
            if !decision.changes.isEmpty || !decision.events.isEmpty {
                decision.requires.append((context.event.channel, context.timetoken))
            }
            return decision
        }
    }

    /// Prints the JSON member `channel` with the channel in the form of the REST API. Prints nothing for a channel
    /// without a record. The snapshot must contain the channel's member counts.
    func printChannel(_ channel: ChannelRecord?, _ snapshot: RecordSnapshot, to writer: inout JSONWriter) {
        guard let channel else { return }
        writer.key("channel")
        channel.show(MemberCounts(snapshot[MemberCounts.key(channel.id, in: app)]), to: &writer)
    }

    /// Returns the actor of an operation in a channel, and checks the caller's rights for it.
    ///
    /// - Parameter type: the type of the event that the operation emits.
    /// - Throws: `.malformed` for an invalid channel name; `.forbidden` when the caller's patterns do not cover the
    ///   channel or the type.
    func acting(_ named: String?, in channel: String, for type: String) throws(ChatError) -> Actor {
        try Names.check(channel: channel)
        guard channel != ChannelID.systemName else {
            throw ChatError(
                .forbidden, "only the gateway may write to channel '\(ChannelID.systemName)'; send to another channel")
        }
        let actor = try actor(named)
        try caller.require(channel: channel)
        try caller.require(type: type)
        return actor
    }
}
