public import ChatModel

extension ChatAccess {
    /// Returns the restriction in force for a user in a channel.
    ///
    /// - Throws: `.notFound` with the slug `no_restriction` when no restriction is in force; `.forbidden` with the slug
    ///   `not_operator` when the credential of a user who is not an operator of the channel requests another user's
    ///   restriction.
    public func restriction(of user: String, in channel: String) async throws(ChatError) -> RestrictionRecord {
        try await requireVisibleRestrictions(of: user, in: channel)
        let record = try await directory.read(RestrictionRecord.key(user, channel, in: app))
        guard let restriction = record.flatMap(RestrictionRecord.init), isInForce(restriction) else {
            throw ChatError(
                .notFound, "user '\(user)' is not restricted in channel '\(channel)'", slug: "no_restriction")
        }
        return restriction
    }

    /// True when a user of the app may be banned from a channel; false when the app has no restrictions.
    public var mayHaveBans: Bool { service.accessCache.restrict(app) }

    /// Returns the bans of a user that are in force, in all channels. The user may not read these channels. In an app
    /// without restrictions, this method reads nothing from the store.
    ///
    /// - Throws: the errors of the store.
    public nonisolated(nonsending) func bans(of user: String) async throws(ChatError) -> [RestrictionRecord] {
        guard mayHaveBans else { return [] }
        var query = RecordQuery(.restriction, in: app, limit: limits.pageMost)
        query.idPrefix = RecordKey.prefix([user])
        var bans: [RestrictionRecord] = []
        try await directory.forEachPage(query) { records in
            bans += records.compactMap { RestrictionRecord($0) }.filter { $0.isBanned && isInForce($0) }
        }
        return bans
    }

    /// Returns one page of the restrictions in force in a channel, ordered by user.
    ///
    /// - Throws: `.forbidden` without the scope `read`, when the caller's patterns do not cover the channel, and for
    ///   the credential of a user who is not an operator of the channel; `.malformed` for a bad name or query.
    public func restrictions(in channel: String, _ list: RecordList) async throws(ChatError) -> Page<RestrictionRecord>
    {
        try await requireVisibleRestrictions(in: channel)
        var query = try RecordQuery(.restriction, list, .restrictions, in: app, limits: limits)
        query.parent = channel
        return try await restrictions(query, list)
    }

    /// Returns one page of the restrictions in force for a user, ordered by channel. Channels that the caller's
    /// patterns do not cover are left out.
    ///
    /// - Throws: `.forbidden` without the scope `read`; `.forbidden` with the slug `not_self` when a user's credential
    ///   requests another user's restrictions; `.malformed` for a bad name or query.
    public func restrictions(of user: String, _ list: RecordList) async throws(ChatError) -> Page<RestrictionRecord> {
        try caller.require(.read)
        try Names.check(user: user)
        try caller.require(self: user)
        var query = try RecordQuery(.restriction, list, .restrictions, in: app, limits: limits)
        query.idPrefix = RecordKey.prefix([user])
        return try await restrictions(query, list)
    }

    /// Returns one page of the restrictions in force. Expired restrictions that are still stored are left out, so the
    /// page may be shorter than its limit.
    private func restrictions(
        _ query: RecordQuery, _ list: RecordList
    ) async throws(ChatError) -> Page<RestrictionRecord> {
        try await page(query, list, .restrictions, created: \.since, show: { $0.show(to: &$1) }) { records in
            records.map { record in
                RestrictionRecord(record).flatMap { restriction in
                    isInForce(restriction) && caller.reads(channel: restriction.channel) ? restriction : nil
                }
            }
        }
    }

    private func isInForce(_ restriction: RestrictionRecord) -> Bool {
        !restriction.isOver(at: service.clock.now) && !service.pendingDeletions.hide(restriction, in: app)
    }

    /// Requires the right to see restrictions in a channel. A user's credential may see the user's own restriction, and
    /// all restrictions in channels of which the user is an operator.
    private func requireVisibleRestrictions(of user: String? = nil, in name: String) async throws(ChatError) {
        try caller.require(.read)
        try requireRecord(of: name)
        guard let own = caller.user else { return }
        if let user, ExactText(user) == ExactText(own) { return }
        try await service.confirmingRefusal { () async throws(ChatError) in
            guard try await rules(of: name).isOperator(own) else {
                throw ChatError(
                    .forbidden, "only an operator of channel '\(name)' may see its restricted users",
                    slug: "not_operator")
            }
        }
    }
}
