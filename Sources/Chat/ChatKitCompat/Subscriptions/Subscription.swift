import ChatKit
public import Dispatch
public import FoundationEssentials
import Locking

/// A source of events for subscriptions: a channel, a channel group, or the channel of a user.
public class Subscribable: @unchecked Sendable {
    // Safe to share: all members are constants.
    /// The name of the channel or group.
    public let name: String
    let isGroup: Bool
    fileprivate let hasPresence: Bool
    fileprivate let chat: Chat?
    fileprivate let session: SubscriptionSession
    fileprivate let presence: PresenceKeeper

    fileprivate init(_ name: String, of client: PubNub, isGroup: Bool = false, hasPresence: Bool = true) {
        self.name = name
        self.isGroup = isGroup
        self.hasPresence = hasPresence
        chat = (try? client.connection.get())?.chat
        session = client.session
        presence = client.presence
    }

    /// Creates a subscription to this source.
    public func subscription(
        queue: DispatchQueue = .main, options: SubscriptionOptions = SubscriptionOptions.empty()
    ) -> Subscription {
        Subscription(queue: queue, entity: self, options: options)
    }
}

/// A channel, or a pattern of channels such as `news.*`.
public final class ChannelRepresentation: Subscribable, @unchecked Sendable {}
/// A channel group.
public final class ChannelGroupRepresentation: Subscribable, @unchecked Sendable {}
/// The channel of a user, which receives the events of the user's record and memberships.
public final class UserMetadataRepresentation: Subscribable, @unchecked Sendable {}
/// The channel that receives the events of a channel's record.
public final class ChannelMetadataRepresentation: Subscribable, @unchecked Sendable {}

extension PubNub {
    /// Returns a channel as a source for subscriptions.
    public func channel(_ name: String) -> ChannelRepresentation { ChannelRepresentation(name, of: self) }

    /// Returns a channel group as a source for subscriptions.
    public func channelGroup(_ name: String) -> ChannelGroupRepresentation {
        ChannelGroupRepresentation(name, of: self, isGroup: true)
    }

    /// Returns the channel of a user as a source for subscriptions.
    public func userMetadata(_ name: String) -> UserMetadataRepresentation {
        UserMetadataRepresentation(name, of: self, hasPresence: false)
    }

    /// Returns a channel as a source for subscriptions to the events of its record.
    public func channelMetadata(_ name: String) -> ChannelMetadataRepresentation {
        ChannelMetadataRepresentation(name, of: self, hasPresence: false)
    }

    /// Creates a set with one subscription for each source.
    public func subscription(
        queue: DispatchQueue = .main, entities: any Collection<Subscribable>,
        options: SubscriptionOptions = SubscriptionOptions.empty()
    ) -> SubscriptionSet {
        SubscriptionSet(queue: queue, entities: entities, options: options)
    }
}

/// A subscription to the events of one source. While the subscription is active, the client's user is present in the
/// channel, or in the channels of the group. When the subscription is released, it ends.
public final class Subscription: EventListenerInterface, Hashable {
    public let queue: DispatchQueue
    public let uuid = UUID()
    public let closures = EventClosures()
    /// The source of the events.
    public let entity: Subscribable
    /// The options of the subscription.
    public let options: SubscriptionOptions

    private struct State {
        var isSubscribed = false
        var isDisposed = false
        var sets: [SetReference] = []
    }

    private struct SetReference: Sendable { weak let set: SubscriptionSet? }

    let core: ChatKit.Subscription?
    private let receiver = ChatKit.SubscriptionListener()
    private let listeners = AddedListeners()
    private let state = Lock(State())

    /// Creates a subscription to a source. It starts with ``subscribe(with:)``.
    public init(
        queue: DispatchQueue = .main, entity: Subscribable,
        options: SubscriptionOptions = SubscriptionOptions.empty()
    ) {
        self.queue = queue
        self.entity = entity
        self.options = options
        core = entity.chat?.subscription(
            channels: entity.isGroup ? [] : [entity.name], groups: entity.isGroup ? [entity.name] : [],
            presence: options.hasPresence, filter: entity.session.nativeFilter)
        core?.add(receiver)
        receiver.didReceiveBatchSubscription = { [weak self] in self?.receive($0.compactMap { ReceivedEvent($0) }) }
        receiver.didReceiveStatus = { [session = entity.session] in session.change($0) }
    }

    deinit { stop() }

    var channels: [String] { entity.isGroup ? [] : [entity.name] }
    var groups: [String] { entity.isGroup ? [entity.name] : [] }

    /// Starts calling the closures. Does nothing when the subscription is already active or is disposed of.
    public func subscribe() { subscribe(with: nil) }

    /// Starts calling the closures. Does nothing when the subscription is already active or is disposed of.
    ///
    /// - Parameter timetoken: the position in the event log after which the events start; nil starts with new events. A
    ///   timetoken that does not have 17 digits is ignored.
    public func subscribe(with timetoken: Timetoken?) {
        let begins = state.withLock { state in
            guard !state.isSubscribed, !state.isDisposed else { return false }
            state.isSubscribed = true
            return true
        }
        guard begins else { return }
        if entity.hasPresence { entity.presence.enter([entity.name], isGroup: entity.isGroup) }
        entity.session.begin(self, at: timetoken)
    }

    /// Stops calling the closures.
    public func unsubscribe() {
        guard stop() else { return }
        entity.session.ended(channels: channels, groups: groups)
    }

    /// Ends the connection and the user's presence. Returns false when the subscription was not active.
    @discardableResult
    func stop() -> Bool {
        let ends = state.withLock { state in
            defer { state.isSubscribed = false }
            return state.isSubscribed
        }
        guard ends else { return false }
        if entity.hasPresence { entity.presence.leave([entity.name], isGroup: entity.isGroup) }
        core?.unsubscribe()
        return true
    }

    /// True between ``subscribe(with:)`` and ``unsubscribe()``.
    var isSubscribed: Bool { state.withLock { $0.isSubscribed } }

    /// Returns a subscription with the same source and options, but without closures. The new subscription is active
    /// when this subscription is active.
    public func clone() -> Subscription {
        let clone = Subscription(queue: queue, entity: entity, options: options)
        if isSubscribed { clone.subscribe() }
        return clone
    }

    /// True after ``dispose()``.
    public var isDisposed: Bool { state.withLock { $0.isDisposed } }

    /// Ends the subscription and removes all closures and listeners. The subscription cannot start again.
    public func dispose() {
        unsubscribe()
        state.withLock { $0.isDisposed = true }
        closures.current = EventClosures.Values()
        listeners.removeAll()
    }

    /// Adds a listener, which the subscription retains.
    public func addEventListener(_ listener: EventListener) { listeners.add(listener) }

    /// Removes a listener.
    public func removeEventListener(_ listener: EventListener) { listeners.remove(listener) }

    /// Removes all listeners, but not the subscription's own closures.
    public func removeAllListeners() { listeners.removeAll() }

    func join(_ set: SubscriptionSet) {
        state.withLock { state in
            state.sets = state.sets.filter { $0.set != nil && $0.set !== set }
            state.sets.append(SetReference(set: set))
        }
    }

    func leave(_ set: SubscriptionSet) { state.withLock { $0.sets.removeAll { $0.set === set } } }

    private func receive(_ received: [ReceivedEvent]) {
        let wanted = received.filter { options.accepts($0.event) }
        let events = wanted.map(\.event)
        closures.emit(events, on: queue)
        listeners.emit(events)
        for set in state.withLock({ $0.sets.compactMap(\.set) }) { set.receive(events) }
        entity.session.receive(wanted)
    }

    public static func == (left: Subscription, right: Subscription) -> Bool { left === right }

    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// A set of subscriptions that start and end together. The set's closures receive the events of all its subscriptions.
public final class SubscriptionSet: EventListenerInterface, Hashable {
    public let queue: DispatchQueue
    public let uuid = UUID()
    public let closures = EventClosures()
    /// The options, which apply to the events of all subscriptions of the set.
    public let options: SubscriptionOptions

    private let members = Lock<[Subscription]>([])
    private let listeners = AddedListeners()
    private let disposed = Lock(false)

    /// Creates a set with one subscription for each source.
    public convenience init(
        queue: DispatchQueue = .main, entities: any Collection<Subscribable> = [],
        options: SubscriptionOptions = SubscriptionOptions.empty()
    ) {
        var made: [Subscription] = []
        for entity in entities { made.append(Subscription(queue: queue, entity: entity, options: options)) }
        self.init(queue: queue, subscriptions: made, options: options)
    }

    /// Creates a set from subscriptions.
    public init(
        queue: DispatchQueue = .main, subscriptions: any Collection<Subscription>,
        options: SubscriptionOptions = SubscriptionOptions.empty()
    ) {
        self.queue = queue
        self.options = options
        add(subscriptions: subscriptions)
    }

    private var subscriptions: [Subscription] { members.withLock { $0 } }

    /// Adds a subscription. If a subscription of the set is active, the added subscription starts immediately.
    public func add(subscription: Subscription) {
        let isActive = members.withLock { members in
            if !members.contains(subscription) { members.append(subscription) }
            return members.contains(where: \.isSubscribed)
        }
        subscription.join(self)
        if isActive { subscription.subscribe() }
    }

    /// Adds several subscriptions.
    public func add(subscriptions: any Collection<Subscription>) {
        for subscription in subscriptions { add(subscription: subscription) }
    }

    /// Removes a subscription and ends it.
    public func remove(subscription: Subscription) {
        members.withLock { members in members.removeAll { $0 === subscription } }
        subscription.leave(self)
        subscription.unsubscribe()
    }

    /// Removes several subscriptions and ends them.
    public func remove(subscriptions: any Collection<Subscription>) {
        for subscription in subscriptions { remove(subscription: subscription) }
    }

    /// Starts every subscription of the set.
    public func subscribe() { subscribe(with: nil) }

    /// Starts every subscription of the set; see ``Subscription/subscribe(with:)``.
    public func subscribe(with timetoken: Timetoken?) {
        guard !isDisposed else { return }
        for subscription in subscriptions { subscription.subscribe(with: timetoken) }
    }

    /// Ends every subscription of the set.
    public func unsubscribe() { for subscription in subscriptions { subscription.unsubscribe() } }

    /// Returns a set with clones of the subscriptions, but without closures.
    public func clone() -> SubscriptionSet {
        SubscriptionSet(queue: queue, subscriptions: subscriptions.map { $0.clone() }, options: options)
    }

    /// True after ``dispose()``.
    public var isDisposed: Bool { disposed.withLock { $0 } }

    /// Disposes of every subscription, and removes all closures and listeners of the set.
    public func dispose() {
        disposed.withLock { $0 = true }
        for subscription in subscriptions { subscription.dispose() }
        closures.current = EventClosures.Values()
        listeners.removeAll()
    }

    /// Adds a listener, which the set retains.
    public func addEventListener(_ listener: EventListener) { listeners.add(listener) }

    /// Removes a listener.
    public func removeEventListener(_ listener: EventListener) { listeners.remove(listener) }

    /// Removes all listeners, but not the set's own closures.
    public func removeAllListeners() { listeners.removeAll() }

    fileprivate func receive(_ events: [PubNubEvent]) {
        let events = events.filter { options.accepts($0) }
        closures.emit(events, on: queue)
        listeners.emit(events)
    }

    public static func == (left: SubscriptionSet, right: SubscriptionSet) -> Bool { left === right }

    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
