import ChatModel
import SQLite

/// A query for the stored events of a set of channels within a range of timetokens.
struct EventsQuery: Sendable {
    let channels: ChannelSet
    let after: Timetoken
    /// The inclusive upper bound, at most the watermark (the position up to which all events are visible).
    let upTo: Timetoken
    let limit: Int
    /// The current time. Events whose expiry is at or before this time are left out.
    let now: Timetoken
    var order = HistoryRequest.Order.oldestFirst
    /// True to include imported events. Consumers that follow the log never receive them.
    var includesImported = false
}

extension Reader {
    /// The number of rows of all channels that are scanned before the requested channels are looked up one by one.
    private static let firstScanLimit = 500
    /// The maximum number of rows that are scanned for one page.
    private static let scanMost = 20_000
    /// The maximum number of channels that are looked up one by one without a scan before. Looking up so few channels
    /// costs less than scanning a few hundred events of all channels.
    private static let seekAtOnce = 16
    /// The maximum number of channels that are looked up one by one. For more channels, the events of all channels are
    /// scanned.
    private static let separateMost = 500

    /// Returns the matching stored events in the requested order. A few named channels are looked up in the index one
    /// by one. For any other selection, the events of all channels are scanned first, which costs least for recent
    /// events. If the scan does not complete the page, the channels are then looked up one by one. If they are too
    /// many, the scan continues up to a limit.
    func events(_ question: EventsQuery) throws(SQLiteFailure) -> Page<Event> {
        let isForFew = question.channels.prefixes.isEmpty && question.channels.names.count <= Self.seekAtOnce
        if isForFew, let channels = try separate(question.channels) { return try merge(channels, question) }
        let page = try walk(question, most: Self.firstScanLimit)
        guard page.hasMore, page.items.count < question.limit else { return page }
        if let channels = try separate(question.channels) { return try merge(channels, question) }
        return try walk(question, most: Self.scanMost)
    }

    /// Returns the stored events of all channels, for consumers that need events that are no longer in memory.
    func everything(after position: Timetoken, upTo end: Timetoken, limit: Int) throws(SQLiteFailure) -> Page<Event> {
        try walk(after: position, upTo: end, .oldestFirst, limit: limit, most: limit) { !EventRow.isImported($0) }
    }

    private func walk(_ question: EventsQuery, most: Int) throws(SQLiteFailure) -> Page<Event> {
        var isWanted = GenerationCache<Int64, Bool>(capacity: 8192)
        return try walk(
            after: question.after, upTo: question.upTo, question.order, limit: question.limit, most: most
        ) { (row) throws(SQLiteFailure) in
            if let expires = row.optionalInteger(7), UInt64(expires) <= question.now.rawValue { return false }
            if !question.includesImported, EventRow.isImported(row) { return false }
            let channel = row.integer(1)
            if let known = isWanted.value(of: channel) { return known }
            let answer = question.channels.contains(try names.channel(channel))
            isWanted.insert(answer, for: channel)
            return answer
        }
    }

    private func walk(
        after position: Timetoken, upTo end: Timetoken, _ order: HistoryRequest.Order, limit: Int, most: Int,
        where isWanted: (Statement) throws(SQLiteFailure) -> Bool
    ) throws(SQLiteFailure) -> Page<Event> {
        var page = Page<Event>(items: [], position: order == .oldestFirst ? end : position)
        var seen = 0
        let rows = order == .oldestFirst ? statements.eventsByTime : statements.eventsByTimeDown
        rows.bind(Int64(position.rawValue), at: 1)
        rows.bind(Int64(end.rawValue), at: 2)
        var last = order == .oldestFirst ? position : end
        try rows.forEachRow { (row) throws(SQLiteFailure) in
            guard page.items.count < limit, seen < most else {
                page.hasMore = true
                page.position = last
                return false
            }
            seen += 1
            last = Timetoken(UInt64(row.integer(0)))
            if try isWanted(row) { page.items.append(try EventRow.read(row, names)) }
            return true
        }
        return page
    }

    /// Returns the numbers of the channels if there are few enough to look them up one by one; nil otherwise.
    private func separate(_ channels: ChannelSet) throws(SQLiteFailure) -> [Int64]? {
        guard !channels.isAll, channels.names.count <= Self.separateMost, let app = try names.id(of: channels.app)
        else { return nil }
        var ids: Set<Int64> = []
        for name in channels.names {
            if let id = try names.id(of: ChannelID(name.text, in: channels.app)) { ids.insert(id) }
        }
        for prefix in channels.prefixes.map(\.text) {
            statements.channelsBelow.bind(app, at: 1)
            statements.channelsBelow.bind(prefix + "\u{1}", at: 2)  // a longer name: no channel has control characters
            statements.channelsBelow.bind(prefix + "\u{10FFFF}", at: 3)
            statements.channelsBelow.bind(Self.separateMost + 1, at: 4)
            try statements.channelsBelow.forEachRow { row in
                ids.insert(row.integer(0))
                return true
            }
            guard ids.count <= Self.separateMost else { return nil }
        }
        return ids.count <= Self.separateMost ? Array(ids) : nil
    }

    private func merge(_ channels: [Int64], _ question: EventsQuery) throws(SQLiteFailure) -> Page<Event> {
        var times: [Int64] = []
        let isUpward = question.order == .oldestFirst
        for channel in channels {
            let find = isUpward ? statements.channelTimes : statements.channelTimesDown
            find.bind(channel, at: 1)
            find.bind(Int64(question.after.rawValue), at: 2)
            find.bind(Int64(question.upTo.rawValue) + 1, at: 3)
            find.bind(question.limit + 1, at: 4)
            try find.forEachRow { row in
                times.append(row.integer(0))
                return true
            }
        }
        if isUpward { times.sort() } else { times.sort(by: >) }
        let end = isUpward ? question.upTo : question.after
        var page = Page<Event>(items: [], hasMore: times.count > question.limit, position: end)
        for time in times.prefix(question.limit) {
            page.position = Timetoken(UInt64(time))
            if let event = try event(at: page.position, now: question.now),
                question.includesImported || event.draft.past == nil
            {
                page.items.append(event)
            }
        }
        if !page.hasMore { page.position = end }
        return page
    }

    /// Returns the stored event with this timetoken; nil when there is none or it has expired.
    func event(at timetoken: Timetoken, now: Timetoken) throws(SQLiteFailure) -> Event? {
        statements.event.bind(Int64(timetoken.rawValue), at: 1)
        defer { statements.event.reset() }
        guard try statements.event.step() else { return nil }
        if let expires = statements.event.optionalInteger(7), UInt64(expires) <= now.rawValue { return nil }
        return try EventRow.read(statements.event, names)
    }

}
