/// The address and the limits of a ``Server``. Every limit has a default that suits a gateway on one machine.
public struct ServerOptions: Sendable {
    /// The files of a certificate chain and its key, in PEM format. They are read at the start and by
    /// ``Server/reloadCertificate()``.
    public struct TLSFiles: Sendable {
        /// The path of the certificate chain.
        public var certificatePath: String
        /// The path of the private key.
        public var keyPath: String

        /// Creates the pair of paths.
        public init(certificatePath: String, keyPath: String) {
            self.certificatePath = certificatePath
            self.keyPath = keyPath
        }
    }

    /// Limits on sizes and numbers. Each comment states the response when the limit is exceeded.
    public struct Limits: Sendable {
        /// Bytes of the request line: 414.
        ///
        /// A plain connection that has carried a chunked body, or a request that was sent before the response to the
        /// previous one, accepts a line and fields of about 12 KiB together.
        var requestLineBytes = 64 * 1024
        /// Bytes of all header fields together: 431. A request is also rejected when its line and fields together
        /// exceed the larger of the two limits plus 16 KiB, counting 48 bytes more for each field.
        public var headerBytes = 64 * 1024
        /// Open HTTP connections, without streams. At the limit, the connection that has waited longest for a request
        /// is closed; when all are processing requests, the new one is answered with 503.
        public var connections = 16 * 1024
        /// Open HTTP connections from one address: 503. `nil`: unlimited.
        public var connectionsPerAddress: Int?
        /// Bytes of all request bodies that are being collected: 503.
        public var bodyBytesInFlight = 256 * 1024 * 1024
        /// Live streams: 503.
        public var streams = 100_000
        /// Live streams from one address: 429. `nil`: unlimited.
        public var streamsPerAddress: Int?
        /// Bytes that may wait for one stream in addition to its broadcast's log; beyond this the stream is closed.
        public var streamBacklogBytes = 4 * 1024 * 1024
        /// ``StreamConnection/sendPage(_:)`` returns when at most this many bytes wait. Zero is enough: the kernel's
        /// send buffer keeps a client busy until the next page, and a client that does not read costs this process no
        /// memory.
        public var streamLowMarkBytes = 0

        /// The default limits.
        public init() {}
    }

    /// Times after which a connection without progress is closed.
    public struct Deadlines: Sendable {
        /// From accepting a connection, or from the end of the previous response, to the end of a request's header,
        /// without idle time: 408.
        public var header: Duration = .seconds(10)
        /// The time that a connection may stay open between two requests.
        public var keepAliveIdle: Duration = .seconds(75)
        /// From one piece of a body to the next: 408.
        public var bodyIdle: Duration = .seconds(15)
        /// The minimum average speed of a body in bytes per second, enforced after ``bodyGrace``: 408.
        public var bodyMinimumRate = 1024
        /// The time for which a body of any speed is accepted.
        public var bodyGrace: Duration = .seconds(20)
        /// From one piece of a response accepted by the client to the next.
        public var replyIdle: Duration = .seconds(30)
        /// The time that a stream which is catching up or being ended may read nothing while bytes wait for it. At
        /// most four fifths of the time after which the kernel ends such a connection (``silence``), so that this
        /// server closes and counts it first.
        public var streamStall: Duration = .seconds(20)
        /// The time without any sign of life from a client's machine after which the client is considered gone,
        /// although its connection never ended. Applies to clients of streams and clients that wait for a deferred
        /// response; for a stream, counts from the next byte sent. Whole seconds, at least 5.
        ///
        /// A client that has read nothing for this long although its socket was full is also considered gone: the
        /// kernel does not distinguish the two.
        ///
        /// The kernel sends the probes (TCP keepalive), which wakes no program at either end but does wake a phone's
        /// radio. The default probes as often as a quiet stream is written to.
        public var silence: Duration = .seconds(30)
        /// The time that a connection stays open for the client to read an error response before it is closed.
        public var linger: Duration = .seconds(2)
        /// The time that ``Server/run(onDrain:)`` waits for current requests, and then for streams, when it stops.
        public var drain: Duration = .seconds(10)

        /// The default deadlines.
        public init() {}
    }

    /// An IP address, `localhost`, or empty for all addresses of the machine.
    public var host = "127.0.0.1"
    /// The port. 0 chooses a free port.
    public var port: UInt16 = 0
    /// The number of connections that the kernel queues until the loop accepts them.
    public var backlog: Int32 = 4096
    /// The certificate that encrypts every connection; `nil` serves plain HTTP.
    public var tls: TLSFiles?
    /// Returns true when the machine at an address is a proxy. The server trusts the `X-Forwarded-For` of a proxy and
    /// does not limit its number of connections. `nil`: there is no proxy.
    public var isTrustedProxy: (@Sendable (RemoteAddress) -> Bool)?
    /// Limits on sizes and numbers.
    public var limits = Limits()
    /// Deadlines of connections and streams.
    public var deadlines = Deadlines()

    /// Creates options with the defaults and this address.
    public init(host: String = "127.0.0.1", port: UInt16 = 0) {
        self.host = host
        self.port = port
    }
}
