import ChatModel

/// The newest commits in memory. `committed()` is fed from them, and reads near the end of the log are answered from
/// them without touching the file.
typealias Tail = ReplayBuffer<Commit>

extension Commit: ReplayEntry {
    var position: UInt64 { watermark.rawValue }
    var weight: Int { events.reduce(64) { $0 + $1.draft.weight } }
}

extension ReplayBuffer<Commit> {
    /// The position up to which every event is visible.
    var watermark: Timetoken { Timetoken(end) }

    /// The event at this position, when memory holds it.
    func event(at timetoken: Timetoken) -> Event? {
        guard timetoken > .zero else { return nil }
        return entry(after: timetoken.rawValue - 1)?.events.event(at: timetoken)
    }

    /// Removes deleted events, so that no reader near the end is shown them.
    func remove(_ isGone: (Event) -> Bool) {
        rewrite { commit in
            guard commit.events.contains(where: isGone) else { return nil }
            return Commit(events: commit.events.filter { !isGone($0) }, watermark: commit.watermark)
        }
    }
}
