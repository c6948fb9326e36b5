import ChatModel
import SQLite

/// The row of a webhook or subscription.
struct StoredSubscriber: Sendable {
    let number: Int64
    let subscriber: SubscriberID
    let settings: LaneSettings
    /// The next step of reordering its items.
    let reordering: Reordering
}

/// The steps of reordering a subscriber's waiting items according to its settings. Each step runs in batches, and the
/// row stores the current step, so that a crash in between costs only time.
enum Reordering: Int, Sendable {
    case done = 0
    /// Dissolves the chains of an earlier ordering.
    case release = 1
    /// Assigns every item to a chain and puts it in line.
    case chain = 2
    /// Makes the first item of each chain due.
    case lead = 3
}

extension Statement {
    static let subscriberColumns =
        "id, app, name, state, concurrency, ordering, rate, batch, pulled, attempts, reordering"

    /// Reads the columns ``subscriberColumns``.
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
    /// The settings with the smallest values that can be stored: nothing below one.
    var bounded: LaneSettings {
        var settings = self
        settings.concurrency = ordering == .strict ? 1 : max(1, concurrency)
        settings.deliveriesPerAttempt = max(1, deliveriesPerAttempt)
        settings.attempts = attempts.map { max(1, $0) }
        settings.rate = rate.flatMap { $0 > 0 ? $0 : nil }
        return settings
    }
}
