internal import CMicrohttpd
import Glibc
internal import Locking
import Logging
import Synchronization

/// What is behind a ``Server``: connections, their deadlines and limits, requests, streams, start and stop.
final class Engine: @unchecked Sendable {
    // Safe to share: the `let`s are Sendable, `boundAddress` is locked, everything else is touched only by the loop's
    // thread.

    let options: ServerOptions
    let router: Router
    let loop: Loop
    let logger: Logger
    let isSecure: Bool

    private let boundAddress = Lock<Server.Address?>(nil)
    private var daemon: Daemon?
    private var listener: Listener?
    private var queues: PeerQueues
    private var peers: [ObjectIdentifier: Peer] = [:]
    private var addressCounts: [RemoteAddress: Int] = [:]
    /// The address of the socket that is being handed to the library.
    private var incoming = RemoteAddress.loopback
    private var deadlineTimer: LoopTimer?
    private var counters = ServerMetrics()
    private var idSeed = UInt64.random(in: .min ... .max)
    private var date = HTTPDate()
    private var lingering = 0
    private var lastExhaustion: MonotonicTime?

    /// Those the library has suspended, so that none is left when it stops.
    private var parked: [ObjectIdentifier: any Parked] = [:]
    var streams: StreamRegistry
    private var isDraining = false
    /// The drain time is over, perhaps before anybody waited for it.
    private var isOverdue = false
    private var drainWaiter: CheckedContinuation<Void, Never>?
    private(set) var lastWords: String?
    /// The status of an answer of the library's own that comes next.
    private var refusal: Int?
    /// That answer must not be given by the library.
    private var isRefusalDropped = false
    /// The statuses of such answers, in the order in which the library will close their connections.
    private var droppedRefusals: [Int] = []

    init(options: ServerOptions, router: Router, loop: Loop, logger: Logger) {
        self.options = options
        self.router = router
        self.loop = loop
        self.logger = logger
        isSecure = options.tls != nil
        queues = PeerQueues(options.deadlines)
        streams = StreamRegistry(limits: options.limits)
    }

    var address: Server.Address? { boundAddress.withLock { $0 } }
}

/// Something that waits with a suspended connection and can be told to give up.
protocol Parked: AnyObject {
    func abandon()
}

extension Exchange: Parked {}

// MARK: - Start and stop

extension Engine: LoopDriver {
    var isEager: Bool { daemon.map { $0.needsRun || $0.isPending } ?? false }

    func drive() {
        guard let daemon else { return }
        LibraryRefusals.withRunning(self) { daemon.runIfNeeded() }
    }

    func start() async throws {
        try await onLoop { try self.open() }
    }

    private func open() throws(ServerError) {
        precondition(daemon == nil, "A server is started once")
        // A client that goes away must not end the process; the library is told the same by its flags.
        signal(SIGPIPE, SIG_IGN)
        let tls: TLSMaterial? = if let files = options.tls { try TLSMaterial(files) } else { nil }
        let daemon = try Daemon(engine: self, loop: loop, tls: tls, limits: options.limits)
        do {
            let listener = try Listener(
                options: options, loop: loop,
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
        let goodbye = Task(executorPreference: loop) { await onDrain() }
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

    private func checkDrained() {
        guard isOverdue || (peers.isEmpty && streams.count == 0) else { return }
        drainWaiter?.resume()
        drainWaiter = nil
    }

    /// Ends what is left. The library aborts the process if a suspended connection is left when it stops, so all are
    /// taken up again first, and told no.
    private func close() {
        guard let daemon else { return }
        listener?.close()
        for stream in streams.all { stream.close(.drained) }
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

    func onLoop<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            loop.post { continuation.resume(with: Result { try body() }) }
        }
    }

    func metrics() async -> ServerMetrics {
        await withCheckedContinuation { continuation in
            loop.post { continuation.resume(returning: self.snapshot) }
        }
    }

    private var snapshot: ServerMetrics {
        var metrics = counters
        metrics.connections = peers.count
        metrics.streams = streams.count
        metrics.streamTraffic = loop.delivery.statistics
        return metrics
    }
}

// MARK: - Connections

extension Engine {
    /// A connected socket: takes it, makes room for it, or turns it away.
    private func accepted(_ socket: Int32, _ address: UnsafePointer<sockaddr>, _ length: socklen_t) -> Bool {
        let remote = SocketAddress.remote(address)
        counters.accepted += 1
        if let limit = options.limits.connectionsPerAddress, addressCounts[remote, default: 0] >= limit {
            turnAway(socket, "Too many connections from this address")
            return true
        }
        if peers.count >= options.limits.connections, !makeRoom() {
            turnAway(socket, "Too many connections")
            return true
        }
        incoming = remote
        // The library closes the socket if it cannot take it.
        _ = daemon?.add(socket, address, length)
        // Those that made room leave in the library's next turn; it must come before too many have been let in.
        return peers.count < options.limits.connections + 512
    }

    /// Ends the connection that has been waiting for a request the longest.
    private func makeRoom() -> Bool {
        guard let peer = queues.longest(in: .idle) ?? queues.longest(in: .header) else { return false }
        counters.refused += 1
        queues.leave(peer)
        peer.cut()
        return true
    }

    private func turnAway(_ socket: Int32, _ reason: String) {
        counters.refused += 1
        guard !isSecure, lingering < 256 else {
            Glibc.close(socket)
            return
        }
        linger(socket, saying: rawReply(to: .overloaded(reason)))
    }

    /// Out of descriptors or memory: gives some back.
    private func exhausted(_ code: Int32) {
        for _ in 0..<16 where makeRoom() {}
        daemon?.needsRun = true
        let now = loop.turnTime
        if let lastExhaustion, now < lastExhaustion + .seconds(10) { return }
        lastExhaustion = now
        logger.error("cannot accept connections", metadata: ["reason": "\(ServerError.text(of: code))"])
    }

    func connectionStarted(_ connection: OpaquePointer) -> Peer? {
        let descriptor = shim_connection_descriptor(connection)
        guard descriptor >= 0 else { return nil }
        let peer = Peer(engine: self, connection: connection, descriptor: descriptor, address: incoming)
        do {
            try peer.watch()
        } catch {
            logger.warning("cannot watch a connection", metadata: ["reason": "\(error)"])
        }
        peers[ObjectIdentifier(peer)] = peer
        if options.limits.connectionsPerAddress != nil { addressCounts[incoming, default: 0] += 1 }
        move(peer, to: .header)
        return peer
    }

    /// The library is about to close the socket.
    func connectionEnded(_ peer: Peer) {
        if let exchange = peer.exchange {
            // The library lets a request go without its completion callback when it got no answer from us to give.
            exchange.completed(.REQUEST_TERMINATED_WITH_ERROR)
            exchange.letGo()
            refuseLength(peer)
        } else if !peer.isSilenced, !isDraining {
            explainEnd(of: peer)
        }
        queues.leave(peer)
        peer.unwatch()
        peers[ObjectIdentifier(peer)] = nil
        if options.limits.connectionsPerAddress != nil, let count = addressCounts[peer.address] {
            addressCounts[peer.address] = count > 1 ? count - 1 : nil
        }
        if isDraining { checkDrained() }
    }

    private func refuseLength(_ peer: Peer) {
        let status = droppedRefusals.isEmpty ? 400 : droppedRefusals.removeFirst()
        guard !isSecure, !peer.isSilenced, let socket = duplicate(peer) else { return }
        let problem =
            status == 413
            ? LibraryRefusals.problem(413, limits: options.limits)
            : .malformedRequest("Content-Length is not a number")
        linger(socket, saying: rawReply(to: problem))
    }

    /// The library drops a connection without a word when it cannot find method and target in the first line. When
    /// nothing was ever said on a connection, and its end is not the client's doing, that must have been the reason.
    private func explainEnd(of peer: Peer) {
        guard !isSecure, peer.phase == .header, peer.hasHeardNothing else { return }
        var byte: UInt8 = 0
        let count = recv(peer.descriptor, &byte, 1, Socket.peek | Socket.sendFlags)
        guard count > 0 || (count < 0 && errno == EAGAIN) else { return }
        peer.cut(saying: rawReply(to: .malformedRequest("The request line is not one of HTTP/1.1")))
    }

    func move(_ peer: Peer, to phase: Peer.Phase) {
        guard !peer.isSilenced else { return }
        queues.move(peer, to: phase, now: loop.turnTime)
        if phase != .working { arm(for: peer.deadline) }
        if isDraining, phase == .idle, !peer.isSilenced { peer.cut() }
    }
}

// MARK: - Deadlines

extension Engine {
    /// Sees to it that the timer fires no later than `deadline`. It mostly fires too early, for a connection that has
    /// moved on, and is set again then: once in a while rather than once for each move.
    private func arm(for deadline: MonotonicTime) {
        if let deadlineTimer {
            guard deadline < deadlineTimer.deadline else { return }
            deadlineTimer.cancel()
        }
        deadlineTimer = loop.schedule(at: deadline) { [weak self] in self?.checkDeadlines() }
    }

    private func checkDeadlines() {
        deadlineTimer = nil
        let now = MonotonicTime.now
        while let peer = queues.expired(at: now) { timeOut(peer, now) }
        if let next = queues.nextDeadline { arm(for: next) }
    }

    private func timeOut(_ peer: Peer, _ now: MonotonicTime) {
        let phase = peer.phase
        if phase == .reply, peer.hasTakenMore() {
            queues.move(peer, to: .reply, now: now)
            return
        }
        queues.leave(peer)
        counters.timedOut += 1
        switch phase {
        case .header where peer.exchange != nil || peer.hasSentAnything: peer.cut(saying: rawReply(to: .requestTimeout))
        case .body: peer.cut(saying: rawReply(to: .requestTimeout))
        case .header, .idle, .reply, .working: peer.cut()
        }
    }

    /// What to say instead of the library's page that was just announced.
    func takeRefusal() -> LibraryRefusals.Substitute {
        guard let status = refusal else { return .none }
        refusal = nil
        guard !isRefusalDropped else {
            isRefusalDropped = false
            droppedRefusals.append(status)
            return .nothing
        }
        let id = makeRequestID()
        var response = LibraryRefusals.problem(status, limits: options.limits)
            .response(baseURL: router.problemBaseURL, requestID: id)
        response.headers += [("X-Request-Id", id), ("X-Content-Type-Options", "nosniff")]
        return .response(response)
    }

    private func rawReply(to problem: Problem) -> [UInt8] {
        let id = makeRequestID()
        let response = problem.response(baseURL: router.problemBaseURL, requestID: id)
        return RawReply.message(response, isHead: false, requestID: id, date: date.updated())
    }
}

// MARK: - Requests

extension Engine {
    func requestBegan() { counters.requests += 1 }

    func requestEnded() {}

    func handlerBegan() { counters.requestsInFlight += 1 }

    func handlerEnded() { counters.requestsInFlight -= 1 }

    func receivedBody(_ count: Int) { counters.bodyBytesReceived += UInt64(count) }

    func reserveBodyMemory(_ count: Int) -> Bool {
        guard counters.bodyBytesInFlight + count <= options.limits.bodyBytesInFlight else { return false }
        counters.bodyBytesInFlight += count
        return true
    }

    func releaseBodyMemory(_ count: Int) { counters.bodyBytesInFlight -= count }

    func suspended(_ waiting: any Parked) { parked[ObjectIdentifier(waiting)] = waiting }

    /// Called with every resume: the library notices it only when it runs.
    func resumed(_ waiting: any Parked) {
        parked[ObjectIdentifier(waiting)] = nil
        counters.resumes += 1
        daemon?.needsRun = true
    }

    /// SplitMix64 over a counter: unique for 2^64 requests, and not a system call each.
    func makeRequestID() -> String {
        idSeed &+= 0x9E37_79B9_7F4A_7C15
        var mixed = idSeed
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return RequestID.made(from: mixed ^ (mixed >> 31))
    }

    func logFailure(_ error: any Error, of head: Request.Head?) {
        logger.error(
            "request failed",
            metadata: [
                "request": "\(head?.id ?? "")", "method": "\(head?.method.rawValue ?? "")",
                "path": "\(head?.path ?? "")", "error": "\(error)",
            ])
    }

    /// What libmicrohttpd has to say. A client's misdeeds are nobody's news; the rest is about this machine.
    func log(_ message: UnsafePointer<CChar>) {
        // Said each time we take a socket over, which is how every stream begins.
        guard !LibraryMessages.isTakeover(message) else { return }
        if let status = LibraryRefusals.status(in: message) { refusal = status }
        if LibraryRefusals.isAboutLength(message) { isRefusalDropped = true }
        let isRoutine = LibraryMessages.isRoutine(message)
        guard daemon == nil || logger.logLevel <= (isRoutine ? .debug : .warning) else { return }
        let text = String(cString: message).split(separator: "\n").first.map(String.init) ?? ""
        if daemon == nil { lastWords = text }
        logger.log(level: isRoutine ? .debug : .warning, "libmicrohttpd", metadata: ["message": "\(text)"])
    }
}

// MARK: - Answers

extension Engine {
    /// Hands a complete answer to the library.
    func queue(_ response: Response, isHead: Bool, on exchange: Exchange, closing: Bool) -> MHD_Result {
        guard let reply = LibraryReply(response, isHead: isHead, exchange: exchange) else {
            logger.error("no memory for an answer")
            return .NO
        }
        if reply.hasDroppedFields {
            logger.error("header field dropped", metadata: ["request": "\(exchange.head?.id ?? "")"])
        }
        if closing || isDraining { reply.add("Connection", "close") }
        counters.bodyBytesSent += UInt64(reply.knownLength)
        return reply.queue()
    }

    /// Says an answer on a duplicate of the socket and lets the library drop the connection: the way to answer in the
    /// middle of a body, where the library has none.
    func takeOver(_ exchange: Exchange, saying response: Response) -> MHD_Result {
        guard lingering < 4096, let head = exchange.head, let socket = duplicate(exchange.peer) else { return .NO }
        let isHead = head.method == .head
        linger(
            socket, saying: RawReply.message(response, isHead: isHead, requestID: head.id, date: date.updated()))
        return .NO
    }

    private func linger(_ socket: Int32, saying reply: [UInt8]) {
        lingering += 1
        Lingering.begin(descriptor: socket, loop: loop, reply: reply, deadline: options.deadlines.linger) {
            [weak self] in self?.lingering -= 1
        }
    }

    private func duplicate(_ peer: Peer) -> Int32? {
        let socket = fcntl(peer.descriptor, F_DUPFD_CLOEXEC, 0)
        guard socket >= 0 else { return nil }
        peer.isSilenced = true
        return socket
    }
}

// MARK: - Streams

extension Engine {
    func checkStreamLimits(for address: RemoteAddress) throws(Problem) {
        try streams.check(address)
    }

    /// Ends the request and begins the stream, on a duplicate of the socket or, encrypted, on the library's connection.
    func openStream(
        _ opening: StreamOpening, for exchange: Exchange, headers: [(name: String, value: String)]
    ) -> MHD_Result {
        guard let head = exchange.head else { return .NO }
        let refusal: Problem
        do throws(Problem) {
            guard !isDraining else { throw .overloaded("The server is stopping") }
            try streams.check(head.remoteAddress)
            if isSecure { return openLibraryStream(opening, for: exchange, headers: headers) }
            if let result = takeStream(opening, for: exchange, headers: headers) { return result }
            throw .overloaded("The server has no file descriptors left")
        } catch {
            refusal = error
        }
        move(exchange.peer, to: .reply)
        return queue(
            exchange.finished(exchange.response(to: refusal)), isHead: false, on: exchange, closing: false)
    }

    private func takeStream(
        _ opening: StreamOpening, for exchange: Exchange, headers: [(name: String, value: String)]
    ) -> MHD_Result? {
        guard let head = exchange.head, let socket = duplicate(exchange.peer) else { return nil }
        let outlet = SocketOutlet(descriptor: socket, loop: loop)
        let connection = makeConnection(outlet, head)
        do {
            try outlet.watch(connection)
        } catch {
            connection.close(.failed(ENOMEM))
            return .NO
        }
        // Without it the second small frame would wait for the acknowledgement of the first.
        Socket.set(socket, Int32(IPPROTO_TCP), TCP_NODELAY, 1)
        // A client whose network has gone acknowledges nothing; otherwise the kernel tries for a quarter of an hour.
        Socket.set(socket, Int32(IPPROTO_TCP), TCP_USER_TIMEOUT, 60_000)
        let header = RawReply.head(
            status: 200, headers: headers + opening.headers, contentLength: nil, requestID: head.id,
            date: date.updated())
        connection.begin(with: header, opening.onOpen)
        return .NO
    }

    private func openLibraryStream(
        _ opening: StreamOpening, for exchange: Exchange, headers: [(name: String, value: String)]
    ) -> MHD_Result {
        guard let head = exchange.head else { return .NO }
        let outlet = LibraryOutlet(exchange: exchange)
        let connection = makeConnection(outlet, head)
        outlet.attach(connection)
        let response = Response(status: 200, headers: headers + opening.headers)
        guard let reply = LibraryReply(response, outlet: outlet, exchange: exchange), reply.queue() == .YES else {
            connection.close(.failed(ENOMEM))
            return .NO
        }
        opening.onOpen(connection)
        return .YES
    }

    private func makeConnection(_ outlet: any StreamOutlet, _ head: Request.Head) -> StreamConnection {
        let limits = StreamConnection.Limits(
            backlogBytes: options.limits.streamBacklogBytes, lowMarkBytes: options.limits.streamLowMarkBytes,
            stall: options.deadlines.streamStall)
        let connection = StreamConnection(
            id: StreamRegistry.nextID(), loop: loop, outlet: outlet, request: head, limits: limits
        ) { [weak self] in self?.released($0) }
        streams.add(connection)
        return connection
    }

    private func released(_ connection: StreamConnection) {
        streams.remove(connection)
        if isDraining { checkDrained() }
    }
}
