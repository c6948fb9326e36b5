public import ChatModel
import Dispatch
import Locking

/// The closures of a ``Subscription``, a ``SubscriptionSet`` or a ``SubscriptionListener``. They are called one at a
/// time and in order, on the dispatch queue passed at creation, if any.
public final class EventHandlers: Sendable {
    struct Closures {
        var event: (@Sendable (SubscriptionEvent) -> Void)?
        var events: (@Sendable ([SubscriptionEvent]) -> Void)?
        var message: (@Sendable (LiveEvent) -> Void)?
        var signal: (@Sendable (LiveEvent) -> Void)?
        var presence: (@Sendable (PresenceChange) -> Void)?
        var messageAction: (@Sendable (MessageActionEvent) -> Void)?
        var appContext: (@Sendable (AppContextEvent) -> Void)?
        var file: (@Sendable (LiveEvent) -> Void)?
        var error: (@Sendable (ChatError) -> Void)?
        var state: (@Sendable (ConnectionState) -> Void)?
        var change: (@Sendable (SubscriptionChange) -> Void)?
    }

    let closures = Lock(Closures())
    private let queue: DispatchQueue?

    init(queue: DispatchQueue? = nil) { self.queue = queue }

    /// Calls the closure ``EventEmitter/onEvents`` with events that arrived together. This function does not call the
    /// closures that receive one event at a time.
    ///
    /// - Parameter isWanted: called just before the closure. When it returns false, the closure is not called.
    func deliver(_ batch: [SubscriptionEvent], while isWanted: @escaping @Sendable () -> Bool) async {
        await run { [closures] in
            if isWanted(), let events = closures.withLock({ $0.events }) { events(batch) }
        }
    }

    /// Calls ``EventEmitter/onEvent`` and the closure for the kind of the event.
    ///
    /// - Parameter isWanted: called just before the closures. When it returns false, no closure is called.
    func deliver(_ event: SubscriptionEvent, while isWanted: @escaping @Sendable () -> Bool) async {
        await run { [closures] in
            guard isWanted() else { return }
            let present = closures.withLock { $0 }
            present.event?(event)
            switch event {
            case .messageReceived(let message): present.message?(message)
            case .signalReceived(let signal): present.signal?(signal)
            case .fileChanged(let file): present.file?(file)
            case .messageActionChanged(let change): present.messageAction?(change)
            case .presenceChanged(let change): present.presence?(change)
            case .appContextChanged(let change): present.appContext?(change)
            case .other: break
            }
        }
    }

    /// Calls the closures for a change of the connection, without waiting for them.
    func deliver(_ report: ListenerReport) {
        let closures = closures.withLock { $0 }
        let work: @Sendable () -> Void = {
            switch report {
            case .connected(_, let hasGap): closures.state?(.connected(hasGap: hasGap))
            case .interrupted(let error):
                closures.error?(error)
                closures.state?(.reconnecting(error))
            case .failed(let error):
                closures.error?(error)
                closures.state?(.failed(error))
            case .change(let change): closures.change?(change)
            }
        }
        if let queue { queue.async(execute: work) } else { work() }
    }

    private func run(_ work: @escaping @Sendable () -> Void) async {
        guard let queue else { return work() }
        await withCheckedContinuation { continuation in
            queue.async {
                work()
                continuation.resume()
            }
        }
    }
}

/// A change of a listener's connection or channels.
enum ListenerReport: Sendable {
    case connected(at: Timetoken, hasGap: Bool)
    case interrupted(ChatError)
    case failed(ChatError)
    case change(SubscriptionChange)
}

/// A change of the channels that a subscription follows.
public enum SubscriptionChange: Sendable, Equatable {
    case subscribed(channels: [String], groups: [String])
    case unsubscribed(channels: [String], groups: [String])
    /// The channels of a channel group have changed. The value contains the names of all channels that the subscription
    /// follows from now on.
    case channelsChanged([String])
}

/// An object that calls closures for events: ``Subscription``, ``SubscriptionSet`` and ``SubscriptionListener``.
///
/// For each event, ``onEvent`` and the closure for the kind of the event are called.
public protocol EventEmitter: AnyObject, Sendable {
    /// The storage of this object's closures, such as ``onEvent``.
    var handlers: EventHandlers { get }
}

extension EventEmitter {
    /// Called with every event.
    public var onEvent: (@Sendable (SubscriptionEvent) -> Void)? {
        get { handlers.closures.withLock { $0.event } }
        set { handlers.closures.withLock { $0.event = newValue } }
    }
    /// Called with events that arrived together, before the other closures are called with each of these events.
    public var onEvents: (@Sendable ([SubscriptionEvent]) -> Void)? {
        get { handlers.closures.withLock { $0.events } }
        set { handlers.closures.withLock { $0.events = newValue } }
    }
    /// Called with messages and with events of the app's own types.
    public var onMessage: (@Sendable (LiveEvent) -> Void)? {
        get { handlers.closures.withLock { $0.message } }
        set { handlers.closures.withLock { $0.message = newValue } }
    }
    /// Called with signals.
    public var onSignal: (@Sendable (LiveEvent) -> Void)? {
        get { handlers.closures.withLock { $0.signal } }
        set { handlers.closures.withLock { $0.signal = newValue } }
    }
    /// Called when users join, leave or change their state, if the subscription includes presence.
    public var onPresence: (@Sendable (PresenceChange) -> Void)? {
        get { handlers.closures.withLock { $0.presence } }
        set { handlers.closures.withLock { $0.presence = newValue } }
    }
    /// Called with reactions, edits, deletions, replies and actions of the app.
    public var onMessageAction: (@Sendable (MessageActionEvent) -> Void)? {
        get { handlers.closures.withLock { $0.messageAction } }
        set { handlers.closures.withLock { $0.messageAction = newValue } }
    }
    /// Called when a user, a channel or a membership is created, changed or deleted.
    public var onAppContext: (@Sendable (AppContextEvent) -> Void)? {
        get { handlers.closures.withLock { $0.appContext } }
        set { handlers.closures.withLock { $0.appContext = newValue } }
    }
    /// Called with messages that announce a file.
    public var onFileEvent: (@Sendable (LiveEvent) -> Void)? {
        get { handlers.closures.withLock { $0.file } }
        set { handlers.closures.withLock { $0.file = newValue } }
    }
    /// Called with an error that interrupts the subscription while it reconnects, or that ends it.
    public var onError: (@Sendable (ChatError) -> Void)? {
        get { handlers.closures.withLock { $0.error } }
        set { handlers.closures.withLock { $0.error = newValue } }
    }
    /// Called when the subscription begins or ends, and when the channels of its groups change.
    public var onSubscriptionChange: (@Sendable (SubscriptionChange) -> Void)? {
        get { handlers.closures.withLock { $0.change } }
        set { handlers.closures.withLock { $0.change = newValue } }
    }
}
