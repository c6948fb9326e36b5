import ChatModel
import Locking

/// The bodies of recently planned events, so that sending does not read the log again and an event for many webhooks is
/// printed once.
///
/// Limited in bytes; the oldest body is removed first, and is then read from the log. A deletion of events empties the
/// cache (`ChatService.deletions`), so that no delivery carries an event that the log no longer has.
final class RecentEvents: Sendable {
    /// An event's body and trace context.
    struct Entry {
        let body: [UInt8]
        let trace: String?
    }

    private struct State {
        var entries: [Timetoken: Entry] = [:]
        /// The timetokens in the order of insertion; `first` is the index of the oldest one held.
        var order: [Timetoken] = []
        var first = 0
        var bytes = 0
        /// The number of deletions when the oldest entry's event was read.
        var deletions: UInt64 = 0

        /// Empties the cache when events were deleted since. Returns false when `deletions` is an older number.
        mutating func keepUp(with deletions: UInt64) -> Bool {
            guard deletions >= self.deletions else { return false }
            if deletions > self.deletions { self = State(deletions: deletions) }
            return true
        }
    }

    /// The cost of an entry beside its body: two dictionary entries and an array header.
    private static let overhead = 128

    private let state = Lock(State())
    private let capacity: Int

    init(capacityBytes: Int = 16 * 1024 * 1024) { capacity = capacityBytes }

    /// - Parameter deletions: the number of deletions before the event was read.
    func insert(_ body: [UInt8], trace: String?, at timetoken: Timetoken, deletions: UInt64) {
        state.withLock { state in
            guard state.keepUp(with: deletions),
                state.entries.updateValue(Entry(body: body, trace: trace), forKey: timetoken) == nil
            else { return }
            state.order.append(timetoken)
            state.bytes += body.count + Self.overhead
            while state.bytes > capacity, state.first < state.order.count {
                let oldest = state.order[state.first]
                state.first += 1
                if let gone = state.entries.removeValue(forKey: oldest) {
                    state.bytes -= gone.body.count + Self.overhead
                }
            }
            if state.first > 1024, state.first * 2 > state.order.count {
                state.order.removeFirst(state.first)
                state.first = 0
            }
        }
    }

    /// - Parameter deletions: the current number of deletions.
    func entry(at timetoken: Timetoken, deletions: UInt64) -> Entry? {
        state.withLock { $0.keepUp(with: deletions) ? $0.entries[timetoken] : nil }
    }
}
