import ChatModel

/// The newest commits, in memory. `committed()` and reads of recent events use them instead of the database.
typealias Tail = ReplayBuffer<Commit>

extension Commit: ReplayEntry {
    var position: UInt64 { watermark.rawValue }
    var weight: Int { events.reduce(64) { $0 + $1.weight } }
}

extension ReplayBuffer<Commit> {
    /// The position up to which all events are visible to readers.
    var watermark: Timetoken { Timetoken(end) }

    /// Returns the event with this timetoken; nil when it is not in memory.
    func event(at timetoken: Timetoken) -> Event? {
        guard timetoken > .zero else { return nil }
        return entry(after: timetoken.rawValue - 1)?.events.event(at: timetoken)
    }

    /// Removes the events for which `isGone` returns true, so that reads from memory do not return deleted events.
    func remove(_ isGone: (Event) -> Bool) {
        rewrite { commit in
            guard commit.events.contains(where: isGone) else { return nil }
            return Commit(events: commit.events.filter { !isGone($0) }, watermark: commit.watermark)
        }
    }
}
