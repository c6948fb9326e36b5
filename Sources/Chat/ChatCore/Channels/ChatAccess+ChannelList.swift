public import ChatModel

extension ChatAccess {
    /// Channels with a record, as far as the caller may know of them: pages may be shorter than their limit, and the total
    /// is told to those only who see all.
    public func channels(_ list: RecordList) async throws(ChatError) -> Page<ChannelView> {
        try caller.demand(.read)
        var query = try RecordQuery(.channel, list, .channels, in: space, limits: limits)
        query.wantsTotal = list.wantsTotal && caller.channels.contains(.all) && caller.user == nil
        let page = try await directory.list(query).mapped(ChannelRecord.init)
        var channels: [ChannelRecord] = []
        for channel in page.items where caller.reaches(channel: channel.id) {
            if try await maySee(channel.id) { channels.append(channel) }
        }
        let counts = try await directory.read(channels.map { MemberCounts.key($0.id, in: space) })
        let views = zip(channels, counts).map { ChannelView(channel: $0, counts: MemberCounts($1)) }
        return Page(items: views, hasMore: page.hasMore, cursor: page.cursor, total: page.total)
    }
}
