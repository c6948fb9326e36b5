import ChatModel
import SQLite

/// The stored row of a subscriber: a webhook or a pulled subscription.
struct StoredSubscriber: Sendable {
    let number: Int64
    let subscriber: SubscriberID
    let settings: LaneSettings
    /// The next step of reordering the subscriber's deliveries.
    let reordering: Reordering
}

/// The steps of reordering a subscriber's waiting deliveries according to its settings. Each step runs in batches. The
/// row stores the current step, so that reordering continues after a crash.
enum Reordering: Int, Sendable {
    case done = 0
    /// Remove the deliveries from the chains of an earlier ordering. A chain is a sequence of deliveries that must be
    /// delivered in order.
    case release = 1
    /// Assign each delivery to a chain, where it waits for earlier deliveries.
    case chain = 2
    /// Make the first delivery of each chain due.
    case lead = 3
}

extension Statement {
    static let subscriberColumns =
        "id, app, name, state, concurrency, ordering, rate, batch, pulled, attempts, reordering"

    /// The subscriber in the current row, whose columns must be ``subscriberColumns``.
    var storedSubscriber: StoredSubscriber {
        var settings = LaneSettings(state: LaneState(rawValue: Int(integer(3))) ?? .open, concurrency: Int(integer(4)))
        settings.ordering = DeliveryOrdering(rawValue: Int(integer(5))) ?? .none
        settings.rate = isNull(6) ? nil : double(6)
        settings.deliveriesPerAttempt = Int(integer(7))
        settings.isPulled = integer(8) != 0
        settings.attempts = optionalInteger(9).map { Int($0) }
        return StoredSubscriber(
            number: integer(0), subscriber: SubscriberID(text(2), in: AppID(text(1))), settings: settings,
            reordering: Reordering(rawValue: Int(integer(10))) ?? .done)
    }
}

extension LaneSettings {
    /// A copy with values that can be stored. The concurrency, the deliveries per attempt and the attempts (if set) are
    /// at least 1. With strict ordering, the concurrency is 1. A rate that is not positive becomes nil.
    var bounded: LaneSettings {
        var settings = self
        settings.concurrency = ordering == .strict ? 1 : max(1, concurrency)
        settings.deliveriesPerAttempt = max(1, deliveriesPerAttempt)
        settings.attempts = attempts.map { max(1, $0) }
        settings.rate = rate.flatMap { $0 > 0 ? $0 : nil }
        return settings
    }
}
