public import ChatModel
import Locking

extension Chat {
    /// Events of channels (names and patterns such as `a.*`) and channel groups; of everything when both are empty.
    ///
    /// - Parameters:
    ///   - presence: whether those who come and go are told too.
    ///   - filter: an expression in the language of filters: `data.amount > 100`.
    ///   - since: begin behind this position instead of now.
    public func subscription(
        channels: [String] = [], groups: [String] = [], presence: Bool = false, filter: String? = nil,
        since: Timetoken? = nil
    ) -> Subscription {
        var selection = EventSelection(channels: channels)
        selection.groups = groups
        selection.hasPresence = presence
        selection.filter = filter
        selection.since = since
        return Subscription(self, selection)
    }

    /// Ends every subscription of this chat that was begun.
    public func unsubscribeAll() {
        for subscription in subscriptions.all { subscription.unsubscribe() }
    }
}

/// The subscriptions that have begun. It does not keep them: who lets go of one ends it.
final class ActiveSubscriptions: Sendable {
    private struct Reference: Sendable { weak let subscription: Subscription? }

    private let begun = Lock<[ObjectIdentifier: Reference]>([:])

    func add(_ subscription: Subscription) {
        begun.withLock { begun in
            begun = begun.filter { $0.value.subscription != nil }
            begun[ObjectIdentifier(subscription)] = Reference(subscription: subscription)
        }
    }

    func remove(_ subscription: Subscription) { begun.withLock { $0[ObjectIdentifier(subscription)] = nil } }

    var all: [Subscription] { begun.withLock { $0.values.compactMap(\.subscription) } }
}
