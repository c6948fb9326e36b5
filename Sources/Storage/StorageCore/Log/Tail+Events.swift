package import ChatModel

extension Tail {
    /// The maximum number of newer events, of all channels, that a read examines one by one. If there are more newer
    /// events, a read of named channels uses the index by channel (``TailIndex``).
    private static let scanLimit = 128

    /// Returns the page of readable events from memory; nil when the events after the position are no longer in memory.
    ///
    /// - Parameters:
    ///   - now: the current time. Events whose expiry is at or before this time are left out.
    ///   - index: the index of this tail.
    package func events(
        in channels: ChannelSet, after position: Timetoken, limit: Int, now: Timetoken, index: TailIndex
    ) -> Page<Event>? {
        var page = Page<Event>(items: [], position: position)
        var seen = 0
        while true {
            switch buffer.slice(after: page.position.rawValue, limit: 64) {
            case .behind: return page.position == position ? nil : page.toBeContinued
            case .empty, .closed: return page
            case .entries(let commits):
                seen += commits.reduce(0) { $0 + $1.events.count }
                if seen > Self.scanLimit, let names = channels.onlyNames {
                    if var found = index.events(
                        in: names, echoes: channels.receivesEchoes, after: position, limit: limit, of: self)
                    {
                        found.items.removeAll { !$0.isReadable(now: now) }
                        return found
                    }
                    return page.position == position ? nil : page.toBeContinued
                }
                for commit in commits {
                    for event in commit.events[commit.events.index(after: page.position)...] {
                        guard page.items.count < limit else { return page.toBeContinued }
                        page.position = event.timetoken
                        if channels.find(event), event.isReadable(now: now) { page.items.append(event) }
                    }
                    page.position = commit.watermark
                }
            }
        }
    }
}

extension ChannelSet {
    /// The names of the channels, if the set consists only of named channels; nil if it contains patterns or all
    /// channels.
    fileprivate var onlyNames: [ChannelID]? {
        guard !isAll, prefixes.isEmpty else { return nil }
        return names.map { ChannelID($0.text, in: app) }
    }
}

extension Page<Event> {
    fileprivate var toBeContinued: Page<Event> {
        var page = self
        page.hasMore = true
        return page
    }
}

extension Event {
    /// True when the event is visible: it is newer than the app's retention `cutoff`, and it has not expired.
    package func isReadable(now: Timetoken, cutoff: Timetoken = .zero) -> Bool {
        guard timetoken > cutoff else { return false }
        guard let expires = draft.expires else { return true }
        return expires > now
    }
}
