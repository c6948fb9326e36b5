import ChatModel
import Locking

/// The figures of every endpoint that was attempted since the start.
final class WebhookCounters: Sendable {
    private let entries = Lock<[SubscriberID: AttemptStatistics]>([:])

    func record(_ subscriber: SubscriberID, at now: Timetoken, isDelivered: Bool, milliseconds: Int) {
        entries.withLock { entries in
            entries[subscriber, default: AttemptStatistics()]
                .record(at: now, isDelivered: isDelivered, milliseconds: milliseconds)
        }
    }

    func figures(of subscriber: SubscriberID) -> AttemptStatistics? { entries.withLock { $0[subscriber] } }

    func forget(_ subscriber: SubscriberID) { entries.withLock { $0[subscriber] = nil } }
}
