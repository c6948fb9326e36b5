internal import CLinux
internal import CMicrohttpd
import Glibc
import Logging

// MARK: - Streams

extension ServerCore {
    /// Ends the request and begins the stream. The stream uses a duplicate of the socket, or the library's connection
    /// if the connection is encrypted.
    func openStream(
        _ opening: StreamOpening, for exchange: Exchange, headers: [(name: String, value: String)]
    ) -> MHD_Result {
        guard let head = exchange.head else { return .NO }
        let refusal: Problem
        do throws(Problem) {
            guard !isDraining else { throw .overloaded("The server is stopping; try again later") }
            try streams.check(head.remoteAddress)
            if isSecure { return openLibraryStream(opening, for: exchange, headers: headers) }
            if let result = adoptStream(opening, for: exchange, headers: headers) { return result }
            throw .overloaded("The server has no free file descriptors; try again later")
        } catch {
            refusal = error
        }
        move(exchange.peer, to: .reply)
        var response = exchange.response(to: refusal)
        exchange.finish(&response)
        return queue(response, isHead: false, on: exchange, closing: false)
    }

    private func adoptStream(
        _ opening: StreamOpening, for exchange: Exchange, headers: [(name: String, value: String)]
    ) -> MHD_Result? {
        guard let head = exchange.head, let socket = duplicate(exchange.peer) else { return nil }
        let outlet = SocketOutlet(descriptor: socket, loop: loop)
        let isChunked = !exchange.isHTTP10
        let connection = makeConnection(outlet, head, isChunked: isChunked)
        do {
            try outlet.watch(connection)
        } catch {
            connection.close(.failed(ENOMEM))
            return .NO
        }
        Socket.watchForSilence(socket)
        var headers = headers + opening.headers
        if isChunked { headers.append((name: "Transfer-Encoding", value: "chunked")) }
        let header = heads.head(
            status: 200, headers: headers, contentLength: nil, requestID: head.id, date: date.updated(), closing: true)
        connection.begin(with: header, opening.open)
        return .NO
    }

    private func openLibraryStream(
        _ opening: StreamOpening, for exchange: Exchange, headers: [(name: String, value: String)]
    ) -> MHD_Result {
        guard let head = exchange.head else { return .NO }
        let outlet = MHDStreamOutlet(exchange: exchange)
        let connection = makeConnection(outlet, head, isChunked: false)
        outlet.attach(connection)
        Socket.watchForSilence(exchange.peer.descriptor)
        let response = Response(status: 200, headers: headers + opening.headers)
        guard let reply = MHDResponse(response, outlet: outlet, exchange: exchange), reply.queue() == .YES else {
            connection.close(.failed(ENOMEM))
            return .NO
        }
        opening.open(connection)
        return .YES
    }

    private func makeConnection(
        _ outlet: any StreamOutlet, _ head: Request.Head, isChunked: Bool
    ) -> StreamConnection {
        let limits = StreamConnection.Limits(
            backlogBytes: options.limits.streamBacklogBytes, lowMarkBytes: options.limits.streamLowMarkBytes,
            stall: min(options.deadlines.streamStall, Socket.timeout(for: options.deadlines.silence) * 4 / 5))
        let connection = StreamConnection(
            id: StreamRegistry.nextID(), loop: loop, outlet: outlet, request: head, isChunked: isChunked, limits: limits
        ) { [weak self] in self?.released($0) }
        streams.add(connection)
        return connection
    }

    private func released(_ connection: StreamConnection) {
        streams.remove(connection)
        if isDraining { checkDrained() }
    }
}
