public import Dispatch
public import FoundationEssentials
import Locking

/// The connection status of a client's subscriptions.
public enum ConnectionStatus: Equatable, Sendable {
    /// The first subscription is connected, or a lost connection is open again.
    case connected
    /// The client has no subscriptions.
    case disconnected
    /// The connection was lost. The client reconnects by its ``AutomaticRetry`` rule and then reports ``connected``.
    case disconnectedUnexpectedly(PubNubError)
    /// A subscription cannot be connected.
    case connectionError(PubNubError)
    /// The set of connected channels and groups has changed.
    case subscriptionChanged(channels: [String], groups: [String])

    /// True for the states in which the client receives events.
    public var isConnected: Bool {
        switch self {
        case .connected, .subscriptionChanged: true
        case .disconnected, .disconnectedUnexpectedly, .connectionError: false
        }
    }
}

/// A listener with a closure that receives the connection status of a client; see ``PubNub/addStatusListener(_:)``.
public final class StatusListener: Sendable {
    /// The queue on which the closure is called.
    public let queue: DispatchQueue
    /// A unique id of this object.
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

    /// Called with each new connection status; nil for no closure.
    public var onConnectionStateChange: ((ConnectionStatus) -> Void)? {
        get { closure.withLock { $0 }.value }
        set {
            let new = Handover(newValue)
            closure.withLock { $0 = new }
        }
    }

    func emit(_ status: ConnectionStatus) { queue.async { self.onConnectionStateChange?(status) } }
}
