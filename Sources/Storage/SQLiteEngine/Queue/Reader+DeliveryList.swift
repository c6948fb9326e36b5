import ChatModel
import SQLite
import StorageCore

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
        for part in try parts(listing) where count < most {
            count += try statements.deliveryWalk.count(part, most: most - count)
        }
        return count
    }

    /// Returns the keys of the page, and one further key if it exists. Reads one combination of subscriber and state
    /// after the other. From each combination, reads only the deliveries that can still belong to the page.
    private func keys(_ listing: DeliveryListing) throws(SQLiteFailure) -> [DeliveryKey] {
        let wanted = listing.query.limit + 1
        var keys: [DeliveryKey] = []
        for part in try parts(listing) {
            let last = keys.count == wanted ? keys.last : nil
            let part = last.map { listing.narrowed(part, upTo: $0) } ?? part
            guard part.after < part.before else { continue }
            let found = try statements.deliveryWalk.events(part, listing.query.order, limit: wanted)
            guard !found.isEmpty else { continue }
            keys += found.map { DeliveryKey(event: $0, subscriber: part.subscriber) }
            keys.sort(by: listing.isBefore)
            keys.removeLast(max(0, keys.count - wanted))
        }
        return keys
    }

    /// Returns the combinations of a subscriber and a stored state whose deliveries match the query.
    private func parts(_ listing: DeliveryListing) throws(SQLiteFailure) -> [DeliveryPart] {
        let query = listing.query
        let find = query.subscriber == nil ? statements.subscribersOfApp : statements.subscriberByName
        find.bind(query.app.name, at: 1)
        if let subscriber = query.subscriber { find.bind(subscriber, at: 2) }
        var subscribers: [(number: Int64, isOpen: Bool)] = []
        try find.forEachRow { row in
            subscribers.append((row.integer(0), row.integer(1) == 0))
            return true
        }
        return listing.parts(of: subscribers)
    }

    private func delivery(at key: DeliveryKey) throws(SQLiteFailure) -> Delivery? {
        let find = statements.deliveryAt
        find.bind(Int64(key.event), at: 1)
        find.bind(key.subscriber, at: 2)
        defer { find.reset() }
        return try find.step() ? try find.delivery(names) : nil
    }
}
