internal import CMicrohttpd
import Glibc

// MARK: - Late answers

extension ServerCore {
    /// What is answered in one turn at most: thousands may be waiting for the same event, and everybody else for them.
    private static let lateAnswersPerTurn = 256

    /// Takes the socket of a request whose answer comes later, so that the library forgets the connection when it is told
    /// `MHD_NO`. False when there are no descriptors left.
    ///
    /// - Parameter isLast: whether the connection ends with the answer.
    func park(_ reply: DeferredResponse, of exchange: Exchange, isLast: Bool) -> Bool {
        guard let descriptor = duplicate(exchange.peer) else { return false }
        let socket = DeferredSocket(
            descriptor: descriptor, reply: reply, received: exchange.peer.received, isLast: isLast, core: self)
        reply.settle(in: .parked(socket))
        parkedSockets[ObjectIdentifier(socket)] = socket
        countAddress(reply.peer)
        Socket.watchForSilence(descriptor)
        do {
            try socket.watch()
        } catch {
            socket.close()
        }
        return true
    }

    /// An answer has come. It is sent outside the library's callbacks, because the connection goes back to it then.
    func answered(_ socket: DeferredSocket) { answeredSockets.append(socket) }

    func sendLateAnswers() {
        guard !answeredSockets.isEmpty else { return }
        let due = answeredSockets.prefix(Self.lateAnswersPerTurn)
        answeredSockets.removeFirst(due.count)
        for socket in due where !socket.isOver { sendAnswer(on: socket) }
    }

    private func sendAnswer(on socket: DeferredSocket) {
        guard let answer = socket.reply.answer else { return }
        let response = router.finished(answer, in: socket.reply.context)
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

    /// The answer is out: the library has the connection again, for the next request.
    func giveBack(_ socket: DeferredSocket, _ descriptor: Int32) {
        released(socket)
        guard let daemon, !isDraining else {
            Glibc.close(descriptor)
            return
        }
        incoming = (socket.reply.peer, socket.received)
        // The library only keeps the address, for others to ask about; it closes the socket if it cannot take it.
        var address = sockaddr()
        address.sa_family = sa_family_t(AF_UNSPEC)
        _ = daemon.add(descriptor, &address, socklen_t(MemoryLayout<sockaddr>.size))
    }

    func released(_ socket: DeferredSocket) {
        parkedSockets[ObjectIdentifier(socket)] = nil
        uncountAddress(socket.reply.peer)
        if isDraining { checkDrained() }
    }
}

extension ResponseBody {
    /// Lends the bytes of a body that is in memory.
    fileprivate func withWholeBytes<Result>(_ use: (UnsafeRawBufferPointer) -> Result) -> Result {
        switch self {
        case .bytes(let bytes): bytes.withUnsafeBytes(use)
        case .fixed(let bytes): use(bytes.buffer)
        case .empty, .pieces, .stream, .late: use(UnsafeRawBufferPointer(start: nil, count: 0))
        }
    }
}
