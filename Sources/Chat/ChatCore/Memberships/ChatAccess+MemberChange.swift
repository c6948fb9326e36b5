import ChatModel

extension ChatAccess {
    /// Changes one user's membership.
    func changeMember(
        _ user: String, of channel: String, by named: String?,
        _ body: @escaping @Sendable (inout MemberChange) throws(ChatError) -> Void
    ) async throws(ChatError) -> Written<MembershipRecord> {
        let decided = try await withMembers([user], of: channel, by: named, body)
        guard let membership = decided.value[ExactText(user)] else { throw .noChannelRecord(channel) }
        return Written(record: membership, isNew: decided.wasAbsent)
    }

    /// What a change of members came to.
    struct MemberChangeResult: Sendable {
        /// Of the users named, as they are stored now.
        var value: [ExactText: MembershipRecord]
        /// Whether none of them was a member before.
        var wasAbsent: Bool
    }

    /// Decides about members of a channel in one step: counts, records and events of any number at once come out exact.
    @discardableResult func withMembers(
        _ users: [String], of channel: String, by named: String?,
        _ body: @escaping @Sendable (inout MemberChange) throws(ChatError) -> Void
    ) async throws(ChatError) -> MemberChangeResult {
        try demandRecord(of: channel)
        for user in users { try Names.check(user: user) }
        let actor = try actor(named)
        let keys = MemberChange.keys(of: channel, users: users, by: actor, in: app)
        let decided = try await decide(keys) { snapshot throws(ChatError) in
            var change = try MemberChange(of: channel, snapshot, by: actor, in: self)
            try change.demandMembers()
            let wasAbsent = users.allSatisfy { change.membership(of: $0) == nil }
            try body(&change)
            var after: [ExactText: MembershipRecord] = [:]
            for user in users { after[ExactText(user)] = change.membership(of: user) }
            return change.decision(MemberChangeResult(value: after, wasAbsent: wasAbsent))
        }
        return decided.value.stamped(by: decided)
    }

    /// - Throws: `.malformed` for none, `.invalid` over `Limits.membersPerCall`.
    func distinct(_ users: [String]) throws(ChatError) -> [String] {
        var seen: Set<ExactText> = []
        let users = users.filter { seen.insert(ExactText($0)).inserted }
        guard !users.isEmpty else {
            throw ChatError(.malformed, "users must name at least one user", slug: "bad_member", field: "users")
        }
        guard users.count <= limits.membersPerCall else {
            throw .over(
                .invalid, "one call takes at most \(limits.membersPerCall) users; send the rest in further calls",
                slug: "too_many_users", limit: limits.membersPerCall, field: "users")
        }
        return users
    }
}

extension ChatAccess.MemberChangeResult {
    /// With the versions and times that the store gave.
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
    /// - Throws: `.invalid` over `Limits.operatorsPerChannel`.
    func checkOperators() throws(ChatError) { try chat.check(operators: channel.operators) }
}

extension ChatAccess {
    func check(operators: [String]) throws(ChatError) {
        guard operators.count > limits.operatorsPerChannel else { return }
        throw .over(
            .invalid, "a channel has at most \(limits.operatorsPerChannel) operators", slug: "too_many_operators",
            limit: limits.operatorsPerChannel)
    }
}
