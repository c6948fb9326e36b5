internal import CMicrohttpd
import Glibc
internal import Locking
import Logging

/// The implementation of a ``Server``: connections, their deadlines and limits, requests, streams, start and stop.
final class ServerCore: @unchecked Sendable {
    // `@unchecked Sendable` is safe: the constants are Sendable, `boundAddress` is locked, and everything else is used
    // only on the loop's thread. The state and the life cycle are in this file. The rest is in
    // `ServerCore+Connections.swift`, `+Requests`, `+Responses`, `+DeferredResponses` and `+Streams`.

    let options: ServerOptions
    /// The reserved address to listen on; `nil` when there is none or the listener has taken it.
    private var claimed: ReservedAddress?
    /// Replaced as a whole when the CORS policy changes.
    private(set) var router: RequestRouter
    let loop: Loop
    /// The executor that handlers run on.
    let tasks: LoopTasks
    let logger: Logger
    let isSecure: Bool

    private let boundAddress = Lock<Server.Address?>(nil)
    /// The daemon to which accepted connections are passed; nil while the server is not running.
    var daemon: Daemon?
    /// The daemon of plain connections with long headers; nil when connections are encrypted. Encrypted connections
    /// have enough memory for long headers from the start.
    var longHeaderDaemon: Daemon?
    var longHeaderConnections = 0
    /// The number of connections that have a partial header (``HTTPConnection/partialHeader``).
    var partialHeaders = 0
    /// The bytes of a header that were read before its connection was moved to ``longHeaderDaemon``, by descriptor.
    var movedBytes: [Int32: ArraySlice<UInt8>] = [:]
    var listener: Listener?
    let queues: ConnectionQueues
    /// The connections that the library owns.
    var peers = ConnectionTable()
    var addressCounts: [RemoteAddress: Int] = [:]
    /// The data about the connection whose socket is being passed to the library.
    var incoming = IncomingConnection(address: .loopback)
    var deadlineTimer: LoopTimer?
    var counters = ServerMetrics()
    var idSeed = UInt64.random(in: .min ... .max)
    var date = HTTPDate()
    var lingering = 0
    var lastExhaustion: MonotonicTime?

    /// The suspended requests and bodies. None may be left when the library stops.
    var suspendables: [ObjectIdentifier: any Suspendable] = [:]
    /// The sockets of clients that wait for deferred responses, or have received one and send no request yet. Their
    /// order is arbitrary.
    var deferredSockets: [DeferredSocket] = []
    /// The number of `deferredSockets` whose client does not wait for a response.
    var idleDeferredSockets = 0
    /// The descriptor that the library is about to close but must not; -1 for none.
    var returnedDescriptor: Int32 = -1
    /// The sockets that have become idle in this round, and those that became idle in the round before it. Some may not
    /// be idle anymore.
    var idleSockets: [DeferredSocket] = []
    var idleSocketsOfLastRound: [DeferredSocket] = []
    /// The number of the current round. A round lasts as long as a socket may be idle before it returns to the library.
    var idleRound: UInt64 = 1
    var isCountingIdleRounds = false
    /// The response header that was formatted last for a deferred response or a stream.
    var heads = RawHeads()
    /// The sockets whose deferred responses are complete but not sent, in the order of completion.
    var answeredSockets: [DeferredSocket] = []
    /// The responses of this iteration that are not yet sent.
    var held = HeldResponses()
    /// The number of requests that are detached; see ``detach(_:)``.
    var detachedRequests = 0
    /// The connections whose input was refused during a detached request, and may now be read.
    var connectionsWithInput: [HTTPConnection] = []
    var streams: StreamRegistry
    var isDraining = false
    /// True when the drain time has passed. This can happen before `drainWaiter` is set.
    private var isOverdue = false
    private var drainWaiter: CheckedContinuation<Void, Never>?
    /// The certificates for TLS handshakes, in the order in which they were loaded. New handshakes use the last
    /// certificate. Earlier certificates are kept because a slow handshake may still use them.
    var identities: [TLSIdentity] = []
    var lastWords: String?
    /// The status of the error page that the library will generate next; nil when no page is announced.
    var refusal: Int?
    /// True when the library must not send the error page with the status `refusal`.
    var isRefusalDropped = false
    /// The statuses of the error pages that the library must not send, in the order in which it will close the
    /// connections.
    var droppedRefusals: [Int] = []

    init(options: ServerOptions, on claimed: ReservedAddress?, router: Router, loop: Loop, logger: Logger) {
        self.options = options
        self.claimed = claimed
        self.router = RequestRouter(router)
        self.loop = loop
        tasks = LoopTasks(loop)
        self.logger = logger
        isSecure = options.tls != nil
        queues = ConnectionQueues(options.deadlines)
        streams = StreamRegistry(limits: options.limits)
    }

    var address: Server.Address? { boundAddress.withLock { $0 } }

    func replace(router table: Router) { router = RequestRouter(table) }

    func replace(cors: CORSPolicy) {
        var table = router.table
        table.cors = cors
        replace(router: table)
    }
}

/// An object whose connection is suspended: a request, the source of a response body, or an encrypted stream. The
/// server can end it early.
protocol Suspendable: AnyObject {
    var peer: HTTPConnection { get }
    func abandon()
}

extension Exchange: Suspendable {}

// MARK: - Start and stop

extension ServerCore {
    /// True when the server needs another iteration of the loop without waiting.
    var isEager: Bool {
        !answeredSockets.isEmpty || !connectionsWithInput.isEmpty || daemon?.isEager == true
            || longHeaderDaemon?.isEager == true
    }

    /// True while `MHD_run` of one of the daemons is running.
    private var isLibraryRunning: Bool { daemon?.isRunning == true || longHeaderDaemon?.isRunning == true }

    /// Does the server's work in one iteration of the loop: sends deferred responses, accepts input that was refused,
    /// and runs the library. The loop then calls ``sendHeldResponses()``.
    func drive() {
        guard let daemon, !isLibraryRunning else { return }
        sendDeferredResponses()
        acceptInput()
        // While the library runs, the replaced functions of C find this core through `MHDErrorPages.runningCore`: `recv`,
        // and the function that creates error pages.
        MHDErrorPages.withRunning(self) {
            daemon.runIfNeeded()
            longHeaderDaemon?.runIfNeeded()
        }
    }

    func start() async throws {
        try await onLoop { try self.open() }
    }

    private func open() throws(ServerError) {
        precondition(daemon == nil, "A server can be started only once")
        // SIGPIPE is ignored, because a client that disconnects must not end the process. The library relies on this
        // too.
        signal(SIGPIPE, SIG_IGN)
        if let files = options.tls { identities = [try TLSIdentity(files)] }
        let canMove = !isSecure && LongHeaders.isPossible
        let daemon = try Daemon(core: self, loop: loop, memory: canMove ? .short : .full)
        do {
            if canMove { longHeaderDaemon = try Daemon(core: self, loop: loop, memory: .full) }
            // Not written with `??`, which would lose the type of the error.
            let claimed =
                if let claimed = self.claimed { claimed } else {
                    try ReservedAddress(host: options.host, port: options.port)
                }
            self.claimed = nil
            let listener = try Listener(
                options: options, on: claimed, loop: loop,
                accepted: { [unowned self] in accepted($0, $1, $2) }, exhausted: { [unowned self] in exhausted($0) })
            self.listener = listener
            boundAddress.withLock { $0 = listener.address }
        } catch {
            daemon.stop()
            longHeaderDaemon?.stop()
            longHeaderDaemon = nil
            throw error
        }
        self.daemon = daemon
        loop.add(self)
    }

    func run(onDrain: @escaping @Sendable () async -> Void) async throws {
        if address == nil { try await start() }
        await untilCancelled()
        try await onLoop { self.beginDrain() }
        // `onDrain` runs in a separate task, because the current task is already cancelled.
        let goodbye = Task(executorPreference: tasks) { await onDrain() }
        let limit = loop.schedule(after: options.deadlines.drain) {
            goodbye.cancel()
            self.isOverdue = true
            self.checkDrained()
        }
        await goodbye.value
        await untilDrained()
        limit.cancel()
        try await onLoop { self.close() }
    }

    private func untilCancelled() async {
        let (ended, end) = AsyncStream.makeStream(of: Never.self)
        await withTaskCancellationHandler {
            for await _ in ended {}
        } onCancel: {
            end.finish()
        }
    }

    private func beginDrain() {
        isDraining = true
        listener?.close()
        wakeLibrary()
        drive()
        for peer in peers.all where peer.exchange == nil { peer.cut() }
        for socket in deferredSockets where socket.isIdle { socket.close() }
    }

    private func untilDrained() async {
        await withCheckedContinuation { continuation in
            loop.post {
                self.drainWaiter = continuation
                self.checkDrained()
            }
        }
    }

    func checkDrained() {
        guard isOverdue || (connectionCount == 0 && streams.count == 0) else { return }
        drainWaiter?.resume()
        drainWaiter = nil
    }

    /// Closes all remaining connections and streams. First resumes and ends every suspended connection, because the
    /// library aborts the process if it is stopped with a suspended connection.
    func close() {
        guard let daemon else { return }
        listener?.close()
        for stream in streams.all { stream.close(.drained) }
        for socket in deferredSockets { socket.close() }
        while !suspendables.isEmpty {
            for waiting in suspendables.values { waiting.abandon() }
            wakeLibrary()
            drive()
        }
        loop.remove(self)
        self.daemon = nil
        daemon.stop()
        longHeaderDaemon?.stop()
        longHeaderDaemon = nil
        deadlineTimer?.cancel()
    }

    /// Runs `body` on the loop, but not inside the library's callbacks, where the library must not be started, stopped
    /// or run. A callback may run jobs of the loop. If a callback is running, `body` is postponed.
    func onLoop<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            loop.post { [self] in
                if isLibraryRunning {
                    loop.afterThisTurn { continuation.resume(with: Result { try body() }) }
                } else {
                    continuation.resume(with: Result { try body() })
                }
            }
        }
    }

    func metrics() async -> ServerMetrics {
        await withCheckedContinuation { continuation in
            loop.post { continuation.resume(returning: self.snapshot) }
        }
    }

    private var snapshot: ServerMetrics {
        var metrics = counters
        metrics.connections = connectionCount
        metrics.suspended = deferredSockets.count - idleDeferredSockets
        metrics.streams = streams.count
        metrics.streamTraffic = loop.delivery.statistics
        return metrics
    }
}

extension Server {
    /// The version of libmicrohttpd on this machine, for instance `0.9.75`.
    public static var libraryVersion: String { MHD_get_version().map { String(cString: $0) } ?? "unknown" }
}
