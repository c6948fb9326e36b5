public import ChatModel

/// A search of the kept events of many channels.
public struct EventSearch: Sendable {
    /// By channel, type and filter.
    public var selection: Selection
    /// Only what this user did; nil: everybody.
    public var user: String?
    public var stretch: LogRange
    /// 1 to `Limits.pageMost`.
    public var limit: Int

    public init(_ selection: Selection, user: String? = nil, in stretch: LogRange, limit: Int) {
        self.selection = selection
        self.user = user
        self.stretch = stretch
        self.limit = limit
    }
}

extension ChatAccess {
    /// The bounds of one search: events read of the selection's channels, and time. At either bound the page is partial, and
    /// its position is where to continue.
    private static let searchMost = 10_000
    private static let searchTime: Duration = .seconds(2)

    /// Kept events of many channels. Events that no stream of the caller would hear are left out: those of a channel that the
    /// caller's user may not read, those that are for one user, and those that are for webhooks alone.
    ///
    /// - Returns: a page whose position is where to continue; it may hold less than its limit, or nothing, though more are
    ///   to come.
    /// - Throws: `.forbidden` when the caller, or the user it speaks for, may not read a channel that is named.
    public func search(_ search: EventSearch) async throws(ChatError) -> Page<Event> {
        try await demandHearing(search.selection)
        let deadline = ContinuousClock.now + Self.searchTime
        var page = Page<Event>(items: [])
        var readable: [ExactText: Bool] = [:]
        var stretch = search.stretch
        var examined = 0
        repeat {
            let found = try await log.kept(in: search.selection.channels, stretch, limit: limits.pageMost)
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
            page.position = stretch.end(of: found)
            page.hasMore = found.hasMore
            stretch = stretch.rest(behind: page.position)
        } while page.hasMore && examined < Self.searchMost && !Task.isCancelled && ContinuousClock.now < deadline
        return page
    }

    /// Whether the caller's user may read an event; true for a caller that acts for no user.
    ///
    /// - Parameter known: the answers so far, by channel.
    private func reads(_ event: Event, _ known: inout [ExactText: Bool]) async throws(ChatError) -> Bool {
        guard let user = caller.user else { return true }
        guard event.isReadable(by: user) else { return false }
        let channel = ExactText(event.channel.name)
        if let answer = known[channel] { return answer }
        let answer = try await obstacle(to: .audienceSnapshot, of: user, in: event.channel.name) == nil
        known[channel] = answer
        return answer
    }
}

extension LogRange {
    /// The position after a page: its last event, or a whole millisecond that the page has passed, since the exact place may
    /// be another app's event.
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
