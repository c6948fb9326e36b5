public import Logging

/// An HTTP server on one ``Loop``: libmicrohttpd for requests, sockets of our own for streams.
public final class Server: Sendable {
    /// Where it listens.
    public struct Address: Sendable, Equatable {
        public let host: String
        public let port: UInt16
    }

    public let options: ServerOptions
    public let loop: Loop
    private let core: ServerCore

    /// - Parameters:
    ///   - claimed: where to listen, claimed already; nil: ``start()`` claims the address of the options.
    ///   - loop: started by the caller, and stopped by the caller once ``run(onDrain:)`` has returned.
    public init(
        options: ServerOptions, on claimed: ReservedAddress? = nil, router: Router, loop: Loop, logger: Logger
    ) {
        self.options = options
        self.loop = loop
        core = ServerCore(options: options, on: claimed, router: router, loop: loop, logger: logger)
    }

    /// Binds and begins to answer. Throws ``ServerError`` when the address is taken or the certificate unusable.
    public func start() async throws {
        try await core.start()
    }

    /// Where it listens; `nil` before ``start()``.
    public var address: Address? { core.address }

    /// Serves until the calling task is cancelled, then stops in good order: no new connections; `onDrain`, in which
    /// the owner says good-bye on its streams; requests under way get the drain time to finish; what is left of
    /// streams is closed. Nothing of this server is left when it returns.
    public func run(onDrain: @escaping @Sendable () async -> Void = {}) async throws {
        try await core.run(onDrain: onDrain)
    }

    /// Exchanges the policy that holds where a route has none of its own, for requests that begin from now on.
    public func replace(cors: CORSPolicy) async throws {
        try await core.onLoop { [core] in core.router.cors = cors }
    }

    /// Reads certificate and key again, for handshakes that begin from now on; without TLS nothing happens.
    ///
    /// - Throws: ``ServerError`` where they cannot be used; then those in use stay.
    public func reloadCertificate() async throws {
        guard let files = options.tls else { return }
        try await core.onLoop { [core] in core.identities.append(try TLSIdentity(files)) }
    }

    /// The counters now.
    public var metrics: ServerMetrics { get async { await core.metrics() } }
}

/// Counters of a ``Server`` at one moment. Those that count events only grow.
public struct ServerMetrics: Sendable, Equatable {
    /// HTTP connections open now, streams not counted.
    public var connections = 0
    /// Those of them whose clients wait for a late answer on a socket of ours.
    public var parked = 0
    /// HTTP connections taken since the start.
    public var accepted: UInt64 = 0
    /// Connections turned away or cut short at a limit.
    public var refused: UInt64 = 0
    /// Connections closed by a deadline.
    public var timedOut: UInt64 = 0
    /// Requests whose handler has begun and whose answer is not decided yet.
    public var requestsInFlight = 0
    /// Requests whose header was read.
    public var requests: UInt64 = 0
    /// Bytes of request bodies as they came over the wire.
    public var bodyBytesReceived: UInt64 = 0
    /// Bytes of request bodies held in memory now.
    public var bodyBytesInFlight = 0
    /// Bytes of answers' bodies whose size was known beforehand.
    public var bodyBytesSent: UInt64 = 0
    /// Requests that had to wait and were taken up again.
    public var resumes: UInt64 = 0
    /// Live streams.
    public var streams = 0
    /// What streams sent; all servers of the loop together.
    public var streamTraffic = StreamStatistics()

    public init() {}
}
