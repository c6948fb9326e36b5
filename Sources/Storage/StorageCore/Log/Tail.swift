package import ChatModel

/// The newest commits, in memory. Reads of recent events and the consumers of commits (``CommitReader``) use them
/// instead of the store.
package final class Tail: Sendable {
    let buffer: ReplayBuffer<Commit>

    /// Creates an empty tail, whose commits follow the position `start`.
    ///
    /// - Parameter capacity: the maximum memory of the events in bytes (`weight`). The newest commit is stored even if
    ///   it is larger.
    package init(capacity: Int, start: Timetoken) {
        buffer = ReplayBuffer(capacity: capacity, start: start.rawValue)
    }

    /// The position up to which all events are visible to readers. Reading it takes only one atomic load.
    package var watermark: Timetoken { Timetoken(buffer.end) }

    package var isClosed: Bool { buffer.isClosed }

    /// Adds a commit, then moves ``watermark``, then wakes the waiting consumers. Because of this order, a consumer
    /// that has read ``watermark`` finds all commits up to that position.
    package func publish(_ commit: Commit) { buffer.publish(commit) }

    /// Adds a commit like ``publish(_:)``, but returns the waiting consumers instead of waking them. The caller must
    /// wake them after it has released its own lock.
    package func add(_ commit: Commit) -> [WaitingConsumer] { buffer.add(commit) }

    /// Closes the tail. Each consumer still receives the remaining commits and then ends.
    package func close() { buffer.close() }

    /// Removes all commits from memory. Readers find them in the store.
    package func forget() { buffer.forget() }

    /// Returns the event with this timetoken; nil when it is not in memory.
    package func event(at timetoken: Timetoken) -> Event? {
        guard timetoken > .zero else { return nil }
        return buffer.entry(after: timetoken.rawValue - 1)?.events.event(at: timetoken)
    }

    /// Removes the events for which `isGone` returns true, so that reads from memory do not return deleted events.
    package func remove(_ isGone: (Event) -> Bool) {
        buffer.rewrite { commit in
            guard commit.events.contains(where: isGone) else { return nil }
            return Commit(events: commit.events.filter { !isGone($0) }, watermark: commit.watermark)
        }
    }
}

extension Commit: ReplayEntry {
    var position: UInt64 { watermark.rawValue }
    var weight: Int { events.reduce(64) { $0 + $1.weight } }
}
