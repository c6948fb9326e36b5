import ChatModel
import Locking

/// An index of all feeds. It finds the feeds that match an event without testing every feed.
struct FeedIndex {
    private var apps: [AppID: SelectionIndex] = [:]
    /// The feeds by number; nil for a free number.
    private var feeds: [Feed?] = []
    private var free: [UInt32] = []
    /// The sender of `channel.activity` events. The index informs the sender of the feeds that select the type
    /// `channel.activity` by name. Nil when `channel.activity` events are not sent.
    var activity: ChannelActivity?

    mutating func insert(_ feed: Feed) {
        feed.number = free.popLast() ?? UInt32(feeds.count)
        if feed.number == feeds.count { feeds.append(feed) } else { feeds[Int(feed.number)] = feed }
        let selection = feed.selection
        if selection.viewer != nil { feed.heard = Set(selection.heardNames) }
        if selection.namesActivity {
            let heard = selection.viewer == nil ? nil : feed.heard
            activity?.change { $0.insert(selection, on: heard) }
        }
        guard selection.viewer != nil else {
            return apps[selection.channels.app, default: SelectionIndex()].insert(feed.number, selection)
        }
        apps[selection.channels.app, default: SelectionIndex()].insert(feed.number, selection, on: feed.heard)
    }

    /// Adds a channel to a device's feed. The feed receives the channel's events from the next event on.
    mutating func extend(_ feed: Feed, to channel: ExactText) {
        guard feed.selection.covers(channel), feed.heard.insert(channel).inserted else { return }
        apps[feed.selection.channels.app]?.insert(feed.number, feed.selection, on: [channel])
        if feed.selection.namesActivity { activity?.change { $0.extend(feed.selection, to: channel) } }
    }

    /// Removes a channel from a device's feed, unless the feed selects the channel by name. The change applies from the
    /// next event on.
    mutating func narrow(_ feed: Feed, from channel: ExactText) {
        guard !feed.selection.channels.names.contains(channel), feed.heard.remove(channel) != nil else { return }
        apps[feed.selection.channels.app]?.remove(feed.number, feed.selection, on: [channel])
        if feed.selection.namesActivity { activity?.change { $0.narrow(feed.selection, from: channel) } }
    }

    mutating func remove(_ feed: Feed) {
        let app = feed.selection.channels.app
        if feed.selection.viewer == nil {
            apps[app]?.remove(feed.number, feed.selection)
        } else {
            apps[app]?.remove(feed.number, feed.selection, on: feed.heard)
        }
        if apps[app]?.isEmpty == true { apps[app] = nil }
        if feed.selection.namesActivity { activity?.change { $0.end(feed.selection) } }
        feeds[Int(feed.number)] = nil
        free.append(feed.number)
    }

    /// Returns the feeds that match an event, each once; nil when the deadline passes before all filters were
    /// evaluated. A later call with the same `matching` evaluates the remaining filters.
    func feeds(for matching: inout FeedMatching, until deadline: MonotonicTime? = nil) -> [Feed]? {
        guard let index = apps[matching.event.channel.app] else { return [] }
        matching.begin(until: deadline)
        var wanting: [Feed] = []
        index.visit(matching.subject) { number in
            guard let feed = feeds[Int(number)], matching.isWanted(by: feed), feed.selection.isForViewer(matching.event)
            else { return }
            wanting.append(feed)
        }
        let echoes = matching.event.draft.echoes
        guard !echoes.isEmpty else { return matching.isLate ? nil : wanting }
        var known = Set(wanting.map(\.number))
        for echo in echoes {
            index.visit(matching.subject, on: ChannelID(echo, in: matching.event.channel.app)) { number in
                guard let feed = feeds[Int(number)], feed.selection.channels.receivesEchoes, !known.contains(number),
                    matching.isWanted(by: feed)
                else { return }
                known.insert(number)
                wanting.append(feed)
            }
        }
        return matching.isLate ? nil : wanting
    }
}
