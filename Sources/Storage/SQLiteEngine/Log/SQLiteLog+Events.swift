import ChatModel
import SQLite

extension SQLiteLog {
    func events(in channels: ChannelSet, after position: Timetoken, limit: Int) async throws(ChatError) -> Page<Event> {
        let now = engineState.now
        let cutoff = engineState.retention.cutoff(of: channels.app, now: now)
        let from = max(position, cutoff)
        guard limit > 0 else { return Page(items: [], hasMore: from < engineState.tail.watermark, position: position) }
        if let page = eventsInMemory(channels, after: from, limit: limit, now: now) { return page }

        let question = EventsQuery(
            channels: channels, after: from, upTo: engineState.tail.watermark, limit: limit, now: now)
        var page = try await readers.run { (reader) throws(SQLiteFailure) in try reader.events(question) }
        // Ephemeral events are read after the rows of the database. Events that were removed from memory in the
        // meantime were older than their guaranteed age.
        let passing = engineState.passing.events(in: channels.app, after: from, upTo: page.position)
            .filter { channels.contains($0.channel) && engineState.isReadable($0, now: now, cutoff: cutoff) }
        page.merge(passing, limit: limit)
        return page
    }

    func kept(in channels: ChannelSet, _ range: LogRange, limit: Int) async throws(ChatError) -> Page<Event> {
        let now = engineState.now
        let from = max(range.after, engineState.retention.cutoff(of: channels.app, now: now))
        let end = min(Timetoken(max(1, range.before.rawValue) - 1), engineState.tail.watermark)
        guard from < end else { return Page(items: []) }
        var question = EventsQuery(channels: channels, after: from, upTo: end, limit: limit, now: now)
        question.order = range.order
        question.includesImported = true
        return try await readers.run { [question] (reader) throws(SQLiteFailure) in try reader.events(question) }
    }

    /// The maximum number of newer events, of all channels, that a read examines one by one. If there are more newer
    /// events, a read of named channels uses the index by channel (``TailIndex``).
    private static let scanLimit = 128

    /// Returns the page from the events in memory; nil when the events after the position are no longer in memory.
    private func eventsInMemory(
        _ channels: ChannelSet, after position: Timetoken, limit: Int, now: Timetoken
    ) -> Page<Event>? {
        var page = Page<Event>(items: [], position: position)
        var seen = 0
        while true {
            switch engineState.tail.slice(after: page.position.rawValue, limit: 64) {
            case .behind: return page.position == position ? nil : page.toBeContinued
            case .empty, .closed: return page
            case .entries(let commits):
                seen += commits.reduce(0) { $0 + $1.events.count }
                if seen > Self.scanLimit, let names = channels.onlyNames {
                    let found = eventsInIndex(
                        names, echoes: channels.receivesEchoes, after: position, limit: limit, now: now)
                    if let found { return found }
                    return page.position == position ? nil : page.toBeContinued
                }
                for commit in commits {
                    for event in commit.events[commit.events.index(after: page.position)...] {
                        guard page.items.count < limit else { return page.toBeContinued }
                        page.position = event.timetoken
                        if channels.find(event), engineState.isReadable(event, now: now, cutoff: .zero) {
                            page.items.append(event)
                        }
                    }
                    page.position = commit.watermark
                }
            }
        }
    }

    private func eventsInIndex(
        _ channels: [ChannelID], echoes: Bool, after position: Timetoken, limit: Int, now: Timetoken
    ) -> Page<Event>? {
        var page = engineState.tailIndex.events(
            in: channels, echoes: echoes, after: position, limit: limit, of: engineState.tail)
        page?.items.removeAll { !engineState.isReadable($0, now: now, cutoff: .zero) }
        return page
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

    /// Merges other events of the same range into the page. The result is in order and has at most `limit` events.
    mutating func merge(_ others: [Event], limit: Int) {
        guard !others.isEmpty else { return }
        items = (items + others).sorted { $0.timetoken < $1.timetoken }
        guard items.count > limit else { return }
        items.removeSubrange(limit...)
        hasMore = true
        position = items[limit - 1].timetoken
    }
}
