import ChatModel

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
