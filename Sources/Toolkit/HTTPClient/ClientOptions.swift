/// The resource limits of a ``Client``, and the addresses it may connect to.
public struct ClientOptions: Sendable {
    /// The maximum number of concurrent transfers. Also the maximum number of open connections.
    public var maxConnections: Int
    /// The maximum number of concurrent transfers to one combination of scheme, host and port. Further requests wait
    /// and do not delay requests to other hosts. By default there is no limit per host. A caller that schedules its own
    /// requests can share the connections between hosts better than the client.
    public var perHostConnections: Int
    /// The maximum number of requests that wait for a connection. A further request fails immediately with
    /// ``OutboundFailure/Reason/overloaded``.
    public var waitingLimit: Int
    /// The maximum time that a request waits for a connection; `nil` means no limit. After this time, the request fails
    /// with ``OutboundFailure/Reason/overloaded``.
    public var queueTimeout: Duration?
    /// The `User-Agent` of requests that do not set this field.
    public var userAgent: String
    /// The maximum number of bytes of a response body that are read. The connection is closed after this number of
    /// bytes, regardless of the announced length.
    public var responseLimitBytes: Int
    /// The maximum length of ``OutboundResult/body`` in bytes. The rest of a response body is read and discarded.
    public var keptResponseBytes: Int
    /// The maximum number of bytes of all status lines and header fields of a response, including interim responses and
    /// trailers.
    var responseHeaderLimitBytes: Int
    /// The maximum time from the start of a transfer until the connection is ready: name lookup, TCP and TLS together.
    public var connectTimeout: Duration
    /// The maximum time from the start of a transfer to the last byte of the response. The time that the request waits
    /// in the client's queue does not count.
    public var totalTimeout: Duration
    /// The URLs and addresses that the client may connect to.
    public var addressGuard: AddressGuard
    /// A PEM file of certificate authorities to trust instead of the system's authorities; `nil` trusts the system's
    /// authorities.
    public var caFile: String?

    /// Creates options. The defaults are the deadlines and limits of the gateway's webhook deliveries, and only public
    /// addresses are allowed.
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
