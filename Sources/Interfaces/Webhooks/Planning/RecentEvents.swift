import ChatModel
import Locking

/// Bodies of events that were planned a moment ago, so that sending does not read the log again, and an event owed to
/// many webhooks is printed once.
///
/// Bounded by bytes; the oldest goes first. What is not here is read from the log.
final class RecentEvents: Sendable {
    /// An event as it is sent, and where it stands in a trace.
    struct Entry {
        let body: [UInt8]
        let trace: String?
    }

    private struct State {
        var entries: [Timetoken: Entry] = [:]
        /// In the order they came; `first` is the oldest still held.
        var order: [Timetoken] = []
        var first = 0
        var bytes = 0
    }

    /// What an entry costs beside its body: two table entries and an array's header.
    private static let overhead = 128

    private let state = Lock(State())
    private let capacity: Int

    init(capacityBytes: Int = 16 * 1024 * 1024) { capacity = capacityBytes }

    func insert(_ body: [UInt8], trace: String?, at timetoken: Timetoken) {
        state.withLock { state in
            guard state.entries.updateValue(Entry(body: body, trace: trace), forKey: timetoken) == nil else { return }
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

    func entry(at timetoken: Timetoken) -> Entry? { state.withLock { $0.entries[timetoken] } }
}
