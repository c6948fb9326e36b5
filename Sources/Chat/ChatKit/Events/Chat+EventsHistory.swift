public import ChatModel

extension Chat {
    /// What happened on a channel and is kept, oldest first: the newest `count` events between the bounds.
    ///
    /// ```swift
    /// let (events, isMore) = try await chat.getEventsHistory(channelId: "room.1", count: 10)
    /// for case let order as CustomEvent in events.map(\.event.payload) { print(order.type) }
    /// ```
    ///
    /// - Parameters:
    ///   - startTimetoken: only older events; exclusive.
    ///   - endTimetoken: only this and newer events; inclusive.
    ///   - count: 1 to 250 by default.
    /// - Returns: the events, and whether there are more between the bounds.
    public func getEventsHistory(
        channelId: String, startTimetoken: Timetoken? = nil, endTimetoken: Timetoken? = nil, count: Int = 100
    ) async throws(ChatError) -> (events: [EventWrapper<any EventContent>], isMore: Bool) {
        var query = EventQuery(channel: channelId)
        query.bound(start: startTimetoken, end: endTimetoken, count: count)
        let page = try await backend.history(query)
        return (page.items.reversed().map { $0.wrapped($0.content) }, page.hasMore)
    }

    /// How many events of a channel are kept between the bounds; see
    /// ``getEventsHistory(channelId:startTimetoken:endTimetoken:count:)``.
    ///
    /// - Parameter types: names and patterns (`order.*`) of types; empty: all.
    public func getEventsCount(
        channelId: String, types: [String] = [], startTimetoken: Timetoken? = nil, endTimetoken: Timetoken? = nil
    ) async throws(ChatError) -> Int {
        var query = EventQuery(channel: channelId)
        query.bound(start: startTimetoken, end: endTimetoken, count: 1)
        query.types = types
        return try await backend.count(query)
    }
}

extension EventQuery {
    /// The bounds as histories of messages and events take them: start exclusive, end inclusive, newest first.
    mutating func bound(start: Timetoken?, end: Timetoken?, count: Int) {
        before = start ?? .distantFuture
        after = end.map { Timetoken(max($0.rawValue, 1) - 1) } ?? .zero
        order = .newestFirst
        limit = count
    }
}
