/// What a ``Client`` may spend and where it may connect.
public struct ClientOptions: Sendable {
    /// Transfers in flight at once; also the most connections kept, so it bounds the sockets of the client.
    public var maxConnections: Int
    /// Transfers in flight at once to one scheme, host and port. Further ones wait without holding up other hosts. By
    /// default as many as there are: who sends for others knows better how to share, and a bound below theirs would only
    /// keep what they started waiting.
    public var perHostConnections: Int
    /// Requests that may wait for a connection; one more fails at once as ``OutboundFailure/Reason/overloaded``.
    public var waitingLimit: Int
    /// How long a request may wait for a connection, after which it fails as ``OutboundFailure/Reason/overloaded``. Nil:
    /// as long as it takes.
    public var queueTimeout: Duration?
    /// Sent as `User-Agent` unless the request has its own.
    public var userAgent: String
    /// Reading of an answer's body stops here and the connection is closed, whatever was announced.
    public var responseLimitBytes: Int
    /// How much of an answer's body is kept in ``OutboundResult/body``; the rest is read and dropped.
    public var keptResponseBytes: Int
    /// The most bytes of status lines and header fields (interim answers and trailers included) an answer may have.
    var responseHeaderLimitBytes: Int
    /// From the start of a transfer until it can send: name lookup, TCP and TLS together.
    public var connectTimeout: Duration
    /// From the start of a transfer to its last byte. Waiting for a connection does not count: the receiver
    /// is not to blame for our queue.
    public var totalTimeout: Duration
    /// Which URLs and addresses may be connected to.
    public var addressGuard: AddressGuard
    /// A PEM file of certificate authorities to trust instead of the system's.
    public var caFile: String?

    /// The gateway's defaults: deadlines and response limits of outbound deliveries, public addresses only.
    public init(
        maxConnections: Int = 256, perHostConnections: Int = .max, waitingLimit: Int = 4096,
        userAgent: String = "parley", responseLimitBytes: Int = 64 * 1024, keptResponseBytes: Int = 16 * 1024,
        responseHeaderLimitBytes: Int = 32 * 1024, connectTimeout: Duration = .seconds(5),
        totalTimeout: Duration = .seconds(15), addressGuard: AddressGuard = AddressGuard(), caFile: String? = nil
    ) {
        self.maxConnections = maxConnections
        self.perHostConnections = perHostConnections
        self.waitingLimit = waitingLimit
        self.userAgent = userAgent
        self.responseLimitBytes = responseLimitBytes
        self.keptResponseBytes = keptResponseBytes
        self.responseHeaderLimitBytes = responseHeaderLimitBytes
        self.connectTimeout = connectTimeout
        self.totalTimeout = totalTimeout
        self.addressGuard = addressGuard
        self.caFile = caFile
    }
}
