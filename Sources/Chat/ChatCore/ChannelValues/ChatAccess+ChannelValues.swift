import ChatModel
import JSON

/// How the two kinds of values are kept and told of.
struct ValueKind<Value: Equatable & Sendable>: Sendable {
    let kind: RecordKind
    /// What the events' types begin with.
    let subject: String
    /// The member of `data` that holds the values.
    let member: StaticString
    let read: @Sendable (JSONValue) -> Value?
    let print: @Sendable (Value, inout JSONWriter) -> Void
}

/// What somebody wants done to a channel's values.
struct ValueScene<Value: Equatable & Sendable>: Sendable {
    let kind: ValueKind<Value>
    let channel: String
    let actor: Actor
    let key: RecordKey
    let channelKey: RecordKey
    let countsKey: RecordKey
    let etag: String?
    /// Whether only who moderates the channel may.
    let isGuarded: Bool
}

extension ChatAccess {
    func values<Value>(
        _ kind: ValueKind<Value>, of channel: String
    ) async throws(ChatError) -> (values: [ExactText: Value], etag: String) {
        try await demandHearing(of: channel)
        let record = try await directory.read(RecordKey(kind.kind, channel, in: app))
        return (ChannelValues(record, kind.read).values, record?.etag ?? "0")
    }

    func scene<Value>(
        _ kind: ValueKind<Value>, of channel: String, _ verb: String, by named: String?, ifMatch etag: String?,
        isGuarded: Bool
    ) throws(ChatError) -> ValueScene<Value> {
        ValueScene(
            kind: kind, channel: channel, actor: try acting(named, in: channel, for: "\(kind.subject).\(verb)"),
            key: RecordKey(kind.kind, channel, in: app), channelKey: ChannelRecord.key(channel, in: app),
            countsKey: MemberCounts.key(channel, in: app), etag: etag, isGuarded: isGuarded)
    }

    /// Changes values in one step; keys that are new and keys that had a value are told of apart.
    func change<Value>(
        _ scene: ValueScene<Value>, more: @escaping @Sendable (inout JSONWriter) -> Void = { _ in },
        _ change: @escaping @Sendable (inout ChannelValues<Value>) throws(ChatError) -> ChannelValues<Value>.Change
    ) async throws(ChatError) -> ChannelValues<Value>.Change {
        let standing = standingKeys(of: scene.actor.user, in: scene.channel)
        return try await decide([scene.key, scene.channelKey, scene.countsKey] + standing) {
            situation throws(ChatError) in
            try self.demand(.writing, of: scene.actor.user, in: scene.channel, situation)
            let audience = try scene.audience(situation)
            var values = ChannelValues(situation[scene.key], scene.kind.read)
            let made = try change(&values)
            var decision = Decision(made)
            for (verb, part) in [("created", made.created), ("updated", made.updated)] where !part.isEmpty {
                decision.events.append(
                    self.draft(
                        "\(scene.kind.subject).\(verb)", on: scene.channel, kind: .recordChange, by: scene.actor.user,
                        audience: audience
                    ) { writer in
                        writer.member(scene.kind.member, ChannelValues.object(part, scene.kind.print))
                        if verb == "updated" { more(&writer) }
                        self.printChannel(scene.channelRecord(situation), situation, to: &writer)
                    })
            }
            if !made.removed.isEmpty {
                decision.events.append(self.removal(of: made.removed, scene, audience, situation))
            }
            if !made.touched.isEmpty || !made.removed.isEmpty {
                let body = values.values.isEmpty ? nil : values.body(scene.kind.print)
                decision.changes = [RecordChange(scene.key, body: body)]
            }
            return decision
        }.value
    }

    /// - Parameter keys: nil removes all of them.
    /// - Returns: which are gone; harmless where there were none.
    func remove<Value>(_ keys: [String]?, _ scene: ValueScene<Value>) async throws(ChatError) -> [String] {
        try await decide([scene.key, scene.channelKey, scene.countsKey]) { situation throws(ChatError) in
            let audience = try scene.audience(situation)
            var values = ChannelValues(situation[scene.key], scene.kind.read)
            let gone = values.remove(keys)
            guard !gone.isEmpty else { return Decision(gone) }
            let body = values.values.isEmpty ? nil : values.body(scene.kind.print)
            return Decision(
                gone, changes: [RecordChange(scene.key, body: body)],
                events: [self.removal(of: gone, scene, audience, situation)])
        }.value
    }

    private func removal<Value>(
        of keys: [String], _ scene: ValueScene<Value>, _ audience: Audience, _ situation: Situation
    ) -> EventDraft {
        draft(
            "\(scene.kind.subject).deleted", on: scene.channel, kind: .recordChange, by: scene.actor.user,
            audience: audience
        ) { writer in
            writer.member("keys", keys)
            printChannel(scene.channelRecord(situation), situation, to: &writer)
        }
    }

    /// 1 to 100 keys of 1 to 128 characters.
    ///
    /// - Parameter member: the member that has them.
    func check(_ keys: some Collection<ExactText>, of member: String) throws(ChatError) {
        guard (1...limits.valuesPerChannel).contains(keys.count) else {
            throw ChatError(.malformed, "\(member) must have 1 to \(limits.valuesPerChannel) keys", field: member)
        }
        for key in keys { try Self.check(key.text, "a key", 1...128, field: member) }
    }
}

extension ValueScene {
    /// Who hears of it, if the actor may do it and the values are at the demanded version.
    fileprivate func audience(_ situation: Situation) throws(ChatError) -> Audience {
        let channel = channelRecord(situation)
        if isGuarded { try actor.demandOperator(of: channel) }
        if let etag, etag != situation[key]?.etag ?? "0" {
            throw ChatError(.stale, "the values have changed since they were read; read them again")
        }
        return channel.audience(members: .joined, inside: .participants)
    }

    fileprivate func channelRecord(_ situation: Situation) -> ChannelRecord? {
        situation[channelKey].flatMap { ChannelRecord($0) }
    }
}
