public import ChatModel

extension ChatAccess {
    /// The restriction in force for a user in a channel.
    ///
    /// - Throws: `.notFound`, slug `no_restriction`, when none is in force; `.forbidden` when a user's credential
    ///   requests another user's restriction and is not an operator's.
    public func restriction(of user: String, in channel: String) async throws(ChatError) -> RestrictionRecord {
        try await requireVisibleRestrictions(of: user, in: channel)
        let record = try await directory.read(RestrictionRecord.key(user, channel, in: app))
        guard let restriction = record.flatMap(RestrictionRecord.init), isInForce(restriction) else {
            throw ChatError(
                .notFound, "user '\(user)' is not restricted in channel '\(channel)'", slug: "no_restriction")
        }
        return restriction
    }

    /// The restrictions that ban a user from channels now; the user may not read those channels. Reads nothing in an
    /// app without restrictions.
    ///
    /// - Throws: the errors of the store.
    public func bans(of user: String) async throws(ChatError) -> [RestrictionRecord] {
        guard service.accessCache.restrict(app) else { return [] }
        var query = RecordQuery(.restriction, in: app, limit: limits.pageMost)
        query.idPrefix = RecordKey.prefix([user])
        var bans: [RestrictionRecord] = []
        try await directory.forEachPage(query) { records in
            bans += records.compactMap { RestrictionRecord($0) }.filter { $0.isBanned && isInForce($0) }
        }
        return bans
    }

    /// The restrictions in force in a channel, by user.
    ///
    /// - Throws: `.forbidden` without `read`, when the caller does not reach the channel, and for a user's credential
    ///   unless the user is an operator of the channel; `.malformed` for a bad name or query.
    public func restrictions(in channel: String, _ list: RecordList) async throws(ChatError) -> Page<RestrictionRecord>
    {
        try await requireVisibleRestrictions(in: channel)
        var query = try RecordQuery(.restriction, list, .restrictions, in: app, limits: limits)
        query.parent = channel
        return try await restrictions(query, list)
    }

    /// The restrictions in force for a user, by channel, in the channels that the credential reaches.
    ///
    /// - Throws: `.forbidden` without `read`, and, slug `not_self`, for a user's credential of another user;
    ///   `.malformed` for a bad name or query.
    public func restrictions(of user: String, _ list: RecordList) async throws(ChatError) -> Page<RestrictionRecord> {
        try caller.require(.read)
        try Names.check(user: user)
        try caller.require(self: user)
        var query = try RecordQuery(.restriction, list, .restrictions, in: app, limits: limits)
        query.idPrefix = RecordKey.prefix([user])
        return try await restrictions(query, list)
    }

    /// Lists restrictions in force. A page contains fewer than its limit when some have expired and are not yet
    /// removed.
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

    /// Requires the right to see restrictions. A user's credential sees the user's own, and all restrictions in
    /// channels that the user moderates.
    private func requireVisibleRestrictions(of user: String? = nil, in name: String) async throws(ChatError) {
        try caller.require(.read)
        try requireRecord(of: name)
        guard let own = caller.user else { return }
        if let user, ExactText(user) == ExactText(own) { return }
        guard try await rules(of: name).isOperator(own) else {
            throw ChatError(
                .forbidden, "only an operator of channel '\(name)' sees who is restricted there", slug: "not_operator")
        }
    }
}
