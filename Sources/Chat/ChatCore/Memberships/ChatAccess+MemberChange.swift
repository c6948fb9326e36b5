public import ChatModel
import JSON

extension ChatAccess {
    /// Changes the membership of one user, and returns it as it is stored.
    func changeMember(
        _ user: String, of channel: String, by named: String?,
        _ body: @escaping @Sendable (inout MemberChange) throws(ChatError) -> Void
    ) async throws(ChatError) -> Written<MembershipRecord> {
        let decided = try await withMembers([user], of: channel, by: named, body)
        guard let membership = decided.value[ExactText(user)] else { throw .noChannelRecord(channel) }
        return Written(record: membership, isNew: decided.wasAbsent)
    }

    /// The result of a change of members.
    struct MemberChangeResult: Sendable {
        /// The memberships of the given users after the change, by user.
        var value: [ExactText: MembershipRecord]
        /// True when none of the given users was a member before.
        var wasAbsent: Bool
    }

    /// Changes memberships of a channel in one commit. Counts, records and events are exact, even when other changes
    /// run concurrently.
    @discardableResult func withMembers(
        _ users: [String], of channel: String, by named: String?,
        _ body: @escaping @Sendable (inout MemberChange) throws(ChatError) -> Void
    ) async throws(ChatError) -> MemberChangeResult {
        try requireRecord(of: channel)
        for user in users { try Names.check(user: user) }
        let actor = try actor(named)
        let keys = MemberChange.keys(of: channel, users: users, by: actor, in: app)
        let decided = try await decide(keys) { snapshot throws(ChatError) in
            var change = try MemberChange(of: channel, snapshot, by: actor, in: self)
            try change.requireMembers()
            let wasAbsent = users.allSatisfy { change.membership(of: $0) == nil }
            try body(&change)
            var after: [ExactText: MembershipRecord] = [:]
            for user in users { after[ExactText(user)] = change.membership(of: user) }
            return change.decision(MemberChangeResult(value: after, wasAbsent: wasAbsent))
        }
        return decided.value.stamped(by: decided)
    }

    /// Returns the users without duplicates, in the same order.
    ///
    /// - Throws: `.malformed` for an empty list; `.invalid` for more than `Limits.membersPerCall` users.
    func distinct(_ users: [String]) throws(ChatError) -> [String] {
        var seen: Set<ExactText> = []
        let users = users.filter { seen.insert(ExactText($0)).inserted }
        guard !users.isEmpty else {
            throw ChatError(.malformed, "'users' must name at least one user", slug: "bad_member", field: "users")
        }
        guard users.count <= limits.membersPerCall else {
            throw .over(
                .invalid,
                "one request may name at most \(limits.membersPerCall) users; send the rest in further requests",
                slug: "too_many_users", limit: limits.membersPerCall, field: "users")
        }
        return users
    }
}

extension ChatAccess.MemberChangeResult {
    /// Returns the result with the versions and times that the store has assigned.
    func stamped(by decided: Decided<Self>) -> Self {
        var after = self
        for record in decided.records where record.key.kind == .membership {
            guard let membership = MembershipRecord(record) else { continue }
            if after.value[ExactText(membership.user)] != nil { after.value[ExactText(membership.user)] = membership }
        }
        return after
    }
}

extension MemberChange {
    /// Checks the number of operators.
    ///
    /// - Throws: `.invalid` for more than `Limits.operatorsPerChannel` operators.
    func checkOperators() throws(ChatError) { try chat.check(operators: channel.operators) }
}

extension ChatAccess {
    func check(operators: [String]) throws(ChatError) {
        guard operators.count > limits.operatorsPerChannel else { return }
        throw .over(
            .invalid, "a channel may have at most \(limits.operatorsPerChannel) operators; remove an operator first",
            slug: "too_many_operators",
            limit: limits.operatorsPerChannel)
    }
}

extension ChatAccess {
    /// Returns one page of the members of a channel, including invited users; empty for a channel without a record.
    ///
    /// - Throws: `.forbidden` without the scope `read`, and when the caller may not read the channel's members;
    ///   `.malformed` for a bad name or query.
    public func members(of channel: String, _ list: RecordList) async throws(ChatError) -> Page<MembershipRecord> {
        try await requireVisible(of: channel)
        let fields =
            caller.user == nil ? RecordFields.members : .members.showing(publicUserFields, prefix: "user:")
        var query = try RecordQuery(.membership, list, fields, in: app, limits: limits)
        query.parent = channel
        var list = list
        // The store's total would include members of a deleted channel with the same name.
        if service.pendingDeletions.concern(self.channel(channel)) { list.wantsTotal = false }
        return try await page(query, list) { !service.pendingDeletions.hide($0, in: app) }
    }

    private func page(
        _ query: RecordQuery, _ list: RecordList, _ isSeen: @escaping @Sendable (MembershipRecord) -> Bool
    ) async throws(ChatError) -> Page<MembershipRecord> {
        try await page(query, list, .memberships, created: \.created, show: { [caller] in $0.show(to: caller, &$1) }) {
            records in
            records.map { record in MembershipRecord(record).flatMap { isSeen($0) ? $0 : nil } }
        }
    }

    /// Returns the membership of one user; nil when the user is not a member.
    ///
    /// - Throws: `.forbidden` without the scope `read`, and when the caller may not read the channel's members;
    ///   `.malformed` for a bad name.
    public func member(_ user: String, of channel: String) async throws(ChatError) -> MembershipRecord? {
        try await requireVisible(of: channel)
        try Names.check(user: user)
        let member = try await directory.read(MembershipRecord.key(user, channel, in: app)).flatMap(
            MembershipRecord.init)
        return member.flatMap { service.pendingDeletions.hide($0, in: app) ? nil : $0 }
    }

    /// Returns one page of the memberships and invitations of a user. Channels that the caller's patterns do not cover
    /// are left out.
    ///
    /// - Throws: `.forbidden` without the scope `read`; `.forbidden` with the slug `not_self` when a user's credential
    ///   requests another user's memberships; `.malformed` for a bad name or query.
    public func memberships(of user: String, _ list: RecordList) async throws(ChatError) -> Page<MembershipRecord> {
        try caller.require(.read)
        try Names.check(user: user)
        try caller.require(self: user)
        var query = try RecordQuery(.membership, list, .memberships, in: app, limits: limits)
        query.idPrefix = MembershipRecord.prefix(of: user)
        var list = list
        list.wantsTotal = list.wantsTotal && caller.channels.contains(.all)
        return try await page(query, list) {
            caller.reads(channel: $0.channel) && !service.pendingDeletions.hide($0, in: app)
        }
    }
}

extension ChatAccess {
    /// Creates the events that send a changed membership to PubNub clients: one event on the channel, and one on the
    /// user's own channel. Native clients receive the event that describes the change instead.
    ///
    /// - Parameters:
    ///   - isGone: true when the membership has ended.
    ///   - version: the timetoken of the change, which is also the record's `updated`.
    func wireEvents(
        of membership: MembershipRecord, isGone: Bool = false, by user: String?, at version: Timetoken
    ) -> [EventDraft] {
        let data = JSONText { writer in
            writer.beginObject()
            writer.member("version", version.description)
            writer.key("membership")
            writer.beginObject()
            membership.printMembers(to: &writer)
            writer.endObject()
            writer.endObject()
        }
        var places = [membership.channel]
        if ExactText(membership.channel) != ExactText(membership.user) { places.append(membership.user) }
        return places.map { place in
            var draft = EventDraft(
                channel: channel(place), type: isGone ? BuiltInTypes.membershipRemoved : BuiltInTypes.membershipSet,
                kind: .recordChange, retention: .passing, data: data, user: user)
            draft.audience = .wire
            return draft
        }
    }
}
