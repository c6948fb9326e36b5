public import Logging

/// An HTTP server on one ``Loop``. Requests run on libmicrohttpd, streams on sockets of this server.
public final class Server: Sendable {
    /// The address on which a server listens.
    public struct Address: Sendable, Equatable {
        /// The host.
        public let host: String
        /// The port.
        public let port: UInt16
    }

    /// The options of the server.
    public let options: ServerOptions
    /// The loop that the server runs on.
    public let loop: Loop
    private let core: ServerCore

    /// - Parameters:
    ///   - claimed: the reserved address to listen on; `nil` makes ``start()`` bind the address of the options.
    ///   - loop: started by the caller, and stopped by the caller once ``run(onDrain:)`` has returned.
    public init(
        options: ServerOptions, on claimed: ReservedAddress? = nil, router: Router, loop: Loop, logger: Logger
    ) {
        self.options = options
        self.loop = loop
        core = ServerCore(options: options, on: claimed, router: router, loop: loop, logger: logger)
    }

    /// Binds the address and begins to answer.
    ///
    /// - Throws: ``ServerError`` when the address is in use or the certificate cannot be used.
    public func start() async throws {
        try await core.start()
    }

    /// The address on which the server listens; `nil` before ``start()``.
    public var address: Address? { core.address }

    /// Serves until the calling task is cancelled, then shuts down in this order: the server accepts no new
    /// connections; `onDrain` runs, in which the owner ends its streams; current requests get the drain time to
    /// finish; the remaining streams are closed. Nothing of this server is left when the function returns.
    public func run(onDrain: @escaping @Sendable () async -> Void = {}) async throws {
        try await core.run(onDrain: onDrain)
    }

    /// Replaces the policy of routes that have none of their own, for requests that begin from now on.
    ///
    /// - Throws: nothing at present; the call waits for a turn of the loop.
    public func replace(cors: CORSPolicy) async throws {
        try await core.onLoop { [core] in core.router.cors = cors }
    }

    /// Reads certificate and key again, for handshakes that begin from now on. Has no effect without TLS.
    ///
    /// - Throws: ``ServerError`` when the files cannot be used; the current certificate and key then stay in use.
    public func reloadCertificate() async throws {
        guard let files = options.tls else { return }
        try await core.onLoop { [core] in core.identities.append(try TLSIdentity(files)) }
    }

    /// The current counters.
    public var metrics: ServerMetrics { get async { await core.metrics() } }
}

/// Counters of a ``Server`` at one moment. Those that count events only grow.
public struct ServerMetrics: Sendable, Equatable {
    /// HTTP connections that are open now, without streams.
    public var connections = 0
    /// Of these, the connections whose clients wait for a deferred response on a duplicated socket.
    public var suspended = 0
    /// HTTP connections accepted since the start.
    public var accepted: UInt64 = 0
    /// Connections rejected or closed because of a limit.
    public var refused: UInt64 = 0
    /// Connections closed by a deadline.
    public var timedOut: UInt64 = 0
    /// Requests whose handler has begun and whose response is not decided yet.
    public var requestsInFlight = 0
    /// Requests whose header was read.
    public var requests: UInt64 = 0
    /// Bytes of request bodies as received over the wire.
    public var bodyBytesReceived: UInt64 = 0
    /// Bytes of request bodies in memory now.
    public var bodyBytesInFlight = 0
    /// Bytes of response bodies whose size was known beforehand.
    public var bodyBytesSent: UInt64 = 0
    /// Suspended requests that were resumed.
    public var resumes: UInt64 = 0
    /// Live streams that are open now.
    public var streams = 0
    /// Traffic of streams; the sum over all servers of the loop.
    public var streamTraffic = StreamStatistics()

    /// Counters of zero.
    public init() {}
}
