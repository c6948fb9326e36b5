import ChatModel
import SQLite

extension SQLiteLog {
    func events(in channels: ChannelSet, after position: Timetoken, limit: Int) async throws(ChatError) -> Page<Event> {
        let now = memory.now
        let cutoff = memory.retention.cutoff(of: channels.space, now: now)
        let from = max(position, cutoff)
        guard limit > 0 else { return Page(items: [], hasMore: from < memory.tail.watermark, position: position) }
        if let page = eventsInMemory(channels, after: from, limit: limit, now: now) { return page }

        let question = EventsQuestion(
            channels: channels, after: from, upTo: memory.tail.watermark, limit: limit, now: now)
        var page = try await readers.run { (reader) throws(SQLiteFailure) in try reader.events(question) }
        // Passing events are read after the rows: those the memory let go of meanwhile were older than its promise.
        let passing = memory.passing.events(in: channels.space, after: from, upTo: page.position)
            .filter { channels.contains($0.channel) && memory.isReadable($0, now: now, cutoff: cutoff) }
        page.merge(passing, limit: limit)
        return page
    }

    /// The answer from memory; nil when it does not reach back far enough.
    private func eventsInMemory(
        _ channels: ChannelSet, after position: Timetoken, limit: Int, now: Timetoken
    ) -> Page<Event>? {
        var page = Page<Event>(items: [], position: position)
        while true {
            switch memory.tail.slice(after: page.position.rawValue, limit: 64) {
            case .behind: return page.position == position ? nil : page.toBeContinued
            case .empty, .closed: return page
            case .entries(let commits):
                for commit in commits {
                    for event in commit.events[commit.events.index(after: page.position)...] {
                        guard page.items.count < limit else { return page.toBeContinued }
                        page.position = event.timetoken
                        if channels.contains(event.channel), memory.isReadable(event, now: now, cutoff: .zero) {
                            page.items.append(event)
                        }
                    }
                    page.position = commit.watermark
                }
            }
        }
    }
}

extension Page<Event> {
    fileprivate var toBeContinued: Page<Event> {
        var page = self
        page.hasMore = true
        return page
    }

    /// Takes in further events of the same stretch, keeping order and limit.
    mutating func merge(_ others: [Event], limit: Int) {
        guard !others.isEmpty else { return }
        items = (items + others).sorted { $0.timetoken < $1.timetoken }
        guard items.count > limit else { return }
        items.removeSubrange(limit...)
        hasMore = true
        position = items[limit - 1].timetoken
    }
}
