/// How a ``Server`` listens and what it puts up with. Every bound has a default that suits a gateway on one machine.
public struct ServerOptions: Sendable {
    /// A certificate chain and its key, PEM, read once at the start.
    public struct TLSFiles: Sendable {
        public var certificatePath: String
        public var keyPath: String

        public init(certificatePath: String, keyPath: String) {
            self.certificatePath = certificatePath
            self.keyPath = keyPath
        }
    }

    /// Sizes and numbers; what lies past each is said with it.
    public struct Limits: Sendable {
        /// The request line: 414.
        var requestLineBytes = 64 * 1024
        /// All header fields together: 431. A request whose line and fields together take more than the larger of the two
        /// limits and 16 KiB (48 bytes more for each field) is refused too.
        public var headerBytes = 64 * 1024
        /// Open HTTP connections, streams not counted. At the limit the connection that has waited longest for a
        /// request gives way; when all are at work the new one is answered with 503.
        public var connections = 16 * 1024
        /// Open HTTP connections of one address: 503. `nil`: unlimited.
        public var connectionsPerAddress: Int?
        /// Request bodies being collected, all together: 503.
        public var bodyBytesInFlight = 256 * 1024 * 1024
        /// Live streams: 503.
        public var streams = 100_000
        /// Live streams of one address: 429. `nil`: unlimited.
        public var streamsPerAddress: Int?
        /// What may wait for one stream besides its broadcast's log; the stream is closed.
        public var streamBacklogBytes = 4 * 1024 * 1024
        /// ``StreamConnection/sendPage(_:)`` returns when no more than this waits, in bytes. None: the kernel's send
        /// buffer keeps a client busy until the next page, and a client that does not read costs no memory of ours.
        public var streamLowMarkBytes = 0

        public init() {}
    }

    /// Times after which a connection that does not get on is closed.
    public struct Deadlines: Sendable {
        /// From accepting a connection, or from the end of the previous answer, to the end of a request's header, idle
        /// time apart: 408.
        public var header: Duration = .seconds(10)
        /// How long a connection may stay open between two requests.
        public var keepAliveIdle: Duration = .seconds(75)
        /// From one piece of a body to the next: 408.
        public var bodyIdle: Duration = .seconds(15)
        /// A body must come at least this fast on the whole, in bytes a second, after ``bodyGrace``: 408.
        public var bodyMinimumRate = 1024
        /// How long a slow body is tolerated whatever its rate.
        public var bodyGrace: Duration = .seconds(20)
        /// From one piece of an answer taken by the client to the next.
        public var replyIdle: Duration = .seconds(30)
        /// How long a stream that catches up or is being ended may take nothing while something waits for it. Four
        /// fifths of the time after which the system ends such a connection (``silence``) at most: so its end is ours
        /// to say and to count.
        public var streamStall: Duration = .seconds(20)
        /// A client of a stream, or one that waits for a late answer, whose machine has not been heard of for this long is gone,
        /// though its connection never ended; a stream's within this of the next byte it is sent. Whole seconds, 5 or more.
        ///
        /// So is one that has taken nothing for so long though its socket was full: the system makes no difference.
        ///
        /// Asked by the system (TCP's keepalive), which wakes no program at either end. It does wake a phone's radio: the
        /// default asks as often as a quiet stream is written to.
        public var silence: Duration = .seconds(30)
        /// How long a connection is kept for the client to read a refusal before it is closed.
        public var linger: Duration = .seconds(2)
        /// How long ``Server/run(onDrain:)`` waits for requests under way, and then for streams, when it stops.
        public var drain: Duration = .seconds(10)

        public init() {}
    }

    /// An IP address, `localhost`, or empty for every address of the machine.
    public var host = "127.0.0.1"
    /// 0 picks a free port.
    public var port: UInt16 = 0
    /// Connections the kernel holds until the loop takes them.
    public var backlog: Int32 = 4096
    /// Encrypts every connection; `nil` speaks plain HTTP.
    public var tls: TLSFiles?
    /// Whether the machine at an address is a proxy: it is believed what `X-Forwarded-For` says, and may have any number of
    /// connections. Nil: none is.
    public var isTrustedProxy: (@Sendable (RemoteAddress) -> Bool)?
    public var limits = Limits()
    public var deadlines = Deadlines()

    public init(host: String = "127.0.0.1", port: UInt16 = 0) {
        self.host = host
        self.port = port
    }
}
