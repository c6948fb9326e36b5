public import ChatModel

extension ChatAccess {
    /// Channels with a record, as far as the caller may know of them: a page may be shorter than its limit where the caller's
    /// patterns leave some out, and the total is told to those only who reach all.
    ///
    /// - Parameters:
    ///   - isForUsers: whether private channels are left out also where the credential speaks for no user, because it stands for
    ///     a token in a user's hands.
    ///   - user: whom the token names: that user's private channels stay.
    public func channels(
        _ list: RecordList, isForUsers: Bool = false, of user: String? = nil
    ) async throws(ChatError) -> Page<ChannelView> {
        try caller.demand(.read)
        var query = try RecordQuery(.channel, list, .channels, in: app, limits: limits)
        var list = list
        list.wantsTotal = list.wantsTotal && caller.channels.contains(.all)
        // In the query, so that neither the length of a page, nor its cursor, nor the total tells of a channel left out.
        let user = caller.user ?? user
        if isForUsers || caller.user != nil { query.demand(.known(to: user)) }
        if let reach = caller.reach { query.demand(reach) }
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

    /// The records of these channels, in their order; nil for one without, and for one the caller may not know of.
    public func channels(named names: [String]) async throws(ChatError) -> [ChannelRecord?] {
        try caller.demand(.read)
        let records = try await directory.read(names.map { ChannelRecord.key($0, in: app) })
        let channels = records.map { $0.flatMap(ChannelRecord.init) }
        let reached = channels.compactMap(\.self).filter { caller.reads(channel: $0.id) }
        let known = Set(try await known(reached, to: caller.user).map { ExactText($0.id) })
        return channels.map { channel in channel.flatMap { known.contains(ExactText($0.id)) ? $0 : nil } }
    }

    /// The names of these channels that the caller may know of.
    func known(_ names: [String]) async throws(ChatError) -> [String] {
        guard let user = caller.user, service.accessCache.concern(app) else { return names }
        var known: [String] = []
        for name in names where try await obstacle(to: .knowing, of: user, in: name) == nil { known.append(name) }
        return known
    }

    /// Those a user may know of: of private ones those alone with which the user has to do. All for nobody in particular.
    private func known(_ channels: [ChannelRecord], to user: String?) async throws(ChatError) -> [ChannelRecord] {
        guard let user else { return channels }
        let closed = channels.filter { $0.kind.isPrivate }
        let memberships = try await directory.read(closed.map { MembershipRecord.key(user, $0.id, in: app) })
        let own = memberships.map { $0.flatMap { MembershipRecord($0) } }
        let hidden = Set(
            zip(closed, own).filter { $1.map { service.pendingDeletions.hide($0, in: app) } ?? true }
                .map { ExactText($0.0.id) })
        return channels.filter { !hidden.contains(ExactText($0.id)) }
    }
}

extension RecordFilter {
    /// Channels that are not private, or in which the user, if there is one, is a member or invited.
    fileprivate static func known(to user: String?) -> RecordFilter {
        let kinds = ChannelKind.allCases.filter(\.isPrivate)
        let isPrivate = RecordFilter.or(kinds.map { .compare(field: "kind", .equal, .string($0.rawValue)) })
        let isIn = user.map { RecordFilter.beside(.membership, idPrefix: MembershipRecord.prefix(of: $0)) }
        return .or([.not(isPrivate)] + [isIn].compactMap(\.self))
    }
}

extension Caller {
    /// A condition for the channels that the caller's patterns reach, and few others; nil where they reach all, or are too many
    /// to be asked for.
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
