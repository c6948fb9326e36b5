public import ChatModel

extension ChatAccess {
    /// Channels with a record, as far as the caller may know of them: pages may be shorter than their limit, and the total
    /// is told to those only who see all.
    public func channels(_ list: RecordList) async throws(ChatError) -> Page<ChannelView> {
        try caller.demand(.read)
        var query = try RecordQuery(.channel, list, .channels, in: space, limits: limits)
        query.wantsTotal = list.wantsTotal && caller.channels.contains(.all) && caller.user == nil
        let page = try await directory.list(query).mapped(ChannelRecord.init)
        let channels = try await known(page.items.filter { caller.reaches(channel: $0.id) })
        let counts = try await directory.read(channels.map { MemberCounts.key($0.id, in: space) })
        let views = zip(channels, counts).map { ChannelView(channel: $0, counts: MemberCounts($1)) }
        return Page(items: views, hasMore: page.hasMore, cursor: page.cursor, total: page.total)
    }

    /// The records of these channels, in their order; nil for one without, and for one the caller may not know of.
    public func channels(named names: [String]) async throws(ChatError) -> [ChannelRecord?] {
        try caller.demand(.read)
        let records = try await directory.read(names.map { ChannelRecord.key($0, in: space) })
        let channels = records.map { $0.flatMap(ChannelRecord.init) }
        let reached = channels.compactMap(\.self).filter { caller.reaches(channel: $0.id) }
        let known = Set(try await known(reached).map { ExactText($0.id) })
        return channels.map { channel in channel.flatMap { known.contains(ExactText($0.id)) ? $0 : nil } }
    }

    /// Those the caller may know of: of private ones, a user's own credential those alone with which the user has to do.
    private func known(_ channels: [ChannelRecord]) async throws(ChatError) -> [ChannelRecord] {
        guard let user = caller.user else { return channels }
        let closed = channels.filter { $0.kind.isPrivate }
        let memberships = try await directory.read(closed.map { MembershipRecord.key(user, $0.id, in: space) })
        let own = memberships.map { $0.flatMap { MembershipRecord($0) } }
        let hidden = Set(
            zip(closed, own).filter { $1.map { service.sweeps.hide($0, in: space) } ?? true }
                .map { ExactText($0.0.id) })
        return channels.filter { !hidden.contains(ExactText($0.id)) }
    }
}
