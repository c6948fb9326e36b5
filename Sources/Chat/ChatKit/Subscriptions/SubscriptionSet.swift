public import ChatModel
public import Dispatch
import Locking

/// A set of subscriptions that start and end together. The closures of the set receive the events of all its
/// subscriptions, one at a time.
public final class SubscriptionSet: EventEmitter {
    public let handlers: EventHandlers
    private let queue: DispatchQueue?
    private let members = Lock<[Subscription]>([])

    /// Creates a set of subscriptions.
    ///
    /// - Parameter queue: the queue on which the closures are called; nil for a queue of the library.
    public init(queue: DispatchQueue? = nil, subscriptions: [Subscription] = []) {
        self.queue = queue
        handlers = EventHandlers(queue: DispatchQueue(label: "parley.subscription-set", target: queue))
        for subscription in subscriptions { add(subscription: subscription) }
    }

    /// The subscriptions of the set, in the order in which they were added.
    public var subscriptions: [Subscription] { members.withLock { $0 } }

    /// Adds a subscription without subscribing it.
    public func add(subscription: Subscription) {
        members.withLock { members in
            if !members.contains(where: { $0 === subscription }) { members.append(subscription) }
        }
        subscription.follow(handlers)
    }

    /// Removes a subscription and unsubscribes it.
    public func remove(subscription: Subscription) {
        members.withLock { members in members.removeAll { $0 === subscription } }
        subscription.unsubscribe()
        subscription.stop(handlers)
    }

    /// Subscribes every subscription of the set; see ``Subscription/subscribe(with:)``.
    public func subscribe(with timetoken: Timetoken? = nil) {
        for subscription in subscriptions { subscription.subscribe(with: timetoken) }
    }

    /// Unsubscribes every subscription of the set.
    public func unsubscribe() {
        for subscription in subscriptions { subscription.unsubscribe() }
    }

    /// Waits until every subscription of the set is connected; see ``Subscription/ready(within:)``.
    ///
    /// - Throws: the errors of ``Subscription/ready(within:)``, for the first subscription that fails.
    public func ready(within limit: Duration = .seconds(30)) async throws(ChatError) {
        let end = ContinuousClock.now + limit
        for subscription in subscriptions { try await subscription.ready(within: max(.zero, end - .now)) }
    }

    /// Returns a set with a clone of each subscription (``Subscription/clone()``), without the closures of this set.
    public func clone() -> SubscriptionSet {
        SubscriptionSet(queue: queue, subscriptions: subscriptions.map { $0.clone() })
    }

    /// Adds a listener to every subscription of the set. The set does not retain the listener.
    public func add(_ listener: SubscriptionListener) {
        for subscription in subscriptions { subscription.add(listener) }
    }

    /// Removes a listener from every subscription of the set.
    public func remove(_ listener: SubscriptionListener) {
        for subscription in subscriptions { subscription.remove(listener) }
    }
}

/// A source of events that can be subscribed: a ``Channel``, a ``ChannelGroup``, or a ``User``, whose events are on the
/// channel that has the user's id as its name.
public protocol Subscribable: Sendable {
    /// The chat that the subscription belongs to.
    var chat: Chat { get }
    /// The names of the channels that the subscription follows.
    var subscribedChannels: [String] { get }
    /// The names of the channel groups that the subscription follows.
    var subscribedGroups: [String] { get }
}

extension Subscribable {
    /// Returns a subscription to this source; see
    /// ``Chat/subscription(queue:channels:groups:presence:filter:include:since:)``.
    public func subscription(
        queue: DispatchQueue? = nil, presence: Bool = false, filter: String? = nil, include: Set<IncludedObject> = []
    ) -> Subscription {
        chat.subscription(
            queue: queue, channels: subscribedChannels, groups: subscribedGroups, presence: presence, filter: filter,
            include: include)
    }
}

extension Channel: Subscribable {
    public var subscribedChannels: [String] { [id] }
    public var subscribedGroups: [String] { [] }
}

extension User: Subscribable {
    public var subscribedChannels: [String] { [id] }
    public var subscribedGroups: [String] { [] }
}

extension ChannelGroup: Subscribable {
    public var subscribedChannels: [String] { [] }
    public var subscribedGroups: [String] { [id] }
}

extension Chat {
    /// Returns a set with a subscription to each source.
    ///
    /// - Parameter queue: the queue on which the closures of the set are called; nil for a queue of the library.
    public func subscription(
        queue: DispatchQueue? = nil, entities: [any Subscribable], presence: Bool = false, filter: String? = nil,
        include: Set<IncludedObject> = []
    ) -> SubscriptionSet {
        let subscriptions = entities.map { entity in
            subscription(
                channels: entity.subscribedChannels, groups: entity.subscribedGroups, presence: presence,
                filter: filter, include: include)
        }
        return SubscriptionSet(queue: queue, subscriptions: subscriptions)
    }
}
