public import ChatModel

extension ChatAccess {
    /// Returns one page of the channels with a record. Channels that the caller may not see are left out. So a page may
    /// have fewer channels than its limit. The total is returned only to callers whose patterns cover all channels.
    ///
    /// - Parameters:
    ///   - isForUsers: true to leave out private channels even for a credential without a user. Used for a request with
    ///     a PubNub access token, because users have such tokens.
    ///   - user: the user that the PubNub access token names; nil for none. The private channels of which the user is a
    ///     member are included.
    /// - Throws: `.forbidden` without the scope `read`; `.malformed` for a bad query; the errors of the store.
    public func channels(
        _ list: RecordList, isForUsers: Bool = false, of user: String? = nil
    ) async throws(ChatError) -> Page<ChannelView> {
        try caller.require(.read)
        var query = try RecordQuery(.channel, list, .channels, in: app, limits: limits)
        var list = list
        list.wantsTotal = list.wantsTotal && caller.channels.contains(.all)
        // These conditions are part of the store's query. So neither the page length, the cursor nor the total reveals
        // a channel that is left out.
        let user = caller.user ?? user
        if isForUsers || caller.user != nil { query.add(.known(to: user)) }
        if let reach = caller.reach { query.add(reach) }
        return try await page(query, list, .channels, created: \.channel.created, show: { $0.show(to: &$1) }) {
            records async throws(ChatError) in
            let found = records.map { ChannelRecord($0) }
            let reached = found.compactMap(\.self).filter { caller.reads(channel: $0.id) }
            let channels = try await known(reached, to: user)
            let counts = try await directory.read(channels.map { MemberCounts.key($0.id, in: app) })
            var views: [ExactText: ChannelView] = [:]
            for (channel, counts) in zip(channels, counts) {
                views[ExactText(channel.id)] = ChannelView(channel: channel, counts: MemberCounts(counts))
            }
            return found.map { $0.flatMap { views[ExactText($0.id)] } }
        }
    }

    /// Returns the records of the channels `names`, in the order of `names`; nil for a channel without a record, and
    /// for a channel that the caller may not see.
    ///
    /// - Throws: `.forbidden` without the scope `read`; the errors of the store.
    public func channels(named names: [String]) async throws(ChatError) -> [ChannelRecord?] {
        try caller.require(.read)
        let records = try await directory.read(names.map { ChannelRecord.key($0, in: app) })
        let channels = records.map { $0.flatMap(ChannelRecord.init) }
        let reached = channels.compactMap(\.self).filter { caller.reads(channel: $0.id) }
        let known = Set(try await known(reached, to: caller.user).map { ExactText($0.id) })
        return channels.map { channel in channel.flatMap { known.contains(ExactText($0.id)) ? $0 : nil } }
    }

    /// Returns the channels of `names` that the caller may see.
    func known(_ names: [String]) async throws(ChatError) -> [String] {
        guard let user = caller.user, service.accessCache.hasRules(app) else { return names }
        var known: [String] = []
        for name in names where try await refusal(to: .knowing, of: user, in: name) == nil { known.append(name) }
        return known
    }

    /// Returns the given channels that a user may see; all given channels when `user` is nil.
    private func known(_ channels: [ChannelRecord], to user: String?) async throws(ChatError) -> [ChannelRecord] {
        guard let user else { return channels }
        let closed = channels.filter { $0.kind.isPrivate }
        let memberships = try await directory.read(closed.map { MembershipRecord.key(user, $0.id, in: app) })
        var hidden: Set<ExactText> = []
        for (channel, membership) in zip(closed, memberships) {
            let rights = UserRights(
                of: ExactText(user), in: self.channel(channel.id), membership: membership, service.pendingDeletions)
            if !rights.access(at: service.clock.now).mayKnow(channel.kind) { hidden.insert(ExactText(channel.id)) }
        }
        return channels.filter { !hidden.contains(ExactText($0.id)) }
    }
}

extension RecordFilter {
    /// A filter for the channels that a user may see, by the rule of ``UserAccess/mayKnow(_:)``. It selects every
    /// channel that is not private, and the channel with the user's own name. It also selects private channels of which
    /// the user is a member or to which the user is invited. When `user` is nil, it selects only channels that are not
    /// private.
    fileprivate static func known(to user: String?) -> RecordFilter {
        let kinds = ChannelKind.allCases.filter(\.isPrivate)
        let isPrivate = RecordFilter.or(kinds.map { .compare(field: "kind", .equal, .string($0.rawValue)) })
        guard let user else { return .not(isPrivate) }
        let isIn = RecordFilter.beside(.membership, idPrefix: MembershipRecord.prefix(of: user))
        return .or([.not(isPrivate), isIn, .compare(field: "@id", .equal, .string(user))])
    }
}

extension Caller {
    /// A filter for the channels that the caller's patterns cover. The filter may select a few other channels too. Nil
    /// when the patterns cover all channels, or when there are more than 64 patterns.
    fileprivate var reach: RecordFilter? {
        guard !channels.contains(.all), channels.count <= 64 else { return nil }
        let own = readsOwnChannel ? user.map { [NamePattern.exact($0)] } ?? [] : []
        return .or(
            (channels + own).map { pattern in
                switch pattern {
                case .exact(let name): .compare(field: "@id", .equal, .string(name))
                case .below(let prefix): .compare(field: "@id", .like, .string(prefix.escapedForLike + "*"))
                case .all: .and([])
                }
            })
    }
}

extension String {
    fileprivate var escapedForLike: String { reduce(into: "") { $0 += $1 == "*" || $1 == "\\" ? "\\\($1)" : "\($1)" } }
}
