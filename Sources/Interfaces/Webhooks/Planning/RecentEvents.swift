import ChatModel
import Locking

/// Bodies of events that were planned a moment ago, so that sending does not read the log again, and an event owed to
/// many webhooks is printed once.
///
/// Bounded by bytes; the oldest goes first. What is not here is read from the log.
final class RecentEvents: Sendable {
    private struct State {
        var bodies: [Timetoken: [UInt8]] = [:]
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

    func insert(_ body: [UInt8], at timetoken: Timetoken) {
        state.withLock { state in
            guard state.bodies.updateValue(body, forKey: timetoken) == nil else { return }
            state.order.append(timetoken)
            state.bytes += body.count + Self.overhead
            while state.bytes > capacity, state.first < state.order.count {
                let oldest = state.order[state.first]
                state.first += 1
                if let gone = state.bodies.removeValue(forKey: oldest) { state.bytes -= gone.count + Self.overhead }
            }
            if state.first > 1024, state.first * 2 > state.order.count {
                state.order.removeFirst(state.first)
                state.first = 0
            }
        }
    }

    func body(at timetoken: Timetoken) -> [UInt8]? { state.withLock { $0.bodies[timetoken] } }
}
