import ChatModel
import Locking

/// A cache of the envelopes of recently planned events. The sender then does not read the log again, and an event for
/// many webhooks is printed once.
///
/// The size is bounded; the oldest envelope is removed first. A deletion of events empties the cache
/// (`ChatService.deletions`), so that no delivery contains an event that is no longer in the log.
final class RecentEvents: Sendable {
    /// The envelope of an event and its trace context.
    struct Entry {
        let body: [UInt8]
        let trace: String?
    }

    private struct State {
        var entries: [Timetoken: Entry] = [:]
        /// The timetokens in the order of insertion. `first` is the index of the oldest entry in the cache.
        var order: [Timetoken] = []
        var first = 0
        var bytes = 0
        /// The service's count of deletions when the cached events were read.
        var deletions: UInt64 = 0

        /// Compares a caller's count of deletions with the count of the cache. If the caller's count is greater, the
        /// cached events may have been deleted: empties the cache, stores the caller's count and returns true. If the
        /// caller's count is less, the caller's event may have been deleted: returns false. Returns true for equal
        /// counts.
        mutating func keepUp(with deletions: UInt64) -> Bool {
            guard deletions >= self.deletions else { return false }
            if deletions > self.deletions { self = State(deletions: deletions) }
            return true
        }
    }

    /// The size of an entry without its body, in bytes: two dictionary entries and an array header.
    private static let overhead = 128

    private let state = Lock(State())
    private let capacity: Int

    init(capacityBytes: Int = 16 * 1024 * 1024) { capacity = capacityBytes }

    /// Adds the envelope of an event. Does nothing if the cache knows of a later deletion than the caller, because this
    /// event may be the deleted one.
    ///
    /// - Parameter deletions: the service's count of deletions (`ChatService.deletions`), which the caller has read
    ///   before it read the event.
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

    /// The cached envelope of an event; nil when it is not cached, or when any event was deleted since it was cached.
    ///
    /// - Parameter deletions: the service's current count of deletions (`ChatService.deletions`).
    func entry(at timetoken: Timetoken, deletions: UInt64) -> Entry? {
        state.withLock { $0.keepUp(with: deletions) ? $0.entries[timetoken] : nil }
    }
}
