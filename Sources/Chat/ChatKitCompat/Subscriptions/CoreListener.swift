public import Dispatch
public import FoundationEssentials
import Locking

/// The name of ``CoreListener`` in older versions of PubNub's SDK.
public typealias SubscriptionListener = CoreListener
/// The name of ``PubNubCoreEvent`` in older versions of PubNub's SDK.
public typealias SubscriptionEvent = PubNubCoreEvent

/// A subscribed channel or group.
public struct PubNubChannel: Hashable, Sendable {
    /// The name of the channel or group.
    public let id: String
    /// The name under which PubNub's SDKs subscribe to the presence events of the channel or group.
    public var presenceId: String { id + "-pnpres" }
    /// True when the client receives presence events of the channel or group.
    public let isPresenceSubscribed: Bool
}

/// A change of the subscribed channels and groups.
public enum SubscriptionChangeEvent: Sendable {
    case subscribed(channels: [PubNubChannel], groups: [PubNubChannel])
    case unsubscribed(channels: [PubNubChannel], groups: [PubNubChannel])
}

/// An event of a ``CoreListener``.
public enum PubNubCoreEvent {
    case messageReceived(any PubNubMessage)
    case signalReceived(any PubNubMessage)
    case connectionStatusChanged(ConnectionStatus)
    case subscriptionChanged(SubscriptionChangeEvent)
    case presenceChanged(any PubNubPresenceChange)
    case uuidMetadataSet(PubNubUserMetadataChangeset)
    case uuidMetadataRemoved(metadataId: String)
    case channelMetadataSet(PubNubChannelMetadataChangeset)
    case channelMetadataRemoved(metadataId: String)
    case membershipMetadataSet(any PubNubMembershipMetadata)
    case membershipMetadataRemoved(any PubNubMembershipMetadata)
    case messageActionAdded(any PubNubMessageAction)
    case messageActionRemoved(any PubNubMessageAction)
    case fileUploaded(PubNubFileEvent)
    case subscribeError(PubNubError)

    init(_ event: PubNubEvent) {
        self =
            switch event {
            case .messageReceived(let message): .messageReceived(message)
            case .signalReceived(let signal): .signalReceived(signal)
            case .presenceChanged(let change): .presenceChanged(change)
            case .messageActionChanged(.added(let action)): .messageActionAdded(action)
            case .messageActionChanged(.removed(let action)): .messageActionRemoved(action)
            case .fileChanged(.uploaded(let file)): .fileUploaded(file)
            case .appContextChanged(.userMetadataSet(let change)): .uuidMetadataSet(change)
            case .appContextChanged(.userMetadataRemoved(let id)): .uuidMetadataRemoved(metadataId: id)
            case .appContextChanged(.channelMetadataSet(let change)): .channelMetadataSet(change)
            case .appContextChanged(.channelMetadataRemoved(let id)): .channelMetadataRemoved(metadataId: id)
            case .appContextChanged(.membershipMetadataSet(let membership)): .membershipMetadataSet(membership)
            case .appContextChanged(.membershipMetadataRemoved(let membership)): .membershipMetadataRemoved(membership)
            }
    }
}

/// A listener with closures for everything that a client receives. The client does not retain its listeners.
public final class CoreListener: Sendable {
    /// The addition or removal of a message action.
    public typealias MessageActionEvent = PubNubMessageActionEvent
    /// A new connection status, or the error that prevents the connection.
    public typealias StatusEvent = Result<ConnectionStatus, PubNubError>

    /// A change of a record of a user, channel or membership.
    public enum ObjectMetadataChangeEvents {
        case setUUID(PubNubUserMetadataChangeset)
        case removedUUID(metadataId: String)
        case setChannel(PubNubChannelMetadataChangeset)
        case removedChannel(metadataId: String)
        case setMembership(any PubNubMembershipMetadata)
        case removedMembership(any PubNubMembershipMetadata)
    }

    fileprivate struct Values {
        var events: (([SubscriptionEvent]) -> Void)?
        var event: ((SubscriptionEvent) -> Void)?
        var change: ((SubscriptionChangeEvent) -> Void)?
        var status: ((StatusEvent) -> Void)?
        var presence: ((any PubNubPresenceChange) -> Void)?
        var message: ((any PubNubMessage) -> Void)?
        var signal: ((any PubNubMessage) -> Void)?
        var record: ((ObjectMetadataChangeEvents) -> Void)?
        var action: ((MessageActionEvent) -> Void)?
        var file: ((PubNubFileEvent) -> Void)?
    }

    /// The queue on which the closures are called.
    public let queue: DispatchQueue
    /// A unique id of this object.
    public let uuid = UUID()
    private let values = Lock(Handover(Values()))
    private let cancelled = Lock(false)

    /// Creates a listener.
    public init(queue: DispatchQueue = .main) { self.queue = queue }

    /// True after ``cancel()``.
    public var isCancelled: Bool { cancelled.withLock { $0 } }

    /// Ends the listener. No closure is called after this call.
    public func cancel() {
        cancelled.withLock { $0 = true }
        current = Values()
    }

    private var current: Values {
        get { values.withLock { $0 }.value }
        set {
            let new = Handover(newValue)
            values.withLock { $0 = new }
        }
    }

    /// Called with the events that were received together.
    public var didReceiveBatchSubscription: (([SubscriptionEvent]) -> Void)? {
        get { current.events }
        set { current.events = newValue }
    }
    /// Called with every event.
    public var didReceiveSubscription: ((SubscriptionEvent) -> Void)? {
        get { current.event }
        set { current.event = newValue }
    }
    /// Called when the subscribed channels and groups change.
    public var didReceiveSubscriptionChange: ((SubscriptionChangeEvent) -> Void)? {
        get { current.change }
        set { current.change = newValue }
    }
    /// Called with each new connection status, or with the error that prevents the connection.
    public var didReceiveStatus: ((StatusEvent) -> Void)? {
        get { current.status }
        set { current.status = newValue }
    }
    /// Called when users become present, stop being present or change their state.
    public var didReceivePresence: ((any PubNubPresenceChange) -> Void)? {
        get { current.presence }
        set { current.presence = newValue }
    }
    /// Called with messages, and with events whose types are the app's own.
    public var didReceiveMessage: ((any PubNubMessage) -> Void)? {
        get { current.message }
        set { current.message = newValue }
    }
    /// Called with signals.
    public var didReceiveSignal: ((any PubNubMessage) -> Void)? {
        get { current.signal }
        set { current.signal = newValue }
    }
    /// Called when a user, a channel or a membership is created, changed or deleted.
    public var didReceiveObjectMetadataEvent: ((ObjectMetadataChangeEvents) -> Void)? {
        get { current.record }
        set { current.record = newValue }
    }
    /// Called with reactions, edits, deletions and the app's own message actions.
    public var didReceiveMessageAction: ((MessageActionEvent) -> Void)? {
        get { current.action }
        set { current.action = newValue }
    }
    /// Called with messages that announce a file.
    public var didReceiveFileUpload: ((PubNubFileEvent) -> Void)? {
        get { current.file }
        set { current.file = newValue }
    }

    func emit(_ events: [SubscriptionEvent]) {
        let events = Handover(events)
        queue.async {
            guard !self.isCancelled else { return }
            let present = self.current
            present.events?(events.value)
            for event in events.value {
                present.event?(event)
                present.call(with: event)
            }
        }
    }
}

extension CoreListener.Values {
    /// Calls the closure for one kind of event.
    fileprivate func call(with event: SubscriptionEvent) {
        switch event {
        case .messageReceived(let message): self.message?(message)
        case .signalReceived(let signal): self.signal?(signal)
        case .connectionStatusChanged(let status): self.status?(.success(status))
        case .subscriptionChanged(let change): self.change?(change)
        case .presenceChanged(let change): presence?(change)
        case .uuidMetadataSet(let change): record?(.setUUID(change))
        case .uuidMetadataRemoved(let id): record?(.removedUUID(metadataId: id))
        case .channelMetadataSet(let change): record?(.setChannel(change))
        case .channelMetadataRemoved(let id): record?(.removedChannel(metadataId: id))
        case .membershipMetadataSet(let membership): record?(.setMembership(membership))
        case .membershipMetadataRemoved(let membership): record?(.removedMembership(membership))
        case .messageActionAdded(let action): self.action?(.added(action))
        case .messageActionRemoved(let action): self.action?(.removed(action))
        case .fileUploaded(let file): self.file?(file)
        case .subscribeError(let error): self.status?(.failure(error))
        }
    }
}
