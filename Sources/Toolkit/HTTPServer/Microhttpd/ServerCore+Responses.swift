internal import CMicrohttpd
import Glibc
import Logging

/// Sends complete responses, through libmicrohttpd or directly on a duplicate of the socket.
extension ServerCore {
    /// Sends a complete response: at the end of this iteration if it is short, and otherwise through the library.
    func queue(_ response: Response, isHead: Bool, on exchange: Exchange, closing: Bool) -> MHD_Result {
        let closing = closing || isDraining
        if response.body.isWhole {
            let result = response.body.withWholeBytes { body in
                counters.bodyBytesSent += UInt64(body.count)
                return hold(response, body, of: exchange, closing: closing)
            }
            if let result { return result }
        }
        move(exchange.peer, to: .reply)
        guard let reply = MHDResponse(response, isHead: isHead, exchange: exchange) else {
            logger.error("cannot send a response: not enough memory")
            return .NO
        }
        if reply.hasDroppedFields { logDroppedFields(of: exchange) }
        if closing { reply.add("Connection", "close") }
        return reply.queue()
    }

    func logDroppedFields(of exchange: Exchange) {
        logger.error(
            "left an invalid header field out of a response", metadata: ["request": "\(exchange.head?.id ?? "")"])
    }

    /// Returns the replacement for the error page that the library has announced, and forgets the announcement.
    func removeRefusal() -> MHDErrorPages.ReplacementPage {
        guard let status = refusal else { return .none }
        refusal = nil
        guard !isRefusalDropped else {
            isRefusalDropped = false
            droppedRefusals.append(status)
            return .nothing
        }
        let id = makeRequestID()
        var response = MHDErrorPages.problem(status, limits: options.limits)
            .response(baseURL: router.table.problemBaseURL, requestID: id)
        response.headers += [
            ("Date", date.updated().text), ("X-Request-Id", id), ("X-Content-Type-Options", "nosniff"),
        ]
        return .response(response)
    }

    func rawResponse(to problem: Problem) -> [UInt8] {
        let id = makeRequestID()
        let response = problem.response(baseURL: router.table.problemBaseURL, requestID: id)
        return RawResponse.message(response, isHead: false, requestID: id, date: date.updated())
    }

    /// Sends a response on a duplicate of the socket and makes the library drop the connection. Used to respond before
    /// the end of a request body, because the library cannot do that.
    func adopt(_ exchange: Exchange, saying response: Response) -> MHD_Result {
        guard lingering < 4096, let head = exchange.head, let socket = duplicate(exchange.peer) else { return .NO }
        let isHead = head.method == .head
        linger(
            socket, saying: RawResponse.message(response, isHead: isHead, requestID: head.id, date: date.updated()))
        return .NO
    }

    func linger(_ socket: Int32, saying reply: [UInt8]) {
        lingering += 1
        LingeringSocket.begin(descriptor: socket, loop: loop, reply: reply, deadline: options.deadlines.linger) {
            [weak self] in self?.lingering -= 1
        }
    }

    func duplicate(_ peer: HTTPConnection) -> Int32? {
        let socket = fcntl(peer.descriptor, F_DUPFD_CLOEXEC, 0)
        guard socket >= 0 else { return nil }
        // What is sent on the duplicate must follow the earlier responses of the connection.
        sendHeldResponses()
        peer.isSilenced = true
        return socket
    }
}
