import ChatModel
import Locking

/// An index of the newest events by channel, for readers that want few of many channels. Without it each of them would
/// scan every event emitted since its position, and after a network outage thousands of readers resume at once.
///
/// A reader builds it on first use and later readers update it, so emitting an event costs nothing extra.
final class TailIndex: Sendable {
    fileprivate struct State: Sendable {
        var events: [ChannelID: [Event]] = [:]
        /// Events with echo channels, by each of those channels.
        var echoes: [ChannelID: [Event]] = [:]
        /// `events` covers the positions after `start` and up to `end`.
        var start: Timetoken = .zero
        var end: Timetoken = .zero
        var bytes = 0
        var isUsed = false
    }

    private let state = Lock(State())
    private let capacity: Int

    /// - Parameter capacity: the capacity of the tail, in bytes of weight.
    init(capacity: Int) { self.capacity = capacity }

    /// The events of the channels after a position, oldest first, at most `limit`. Nil when the tail does not reach
    /// back so far. The page's position counts all events; the caller decides which of them may be shown.
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
    func reset() { state.withLock { $0 = State() } }

    /// Frees the memory when the index was not used since the last call.
    func sweep() {
        state.withLock { state in
            if state.isUsed { state.isUsed = false } else { state = State() }
        }
    }
}

extension TailIndex.State {
    /// Adds events found by their echo channels, each event once.
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

    /// Indexes new commits. Rebuilds the index when it does not reach back to `position`, and when it holds more than
    /// the tail.
    fileprivate mutating func cover(_ position: Timetoken, _ tail: Tail, _ capacity: Int) -> Bool {
        if position < start || end == .zero || bytes > 2 * capacity { begin(at: position) }
        while true {
            switch tail.slice(after: end.rawValue, limit: 256) {
            case .entries(let commits): for commit in commits { add(commit) }
            case .empty, .closed: return true
            case .behind:
                // The index was not used for a while, or the position is older than it covers.
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
            bytes += event.draft.weight
            events[event.channel, default: []].append(event)
            for echo in event.draft.echoes {
                echoes[ChannelID(echo, in: event.channel.app), default: []].append(event)
            }
        }
        end = max(end, commit.watermark)
    }
}

extension [Event] {
    /// Finds an event by binary search in an array in timetoken order.
    func event(at timetoken: Timetoken) -> Event? {
        let index = self.index(after: timetoken)
        return index > 0 && self[index - 1].timetoken == timetoken ? self[index - 1] : nil
    }

    /// The first index whose event lies above `position`.
    func index(after position: Timetoken) -> Int { index(above: position.rawValue) { $0.timetoken.rawValue } }
}
