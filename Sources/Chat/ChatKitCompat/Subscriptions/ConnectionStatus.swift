public import Dispatch
public import FoundationEssentials
import Locking

/// The state of the connection of a client's subscriptions.
public enum ConnectionStatus: Equatable, Sendable {
    /// The first subscription is connected, or the connection was made again.
    case connected
    /// Nothing is subscribed.
    case disconnected
    /// The connection broke. The client reconnects by its ``AutomaticRetry``, and reports ``connected`` then.
    case disconnectedUnexpectedly(PubNubError)
    /// A subscription cannot be connected.
    case connectionError(PubNubError)
    /// The connected channels and groups have changed.
    case subscriptionChanged(channels: [String], groups: [String])

    /// True while events are received.
    public var isConnected: Bool {
        switch self {
        case .connected, .subscriptionChanged: true
        case .disconnected, .disconnectedUnexpectedly, .connectionError: false
        }
    }
}

/// A closure for the connection of a client's subscriptions, for ``PubNub/addStatusListener(_:)``.
public final class StatusListener: Sendable {
    /// The queue of the closure.
    public let queue: DispatchQueue
    /// An id of this object.
    public let uuid: UUID
    private let closure: Lock<Handover<((ConnectionStatus) -> Void)?>>

    /// Creates a listener.
    public init(
        uuid: UUID = UUID(), queue: DispatchQueue = .main,
        onConnectionStateChange: @escaping (ConnectionStatus) -> Void
    ) {
        self.uuid = uuid
        self.queue = queue
        closure = Lock(Handover(onConnectionStateChange))
    }

    /// Called with each new state.
    public var onConnectionStateChange: ((ConnectionStatus) -> Void)? {
        get { closure.withLock { $0 }.value }
        set {
            let new = Handover(newValue)
            closure.withLock { $0 = new }
        }
    }

    func emit(_ status: ConnectionStatus) { queue.async { self.onConnectionStateChange?(status) } }
}
