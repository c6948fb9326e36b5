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
        let selection = feed.selection
        guard selection.viewer != nil else {
            return spaces[selection.channels.space, default: SelectionIndex()].insert(feed.number, selection)
        }
        feed.heard = Set(selection.heardNames)
        spaces[selection.channels.space, default: SelectionIndex()].insert(feed.number, selection, on: feed.heard)
    }

    /// From the next event on a device's stream is found on a channel.
    mutating func extend(_ feed: Feed, to channel: ExactText) {
        guard feed.selection.covers(channel), feed.heard.insert(channel).inserted else { return }
        spaces[feed.selection.channels.space]?.insert(feed.number, feed.selection, on: [channel])
    }

    /// From the next event on it is found there no more, unless it has named the channel.
    mutating func narrow(_ feed: Feed, from channel: ExactText) {
        guard !feed.selection.channels.names.contains(channel), feed.heard.remove(channel) != nil else { return }
        spaces[feed.selection.channels.space]?.remove(feed.number, feed.selection, on: [channel])
    }

    mutating func remove(_ feed: Feed) {
        let space = feed.selection.channels.space
        if feed.selection.viewer == nil {
            spaces[space]?.remove(feed.number, feed.selection)
        } else {
            spaces[space]?.remove(feed.number, feed.selection, on: feed.heard)
        }
        if spaces[space]?.isEmpty == true { spaces[space] = nil }
        feeds[Int(feed.number)] = nil
        free.append(feed.number)
    }

    /// Calls `body` once with every feed that wants the event.
    func visit(_ event: Event, _ body: (Feed) -> Void) {
        guard let index = spaces[event.channel.space] else { return }
        let subject = FilterSubject(event)
        index.visit(subject) { number in
            guard let feed = feeds[Int(number)], feed.selection.admitsBesideChannel(subject),
                feed.selection.isForViewer(event)
            else { return }
            body(feed)
        }
    }
}
