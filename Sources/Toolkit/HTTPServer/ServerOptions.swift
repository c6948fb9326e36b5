/// The address and the limits of a ``Server``. The default limits suit a gateway that runs on one machine.
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

    /// Limits on sizes and numbers. The comment of each limit states the response when the limit is exceeded.
    public struct Limits: Sendable {
        /// The maximum length of the request line, in bytes. A longer line is rejected with status 414.
        ///
        /// On some connections without TLS, the request line and the header fields together are limited to about 6 KiB.
        /// This applies to a connection that has carried a chunked body, or a request that was sent before the response
        /// to the previous request.
        var requestLineBytes = 64 * 1024
        /// The maximum length of all header fields together, in bytes. Longer fields are rejected with status 431. A
        /// request is also rejected when its request line and header fields together exceed the larger of
        /// ``requestLineBytes`` and this limit by more than 16 KiB. In this sum, each field counts 48 bytes more than
        /// its length.
        public var headerBytes = 64 * 1024
        /// The maximum number of open HTTP connections, not counting streams. For a new connection at the limit, the
        /// server closes the connection that has waited longest for a request. If all connections are processing
        /// requests, the new connection is rejected with status 503.
        public var connections = 16 * 1024
        /// The maximum number of open HTTP connections from one address; `nil` means unlimited. A connection above the
        /// limit is rejected with status 503.
        public var connectionsPerAddress: Int?
        /// The maximum size in bytes of all request bodies that are in memory at the same time. A request that would
        /// exceed this size is rejected with status 503.
        public var bodyBytesInFlight = 256 * 1024 * 1024
        /// The maximum number of live streams. A stream above the limit is rejected with status 503.
        public var streams = 100_000
        /// The maximum number of live streams from one address; `nil` means unlimited. A stream above the limit is
        /// rejected with status 429.
        public var streamsPerAddress: Int?
        /// The maximum number of unsent bytes in the buffer of one stream. The bytes in the log of the stream's
        /// ``Broadcast`` do not count. A stream that exceeds the limit is closed.
        public var streamBacklogBytes = 4 * 1024 * 1024
        /// ``StreamConnection/sendPage(_:)`` waits until at most this number of bytes is left in the stream's buffer.
        /// Zero is sufficient: the client reads from the kernel's send buffer until the next page is ready.
        public var streamLowMarkBytes = 0

        /// Creates the default limits.
        public init() {}
    }

    /// Times after which a connection without progress is closed.
    public struct Deadlines: Sendable {
        /// The maximum time to receive the header of a request after its request line. The same limit applies to the
        /// time between accepting a connection and its first request line. A request that exceeds the limit is
        /// rejected with status 408.
        public var header: Duration = .seconds(10)
        /// The maximum time that a connection stays open between two requests.
        public var keepAliveIdle: Duration = .seconds(75)
        /// The maximum time between two pieces of a request body. A request that exceeds the time is rejected with
        /// status 408.
        public var bodyIdle: Duration = .seconds(15)
        /// The minimum average speed of a collected request body in bytes per second, enforced after ``bodyGrace``. A
        /// slower body is rejected with status 408.
        public var bodyMinimumRate = 1024
        /// The time after the header during which ``bodyMinimumRate`` is not enforced.
        public var bodyGrace: Duration = .seconds(20)
        /// The time after which a connection is closed if the client has not acknowledged at least 1 KiB more of a
        /// response.
        public var replyIdle: Duration = .seconds(30)
        /// The maximum time during which a client may read nothing while bytes wait in its stream's own buffer, for
        /// instance a page of history or the last block. After this time, the stream is closed. The server uses at most
        /// four fifths of the time after which the kernel ends the connection (``silence``), so that the server closes
        /// and counts the stream before the kernel does.
        public var streamStall: Duration = .seconds(20)
        /// The time after which a client counts as disconnected if its machine no longer responds to the kernel's
        /// probes. Applies to clients of streams and to clients that wait for a deferred response. For a stream, the
        /// time starts when the next byte is sent. Whole seconds, at least 5.
        ///
        /// A client whose receive buffer stays full for this time also counts as disconnected, because the kernel does
        /// not distinguish the two cases.
        ///
        /// The probes are TCP keepalive packets. They wake no program on the server or the client, but they wake the
        /// radio of a phone. With the default value, probes are as frequent as the heartbeats of a stream without
        /// events.
        public var silence: Duration = .seconds(30)
        /// The time that a connection stays open after an error response, so that the client can read the response.
        public var linger: Duration = .seconds(2)
        /// The maximum time that ``Server/run(onDrain:)`` waits for current requests and streams to end when the server
        /// stops.
        public var drain: Duration = .seconds(10)

        /// Creates the default deadlines.
        public init() {}
    }

    /// The host to listen on: an IP address, `localhost`, or an empty string for all addresses of the machine.
    public var host = "127.0.0.1"
    /// The port to listen on. 0 chooses a free port.
    public var port: UInt16 = 0
    /// The maximum number of connections that the kernel queues until the loop accepts them.
    public var backlog: Int32 = 4096
    /// The certificate that encrypts every connection; `nil` serves plain HTTP.
    public var tls: TLSFiles?
    /// Returns true if the machine at an address is a trusted proxy. The server uses the `X-Forwarded-For` fields of a
    /// trusted proxy and does not limit the number of the proxy's connections. `nil` means that there is no trusted
    /// proxy.
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
