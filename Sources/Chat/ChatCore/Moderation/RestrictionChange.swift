public import ChatModel
import JSON

/// A change of one user's restriction that is being prepared in a decision. A ban also removes the user from the
/// channel's members.
///
/// The channel may be without a record. Such a channel has no members, and all its subscribers receive the events.
struct RestrictionChange {
    let chat: ChatAccess
    let snapshot: RecordSnapshot
    let actor: Actor
    let user: String
    let channel: String
    /// True to send an event to PubNub clients; false when the requesting client publishes the event itself.
    var announcesOnWire = true
    private let record: ChannelRecord?
    private var members: MemberChange?
    private var events: [EventDraft] = []

    static func keys(of user: String, in channel: String, by actor: Actor, _ app: AppID) -> [RecordKey] {
        let keys = MemberChange.keys(of: channel, users: [user], by: actor, in: app)
        return keys + (actor.user.map { [RestrictionRecord.key($0, channel, in: app)] } ?? [])
    }

    init(
        of user: String, in channel: String, _ snapshot: RecordSnapshot, by actor: Actor, _ chat: ChatAccess
    ) throws(ChatError) {
        self.chat = chat
        self.snapshot = snapshot
        self.actor = actor
        self.user = user
        self.channel = channel
        record = snapshot[ChannelRecord.key(channel, in: chat.app)].flatMap(ChannelRecord.init)
        if record != nil { members = try MemberChange(of: channel, snapshot, by: actor, in: chat) }
    }

    /// Requires that the actor is a manager, or an operator of the channel who is not banned or muted in the channel.
    ///
    /// - Throws: `.forbidden` for any other actor.
    func requireRights() throws(ChatError) {
        try actor.requireOperator(of: record)
        guard !actor.isManager, let own = actor.user else { return }
        let rights = snapshot.rights(of: own, in: channel, chat.app)
        let access = rights.access(at: snapshot.now)
        guard access.contains(.muted) else { return }
        throw .restricted(own, in: channel, isBanned: access.contains(.banned), by: rights.restriction)
    }

    var stored: RestrictionRecord? { snapshot.restriction(of: user, in: channel, chat.app) }

    /// Returns the restriction in force; nil when there is none. Announces the end of an expired restriction first, so
    /// that the event of the end comes before later events.
    mutating func current() -> RestrictionRecord? {
        guard let stored else { return nil }
        guard stored.isOver(at: snapshot.now) else { return stored }
        reportEnd(of: stored, reason: "expired")
        return nil
    }

    mutating func put(_ restrictionRequest: RestrictionRequest) -> Decision<RestrictionRecord> {
        let before = current()
        var after = restriction(restrictionRequest, after: before)
        if let before, RestrictionRequest(before) == restrictionRequest { return Decision(before) }
        (after.etag, after.updated) = (snapshot.etag, snapshot.next)
        // The end of a previous ban or mute is announced before the beginning of a new one.
        if let before, before.isBanned, !after.isBanned { report("user.unbanned", after, endReason: "request") }
        if let before, before.isMuted, !after.isMuted { report("user.unmuted", after, endReason: "request") }
        if after.isBanned { report("user.banned", after) }
        if after.isMuted { report("user.muted", after) }
        announce(after)
        return decision(after, writing: after)
    }

    /// Ends the restriction. Does nothing when there is none.
    mutating func lift(reason: String) -> Decision<RestrictionRecord?> {
        guard let stored else { return Decision(nil) }
        reportEnd(of: stored, reason: stored.isOver(at: snapshot.now) ? "expired" : reason)
        var after = stored
        (after.isBanned, after.isMuted, after.reason) = (false, false, nil)
        announce(after)
        return decision(stored, writing: nil)
    }

    private func restriction(
        _ restrictionRequest: RestrictionRequest, after before: RestrictionRecord?
    ) -> RestrictionRecord {
        var after = RestrictionRecord(
            user: user, channel: channel, isBanned: restrictionRequest.isBan, isMuted: restrictionRequest.isMute)
        after.reason = restrictionRequest.reason
        after.until = restrictionRequest.until
        after.moderator = actor.user
        after.since = before?.since ?? snapshot.now
        return after
    }

    private mutating func reportEnd(of restriction: RestrictionRecord, reason: String) {
        var after = restriction
        after.isBanned = false
        after.isMuted = false
        if restriction.isBanned { report("user.unbanned", after, endReason: reason) }
        if restriction.isMuted { report("user.unmuted", after, endReason: reason) }
    }

    private mutating func decision<Value>(_ value: Value, writing after: RestrictionRecord?) -> Decision<Value> {
        let key = RestrictionRecord.key(user, channel, in: chat.app)
        var decision = Decision(value)
        if var members {
            for event in events { members.add(event) }
            if after?.isBanned ?? false {
                members.leave(user, reason: actor.user == nil ? "ADMIN_REMOVED" : "CHANNEL_OPERATOR_REMOVED")
                members.setOperator(user, false)
            }
            decision = members.decision(value)
        } else {
            decision.events = events
        }
        decision.changes.insert(RecordChange(key, body: after?.body, parent: channel), at: 0)
        return decision
    }
}

extension RestrictionChange {
    /// Announces the restriction to PubNub clients, on the user's moderation channel. The event has the form in which
    /// these clients publish restrictions themselves.
    private mutating func announce(_ restriction: RestrictionRecord) {
        guard announcesOnWire else { return }
        let type = restriction.isBanned ? "user.banned" : restriction.isMuted ? "user.muted" : "user.unbanned"
        events.append(
            chat.draft(
                type, on: ChatAccess.moderationChannel(ofUser: user), kind: .message, by: actor.user, audience: .wire
            ) { writer in
                writer.key("restriction")
                restriction.show(to: &writer)
            })
    }

    /// Adds the event of a restriction that began or ended.
    ///
    /// - Parameter endReason: the reason why the restriction ended; nil when it began.
    private mutating func report(_ type: String, _ restriction: RestrictionRecord, endReason: String? = nil) {
        events.append(
            chat.draft(type, on: channel, by: actor.user, audience: audience) { writer in
                writer.key("restriction")
                restriction.show(to: &writer)
                if let endReason { writer.member("end_reason", endReason) }
                writer.key("user")
                reference(to: user).printReference(to: &writer)
                printModerator(to: &writer)
                guard let record else { return }
                writer.key("channel")
                record.show(members?.counts ?? MemberCounts(), to: &writer)
            })
    }

    private func printModerator(to writer: inout JSONWriter) {
        guard let moderator = actor.user else { return writer.nullMember("moderator") }
        writer.key("moderator")
        reference(to: moderator).printReference(to: &writer)
    }

    /// The audience of the events: the users inside an open channel, the joined members of any other channel, or all
    /// subscribers of a channel without a record. The restricted user also receives them, on every device.
    private var audience: Audience {
        // The audience is a rule, because streams evaluate events that change an audience only when they have a rule.
        guard let record else { return .rule(.channelList, subjects: [user]) }
        return .rule(record.kind.hasMembers ? .joinedAndSubjects : .participantsAndSubjects, subjects: [user])
    }

    private func reference(to user: String) -> UserRecord {
        snapshot[UserRecord.key(user, in: chat.app)].flatMap(UserRecord.init) ?? UserRecord(id: user)
    }
}

extension RestrictionRequest {
    fileprivate init(_ restriction: RestrictionRecord) {
        self.init(
            isBan: restriction.isBanned, isMute: restriction.isMuted, reason: restriction.reason,
            until: restriction.until)
    }
}

extension ChatService {
    /// Ends restrictions when they expire, until cancelled.
    func endRestrictions() async {
        for await _ in restrictionEnds.arrivals {
            while !Task.isCancelled, restrictionEnds.isExpecting {
                // Waiting for the next expiry would miss a jump of the wall clock, or an earlier expiry that is added.
                // A check each second is cheap and handles both cases.
                try? await Task.sleep(for: .seconds(1))
                await sweepRestrictions()
            }
        }
    }

    /// Ends expired restrictions. Each end is announced once, although every node calls this: only one decision finds
    /// the record. Nothing is announced for a restriction that was lifted or extended meanwhile.
    func sweepRestrictions() async {
        // Without the revision, the expiries that are already known are handled.
        if let revision = try? await engine.directory.revision() { await restrictionEnds.reach(revision) }
        await restrictionEnds.sweep { key throws(ChatError) in
            let record = try await engine.directory.read(key)
            guard let known = record.flatMap({ RestrictionRecord($0) }) else { return nil }
            let (user, channel, app) = (known.user, known.channel, key.app)
            let chat = chat(for: .gateway(in: app))
            let actor = Actor(user: nil, isManager: true)
            let keys = RestrictionChange.keys(of: user, in: channel, by: actor, app)
            return try await decide(keys) { snapshot throws(ChatError) in
                var change = try RestrictionChange(of: user, in: channel, snapshot, by: actor, chat)
                guard let stored = change.stored, stored.isOver(at: snapshot.now) else {
                    return Decision<RestrictionRecord?>(change.stored)
                }
                var decision = change.lift(reason: "expired")
                decision.value = nil
                return decision
            }.value
        }
    }
}

/// A request to restrict a user in a channel. The new restriction replaces a previous restriction.
public struct RestrictionRequest: Sendable, Equatable {
    /// True to ban the user: the user may not write or receive events, and is no longer a member.
    public var isBan: Bool
    /// True to mute the user: the user may not write.
    public var isMute: Bool
    /// The reason for the restriction, as free text; nil for none.
    public var reason: String?
    /// The time at which the restriction ends; nil when it is in force until it is lifted.
    public var until: Timetoken?

    /// Creates a request. At least one of `isBan` and `isMute` must be true.
    public init(isBan: Bool = false, isMute: Bool = false, reason: String? = nil, until: Timetoken? = nil) {
        self.isBan = isBan
        self.isMute = isMute
        self.reason = reason
        self.until = until
    }
}
