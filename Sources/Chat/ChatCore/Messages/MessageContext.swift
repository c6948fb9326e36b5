import ChatModel
import JSON

/// A message somebody does something to: what it is, who acts, and which records decide.
struct MessageContext: Sendable {
    let event: Event
    let actor: Actor
    let key: RecordKey
    let channelKey: RecordKey
    /// What is asked of who acts; nil for nothing.
    let permission: ChannelPermission?

    var timetoken: Timetoken { event.timetoken }
    var channel: String { event.channel.name }

    /// What became of the message, as it is when the decision is made.
    func record(_ snapshot: RecordSnapshot) -> MessageRecord {
        snapshot[key].flatMap { MessageRecord($0) } ?? MessageRecord(channel: channel, timetoken: timetoken)
    }

    /// The same for what only a message can suffer that is there.
    ///
    /// - Throws: `.gone` when it is deleted; `.stale` when it is not at the demanded version.
    func present(_ snapshot: RecordSnapshot, ifMatch etag: String? = nil) throws(ChatError) -> MessageRecord {
        let record = record(snapshot)
        guard record.deletion == nil else { throw ChatError(.gone, "the message is deleted") }
        try record.demand(etag)
        return record
    }

    func channelRecord(_ snapshot: RecordSnapshot) -> ChannelRecord? {
        snapshot[channelKey].flatMap { ChannelRecord($0) }
    }

    /// The message with what a decision makes of it, as the REST API shows it from then on.
    func message(_ record: MessageRecord, _ snapshot: RecordSnapshot) -> Message {
        var record = record
        (record.etag, record.updated) = (snapshot.etag, snapshot.next)
        return Message(event, record)
    }

    /// Ends an event that repeats what the message says no later than the message.
    func limit(_ copy: inout EventDraft) { copy.end(with: event.draft) }

    /// Authors do with their messages what they like; others must moderate the channel.
    func demandAuthority(in channel: ChannelRecord?) throws(ChatError) {
        guard let author = event.user else { return try actor.demandOperator(of: channel) }
        try actor.demand(over: author, in: channel)
    }
}

extension EventDraft {
    /// Ends the event no later than a message whose text it repeats.
    mutating func end(with message: EventDraft) {
        (expires, isEndedByType) = (message.expires, message.isEndedByType)
    }
}

extension MessageRecord {
    /// - Throws: `.stale` when it is not at this version.
    func demand(_ etag: String?) throws(ChatError) {
        guard let etag, etag != self.etag else { return }
        throw ChatError(.stale, "the message has changed since it was read; read it again")
    }
}

extension ChatAccess {
    /// Everything that is checked before something is done to a message.
    ///
    /// - Parameters:
    ///   - type: the event that comes of it: the caller must reach it.
    ///   - named: who does it, if the caller says so.
    ///   - wish: what is asked of who does it; nil where that is asked of the message alone.
    ///   - isTyped: whether it may be done to events of an app's own types as well.
    func scene(
        _ timetoken: Timetoken, in channel: String, for type: String, by named: String?,
        _ permission: ChannelPermission? = .writing,
        orTyped isTyped: Bool = false
    ) async throws(ChatError) -> MessageContext {
        let actor = try acting(named, in: channel, for: type)
        if let permission { try await demand(permission, of: actor.user, in: channel) }
        return MessageContext(
            event: try await sent(timetoken, in: channel, orTyped: isTyped), actor: actor,
            key: MessageRecord.key(channel, timetoken, in: app), channelKey: ChannelRecord.key(channel, in: app),
            permission: permission)
    }

    /// Decides about a message, where who acts still may and the message is still there.
    ///
    /// - Parameter keys: what the decision looks at beside the message and its channel.
    func decide<Value: Sendable>(
        _ scene: MessageContext, _ keys: [RecordKey] = [],
        _ body: @escaping @Sendable (RecordSnapshot) throws(ChatError) -> Decision<Value>
    ) async throws(ChatError) -> Decided<Value> {
        let standing = scene.permission == nil ? [] : standingKeys(of: scene.actor.user, in: scene.channel)
        let counts = MemberCounts.key(scene.channel, in: app)
        return try await decide([scene.key, scene.channelKey, counts] + standing + keys) {
            snapshot throws(ChatError) in
            if let permission = scene.permission {
                try self.demand(permission, of: scene.actor.user, in: scene.channel, snapshot)
            }
            var decision = try body(snapshot)
            // A decision that changes nothing may well be about one that is gone.
            if !decision.changes.isEmpty || !decision.events.isEmpty {
                decision.requires.append((scene.event.channel, scene.timetoken))
            }
            return decision
        }
    }

    /// Prints the member `channel`: the channel as the REST API shows it; nothing for one without a record. The situation holds
    /// the member counts.
    func printChannel(_ channel: ChannelRecord?, _ snapshot: RecordSnapshot, to writer: inout JSONWriter) {
        guard let channel else { return }
        writer.key("channel")
        channel.show(MemberCounts(snapshot[MemberCounts.key(channel.id, in: app)]), to: &writer)
    }

    /// Who does something in a channel from which an event of this type comes.
    ///
    /// - Throws: `.malformed` for a name no channel has; `.forbidden` when the caller does not reach channel or type.
    func acting(_ named: String?, in channel: String, for type: String) throws(ChatError) -> Actor {
        try Names.check(channel: channel)
        guard channel != ChannelID.systemName else {
            throw ChatError(.forbidden, "'\(ChannelID.systemName)' is written by the gateway only")
        }
        let actor = try actor(named)
        try caller.demand(channel: channel)
        try caller.demand(type: type)
        return actor
    }
}
