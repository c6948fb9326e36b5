internal import CMicrohttpd
import Glibc
import Locking
import Logging

// MARK: - Connections

extension ServerCore {
    /// Handles a connected socket. At the connection limit, closes a connection that waits for a request. If no
    /// connection waits for a request, rejects the new connection. Returns false when no more sockets should be
    /// accepted in this iteration of the loop.
    func accepted(_ socket: Int32, _ address: UnsafePointer<sockaddr>, _ length: socklen_t) -> Bool {
        let remote = SocketAddress.remote(address)
        counters.accepted += 1
        if let limit = options.limits.connectionsPerAddress, addressCounts[remote, default: 0] >= limit,
            options.isTrustedProxy?(remote) != true
        {
            reject(socket, "Too many connections are open from this address; close some, or try again later")
            return true
        }
        if connectionCount >= options.limits.connections, !makeRoom() {
            reject(socket, "Too many connections are open; try again later")
            return true
        }
        incoming = IncomingConnection(address: remote)
        // The library closes the socket if it cannot accept it.
        _ = daemon?.add(socket, address, length)
        // Connections that were closed to make room for new ones are removed only when the library runs next. The
        // library must run before too many new connections are accepted.
        return connectionCount < options.limits.connections + 512
    }

    /// The number of open connections, including those of ``deferredSockets``.
    var connectionCount: Int { peers.count + deferredSockets.count }

    /// Closes the connection that has waited longest for a request. Returns false when no connection waits for a
    /// request.
    private func makeRoom() -> Bool {
        if closeIdleSocket() {
            counters.refused += 1
            return true
        }
        guard let peer = queues.longest(in: .idle) ?? queues.longest(in: .header) else { return false }
        counters.refused += 1
        queues.leave(peer)
        peer.cut()
        return true
    }

    private func reject(_ socket: Int32, _ reason: String) {
        counters.refused += 1
        guard !isSecure, lingering < 256 else {
            Glibc.close(socket)
            return
        }
        lingering += 1
        RejectedConnection.begin(
            descriptor: socket, loop: loop, longest: options.limits.requestLineBytes,
            deadline: options.deadlines.linger
        ) { [weak self] line in
            guard let self else { return _ = Glibc.close(socket) }
            lingering -= 1
            linger(socket, saying: rawResponse(to: .overloaded(reason), onRouteOf: line))
        }
    }

    /// Returns a complete response for a problem, in the error format of the requested route.
    ///
    /// - Parameter line: a request line, which may be incomplete or empty.
    private func rawResponse(to problem: Problem, onRouteOf line: [UInt8]) -> [UInt8] {
        let words = line.split(separator: 0x20)
        guard words.count > 1 else { return rawResponse(to: problem) }
        let id = makeRequestID()
        let method = HTTPMethod(rawValue: String(decoding: words[0], as: UTF8.self))
        let target = words[1].withUnsafeBufferPointer { RequestTarget($0) }
        let path = Array(target.text.utf8.prefix(target.pathSize))
        let match = path.withUnsafeBufferPointer { router.match(method: method, path: $0, headers: Headers()) }
        let response = router.answer(to: problem, plan: match.plan, requestID: id)
        return RawResponse.message(response, isHead: method == .head, requestID: id, date: date.updated())
    }

    /// Closes idle connections when descriptors or memory are exhausted.
    func exhausted(_ code: Int32) {
        for _ in 0..<16 where makeRoom() {}
        wakeLibrary()
        let now = loop.turnTime
        if let lastExhaustion, now < lastExhaustion + .seconds(10) { return }
        lastExhaustion = now
        logger.error(
            "cannot accept connections; closing idle connections",
            metadata: ["reason": "\(ServerError.text(of: code))"])
    }

    func connectionStarted(_ connection: OpaquePointer) -> HTTPConnection? {
        let descriptor = shim_connection_descriptor(connection)
        guard descriptor >= 0 else { return nil }
        let peer = HTTPConnection(
            core: self, connection: connection, descriptor: descriptor, incoming: incoming)
        peers[descriptor] = peer
        if peer.hasLongHeaders { longHeaderConnections += 1 }
        countAddress(peer.address)
        move(peer, to: peer.received == 0 || peer.hasLongHeaders ? .header : .idle)
        return peer
    }

    /// Called when the library is about to close the socket of a connection.
    func connectionEnded(_ peer: HTTPConnection) {
        sendHeldResponses()
        if let exchange = peer.exchange {
            exchange.completed(.REQUEST_TERMINATED_WITH_ERROR)
            // The library has already released a detached request.
            if !exchange.isDetached {
                // If this server has queued no response, the library ends the request without the completion callback.
                exchange.release()
                refuseLength(peer)
            }
        } else if !peer.isSilenced, !isDraining {
            explainEnd(of: peer)
        }
        queues.leave(peer)
        peer.unwatch()
        reclaim(from: peer)?.giveUp()
        if peer.isReturned { returnedDescriptor = peer.descriptor }
        peers[peer.descriptor] = nil
        dropPartialHeader(of: peer)
        if peer.hasLongHeaders {
            longHeaderConnections -= 1
            movedBytes[peer.descriptor] = nil
        }
        uncountAddress(peer.address)
        if isDraining { checkDrained() }
    }

    func countAddress(_ address: RemoteAddress) {
        if options.limits.connectionsPerAddress != nil { addressCounts[address, default: 0] += 1 }
    }

    func uncountAddress(_ address: RemoteAddress) {
        guard options.limits.connectionsPerAddress != nil, let count = addressCounts[address] else { return }
        addressCounts[address] = count > 1 ? count - 1 : nil
    }

    private func refuseLength(_ peer: HTTPConnection) {
        let status = droppedRefusals.isEmpty ? 400 : droppedRefusals.removeFirst()
        guard !isSecure, !peer.isSilenced, let socket = duplicate(peer) else { return }
        let problem =
            status == 413
            ? MHDErrorPages.problem(413, limits: options.limits)
            : .malformedRequest("Content-Length is not a number")
        linger(socket, saying: rawResponse(to: problem))
    }

    /// Sends an error response if the library closes a connection because the request line is invalid. The library
    /// itself sends no response in this case. The case is recognized by two facts: nothing was sent to the client, and
    /// the client has not closed the connection.
    private func explainEnd(of peer: HTTPConnection) {
        guard !isSecure, peer.phase == .header, peer.hasReceivedNothing else { return }
        var byte: UInt8 = 0
        let count = recv(peer.descriptor, &byte, 1, Socket.peek | Socket.sendFlags)
        guard count > 0 || (count < 0 && errno == EAGAIN) else { return }
        peer.cut(saying: rawResponse(to: .malformedRequest("The request line is not valid HTTP/1.1")))
    }

    func move(_ peer: HTTPConnection, to phase: HTTPConnection.Phase) {
        guard !peer.isSilenced else { return }
        queues.move(peer, to: phase, now: loop.turnTime)
        // The timer is not changed when a connection gets a later deadline. It may therefore fire too early, and is
        // then set again. This is cheaper than setting the timer at each change of a deadline.
        if phase != .working, deadlineTimer.map({ peer.deadline < $0.deadline }) ?? true { arm(for: peer.deadline) }
        if isDraining, phase == .idle, !peer.isSilenced { peer.cut() }
    }
}

// MARK: - Deadlines

extension ServerCore {
    /// Sets the timer to the earliest deadline of all connections.
    private func arm(for deadline: MonotonicTime) {
        deadlineTimer?.cancel()
        deadlineTimer = loop.schedule(at: deadline) { [weak self] in self?.checkDeadlines() }
    }

    private func checkDeadlines() {
        deadlineTimer = nil
        let now = MonotonicTime.now
        while let peer = queues.expired(at: now) { timeOut(peer, now) }
        if let next = queues.nextDeadline { arm(for: next) }
    }

    private func timeOut(_ peer: HTTPConnection, _ now: MonotonicTime) {
        let phase = peer.phase
        if phase == .reply, peer.hasTakenMore() {
            queues.move(peer, to: .reply, now: now)
            return
        }
        queues.leave(peer)
        counters.timedOut += 1
        switch phase {
        case .header where peer.exchange != nil || peer.hasSentAnything:
            peer.cut(saying: rawResponse(to: .requestTimeout))
        case .body: peer.cut(saying: rawResponse(to: .requestTimeout))
        case .header, .idle, .reply, .working: peer.cut()
        }
    }
}
