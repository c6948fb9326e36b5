/// The resource limits of a ``Client``, and the addresses it may connect to.
public struct ClientOptions: Sendable {
    /// The maximum number of concurrent transfers, and of open connections.
    public var maxConnections: Int
    /// The maximum number of concurrent transfers to one scheme, host and port. Further ones wait without holding up
    /// other hosts. By default there is no limit per host: a caller that sends for others knows better how to share the
    /// connections, and a lower limit would only make requests wait that it has already started.
    public var perHostConnections: Int
    /// The maximum number of requests that may wait for a connection; one more fails at once as
    /// ``OutboundFailure/Reason/overloaded``.
    public var waitingLimit: Int
    /// The longest time that a request may wait for a connection, after which it fails as
    /// ``OutboundFailure/Reason/overloaded``. `nil`: no limit.
    public var queueTimeout: Duration?
    /// The `User-Agent` of requests that have none of their own.
    public var userAgent: String
    /// The maximum number of bytes of a response body that are read. Beyond this the connection is closed, whatever
    /// length was announced.
    public var responseLimitBytes: Int
    /// The maximum number of bytes of a response body that are kept in ``OutboundResult/body``; the rest is read and
    /// discarded.
    public var keptResponseBytes: Int
    /// The maximum number of bytes of status lines and header fields in a response, interim responses and trailers
    /// included.
    var responseHeaderLimitBytes: Int
    /// The time from the start of a transfer until it can send: name lookup, TCP and TLS together.
    public var connectTimeout: Duration
    /// The time from the start of a transfer to its last byte. Waiting for a connection does not count, because the
    /// receiver is not responsible for this client's queue.
    public var totalTimeout: Duration
    /// The URLs and addresses that the client may connect to.
    public var addressGuard: AddressGuard
    /// A PEM file of certificate authorities to trust instead of the system's.
    public var caFile: String?

    /// Creates options with the gateway's defaults: deadlines and response limits of outbound deliveries, public
    /// addresses only.
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
