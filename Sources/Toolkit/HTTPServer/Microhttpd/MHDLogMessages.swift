internal import CMicrohttpd
import Glibc
import Logging

/// Distinguishes libmicrohttpd's messages about one client from those about this machine.
enum MHDLogMessages {
    private static let routine: [StaticString] = [
        "Error processing request", "Socket has been disconnected", "Connection was closed", "Connection socket is",
        "Failed to send", "Closing connection", "Too large value of", "Failed to parse", "Too late",
        "Received HTTP/1.1",
        "Not enough memory in pool", "Failed to receive", "Error: received handshake",
    ]

    static func isRoutine(_ message: UnsafePointer<CChar>) -> Bool {
        routine.contains { begins(message, with: $0) }
    }

    /// True for the message that the library logs when a callback returns `MHD_NO`, which is how a socket is taken
    /// over.
    static func isTakeover(_ message: UnsafePointer<CChar>) -> Bool {
        begins(message, with: "Application reported internal error")
    }

    private static func begins(_ message: UnsafePointer<CChar>, with text: StaticString) -> Bool {
        text.withUTF8Buffer {
            strncmp(message, UnsafeRawPointer($0.baseAddress!).assumingMemoryBound(to: CChar.self), $0.count) == 0
        }
    }
}

// MARK: - Requests

extension ServerCore {
    func requestBegan() { counters.requests += 1 }

    func handlerBegan() { counters.requestsInFlight += 1 }

    func handlerEnded() { counters.requestsInFlight -= 1 }

    func receivedBody(_ count: Int) { counters.bodyBytesReceived += UInt64(count) }

    func reserveBodyMemory(_ count: Int) -> Bool {
        guard counters.bodyBytesInFlight + count <= options.limits.bodyBytesInFlight else { return false }
        counters.bodyBytesInFlight += count
        return true
    }

    func releaseBodyMemory(_ count: Int) { counters.bodyBytesInFlight -= count }

    func suspended(_ waiting: any Suspendable) { parked[ObjectIdentifier(waiting)] = waiting }

    /// Records a resumed connection. Call it with every resume: the library notices one only when it runs.
    func resumed(_ waiting: any Suspendable) {
        parked[ObjectIdentifier(waiting)] = nil
        counters.resumes += 1
        daemon?.needsRun = true
    }

    /// Creates a request id with SplitMix64 over a counter: unique for 2^64 requests, without a system call for each.
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

    /// Handles a log message of libmicrohttpd. Messages about invalid input of one client are not logged; messages
    /// about this machine are.
    func log(_ message: UnsafePointer<CChar>) {
        // The library logs this each time a socket is taken over, which is how every stream begins.
        guard !MHDLogMessages.isTakeover(message) else { return }
        if let status = MHDErrorPages.status(in: message) { refusal = status }
        if MHDErrorPages.isAboutLength(message) { isRefusalDropped = true }
        let isRoutine = MHDLogMessages.isRoutine(message)
        guard daemon == nil || logger.logLevel <= (isRoutine ? .debug : .warning) else { return }
        let text = String(cString: message).split(separator: "\n").first.map(String.init) ?? ""
        if daemon == nil { lastWords = text }
        logger.log(level: isRoutine ? .debug : .warning, "libmicrohttpd", metadata: ["message": "\(text)"])
    }
}

// MARK: - Responses

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

    /// The most responses that are held back at a time.
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
    func takeOver(_ exchange: Exchange, saying response: Response) -> MHD_Result {
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
