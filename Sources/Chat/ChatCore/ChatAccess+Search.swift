public import ChatModel

/// A search of the kept events of many channels.
public struct EventSearch: Sendable {
    /// The channels, types and filter.
    public var selection: Selection
    /// The user who caused the events; nil for all events.
    public var user: String?
    /// The range of the log to search, and its order.
    public var range: LogRange
    /// 1 to `Limits.pageMost`.
    public var limit: Int

    /// A search for one page of events, at most `limit` of them.
    public init(_ selection: Selection, user: String? = nil, in range: LogRange, limit: Int) {
        self.selection = selection
        self.user = user
        self.range = range
        self.limit = limit
    }
}

extension ChatAccess {
    /// The limits of one search: the number of events read of the selected channels, and the time. When a limit is
    /// reached, the page is partial, and its position is where to continue.
    private static let searchMost = 10_000
    private static let searchTime: Duration = .seconds(2)

    /// Returns kept events of many channels. Events that a stream of the caller would not receive are left out: those
    /// of a channel that the caller's user may not read, those that are for another user, and those that are for
    /// webhooks only.
    ///
    /// - Returns: a page whose position is where to continue. It may hold fewer events than its limit, or none,
    ///   although more follow.
    /// - Throws: `.forbidden` when the caller, or the user it speaks for, may not read a named channel.
    public func search(_ search: EventSearch) async throws(ChatError) -> Page<Event> {
        try await requireAccess(search.selection)
        let deadline = ContinuousClock.now + Self.searchTime
        var page = Page<Event>(items: [])
        var readable: [ExactText: Bool] = [:]
        var range = search.range
        var examined = 0
        repeat {
            let found = try await log.kept(in: search.selection.channels, range, limit: limits.pageMost)
            examined += found.items.count
            for event in try await withoutDeletedTexts(found.items) {
                page.position = event.timetoken
                guard search.user.map({ ExactText($0) == event.user.map { ExactText($0) } }) ?? true,
                    search.selection.admits(FilterSubject(event)), try await reads(event, &readable)
                else { continue }
                page.items.append(event)
                guard page.items.count < search.limit else {
                    page.hasMore = found.hasMore || event.timetoken != found.items.last?.timetoken
                    return page
                }
            }
            page.position = range.end(of: found)
            page.hasMore = found.hasMore
            range = range.rest(behind: page.position)
        } while page.hasMore && examined < Self.searchMost && !Task.isCancelled && ContinuousClock.now < deadline
        return page
    }

    /// Returns true when the caller's user may read an event, and when the caller acts for no user.
    ///
    /// - Parameter known: a cache of the results by channel.
    private func reads(_ event: Event, _ known: inout [ExactText: Bool]) async throws(ChatError) -> Bool {
        guard let user = caller.user else { return true }
        guard event.isReadable(by: user) else { return false }
        let channel = ExactText(event.channel.name)
        if let answer = known[channel] { return answer }
        let answer = try await refusal(to: .receiving, of: user, in: event.channel.name) == nil
        known[channel] = answer
        return answer
    }
}

extension LogRange {
    /// The position after a page: its last event, or a whole millisecond that the search has passed. A more precise
    /// position could be the position of another app's event.
    fileprivate func end(of page: Page<Event>) -> Timetoken {
        let millisecond = Timetoken.ticksPerSecond / 1000
        let position = page.position
        guard page.hasMore, page.items.last?.timetoken != position else { return position }
        switch order {
        case .oldestFirst:
            let end = Timetoken(position.rawValue / millisecond * millisecond)
            return end > max(after, page.items.last?.timetoken ?? .zero) ? end : position
        case .newestFirst:
            let end = Timetoken((position.rawValue / millisecond + 1) * millisecond)
            return end < min(before, page.items.last?.timetoken ?? .distantFuture) ? end : position
        }
    }
}
