public import ChatModel

extension ChatAccess {
    /// Members of a channel, invited ones too; none where it has no record.
    public func members(of channel: String, _ list: RecordList) async throws(ChatError) -> Page<MembershipRecord> {
        try await demandSight(of: channel)
        var query = try RecordQuery(.membership, list, .memberships, in: app, limits: limits)
        query.parent = channel
        var list = list
        // Members of a former channel of the name would count as well.
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

    /// One member; nil when the user is none.
    public func member(_ user: String, of channel: String) async throws(ChatError) -> MembershipRecord? {
        try await demandSight(of: channel)
        try Names.check(user: user)
        let member = try await directory.read(MembershipRecord.key(user, channel, in: app)).flatMap(
            MembershipRecord.init)
        return member.flatMap { service.pendingDeletions.hide($0, in: app) ? nil : $0 }
    }

    /// The channels a user is a member of or invited to, as far as the caller reaches them.
    public func memberships(of user: String, _ list: RecordList) async throws(ChatError) -> Page<MembershipRecord> {
        try caller.demand(.read)
        try Names.check(user: user)
        try caller.demand(self: user)
        var query = try RecordQuery(.membership, list, .memberships, in: app, limits: limits)
        query.idPrefix = MembershipRecord.prefix(of: user)
        var list = list
        list.wantsTotal = list.wantsTotal && caller.channels.contains(.all)
        return try await page(query, list) { caller.reads(channel: $0.channel) && !service.pendingDeletions.hide($0, in: app) }
    }
}
