import Locking

/// What is learnt of a request on its way, for whoever reports on it afterwards. Only made when somebody will.
public final class RequestAnnotations: Sendable {
    private let name = Lock<String?>(nil)

    public init() {}

    /// Who asks, by a name that is safe to log.
    public var credential: String? {
        get { name.withLock { $0 } }
        set { name.withLock { $0 = newValue } }
    }
}
