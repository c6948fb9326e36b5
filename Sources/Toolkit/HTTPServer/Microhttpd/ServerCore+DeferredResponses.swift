internal import CMicrohttpd
import Glibc

// MARK: - Deferred responses

extension ServerCore {
    /// The maximum number of deferred responses that are sent in one iteration of the loop. Thousands of clients may
    /// wait for the same event, and sending all their responses in one iteration would delay all other work.
    private static let deferredResponsesPerTurn = 256

    /// Duplicates the socket of a request whose response is deferred. The caller can then let the library drop the
    /// connection by returning `MHD_NO`. Returns false when the socket cannot be duplicated.
    ///
    /// - Parameter isLast: true when the connection is closed after the response.
    func suspend(_ reply: DeferredResponse, of exchange: Exchange, isLast: Bool) -> Bool {
        guard let descriptor = duplicate(exchange.peer) else { return false }
        let socket = DeferredSocket(
            descriptor: descriptor, reply: reply, received: exchange.peer.received, isLast: isLast, core: self)
        reply.setPlace(in: .released(socket))
        deferredSockets[ObjectIdentifier(socket)] = socket
        countAddress(reply.peer)
        Socket.watchForSilence(descriptor)
        do {
            try socket.watch()
        } catch {
            socket.close()
        }
        return true
    }

    /// Queues a socket whose response has been completed. The response is sent later, outside the library's callbacks,
    /// because the connection returns to the library afterwards.
    func answered(_ socket: DeferredSocket) { answeredSockets.append(socket) }

    func sendDeferredResponses() {
        guard !answeredSockets.isEmpty else { return }
        let due = answeredSockets.prefix(Self.deferredResponsesPerTurn)
        answeredSockets.removeFirst(due.count)
        for socket in due where !socket.isOver { sendAnswer(on: socket) }
    }

    private func sendAnswer(on socket: DeferredSocket) {
        guard var response = socket.reply.answer else { return }
        router.finish(&response, in: socket.reply.context)
        let isLast = socket.isLast || isDraining
        response.body.withWholeBytes { body in
            counters.bodyBytesSent += UInt64(body.count)
            let hasLength = response.status != 204 && response.status != 304
            let head = RawResponse.head(
                status: response.status, headers: response.headers, contentLength: hasLength ? body.count : nil,
                requestID: socket.reply.requestID, date: date.updated(), closing: isLast)
            guard isLast else { return socket.send(head, body) }
            let descriptor = socket.leave()
            linger(descriptor, saying: head + body)
            released(socket)
        }
    }

    /// Returns the connection to the library for the next request after the response was sent.
    func returnSocket(_ socket: DeferredSocket, _ descriptor: Int32) {
        released(socket)
        guard let daemon, !isDraining else {
            Glibc.close(descriptor)
            return
        }
        incoming = IncomingConnection(address: socket.reply.peer, received: socket.received)
        // The library closes the socket if it cannot accept it.
        _ = daemon.add(descriptor)
    }

    func released(_ socket: DeferredSocket) {
        deferredSockets[ObjectIdentifier(socket)] = nil
        uncountAddress(socket.reply.peer)
        if isDraining { checkDrained() }
    }
}

extension ResponseBody {
    /// Calls `use` with the bytes of a body that is in memory.
    fileprivate func withWholeBytes<Result>(_ use: (UnsafeRawBufferPointer) -> Result) -> Result {
        switch self {
        case .bytes(let bytes): bytes.withUnsafeBytes(use)
        case .fixed(let bytes): use(bytes.buffer)
        case .empty, .pieces, .stream, .deferred: use(UnsafeRawBufferPointer(start: nil, count: 0))
        }
    }
}
