public import ChatModel
import Locking

/// Several subscriptions, begun and ended together.
public final class SubscriptionSet: Sendable {
    private let members: Lock<[Subscription]>

    public init(_ subscriptions: [Subscription] = []) { members = Lock(subscriptions) }

    public var subscriptions: [Subscription] { members.withLock { $0 } }

    /// Adds one; it is not begun by that.
    public func add(_ subscription: Subscription) {
        members.withLock { members in
            if !members.contains(where: { $0 === subscription }) { members.append(subscription) }
        }
    }

    /// Takes one out and ends it.
    public func remove(_ subscription: Subscription) {
        members.withLock { members in members.removeAll { $0 === subscription } }
        subscription.unsubscribe()
    }

    public func subscribe(with timetoken: Timetoken? = nil) {
        for subscription in subscriptions { subscription.subscribe(with: timetoken) }
    }

    public func unsubscribe() {
        for subscription in subscriptions { subscription.unsubscribe() }
    }

    /// Returns when each of them is ready; see ``Subscription/ready(within:)``.
    public func ready(within limit: Duration = .seconds(30)) async throws(ChatError) {
        let end = ContinuousClock.now + limit
        for subscription in subscriptions { try await subscription.ready(within: max(.zero, end - .now)) }
    }

    /// The same subscriptions again, neither begun nor with closures.
    public func clone() -> SubscriptionSet { SubscriptionSet(subscriptions.map { $0.clone() }) }
}
