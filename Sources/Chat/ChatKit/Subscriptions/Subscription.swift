public import ChatModel
import Locking

/// Events of channels, patterns of channels and channel groups.
///
/// Either a sequence:
/// ```swift
/// for await event in chat.subscription(channels: ["orders.*"]) { print(event.type) }
/// ```
/// or closures, called in the order of the events once it is subscribed:
/// ```swift
/// let subscription = chat.subscription(channels: ["room.1"])
/// subscription.onMessage = { print($0.data) }
/// subscription.subscribe()
/// ```
/// Both may be used at once. Releasing it unsubscribes.
public final class Subscription: AsyncSequence, Sendable {
    public typealias Element = Event
    public typealias Failure = Never
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

    /// Connects, and reads events from now on, or from behind the position the subscription begins with.
    public func makeAsyncIterator() -> ChatStream<Event>.Iterator { events(since: selection.since).makeAsyncIterator() }

    private func events(since position: Timetoken?) -> ChatStream<Event> {
        var selection = selection
        selection.since = position
        return ChatStream(chat: chat, selection: selection, transform: { [$0] })
    }

    /// Begins to call the closures; does nothing when it has begun already.
    ///
    /// - Parameter timetoken: begin behind this position; nil: with what happens from now on.
    public func subscribe(with timetoken: Timetoken? = nil) {
        let events = events(since: timetoken ?? selection.since)
        let isNew = listener.withLock { listener in
            guard listener == nil else { return false }
            listener = events.listen { [weak self] event in self?.hand(out: event) }
            return true
        }
        if isNew { chat.subscriptions.add(self) }
    }

    /// Calls the closures no more. Iterators go on.
    public func unsubscribe() {
        let ended = listener.withLock { listener in
            defer { listener = nil }
            return listener
        }
        ended?.close()
        chat.subscriptions.remove(self)
    }

    /// Returns when it is connected: the closures are called for everything that happens from then on. Returns at once
    /// without `subscribe`.
    ///
    /// - Parameter limit: how long to wait at most; the subscription goes on connecting afterwards.
    /// - Throws: why it cannot be connected; `.unavailable` when it is not in time; `.gone` when it is ended or the task
    ///   cancelled.
    public func ready(within limit: Duration = .seconds(30)) async throws(ChatError) {
        try await listener.withLock { $0 }?.ready(within: limit)
    }

    /// The same channels, neither subscribed nor with closures.
    public func clone() -> Subscription { Subscription(chat, selection) }

    private func hand(out event: Event) {
        let callbacks = callbacks.withLock { $0 }
        callbacks.event?(event)
        callbacks[event.kind, event.type]?(event)
    }

    deinit { listener.withLock { $0 }?.close() }
}

extension Subscription.Callbacks {
    /// Who is told of events of a kind beside those who want all.
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
    /// Called with every event; the others below in addition.
    public var onEvent: Callback? {
        get { callbacks.withLock { $0.event } }
        set { callbacks.withLock { $0.event = newValue } }
    }
    public var onMessage: Callback? {
        get { callbacks.withLock { $0.message } }
        set { callbacks.withLock { $0.message = newValue } }
    }
    public var onSignal: Callback? {
        get { callbacks.withLock { $0.signal } }
        set { callbacks.withLock { $0.signal = newValue } }
    }
    /// Who comes and goes; only when the subscription was made with presence.
    public var onPresence: Callback? {
        get { callbacks.withLock { $0.presence } }
        set { callbacks.withLock { $0.presence = newValue } }
    }
    /// Reactions, edits, deletions, replies and actions of the app's own.
    public var onMessageAction: Callback? {
        get { callbacks.withLock { $0.messageAction } }
        set { callbacks.withLock { $0.messageAction = newValue } }
    }
    /// Records of users, channels and memberships.
    public var onAppContext: Callback? {
        get { callbacks.withLock { $0.appContext } }
        set { callbacks.withLock { $0.appContext = newValue } }
    }
    /// Messages that announce a file.
    public var onFileEvent: Callback? {
        get { callbacks.withLock { $0.file } }
        set { callbacks.withLock { $0.file = newValue } }
    }
}

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
