import ChatModel
import JSON

/// Describes one kind of channel values, metadata or metacounters: the kind of their record, and the form of the values
/// in the record and in events.
struct ValueKind<Value: Equatable & Sendable>: Sendable {
    let kind: RecordKind
    /// The prefix of the types of the events, such as `channel.metadata` in `channel.metadata.updated`.
    let subject: String
    /// The member of the event's `data` that contains the values.
    let member: StaticString
    let read: @Sendable (JSONValue) -> Value?
    let print: @Sendable (Value, inout JSONWriter) -> Void
}

/// The context of a change of a channel's values: the actor, the keys of the records, and the required version.
struct ChannelValuesContext<Value: Equatable & Sendable>: Sendable {
    let kind: ValueKind<Value>
    let channel: String
    let actor: Actor
    let key: RecordKey
    let channelKey: RecordKey
    let countsKey: RecordKey
    let etag: String?
    /// True when only an operator of the channel may make the change.
    let isGuarded: Bool
}

extension ChatAccess {
    func values<Value>(
        _ kind: ValueKind<Value>, of channel: String
    ) async throws(ChatError) -> (values: [ExactText: Value], etag: String) {
        try await requireAccess(of: channel)
        let record = try await directory.read(RecordKey(kind.kind, channel, in: app))
        return (ChannelValues(record, kind.read).values, record?.etag ?? "0")
    }

    func context<Value>(
        _ kind: ValueKind<Value>, of channel: String, _ verb: String, by named: String?, ifMatch etag: String?,
        isGuarded: Bool
    ) throws(ChatError) -> ChannelValuesContext<Value> {
        ChannelValuesContext(
            kind: kind, channel: channel, actor: try acting(named, in: channel, for: "\(kind.subject).\(verb)"),
            key: RecordKey(kind.kind, channel, in: app), channelKey: ChannelRecord.key(channel, in: app),
            countsKey: MemberCounts.key(channel, in: app), etag: etag, isGuarded: isGuarded)
    }

    /// Changes values in one commit. Created, updated and removed keys are announced by separate events.
    func change<Value>(
        _ context: ChannelValuesContext<Value>, more: @escaping @Sendable (inout JSONWriter) -> Void = { _ in },
        _ change: @escaping @Sendable (inout ChannelValues<Value>) throws(ChatError) -> ChannelValues<Value>.Change
    ) async throws(ChatError) -> ChannelValues<Value>.Change {
        let rights = rightsKeys(of: context.actor.user, in: context.channel)
        return try await decide([context.key, context.channelKey, context.countsKey] + rights) {
            snapshot throws(ChatError) in
            try self.require(.writing, of: context.actor.user, in: context.channel, snapshot)
            let audience = try context.audience(snapshot)
            var values = ChannelValues(snapshot[context.key], context.kind.read)
            let made = try change(&values)
            var decision = Decision(made)
            for (verb, part) in [("created", made.created), ("updated", made.updated)] where !part.isEmpty {
                decision.events.append(
                    self.draft(
                        "\(context.kind.subject).\(verb)", on: context.channel, kind: .recordChange,
                        by: context.actor.user,
                        audience: audience
                    ) { writer in
                        writer.member(context.kind.member, ChannelValues.object(part, context.kind.print))
                        if verb == "updated" { more(&writer) }
                        self.printChannel(context.channelRecord(snapshot), snapshot, to: &writer)
                    })
            }
            if !made.removed.isEmpty {
                decision.events.append(self.removal(of: made.removed, context, audience, snapshot))
            }
            if !made.touched.isEmpty || !made.removed.isEmpty {
                let body = values.values.isEmpty ? nil : values.body(context.kind.print)
                decision.changes = [RecordChange(context.key, body: body)]
            }
            return decision
        }.value
    }

    /// Removes values. Keys that do not exist are ignored.
    ///
    /// - Parameter keys: the keys to remove; nil removes all.
    /// - Returns: the keys that were removed.
    func remove<Value>(_ keys: [String]?, _ context: ChannelValuesContext<Value>) async throws(ChatError) -> [String] {
        try await decide([context.key, context.channelKey, context.countsKey]) { snapshot throws(ChatError) in
            let audience = try context.audience(snapshot)
            var values = ChannelValues(snapshot[context.key], context.kind.read)
            let gone = values.remove(keys)
            guard !gone.isEmpty else { return Decision(gone) }
            let body = values.values.isEmpty ? nil : values.body(context.kind.print)
            return Decision(
                gone, changes: [RecordChange(context.key, body: body)],
                events: [self.removal(of: gone, context, audience, snapshot)])
        }.value
    }

    private func removal<Value>(
        of keys: [String], _ context: ChannelValuesContext<Value>, _ audience: Audience, _ snapshot: RecordSnapshot
    ) -> EventDraft {
        draft(
            "\(context.kind.subject).deleted", on: context.channel, kind: .recordChange, by: context.actor.user,
            audience: audience
        ) { writer in
            writer.member("keys", keys)
            printChannel(context.channelRecord(snapshot), snapshot, to: &writer)
        }
    }

    /// Checks the keys of a request: there must be 1 to `Limits.valuesPerChannel` keys, each 1 to 128 characters long.
    ///
    /// - Parameter member: the member of the request that contains the keys, for errors.
    /// - Throws: `.malformed` for an invalid number or length.
    func check(_ keys: some Collection<ExactText>, of member: String) throws(ChatError) {
        guard (1...limits.valuesPerChannel).contains(keys.count) else {
            throw ChatError(.malformed, "\(member) must have 1 to \(limits.valuesPerChannel) keys", field: member)
        }
        for key in keys { try Self.check(key.text, "a key", 1...128, field: member) }
    }
}

extension ChannelValuesContext {
    /// Checks that the actor may change the values and that the stored values have the required version. Then returns
    /// the audience of the events that announce the change.
    ///
    /// - Throws: `.forbidden` with the slug `not_operator`; `.stale` when the version differs.
    fileprivate func audience(_ snapshot: RecordSnapshot) throws(ChatError) -> Audience {
        let channel = channelRecord(snapshot)
        if isGuarded { try actor.requireOperator(of: channel) }
        if let etag, etag != snapshot[key]?.etag ?? "0" {
            throw ChatError(
                .stale, "the values have changed since they were read; read them again, and repeat the change")
        }
        return channel.audience(members: .joined, inside: .participants)
    }

    fileprivate func channelRecord(_ snapshot: RecordSnapshot) -> ChannelRecord? {
        snapshot[channelKey].flatMap { ChannelRecord($0) }
    }
}
