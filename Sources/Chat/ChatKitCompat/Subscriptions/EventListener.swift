public import Dispatch
public import FoundationEssentials
import Locking

/// The event closures of an object.
public final class EventClosures: Sendable {
    struct Values {
        var event: ((PubNubEvent) -> Void)?
        var events: (([PubNubEvent]) -> Void)?
        var message: ((any PubNubMessage) -> Void)?
        var signal: ((any PubNubMessage) -> Void)?
        var presence: ((any PubNubPresenceChange) -> Void)?
        var messageAction: ((PubNubMessageActionEvent) -> Void)?
        var file: ((PubNubFileChangeEvent) -> Void)?
        var appContext: ((PubNubAppContextEvent) -> Void)?
    }

    private let values = Lock(Handover(Values()))

    init() {}

    var current: Values {
        get { values.withLock { $0 }.value }
        set {
            let new = Handover(newValue)
            values.withLock { $0 = new }
        }
    }

    /// Calls the closures on a queue: first with all events that were received together, then with each of them.
    func emit(_ events: [PubNubEvent], on queue: DispatchQueue) {
        guard !events.isEmpty else { return }
        let events = Handover(events)
        queue.async {
            // Reads the closures on the queue, so that closures that were removed before this point are not called.
            let present = self.current
            present.events?(events.value)
            for event in events.value {
                present.event?(event)
                switch event {
                case .messageReceived(let message): present.message?(message)
                case .signalReceived(let signal): present.signal?(signal)
                case .presenceChanged(let change): present.presence?(change)
                case .messageActionChanged(let change): present.messageAction?(change)
                case .fileChanged(let change): present.file?(change)
                case .appContextChanged(let change): present.appContext?(change)
                }
            }
        }
    }
}

/// An object with closures for events: ``PubNub``, ``Subscription``, ``SubscriptionSet`` or ``EventListener``. The
/// closures are called on ``queue``, in the order of the events.
public protocol EventListenerInterface: AnyObject, Sendable {
    /// The queue on which the closures are called.
    var queue: DispatchQueue { get }
    /// A unique id of this object.
    var uuid: UUID { get }
    /// The event closures of the object.
    var closures: EventClosures { get }
}

extension EventListenerInterface {
    /// Called with every event.
    public var onEvent: ((PubNubEvent) -> Void)? {
        get { closures.current.event }
        set { closures.current.event = newValue }
    }
    /// Called with the events that were received together. The other closures are then called with each of these
    /// events.
    public var onEvents: (([PubNubEvent]) -> Void)? {
        get { closures.current.events }
        set { closures.current.events = newValue }
    }
    /// Called with messages, and with events whose types are the app's own.
    public var onMessage: ((any PubNubMessage) -> Void)? {
        get { closures.current.message }
        set { closures.current.message = newValue }
    }
    /// Called with signals.
    public var onSignal: ((any PubNubMessage) -> Void)? {
        get { closures.current.signal }
        set { closures.current.signal = newValue }
    }
    /// Called when users become present, stop being present or change their state. Requires the option
    /// ``ReceivePresenceEvents``.
    public var onPresence: ((any PubNubPresenceChange) -> Void)? {
        get { closures.current.presence }
        set { closures.current.presence = newValue }
    }
    /// Called with reactions, edits, deletions and the app's own message actions.
    public var onMessageAction: ((PubNubMessageActionEvent) -> Void)? {
        get { closures.current.messageAction }
        set { closures.current.messageAction = newValue }
    }
    /// Called with messages that announce a file.
    public var onFileEvent: ((PubNubFileChangeEvent) -> Void)? {
        get { closures.current.file }
        set { closures.current.file = newValue }
    }
    /// Called when a user, a channel or a membership is created, changed or deleted.
    public var onAppContext: ((PubNubAppContextEvent) -> Void)? {
        get { closures.current.appContext }
        set { closures.current.appContext = newValue }
    }
}

/// A listener with closures for events. It can be added to subscriptions, sets and clients.
public final class EventListener: EventListenerInterface {
    public let queue: DispatchQueue
    public let uuid: UUID
    public let closures = EventClosures()

    /// Creates a listener.
    public init(
        queue: DispatchQueue = .main, uuid: UUID = UUID(), onEvent: ((PubNubEvent) -> Void)? = nil,
        onEvents: (([PubNubEvent]) -> Void)? = nil, onMessage: ((any PubNubMessage) -> Void)? = nil,
        onSignal: ((any PubNubMessage) -> Void)? = nil, onPresence: ((any PubNubPresenceChange) -> Void)? = nil,
        onMessageAction: ((PubNubMessageActionEvent) -> Void)? = nil,
        onFileEvent: ((PubNubFileChangeEvent) -> Void)? = nil, onAppContext: ((PubNubAppContextEvent) -> Void)? = nil
    ) {
        self.queue = queue
        self.uuid = uuid
        closures.current = EventClosures.Values(
            event: onEvent, events: onEvents, message: onMessage, signal: onSignal, presence: onPresence,
            messageAction: onMessageAction, file: onFileEvent, appContext: onAppContext)
    }
}

/// The listeners of a subscription, a set or a client. This object retains the listeners.
final class AddedListeners: Sendable {
    private let listeners = Lock<[EventListener]>([])

    func add(_ listener: EventListener) {
        listeners.withLock { listeners in
            if !listeners.contains(where: { $0 === listener }) { listeners.append(listener) }
        }
    }

    func remove(_ listener: EventListener) { listeners.withLock { $0.removeAll { $0 === listener } } }

    func removeAll() { listeners.withLock { $0 = [] } }

    func emit(_ events: [PubNubEvent]) {
        for listener in listeners.withLock({ $0 }) { listener.closures.emit(events, on: listener.queue) }
    }
}
