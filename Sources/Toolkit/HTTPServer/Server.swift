public import Logging

/// An HTTP server on one ``Loop``. libmicrohttpd handles the HTTP requests. The server itself writes live streams to
/// their sockets.
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

    /// Creates a server. It does not listen before ``start()``.
    ///
    /// - Parameters:
    ///   - claimed: the reserved address to listen on. If it is `nil`, ``start()`` binds the address in `options`.
    ///   - loop: the loop that runs the server. The caller starts the loop, and stops it after ``run(onDrain:)`` has
    ///     returned.
    public init(
        options: ServerOptions, on claimed: ReservedAddress? = nil, router: Router, loop: Loop, logger: Logger
    ) {
        self.options = options
        self.loop = loop
        core = ServerCore(options: options, on: claimed, router: router, loop: loop, logger: logger)
    }

    /// Binds the address and begins to accept requests.
    ///
    /// - Throws: ``ServerError`` when the address is in use or the certificate cannot be used.
    public func start() async throws {
        try await core.start()
    }

    /// The address on which the server listens; `nil` before ``start()``.
    public var address: Address? { core.address }

    /// Serves requests until the calling task is cancelled, then shuts down. First, the server stops accepting
    /// connections. Then `onDrain` runs, in which the caller ends its streams. Current requests have the time
    /// ``ServerOptions/Deadlines/drain`` to finish. Finally, the remaining streams are closed. When the function
    /// returns, no connection and no stream of the server is open.
    public func run(onDrain: @escaping @Sendable () async -> Void = {}) async throws {
        try await core.run(onDrain: onDrain)
    }

    /// Replaces the CORS policy of the routes that have no policy of their own. Requests that begin after the call use
    /// the new policy.
    ///
    /// - Throws: currently no error.
    public func replace(cors: CORSPolicy) async throws {
        try await core.onLoop { [core] in core.replace(cors: cors) }
    }

    /// Closes the server at once, with all its connections and streams. Has no effect on a server that is not open.
    ///
    /// - Throws: currently no error.
    public func close() async throws {
        try await core.onLoop { [core] in core.close() }
    }

    /// Replaces the routes. Requests that begin after the call use the new ones.
    ///
    /// - Throws: currently no error.
    public func replace(router: Router) async throws {
        try await core.onLoop { [core] in core.replace(router: router) }
    }

    /// Reads the certificate and the key from their files again and uses them for new TLS handshakes. Has no effect
    /// without TLS.
    ///
    /// - Throws: ``ServerError`` when the files cannot be used; the current certificate and key then stay in use.
    public func reloadCertificate() async throws {
        guard let files = options.tls else { return }
        try await core.onLoop { [core] in core.identities.append(try TLSIdentity(files)) }
    }

    /// The current counters.
    public var metrics: ServerMetrics { get async { await core.metrics() } }
}

/// Counters of a ``Server`` at one moment. Some counters count objects that are open now. The other counters count
/// events since the start.
public struct ServerMetrics: Sendable, Equatable {
    /// HTTP connections that are open now, without streams.
    public var connections = 0
    /// The part of ``connections`` whose clients wait for a deferred response on a duplicated socket.
    public var suspended = 0
    /// HTTP connections accepted since the start.
    public var accepted: UInt64 = 0
    /// Connections that were rejected or closed because a limit was reached.
    public var refused: UInt64 = 0
    /// Connections closed by a deadline.
    public var timedOut: UInt64 = 0
    /// Requests whose handler is running.
    public var requestsInFlight = 0
    /// Requests whose header was read.
    public var requests: UInt64 = 0
    /// Bytes of request bodies as received from the network, before decompression.
    public var bodyBytesReceived: UInt64 = 0
    /// Bytes of request bodies in memory now.
    public var bodyBytesInFlight = 0
    /// Bytes of the response bodies whose length was known before they were sent.
    public var bodyBytesSent: UInt64 = 0
    /// Suspended requests that were resumed.
    public var resumes: UInt64 = 0
    /// Live streams that are open now.
    public var streams = 0
    /// Traffic of streams; the sum over all servers of the loop.
    public var streamTraffic = StreamStatistics()

    /// Creates counters with the value zero.
    public init() {}
}
