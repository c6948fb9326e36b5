import ChatModel
import Locking

/// The newest events by channel, for readers that want few channels of many: each would look at everything emitted
/// since its position, and after a cut of the network thousands of them come at once.
///
/// Made when somebody asks and brought up to date by whoever asks next, so that emitting pays nothing for it.
final class TailIndex: Sendable {
    fileprivate struct State: Sendable {
        var events: [ChannelID: [Event]] = [:]
        /// Those with echoes, by each of them.
        var echoes: [ChannelID: [Event]] = [:]
        /// What lies between these is in `events`.
        var start: Timetoken = .zero
        var end: Timetoken = .zero
        var bytes = 0
        var isUsed = false
    }

    private let state = Lock(State())
    private let capacity: Int

    /// - Parameter capacity: of the tail, in bytes of weight.
    init(capacity: Int) { self.capacity = capacity }

    /// The events of the channels behind a position, oldest first, up to a number; nil when the tail does not reach back
    /// so far. The position of the page counts all, and what may be shown is for the caller to say.
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

    /// Forgets everything: events were taken out of the tail.
    func reset() { state.withLock { $0 = State() } }

    /// Gives the memory back when nobody has asked since the last time.
    func sweep() {
        state.withLock { state in
            if state.isUsed { state.isUsed = false } else { state = State() }
        }
    }
}

extension TailIndex.State {
    /// Each event once, whatever it was found by.
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

    /// Takes in what is new; begins again where it was asked for less before, and where it holds more than the tail.
    fileprivate mutating func cover(_ position: Timetoken, _ tail: Tail, _ capacity: Int) -> Bool {
        if position < start || end == .zero || bytes > 2 * capacity { begin(at: position) }
        while true {
            switch tail.slice(after: end.rawValue, limit: 256) {
            case .entries(let commits): for commit in commits { add(commit) }
            case .empty, .closed: return true
            case .behind:
                // Nobody has asked for a while, or the position is too old.
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

/// The newest commits: what `committed()` hands on, and what readers near the end are answered from without touching the file.
typealias Tail = ReplayBuffer<Commit>

extension Commit: ReplayEntry {
    var position: UInt64 { watermark.rawValue }
    var weight: Int { events.reduce(64) { $0 + $1.draft.weight } }
}

extension ReplayBuffer<Commit> {
    /// Everything at or below is visible.
    var watermark: Timetoken { Timetoken(end) }

    /// The event at this position, if the memory holds it.
    func event(at timetoken: Timetoken) -> Event? {
        guard timetoken > .zero else { return nil }
        return entry(after: timetoken.rawValue - 1)?.events.event(at: timetoken)
    }

    /// Takes deleted events out, so that no reader near the end is still shown them.
    func remove(_ isGone: (Event) -> Bool) {
        rewrite { commit in
            guard commit.events.contains(where: isGone) else { return nil }
            return Commit(events: commit.events.filter { !isGone($0) }, watermark: commit.watermark)
        }
    }
}

extension [Event] {
    /// Finds by binary search; the array is in timetoken order.
    func event(at timetoken: Timetoken) -> Event? {
        let index = self.index(after: timetoken)
        return index > 0 && self[index - 1].timetoken == timetoken ? self[index - 1] : nil
    }

    /// The first index whose event lies above `position`.
    func index(after position: Timetoken) -> Int { index(above: position.rawValue) { $0.timetoken.rawValue } }
}
