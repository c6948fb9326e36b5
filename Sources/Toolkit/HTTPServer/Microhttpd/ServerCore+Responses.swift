internal import CMicrohttpd
import Glibc
import Logging

/// Complete responses: those that libmicrohttpd sends, and those written directly to a duplicate of the socket.
extension ServerCore {
    /// Passes a complete response to the library.
    func queue(_ response: Response, isHead: Bool, on exchange: Exchange, closing: Bool) -> MHD_Result {
        guard let reply = MHDResponse(response, isHead: isHead, exchange: exchange) else {
            logger.error("not enough memory for a response")
            return .NO
        }
        if reply.hasDroppedFields {
            logger.error(
                "dropped a header field that is not valid", metadata: ["request": "\(exchange.head?.id ?? "")"])
        }
        if closing || isDraining { reply.add("Connection", "close") }
        counters.bodyBytesSent += UInt64(reply.knownLength)
        if response.body.isWhole { hold(answerOf: exchange.peer) }
        return reply.queue()
    }

    /// The maximum number of responses that are held back at a time.
    private static let heldTogether = 32

    /// Lets the kernel hold a response back until ``sendHeldAnswers()``, when several are queued in one run of the
    /// library.
    ///
    /// Waking a sleeping client costs as much as sending to it. A client process with many connections is then woken
    /// once for all of them, and not again while it handles the next response.
    private func hold(answerOf peer: HTTPConnection) {
        answersOfRun += 1
        guard !isSecure, answersOfRun > 1 || answersOfLastRun > 1, !peer.isAnswerHeld else { return }
        if heldAnswers.count == Self.heldTogether { sendHeldAnswers() }
        peer.isAnswerHeld = true
        heldAnswers.append(peer)
        Socket.hold(peer.descriptor, true)
    }

    /// Lets the kernel send the responses it holds back. A response that is not written by then is sent as it is
    /// written.
    func sendHeldAnswers() {
        for peer in heldAnswers where peer.isAnswerHeld {
            peer.isAnswerHeld = false
            Socket.hold(peer.descriptor, false)
        }
        heldAnswers.removeAll(keepingCapacity: true)
    }

    /// Sends a response on a duplicate of the socket and lets the library drop the connection. This is the way to
    /// respond in the middle of a body, where the library offers none.
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
        peer.isSilenced = true
        return socket
    }
}
