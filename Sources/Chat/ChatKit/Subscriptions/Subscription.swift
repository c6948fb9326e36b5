public import ChatModel
import Locking

/// Events of channels, channel patterns and channel groups.
///
/// A subscription is a sequence:
/// ```swift
/// for await event in chat.subscription(channels: ["orders.*"]) { print(event.type) }
/// ```
/// It can also call closures, in the order of the events, once it is subscribed:
/// ```swift
/// let subscription = chat.subscription(channels: ["room.1"])
/// subscription.onMessage = { print($0.data) }
/// subscription.subscribe()
/// ```
/// Both may be used at once. Releasing the subscription unsubscribes it.
public final class Subscription: AsyncSequence, Sendable {
    public typealias Element = Event
    public typealias Failure = Never
    /// A closure that is called with each event, one at a time and in order.
    public typealias Callback = @Sendable (Event) -> Void

    struct Callbacks {
        var event: Callback?
        var message: Callback?
        var signal: Callback?
        var presence: Callback?
        var messageAction: Callback?
        var appContext: Callback?
        var file: Callback?
    }

    let chat: Chat
    let selection: EventSelection
    let callbacks = Lock(Callbacks())
    private let listener = Lock<AutoCloseable?>(nil)

    init(_ chat: Chat, _ selection: EventSelection) {
        self.chat = chat
        self.selection = selection
    }

    /// Connects and returns the events from now on, or from behind the position of the subscription.
    public func makeAsyncIterator() -> ChatStream<Event>.Iterator { events(since: selection.since).makeAsyncIterator() }

    private func events(since position: Timetoken?) -> ChatStream<Event> {
        var selection = selection
        selection.since = position
        return ChatStream(chat: chat, selection: selection, transform: { [$0] })
    }

    /// Starts to call the closures. Does nothing when it has started already.
    ///
    /// - Parameter timetoken: the position behind which to start; nil starts with new events.
    public func subscribe(with timetoken: Timetoken? = nil) {
        let events = events(since: timetoken ?? selection.since)
        let isNew = listener.withLock { listener in
            guard listener == nil else { return false }
            listener = events.listen { [weak self] event in self?.hand(out: event) }
            return true
        }
        if isNew { chat.subscriptions.add(self) }
    }

    /// Stops calling the closures. Iterators continue.
    public func unsubscribe() {
        let ended = listener.withLock { listener in
            defer { listener = nil }
            return listener
        }
        ended?.close()
        chat.subscriptions.remove(self)
    }

    /// Waits for the connection. The closures are called for everything that happens after this returns. Returns at
    /// once when `subscribe` was not called.
    ///
    /// - Parameter limit: the maximum wait. The subscription continues to connect afterwards.
    /// - Throws: the error that prevents the connection; `.unavailable` when the limit passes; `.gone` when the
    ///   subscription has ended or the task is cancelled.
    public func ready(within limit: Duration = .seconds(30)) async throws(ChatError) {
        try await listener.withLock { $0 }?.ready(within: limit)
    }

    /// Returns a subscription of the same channels, not subscribed and without closures.
    public func clone() -> Subscription { Subscription(chat, selection) }

    private func hand(out event: Event) {
        let callbacks = callbacks.withLock { $0 }
        callbacks.event?(event)
        callbacks[event.kind, event.type]?(event)
    }

    deinit { listener.withLock { $0 }?.close() }
}

extension Subscription.Callbacks {
    /// The closure for events of a kind. It is called in addition to `onEvent`.
    fileprivate subscript(kind: EventKind, type: String) -> Subscription.Callback? {
        switch kind {
        case .message: message
        case .signal: signal
        case .file: file
        case .presence: presence
        case .action: messageAction
        case .recordChange, .other: BuiltInTypes.records.contains(type) ? appContext : nil
        }
    }
}

extension Subscription {
    /// Called with every event. The closures below are called in addition.
    public var onEvent: Callback? {
        get { callbacks.withLock { $0.event } }
        set { callbacks.withLock { $0.event = newValue } }
    }
    /// Called with messages.
    public var onMessage: Callback? {
        get { callbacks.withLock { $0.message } }
        set { callbacks.withLock { $0.message = newValue } }
    }
    /// Called with signals.
    public var onSignal: Callback? {
        get { callbacks.withLock { $0.signal } }
        set { callbacks.withLock { $0.signal = newValue } }
    }
    /// Called when a user comes or goes; only when the subscription includes presence.
    public var onPresence: Callback? {
        get { callbacks.withLock { $0.presence } }
        set { callbacks.withLock { $0.presence = newValue } }
    }
    /// Called with reactions, edits, deletions, replies and actions of the app's own.
    public var onMessageAction: Callback? {
        get { callbacks.withLock { $0.messageAction } }
        set { callbacks.withLock { $0.messageAction = newValue } }
    }
    /// Called with changes of users, channels and memberships.
    public var onAppContext: Callback? {
        get { callbacks.withLock { $0.appContext } }
        set { callbacks.withLock { $0.appContext = newValue } }
    }
    /// Called with messages that announce a file.
    public var onFileEvent: Callback? {
        get { callbacks.withLock { $0.file } }
        set { callbacks.withLock { $0.file = newValue } }
    }
}

extension Chat {
    /// Returns a subscription of channels (names and patterns such as `a.*`) and channel groups. When both are empty,
    /// it covers everything.
    ///
    /// - Parameters:
    ///   - presence: true includes presence events.
    ///   - filter: an expression in the filter language: `data.amount > 100`.
    ///   - since: the position behind which to start; nil starts with new events.
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

    /// Unsubscribes every subscription of this chat.
    public func unsubscribeAll() {
        for subscription in subscriptions.all { subscription.unsubscribe() }
    }
}

/// The active subscriptions. It does not retain them: releasing a subscription ends it.
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

/// Several subscriptions that start and end together.
public final class SubscriptionSet: Sendable {
    private let members: Lock<[Subscription]>

    public init(_ subscriptions: [Subscription] = []) { members = Lock(subscriptions) }

    public var subscriptions: [Subscription] { members.withLock { $0 } }

    /// Adds a subscription without subscribing it.
    public func add(_ subscription: Subscription) {
        members.withLock { members in
            if !members.contains(where: { $0 === subscription }) { members.append(subscription) }
        }
    }

    /// Removes a subscription and unsubscribes it.
    public func remove(_ subscription: Subscription) {
        members.withLock { members in members.removeAll { $0 === subscription } }
        subscription.unsubscribe()
    }

    /// Subscribes every subscription; see ``Subscription/subscribe(with:)``.
    public func subscribe(with timetoken: Timetoken? = nil) {
        for subscription in subscriptions { subscription.subscribe(with: timetoken) }
    }

    /// Unsubscribes every subscription.
    public func unsubscribe() {
        for subscription in subscriptions { subscription.unsubscribe() }
    }

    /// Waits until every subscription is ready; see ``Subscription/ready(within:)``.
    public func ready(within limit: Duration = .seconds(30)) async throws(ChatError) {
        let end = ContinuousClock.now + limit
        for subscription in subscriptions { try await subscription.ready(within: max(.zero, end - .now)) }
    }

    /// Returns a set of the same subscriptions, not subscribed and without closures.
    public func clone() -> SubscriptionSet { SubscriptionSet(subscriptions.map { $0.clone() }) }
}
