import ChatModel
import SQLite
import StorageCore

extension SQLiteLog {
    func eventsAtOnce(in channels: ChannelSet, after position: Timetoken, limit: Int) -> Page<Event>? {
        let now = engineState.now
        let from = max(position, engineState.retention.cutoff(of: channels.app, now: now))
        guard limit > 0 else { return Page(items: [], hasMore: from < engineState.tail.watermark, position: position) }
        return engineState.tail.events(
            in: channels, after: from, limit: limit, now: now, index: engineState.tailIndex)
    }

    func events(in channels: ChannelSet, after position: Timetoken, limit: Int) async throws(ChatError) -> Page<Event> {
        if let page = eventsAtOnce(in: channels, after: position, limit: limit) { return page }
        let now = engineState.now
        let cutoff = engineState.retention.cutoff(of: channels.app, now: now)
        let from = max(position, cutoff)
        let question = EventsQuery(
            channels: channels, after: from, upTo: engineState.tail.watermark, limit: limit, now: now)
        var page = try await readers.run { (reader) throws(SQLiteFailure) in try reader.events(question) }
        // Ephemeral events are read after the rows of the database. Events that were removed from memory in the
        // meantime were older than their guaranteed age.
        let passing = engineState.allocator.passingEvents(in: channels.app, after: from, upTo: page.position)
            .filter { channels.contains($0.channel) && $0.isReadable(now: now, cutoff: cutoff) }
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
}
