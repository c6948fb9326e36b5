internal import CMicrohttpd
import Glibc

// MARK: - Deferred responses

extension ServerCore {
    /// The maximum number of deferred responses that are sent in one iteration of the loop. Thousands of clients may
    /// wait for the same event, and sending all their responses in one iteration would delay all other work.
    private static let deferredResponsesPerTurn = 256

    /// Lets a client wait for a deferred response on a duplicate of its socket. The caller can then let the library
    /// drop the connection by returning `MHD_NO`. Returns false when the socket cannot be duplicated.
    ///
    /// - Parameter isLast: true when the connection is closed after the response.
    func suspend(_ reply: DeferredResponse, of exchange: Exchange, isLast: Bool) -> Bool {
        let peer = exchange.peer
        if let socket = reclaim(from: peer) {
            peer.isSilenced = true
            peer.isReturned = true
            hold(socket, for: reply, received: peer.received, isLast: isLast)
            return true
        }
        guard let descriptor = duplicate(peer) else { return false }
        let socket = DeferredSocket(descriptor: descriptor, address: reply.peer, core: self)
        Socket.watchForSilence(descriptor)
        hold(socket, for: reply, received: peer.received, isLast: isLast)
        do {
            try socket.watch()
        } catch {
            socket.close()
        }
        return true
    }

    private func hold(_ socket: DeferredSocket, for reply: DeferredResponse, received: UInt64, isLast: Bool) {
        socket.index = deferredSockets.count
        deferredSockets.append(socket)
        countAddress(socket.address)
        socket.wait(for: reply, received: received, isLast: isLast)
        reply.setPlace(in: .released(socket))
    }

    /// Ends a loan. Returns the socket that has lent a connection its descriptor; nil when there is none.
    func reclaim(from peer: HTTPConnection) -> DeferredSocket? {
        guard let socket = peer.lender else { return nil }
        peer.lender = nil
        return socket
    }

    /// Queues a socket whose response has been completed. The response is sent later, outside the library's callbacks,
    /// because the connection may return to the library afterwards.
    func answered(_ socket: DeferredSocket) { answeredSockets.append(socket) }

    func sendDeferredResponses() {
        guard !answeredSockets.isEmpty else { return }
        let due = answeredSockets.prefix(Self.deferredResponsesPerTurn)
        answeredSockets.removeFirst(due.count)
        for socket in due where !socket.isOver { sendAnswer(on: socket) }
    }

    private func sendAnswer(on socket: DeferredSocket) {
        guard let reply = socket.reply, let response = reply.answer else { return }
        let context = reply.context
        router.observe(response, of: context.plan, method: context.method, receivedAt: context.receivedAt)
        let isLast = socket.isLast || isDraining
        response.body.withWholeBytes { body in
            counters.bodyBytesSent += UInt64(body.count)
            let hasLength = response.status != 204 && response.status != 304
            let head = heads.head(
                status: response.status, headers: response.headers, reply.context.fields,
                contentLength: hasLength ? body.count : nil, requestID: reply.requestID, date: date.updated(),
                closing: isLast)
            guard isLast else { return socket.send(head, body) }
            remove(socket)
            linger(socket.leave(), saying: head + body)
            removed()
        }
    }

    func remove(_ socket: DeferredSocket) {
        let last = deferredSockets.removeLast()
        if last !== socket {
            deferredSockets[socket.index] = last
            last.index = socket.index
        }
        if socket.isIdle { idleDeferredSockets -= 1 }
        uncountAddress(socket.address)
    }

    func removed() {
        if isDraining { checkDrained() }
    }
}

// MARK: - Further requests

extension ServerCore {
    /// The time after which a socket without a further request returns to the library, which then applies its deadlines.
    private var patience: Duration { min(.seconds(1), options.deadlines.keepAliveIdle / 2) }

    /// Lets a socket wait for its client's next request after the response was sent.
    func responseSent(on socket: DeferredSocket) {
        idleDeferredSockets += 1
        guard !isDraining else { return socket.close() }
        if socket.hasInput { return lend(socket) }
        if socket.idleRound != idleRound {
            socket.idleRound = idleRound
            idleSockets.append(socket)
        }
        guard !isCountingIdleRounds else { return }
        isCountingIdleRounds = true
        loop.schedule(after: patience) { [weak self] in self?.endIdleRound() }
    }

    /// Returns the sockets to the library that were idle during the whole round.
    private func endIdleRound() {
        isCountingIdleRounds = false
        let due = idleSocketsOfLastRound
        idleSocketsOfLastRound = idleSockets
        idleSockets = []
        for socket in due where socket.isIdle && socket.idleRound + 1 == idleRound { returnSocket(socket) }
        idleRound += 1
        guard !idleSocketsOfLastRound.isEmpty, daemon != nil else { return }
        isCountingIdleRounds = true
        loop.schedule(after: patience) { [weak self] in self?.endIdleRound() }
    }

    /// Lends a socket to the library, which reads the next request from it.
    func lend(_ socket: DeferredSocket) {
        guard let daemon, !isDraining else { return socket.close() }
        guard LentDescriptors.canReturn else { return returnSocket(socket) }
        remove(socket)
        socket.lend()
        incoming = IncomingConnection(address: socket.address, received: socket.received, lender: socket)
        // The library closes the descriptor if it cannot accept it.
        if !daemon.add(socket.descriptor) { socket.giveUp() }
        incoming.lender = nil
    }

    /// Passes a socket to the library for good.
    func returnSocket(_ socket: DeferredSocket) {
        remove(socket)
        give(socket.leave(), of: socket)
    }

    /// Passes the descriptor of a socket that has ended to the library.
    private func give(_ descriptor: Int32, of socket: DeferredSocket) {
        guard let daemon, !isDraining else {
            Glibc.close(descriptor)
            return removed()
        }
        incoming = IncomingConnection(address: socket.address, received: socket.received)
        // The library closes the socket if it cannot accept it.
        _ = daemon.add(descriptor)
    }

    /// Closes a socket whose client has sent no further request. Returns false when there is none.
    func closeIdleSocket() -> Bool {
        guard idleDeferredSockets > 0 else { return false }
        for sockets in [idleSocketsOfLastRound, idleSockets] {
            guard let socket = sockets.first(where: \.isIdle) else { continue }
            socket.close()
            return true
        }
        return false
    }
}

extension ResponseBody {
    /// Calls `use` with the bytes of a body that is in memory.
    func withWholeBytes<Result>(_ use: (UnsafeRawBufferPointer) -> Result) -> Result {
        switch self {
        case .bytes(let bytes): bytes.withUnsafeBytes(use)
        case .fixed(let bytes): use(bytes.buffer)
        case .empty, .pieces, .stream, .deferred: use(UnsafeRawBufferPointer(start: nil, count: 0))
        }
    }
}
