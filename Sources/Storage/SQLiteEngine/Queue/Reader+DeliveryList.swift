import ChatModel
import SQLite
import StorageCore

/// A validated query for a list of deliveries. It is validated before a connection is used.
struct DeliveryListing: Sendable {
    let query: DeliveryQuery
    /// The key of the last delivery of the previous page; nil for the first page.
    fileprivate let end: DeliveryKey?

    /// Validates a query and parses its cursor.
    ///
    /// - Throws: `.malformed` for an invalid cursor.
    init(_ query: DeliveryQuery) throws(ChatError) {
        self.query = query
        guard let cursor = query.cursor else {
            end = nil
            return
        }
        guard case .integer(let event)? = ListCursor.values(cursor)?.first, event >= 0,
            case .integer(let subscriber)? = ListCursor.values(cursor)?.last, ListCursor.values(cursor)?.count == 2
        else { throw .badCursor }
        end = DeliveryKey(event: UInt64(event), subscriber: subscriber)
    }

    fileprivate var isDescending: Bool { query.order == .newestFirst }

    /// True when `left` comes before `right` in the order of the list.
    fileprivate func isBefore(_ left: DeliveryKey, _ right: DeliveryKey) -> Bool {
        let (first, second) = isDescending ? (right, left) : (left, right)
        return (first.event, first.subscriber) < (second.event, second.subscriber)
    }

    /// Returns exclusive bounds for the event timetokens of a subscriber's deliveries on the page. The bounds exclude
    /// deliveries outside the query's range and deliveries of the previous pages.
    ///
    /// - Parameter last: the last delivery that the page can contain. The bounds exclude the events that come after
    ///   the event of `last` in the order of the list.
    fileprivate func bounds(_ subscriber: Int64, upTo last: DeliveryKey? = nil) -> (after: UInt64, before: UInt64) {
        var after = query.after?.rawValue ?? 0
        var before = query.before?.rawValue ?? UInt64(Int64.max)
        if let event = query.event?.rawValue, event > 0 {
            after = max(after, event - 1)
            before = min(before, event + 1)
        }
        if isDescending {
            if let end { before = min(before, subscriber < end.subscriber ? end.event + 1 : end.event) }
            if let last { after = max(after, max(1, last.event) - 1) }
        } else {
            if let end { after = max(after, subscriber > end.subscriber ? max(1, end.event) - 1 : end.event) }
            if let last { before = min(before, last.event + 1) }
        }
        return (after, before)
    }
}

extension DeliveryKey {
    /// The cursor of the page that begins after this delivery, for both orders.
    fileprivate var listCursor: String { ListCursor.text([.integer(Int64(event)), .integer(subscriber)]) }
}

extension Reader {
    func list(_ listing: DeliveryListing) throws(SQLiteFailure) -> Page<Delivery> {
        try inSnapshot { () throws(SQLiteFailure) in
            let keys = try keys(listing)
            var page = Page<Delivery>(items: [])
            for key in keys.prefix(listing.query.limit) {
                guard let delivery = try delivery(at: key) else { continue }
                page.items.append(delivery)
                if listing.query.wantsCursors { page.cursors.append(key.listCursor) }
            }
            guard keys.count > listing.query.limit, let last = keys.dropLast().last else { return page }
            page.hasMore = true
            page.cursor = last.listCursor
            return page
        }
    }

    /// Returns the number of deliveries that match each listing, at most `most` each, counted in one snapshot.
    func counts(_ listings: [DeliveryListing], most: Int) throws(SQLiteFailure) -> [Int] {
        try inSnapshot { () throws(SQLiteFailure) in
            var counts: [Int] = []
            for listing in listings { counts.append(try count(listing, most: most)) }
            return counts
        }
    }

    private func count(_ listing: DeliveryListing, most: Int) throws(SQLiteFailure) -> Int {
        var count = 0
        for part in try parts(listing.query) where count < most {
            let (after, before) = listing.bounds(part.subscriber)
            count += try statements.deliveryWalk.count(part, after: after, before: before, most: most - count)
        }
        return count
    }

    /// Returns the keys of the page, and one further key if it exists. Reads one combination of subscriber and state
    /// after the other. From each combination, reads only the deliveries that can still belong to the page.
    private func keys(_ listing: DeliveryListing) throws(SQLiteFailure) -> [DeliveryKey] {
        let wanted = listing.query.limit + 1
        var keys: [DeliveryKey] = []
        for part in try parts(listing.query) {
            let (after, before) = listing.bounds(part.subscriber, upTo: keys.count == wanted ? keys.last : nil)
            guard after < before else { continue }
            let found = try statements.deliveryWalk.events(
                part, after: after, before: before, listing.query.order, limit: wanted)
            guard !found.isEmpty else { continue }
            keys += found.map { DeliveryKey(event: $0, subscriber: part.subscriber) }
            keys.sort(by: listing.isBefore)
            keys.removeLast(max(0, keys.count - wanted))
        }
        return keys
    }

    /// Returns the combinations of a subscriber and a stored state whose deliveries match the query.
    private func parts(_ query: DeliveryQuery) throws(SQLiteFailure) -> [DeliveryScan.Part] {
        let find = query.subscriber == nil ? statements.subscribersOfApp : statements.subscriberByName
        find.bind(query.app.name, at: 1)
        if let subscriber = query.subscriber { find.bind(subscriber, at: 2) }
        var parts: [DeliveryScan.Part] = []
        let statuses = query.statuses.isEmpty ? Set(DeliveryStatus.allCases) : query.statuses
        try find.forEachRow { row in
            parts += DeliveryScan.Part.all(row.integer(0), isOpen: row.integer(1) == 0, statuses)
            return true
        }
        return parts
    }

    private func delivery(at key: DeliveryKey) throws(SQLiteFailure) -> Delivery? {
        let find = statements.deliveryAt
        find.bind(Int64(key.event), at: 1)
        find.bind(key.subscriber, at: 2)
        defer { find.reset() }
        return try find.step() ? try find.delivery(names) : nil
    }
}

extension DeliveryScan.Part {
    /// Returns the selections, each by one stored state, that together contain a subscriber's deliveries with these
    /// public statuses.
    fileprivate static func all(_ subscriber: Int64, isOpen: Bool, _ statuses: Set<DeliveryStatus>) -> [Self] {
        var parts: [Self] = []
        if statuses.contains(.delivered) { parts.append(Self(subscriber: subscriber, state: .delivered)) }
        if statuses.contains(.dead) { parts.append(Self(subscriber: subscriber, state: .dead)) }
        let hasPending = statuses.contains(.pending)
        if isOpen ? hasPending && statuses.contains(.failed) : statuses.contains(.held) {
            parts.append(Self(subscriber: subscriber, state: .waiting))
        } else if isOpen, hasPending || statuses.contains(.failed) {
            parts.append(Self(subscriber: subscriber, state: .waiting, hasFailed: !hasPending))
        }
        return parts
    }
}
