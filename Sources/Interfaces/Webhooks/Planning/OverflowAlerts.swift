import ChatModel
import Locking

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
