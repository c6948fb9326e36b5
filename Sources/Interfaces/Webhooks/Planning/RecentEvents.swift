import ChatModel
import Locking

/// Bodies of events that were planned a moment ago, so that sending does not read the log again, and an event owed to
/// many webhooks is printed once.
///
/// Bounded by bytes; the oldest goes first. What is not here is read from the log. A deletion of events empties it
/// (`ChatService.deletions`), so that no delivery carries what the log does not hold any more.
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
        /// How many deletions there had been when the oldest entry's event was read.
        var deletions: UInt64 = 0

        /// Empties it where events were deleted since. False where `deletions` is an older number.
        mutating func keepUp(with deletions: UInt64) -> Bool {
            guard deletions >= self.deletions else { return false }
            if deletions > self.deletions { self = State(deletions: deletions) }
            return true
        }
    }

    /// What an entry costs beside its body: two table entries and an array's header.
    private static let overhead = 128

    private let state = Lock(State())
    private let capacity: Int

    init(capacityBytes: Int = 16 * 1024 * 1024) { capacity = capacityBytes }

    /// - Parameter deletions: how many there had been before the event was read.
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

    /// - Parameter deletions: how many there have been by now.
    func entry(at timetoken: Timetoken, deletions: UInt64) -> Entry? {
        state.withLock { $0.keepUp(with: deletions) ? $0.entries[timetoken] : nil }
    }
}

/// When operators are told of an endpoint that has as many deliveries waiting as it may: at the first that is lost, then once
/// in a while with what was lost since.
final class OverflowAlerts: Sendable {
    /// An endpoint that overflows does so with each event.
    static let interval: Duration = .seconds(3600)
    /// Beyond it all are forgotten, and told of anew.
    private static let most = 4096

    private struct Entry {
        var told: Timetoken
        var untold = 0
    }

    private let entries = Lock<[SubscriberID: Entry]>([:])

    /// Counts what was lost. Returns how much there is to tell of; nil while it is too early.
    func add(_ count: Int, of subscriber: SubscriberID, at now: Timetoken) -> Int? {
        entries.withLock { entries in
            let known = entries[subscriber]
            if let known, now < known.told.adding(Self.interval) {
                entries[subscriber]?.untold += count
                return nil
            }
            if known == nil, entries.count >= Self.most { entries.removeAll() }
            entries[subscriber] = Entry(told: now)
            return count + (known?.untold ?? 0)
        }
    }
}
