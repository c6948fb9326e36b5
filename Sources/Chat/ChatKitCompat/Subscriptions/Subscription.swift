import ChatKit
public import Dispatch
public import FoundationEssentials
import Locking

/// A channel, a channel group, or the channel of a user, whose events a subscription receives.
public class Subscribable: @unchecked Sendable {
    // Safe to share: no member changes.
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

    /// Returns a subscription of this source.
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
/// The channel of a channel's record.
public final class ChannelMetadataRepresentation: Subscribable, @unchecked Sendable {}

extension PubNub {
    /// Returns a channel, for subscriptions.
    public func channel(_ name: String) -> ChannelRepresentation { ChannelRepresentation(name, of: self) }

    /// Returns a channel group, for subscriptions.
    public func channelGroup(_ name: String) -> ChannelGroupRepresentation {
        ChannelGroupRepresentation(name, of: self, isGroup: true)
    }

    /// Returns the record of a user, for subscriptions.
    public func userMetadata(_ name: String) -> UserMetadataRepresentation {
        UserMetadataRepresentation(name, of: self, hasPresence: false)
    }

    /// Returns the record of a channel, for subscriptions.
    public func channelMetadata(_ name: String) -> ChannelMetadataRepresentation {
        ChannelMetadataRepresentation(name, of: self, hasPresence: false)
    }

    /// Returns a set with a subscription of each source.
    public func subscription(
        queue: DispatchQueue = .main, entities: any Collection<Subscribable>,
        options: SubscriptionOptions = SubscriptionOptions.empty()
    ) -> SubscriptionSet {
        SubscriptionSet(queue: queue, entities: entities, options: options)
    }
}

/// The events of one source. Its user is present on the channel while it is subscribed. Releasing it unsubscribes it.
public final class Subscription: EventListenerInterface, Hashable {
    public let queue: DispatchQueue
    public let uuid = UUID()
    public let closures = EventClosures()
    /// The source.
    public let entity: Subscribable
    /// The options.
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

    /// Creates a subscription of a source.
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

    /// Starts to call the closures. Does nothing when the subscription has started already, or is disposed of.
    public func subscribe() { subscribe(with: nil) }

    /// Starts to call the closures.
    ///
    /// - Parameter timetoken: the position behind which to start; nil starts with new events. A timetoken without 17
    ///   digits is ignored.
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

    /// Ends the connection and the user's presence. Returns false when the subscription was not subscribed.
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

    /// Returns a subscription of the same source and options, without closures. It is subscribed when this one is.
    public func clone() -> Subscription {
        let clone = Subscription(queue: queue, entity: entity, options: options)
        if isSubscribed { clone.subscribe() }
        return clone
    }

    /// True after ``dispose()``.
    public var isDisposed: Bool { state.withLock { $0.isDisposed } }

    /// Unsubscribes and removes all closures and listeners, for good.
    public func dispose() {
        unsubscribe()
        state.withLock { $0.isDisposed = true }
        closures.current = EventClosures.Values()
        listeners.removeAll()
    }

    /// Adds a listener, which is retained.
    public func addEventListener(_ listener: EventListener) { listeners.add(listener) }

    /// Removes a listener.
    public func removeEventListener(_ listener: EventListener) { listeners.remove(listener) }

    /// Removes all listeners. The subscription's own closures stay.
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

/// Several subscriptions that start and end together. Its closures receive the events of all of them.
public final class SubscriptionSet: EventListenerInterface, Hashable {
    public let queue: DispatchQueue
    public let uuid = UUID()
    public let closures = EventClosures()
    /// The options, which apply to the events of all subscriptions of the set.
    public let options: SubscriptionOptions

    private let members = Lock<[Subscription]>([])
    private let listeners = AddedListeners()
    private let disposed = Lock(false)

    /// Creates a set with a subscription of each source.
    public convenience init(
        queue: DispatchQueue = .main, entities: any Collection<Subscribable> = [],
        options: SubscriptionOptions = SubscriptionOptions.empty()
    ) {
        var made: [Subscription] = []
        for entity in entities { made.append(Subscription(queue: queue, entity: entity, options: options)) }
        self.init(queue: queue, subscriptions: made, options: options)
    }

    /// Creates a set of subscriptions.
    public init(
        queue: DispatchQueue = .main, subscriptions: any Collection<Subscription>,
        options: SubscriptionOptions = SubscriptionOptions.empty()
    ) {
        self.queue = queue
        self.options = options
        add(subscriptions: subscriptions)
    }

    private var subscriptions: [Subscription] { members.withLock { $0 } }

    /// Adds a subscription. It is subscribed when a subscription of the set is.
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

    /// Removes a subscription and unsubscribes it.
    public func remove(subscription: Subscription) {
        members.withLock { members in members.removeAll { $0 === subscription } }
        subscription.leave(self)
        subscription.unsubscribe()
    }

    /// Removes several subscriptions and unsubscribes them.
    public func remove(subscriptions: any Collection<Subscription>) {
        for subscription in subscriptions { remove(subscription: subscription) }
    }

    /// Subscribes every subscription.
    public func subscribe() { subscribe(with: nil) }

    /// Subscribes every subscription; see ``Subscription/subscribe(with:)``.
    public func subscribe(with timetoken: Timetoken?) {
        guard !isDisposed else { return }
        for subscription in subscriptions { subscription.subscribe(with: timetoken) }
    }

    /// Unsubscribes every subscription.
    public func unsubscribe() { for subscription in subscriptions { subscription.unsubscribe() } }

    /// Returns a set of clones of the subscriptions, without closures.
    public func clone() -> SubscriptionSet {
        SubscriptionSet(queue: queue, subscriptions: subscriptions.map { $0.clone() }, options: options)
    }

    /// True after ``dispose()``.
    public var isDisposed: Bool { disposed.withLock { $0 } }

    /// Disposes of every subscription, and removes all closures and listeners.
    public func dispose() {
        disposed.withLock { $0 = true }
        for subscription in subscriptions { subscription.dispose() }
        closures.current = EventClosures.Values()
        listeners.removeAll()
    }

    /// Adds a listener, which is retained.
    public func addEventListener(_ listener: EventListener) { listeners.add(listener) }

    /// Removes a listener.
    public func removeEventListener(_ listener: EventListener) { listeners.remove(listener) }

    /// Removes all listeners. The set's own closures stay.
    public func removeAllListeners() { listeners.removeAll() }

    fileprivate func receive(_ events: [PubNubEvent]) {
        let events = events.filter { options.accepts($0) }
        closures.emit(events, on: queue)
        listeners.emit(events)
    }

    public static func == (left: SubscriptionSet, right: SubscriptionSet) -> Bool { left === right }

    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
