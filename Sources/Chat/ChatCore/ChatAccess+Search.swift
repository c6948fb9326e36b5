public import ChatModel

/// A search of the stored events of many channels.
public struct EventSearch: Sendable {
    /// The channels and types to search, and a filter for the events.
    public var selection: Selection
    /// The user who caused the events; nil for events of any user.
    public var user: String?
    /// The range of the event log to search, and its order.
    public var range: LogRange
    /// The maximum number of events to return: 1 to `Limits.pageMost`.
    public var limit: Int

    /// Creates a search for one page of at most `limit` events.
    public init(_ selection: Selection, user: String? = nil, in range: LogRange, limit: Int) {
        self.selection = selection
        self.user = user
        self.range = range
        self.limit = limit
    }
}

extension ChatAccess {
    /// The maximum number of events that one search reads from the selected channels. A search that reaches this limit
    /// or ``searchTime`` returns a partial page. The next search continues at the position of that page.
    private static let searchMost = 10_000
    private static let searchTime: Duration = .seconds(2)

    /// Returns stored events of many channels. Events that a stream of the caller would not receive are left out:
    /// events of a channel that the caller's user may not read, events for another user only, and events for webhooks
    /// only.
    ///
    /// - Returns: one page. The next search continues at the page's position, which is a timetoken. The page may
    ///   contain fewer events than the limit, or none, even when more events follow.
    /// - Throws: `.forbidden` when the caller, or the user that the caller acts for, may not read a named channel.
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

    /// Returns true when the caller's user may read an event, or when the caller acts for no user.
    ///
    /// - Parameter known: the channels that were already checked, each with true when the user may receive its events.
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
    /// Returns the position from which a search continues after a page. For the last page, and for a page whose last
    /// event is at the page's position, this is the page's position. On any other page, the position may be the time of
    /// another app's event. To hide that time, the position is rounded back to a whole millisecond. The position is not
    /// rounded if the next search would then return an event of the page again.
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
