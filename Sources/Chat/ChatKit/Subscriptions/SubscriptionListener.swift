public import ChatModel
public import Dispatch
import Locking

/// Closures that several subscriptions can share.
///
/// ```swift
/// let listener = SubscriptionListener(queue: .main)
/// listener.didReceiveMessage = { print($0.payload) }
/// subscription.add(listener)
/// ```
/// A subscription does not retain its listeners. Retain the listener yourself while its closures must be called.
public final class SubscriptionListener: Sendable {
    let handlers: EventHandlers
    private let isOver = Lock(false)

    /// Creates a listener without closures.
    ///
    /// - Parameter queue: the queue on which the closures are called; nil for a queue of the library.
    public init(queue: DispatchQueue? = nil) {
        handlers = EventHandlers(queue: DispatchQueue(label: "parley.subscription-listener", target: queue))
    }

    /// Ends the listener. Its closures are not called again, for any subscription.
    public func cancel() {
        isOver.withLock { $0 = true }
        handlers.closures.withLock { $0 = EventHandlers.Closures() }
    }

    private func set(_ change: (inout EventHandlers.Closures) -> Void) {
        if !isOver.withLock({ $0 }) { handlers.closures.withLock { change(&$0) } }
    }

    /// Called with every event.
    public var didReceiveSubscription: (@Sendable (SubscriptionEvent) -> Void)? {
        get { handlers.closures.withLock { $0.event } }
        set { set { $0.event = newValue } }
    }
    /// Called with events that arrived together, before the other closures are called with each of these events.
    public var didReceiveBatchSubscription: (@Sendable ([SubscriptionEvent]) -> Void)? {
        get { handlers.closures.withLock { $0.events } }
        set { set { $0.events = newValue } }
    }
    /// Called with messages and with events of the app's own types.
    public var didReceiveMessage: (@Sendable (LiveEvent) -> Void)? {
        get { handlers.closures.withLock { $0.message } }
        set { set { $0.message = newValue } }
    }
    /// Called with signals.
    public var didReceiveSignal: (@Sendable (LiveEvent) -> Void)? {
        get { handlers.closures.withLock { $0.signal } }
        set { set { $0.signal = newValue } }
    }
    /// Called when users join, leave or change their state.
    public var didReceivePresence: (@Sendable (PresenceChange) -> Void)? {
        get { handlers.closures.withLock { $0.presence } }
        set { set { $0.presence = newValue } }
    }
    /// Called with reactions, edits, deletions, replies and actions of the app.
    public var didReceiveMessageAction: (@Sendable (MessageActionEvent) -> Void)? {
        get { handlers.closures.withLock { $0.messageAction } }
        set { set { $0.messageAction = newValue } }
    }
    /// Called when a user, a channel or a membership is created, changed or deleted.
    public var didReceiveObjectMetadataEvent: (@Sendable (AppContextEvent) -> Void)? {
        get { handlers.closures.withLock { $0.appContext } }
        set { set { $0.appContext = newValue } }
    }
    /// Called with messages that announce a file.
    public var didReceiveFileUpload: (@Sendable (LiveEvent) -> Void)? {
        get { handlers.closures.withLock { $0.file } }
        set { set { $0.file = newValue } }
    }
    /// Called when a subscription connects, is interrupted or fails.
    public var didReceiveStatus: (@Sendable (ConnectionState) -> Void)? {
        get { handlers.closures.withLock { $0.state } }
        set { set { $0.state = newValue } }
    }
    /// Called when a subscription begins or ends, and when the channels of its groups change.
    public var didReceiveSubscriptionChange: (@Sendable (SubscriptionChange) -> Void)? {
        get { handlers.closures.withLock { $0.change } }
        set { set { $0.change = newValue } }
    }
    /// Called with an error that interrupts a subscription or ends it.
    public var subscribeError: (@Sendable (ChatError) -> Void)? {
        get { handlers.closures.withLock { $0.error } }
        set { set { $0.error = newValue } }
    }
}
