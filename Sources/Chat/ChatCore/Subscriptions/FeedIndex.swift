import ChatModel

/// Finds the feeds that want an event, without looking at the others.
struct FeedIndex {
    private var spaces: [SpaceID: SelectionIndex] = [:]
    /// By their numbers.
    private var feeds: [Feed?] = []
    private var free: [UInt32] = []

    mutating func insert(_ feed: Feed) {
        feed.number = free.popLast() ?? UInt32(feeds.count)
        if feed.number == feeds.count { feeds.append(feed) } else { feeds[Int(feed.number)] = feed }
        spaces[feed.selection.channels.space, default: SelectionIndex()].insert(feed.number, feed.selection)
    }

    mutating func remove(_ feed: Feed) {
        let space = feed.selection.channels.space
        spaces[space]?.remove(feed.number, feed.selection)
        if spaces[space]?.isEmpty == true { spaces[space] = nil }
        feeds[Int(feed.number)] = nil
        free.append(feed.number)
    }

    /// Calls `body` once with every feed that wants the event.
    func visit(_ event: Event, _ body: (Feed) -> Void) {
        guard let index = spaces[event.channel.space] else { return }
        let subject = FilterSubject(event)
        index.visit(subject) { number in
            guard let feed = feeds[Int(number)], feed.selection.admitsBesideChannel(subject) else { return }
            body(feed)
        }
    }
}
