internal import CMicrohttpd
import Glibc
import Logging

/// Which of libmicrohttpd's messages are about one client rather than about this machine.
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

    /// What it says when a callback returns no, which is how a socket is taken over.
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

    /// Called with every resume: the library notices it only when it runs.
    func resumed(_ waiting: any Suspendable) {
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

// MARK: - Answers

extension ServerCore {
    /// Hands a complete answer to the library.
    func queue(_ response: Response, isHead: Bool, on exchange: Exchange, closing: Bool) -> MHD_Result {
        guard let reply = MHDResponse(response, isHead: isHead, exchange: exchange) else {
            logger.error("no memory for an answer")
            return .NO
        }
        if reply.hasDroppedFields {
            logger.error("header field dropped", metadata: ["request": "\(exchange.head?.id ?? "")"])
        }
        if closing || isDraining { reply.add("Connection", "close") }
        counters.bodyBytesSent += UInt64(reply.knownLength)
        if response.body.isWhole { hold(answerOf: exchange.peer) }
        return reply.queue()
    }

    /// The most answers that wait for one another.
    private static let heldTogether = 32

    /// Has the kernel keep an answer until ``sendHeldAnswers()``, where several are given in one run of the library.
    ///
    /// A client that sleeps has to be woken, which costs as much as sending to it; one process with many connections is
    /// then woken once for all of them, and not again while it is at the next answer.
    private func hold(answerOf peer: HTTPConnection) {
        answersOfRun += 1
        guard !isSecure, answersOfRun > 1 || answersOfLastRun > 1, !peer.isAnswerHeld else { return }
        if heldAnswers.count == Self.heldTogether { sendHeldAnswers() }
        peer.isAnswerHeld = true
        heldAnswers.append(peer)
        Socket.hold(peer.descriptor, true)
    }

    /// Lets the kernel send what it keeps. An answer that is not written by then goes out as it is written.
    func sendHeldAnswers() {
        for peer in heldAnswers where peer.isAnswerHeld {
            peer.isAnswerHeld = false
            Socket.hold(peer.descriptor, false)
        }
        heldAnswers.removeAll(keepingCapacity: true)
    }

    /// Says an answer on a duplicate of the socket and lets the library drop the connection: the way to answer in the
    /// middle of a body, where the library has none.
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
