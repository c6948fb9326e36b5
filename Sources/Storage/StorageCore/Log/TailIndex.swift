import ChatModel
import Locking

/// An index by channel of the newest events in memory (the tail), for readers of a few channels. Without the index,
/// each reader would examine every event since its position. After a network outage, thousands of readers resume at the
/// same time.
///
/// The first reader builds the index, and later readers update it. Therefore emitting an event does no additional work.
package final class TailIndex: Sendable {
    fileprivate struct State: Sendable {
        var events: [ChannelID: [Event]] = [:]
        /// For each channel, the events of other channels that also appear in the channel (echoes).
        var echoes: [ChannelID: [Event]] = [:]
        /// The indexed range: events after `start`, up to and including `end`.
        var start: Timetoken = .zero
        var end: Timetoken = .zero
        var bytes = 0
        var isUsed = false
    }

    private let state = Lock(State())
    private let capacity: Int

    /// Creates an empty index.
    ///
    /// - Parameter capacity: the maximum memory of the tail in bytes (`weight`).
    package init(capacity: Int) { self.capacity = capacity }

    /// Returns at most `limit` events of the channels after a position, oldest first; nil when events after the
    /// position are no longer in the tail. The result may contain events that are not visible to the reader. The caller
    /// must remove them.
    func events(
        in channels: [ChannelID], echoes: Bool, after position: Timetoken, limit: Int, of tail: Tail
    ) -> Page<Event>? {
        state.withLock { state in
            state.isUsed = true
            guard state.cover(position, tail, capacity) else { return nil }
            var found: [Event] = []
            for channel in channels {
                guard let events = state.events[channel] else { continue }
                let from = events.index(after: position)
                found += events[from..<min(from + limit + 1, events.count)]
            }
            if echoes, !state.echoes.isEmpty { state.addEchoes(in: channels, after: position, limit, to: &found) }
            var page = Page<Event>(items: [], position: max(position, state.end))
            page.merge(found, limit: limit)
            return page
        }
    }

    /// Discards the index, because events were removed from the tail.
    package func reset() { state.withLock { $0 = State() } }

    /// Frees the memory of the index if it was not used since the last call.
    package func sweep() {
        state.withLock { state in
            if state.isUsed { state.isUsed = false } else { state = State() }
        }
    }
}

extension TailIndex.State {
    /// Adds to `found` the events after `position` that also appear in these channels as echoes (events of other
    /// channels). Adds no event twice.
    fileprivate func addEchoes(
        in channels: [ChannelID], after position: Timetoken, _ limit: Int, to found: inout [Event]
    ) {
        var known = Set(found.lazy.map(\.timetoken))
        for channel in channels {
            guard let events = echoes[channel] else { continue }
            let from = events.index(after: position)
            for event in events[from..<min(from + limit + 1, events.count)]
            where known.insert(event.timetoken).inserted { found.append(event) }
        }
    }

    /// Adds new commits to the index. Rebuilds the index if it begins after `position` or has become too large. Returns
    /// false if events after `position` are no longer in the tail.
    fileprivate mutating func cover(_ position: Timetoken, _ tail: Tail, _ capacity: Int) -> Bool {
        if position < start || end == .zero || bytes > 2 * capacity { begin(at: position) }
        while true {
            switch tail.buffer.slice(after: end.rawValue, limit: 256) {
            case .entries(let commits): for commit in commits { add(commit) }
            case .empty, .closed: return true
            case .behind:
                // The tail no longer contains the commits after the end of the index. The index is rebuilt from
                // `position`.
                guard end != position else { return false }
                begin(at: position)
            }
        }
    }

    private mutating func begin(at position: Timetoken) {
        events = [:]
        echoes = [:]
        bytes = 0
        start = position
        end = position
    }

    private mutating func add(_ commit: Commit) {
        for event in commit.events[commit.events.index(after: end)...] {
            bytes += event.weight
            events[event.channel, default: []].append(event)
            for echo in event.draft.echoes {
                echoes[ChannelID(echo, in: event.channel.app), default: []].append(event)
            }
        }
        end = max(end, commit.watermark)
    }
}
