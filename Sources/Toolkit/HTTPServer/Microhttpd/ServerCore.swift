internal import CMicrohttpd
import Glibc
internal import Locking
import Logging
import Synchronization

/// What is behind a ``Server``: connections, their deadlines and limits, requests, streams, start and stop.
final class ServerCore: @unchecked Sendable {
    // Safe to share: the `let`s are Sendable, `boundAddress` is locked, everything else is touched only by the loop's
    // thread. Its state is one, its code in five files: life (here), connections, answers, late answers, streams.

    let options: ServerOptions
    /// Given up to the listener.
    private var claimed: ReservedAddress?
    var router: Router
    let loop: Loop
    /// Where handlers run.
    let tasks: LoopTasks
    let logger: Logger
    let isSecure: Bool

    private let boundAddress = Lock<Server.Address?>(nil)
    var daemon: Daemon?
    var listener: Listener?
    var queues: ConnectionQueues
    var peers: [ObjectIdentifier: HTTPConnection] = [:]
    var addressCounts: [RemoteAddress: Int] = [:]
    /// Of the socket that is being handed to the library: who is there, and how many bytes of requests it has carried.
    var incoming = (address: RemoteAddress.loopback, received: UInt64(0))
    var deadlineTimer: LoopTimer?
    var counters = ServerMetrics()
    var idSeed = UInt64.random(in: .min ... .max)
    var date = HTTPDate()
    var lingering = 0
    var lastExhaustion: MonotonicTime?

    /// Those the library has suspended, so that none is left when it stops.
    var parked: [ObjectIdentifier: any Suspendable] = [:]
    /// Clients that wait for late answers on sockets of ours, and those whose answers have come, in that order.
    var parkedSockets: [ObjectIdentifier: DeferredSocket] = [:]
    var answeredSockets: [DeferredSocket] = []
    /// Answers that wait for those of the other requests of this run, and how many were given in it and in the last.
    var heldAnswers: [HTTPConnection] = []
    var answersOfRun = 0
    var answersOfLastRun = 0
    var streams: StreamRegistry
    var isDraining = false
    /// The drain time is over, perhaps before anybody waited for it.
    private var isOverdue = false
    private var drainWaiter: CheckedContinuation<Void, Never>?
    /// What handshakes show, the newest last. Earlier ones are kept: a slow handshake may be at one.
    var identities: [TLSIdentity] = []
    var lastWords: String?
    /// The status of an answer of the library's own that comes next.
    var refusal: Int?
    /// That answer must not be given by the library.
    var isRefusalDropped = false
    /// The statuses of such answers, in the order in which the library will close their connections.
    var droppedRefusals: [Int] = []

    init(options: ServerOptions, on claimed: ReservedAddress?, router: Router, loop: Loop, logger: Logger) {
        self.options = options
        self.claimed = claimed
        self.router = router
        self.loop = loop
        tasks = LoopTasks(loop)
        self.logger = logger
        isSecure = options.tls != nil
        queues = ConnectionQueues(options.deadlines)
        streams = StreamRegistry(limits: options.limits)
    }

    var address: Server.Address? { boundAddress.withLock { $0 } }
}

/// Something that waits with a suspended connection and can be told to give up.
protocol Suspendable: AnyObject {
    func abandon()
}

extension Exchange: Suspendable {}

// MARK: - Start and stop

extension ServerCore: LoopDriver {
    var isEager: Bool { !answeredSockets.isEmpty || daemon.map { $0.needsRun || $0.isPending } ?? false }

    func drive() {
        guard let daemon, !daemon.isRunning else { return }
        sendLateAnswers()
        MHDErrorPages.withRunning(self) { daemon.runIfNeeded() }
        sendHeldAnswers()
        answersOfLastRun = answersOfRun
        answersOfRun = 0
    }

    func start() async throws {
        try await onLoop { try self.open() }
    }

    private func open() throws(ServerError) {
        precondition(daemon == nil, "A server is started once")
        // A client that goes away must not end the process; the library is told the same by its flags.
        signal(SIGPIPE, SIG_IGN)
        if let files = options.tls { identities = [try TLSIdentity(files)] }
        let daemon = try Daemon(core: self, loop: loop, limits: options.limits)
        do {
            // Not by `??`, which would lose the type of the error.
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
            throw error
        }
        self.daemon = daemon
        loop.add(self)
    }

    func run(onDrain: @escaping @Sendable () async -> Void) async throws {
        if address == nil { try await start() }
        await untilCancelled()
        try await onLoop { self.beginDrain() }
        // In a task of its own: the present one is cancelled, and good-byes would be cut short by that.
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
        daemon?.needsRun = true
        drive()
        for peer in peers.values where peer.exchange == nil { peer.cut() }
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

    /// Ends what is left. The library aborts the process if a suspended connection is left when it stops, so all are
    /// taken up again first, and told no.
    private func close() {
        guard let daemon else { return }
        listener?.close()
        for stream in streams.all { stream.close(.drained) }
        for socket in parkedSockets.values { socket.close() }
        while !parked.isEmpty {
            for waiting in parked.values { waiting.abandon() }
            daemon.needsRun = true
            drive()
        }
        loop.remove(self)
        self.daemon = nil
        daemon.stop()
        deadlineTimer?.cancel()
    }

    /// Never in the middle of the library's turn, from where a request that waits may run jobs: nobody may start, stop or
    /// run the library there.
    func onLoop<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            loop.post { [self] in
                if daemon?.isRunning == true {
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
        metrics.parked = parkedSockets.count
        metrics.streams = streams.count
        metrics.streamTraffic = loop.delivery.statistics
        return metrics
    }
}

extension Server {
    /// The version of libmicrohttpd on this machine, for instance `0.9.75`.
    public static var libraryVersion: String { MHD_get_version().map { String(cString: $0) } ?? "unknown" }
}

/// The live streams of a server. libmicrohttpd has forgotten them, so their limits are kept here.
struct StreamRegistry {
    private static let lastID = Atomic<UInt64>(0)

    private let limits: ServerOptions.Limits
    private var streams: [UInt64: StreamConnection] = [:]
    private var addressCounts: [RemoteAddress: Int] = [:]

    init(limits: ServerOptions.Limits) {
        self.limits = limits
    }

    static func nextID() -> UInt64 {
        lastID.add(1, ordering: .relaxed).newValue
    }

    var count: Int { streams.count }

    var all: [StreamConnection] { Array(streams.values) }

    /// Throws what a client is told when it cannot have one more stream.
    func check(_ address: RemoteAddress) throws(Problem) {
        guard streams.count < limits.streams else {
            throw .overloaded("The server has as many live streams as it can carry", retryAfterSeconds: 10)
        }
        guard let limit = limits.streamsPerAddress, addressCounts[address, default: 0] >= limit else { return }
        throw Problem(
            status: 429, code: "too_many_streams", title: "Too many live streams",
            detail: "At most \(limit) streams may be open from one address", isRetryable: true,
            headers: [("Retry-After", "10")])
    }

    mutating func add(_ stream: StreamConnection) {
        streams[stream.id] = stream
        if limits.streamsPerAddress != nil { addressCounts[stream.remoteAddress, default: 0] += 1 }
    }

    mutating func remove(_ stream: StreamConnection) {
        guard streams.removeValue(forKey: stream.id) != nil else { return }
        guard limits.streamsPerAddress != nil, let count = addressCounts[stream.remoteAddress] else { return }
        addressCounts[stream.remoteAddress] = count > 1 ? count - 1 : nil
    }
}
