package import ChatModel

/// The stored row of a subscriber: a webhook or a pulled subscription.
package struct StoredSubscriber: Sendable {
    package let number: Int64
    package let subscriber: SubscriberID
    package let settings: LaneSettings
    /// The next step of reordering the subscriber's deliveries.
    package let reordering: Reordering

    package init(number: Int64, subscriber: SubscriberID, settings: LaneSettings, reordering: Reordering) {
        self.number = number
        self.subscriber = subscriber
        self.settings = settings
        self.reordering = reordering
    }
}

/// The steps of reordering a subscriber's waiting deliveries according to its settings. Each step runs in batches. The
/// row stores the current step, so that reordering continues after a crash.
package enum Reordering: Int, Sendable {
    case done = 0
    /// Remove the deliveries from the chains of an earlier ordering. A chain is a sequence of deliveries that must be
    /// delivered in order.
    case release = 1
    /// Assign each delivery to a chain, where it waits for earlier deliveries.
    case chain = 2
    /// Make the first delivery of each chain due.
    case lead = 3
}

extension LaneSettings {
    /// A copy with values that can be stored. The concurrency, the deliveries per attempt and the attempts (if set) are
    /// at least 1. With strict ordering, the concurrency is 1. A rate that is not positive becomes nil.
    package var bounded: LaneSettings {
        var settings = self
        settings.concurrency = ordering == .strict ? 1 : max(1, concurrency)
        settings.deliveriesPerAttempt = max(1, deliveriesPerAttempt)
        settings.attempts = attempts.map { max(1, $0) }
        settings.rate = rate.flatMap { $0 > 0 ? $0 : nil }
        return settings
    }

    /// The maximum number of waiting deliveries of a subscriber. The limit of an open subscriber is ten times the limit
    /// of a paused subscriber, so that no delivery is lost during an outage of the receiver. The limit also applies to
    /// pulled subscriptions, whose consumer may never pull.
    package func mostWaiting(_ limits: Limits) -> Int { limits.deliveriesHeld * (state == .open ? 10 : 1) }
}
