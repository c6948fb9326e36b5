import Logging

/// The bookkeeping of a server's requests: counters, suspended requests, and request ids.
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

    func suspended(_ waiting: any Suspendable) {
        suspendables[ObjectIdentifier(waiting)] = waiting
        watch(waiting.peer)
    }

    /// Watches for the end of a connection.
    func watch(_ peer: HTTPConnection) {
        do {
            try peer.watch()
        } catch {
            logger.warning("cannot detect when the client closes the connection", metadata: ["reason": "\(error)"])
        }
    }

    /// Records that a suspended request or body is being resumed, and makes the library run. Call it whenever a
    /// connection is resumed, because the library detects resumed connections only when it runs.
    func resumed(_ waiting: any Suspendable) {
        suspendables[ObjectIdentifier(waiting)] = nil
        counters.resumes += 1
        wakeLibrary()
    }

    /// Makes the library run in this iteration of the loop, or in the next one without waiting.
    func wakeLibrary() {
        daemon?.needsRun = true
        if longHeaderConnections > 0 { longHeaderDaemon?.needsRun = true }
    }

    /// Creates a request id with the SplitMix64 generator. It needs no system call, and its internal values repeat only
    /// after 2^64 requests.
    func makeRequestID() -> String {
        idSeed &+= 0x9E37_79B9_7F4A_7C15
        var mixed = idSeed
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return RequestID.made(from: mixed ^ (mixed >> 31))
    }

    func logFailure(_ error: any Error, of head: Request.Head?) {
        logger.error(
            "request failed with 500",
            metadata: [
                "request": "\(head?.id ?? "")", "method": "\(head?.method.rawValue ?? "")",
                "path": "\(head?.path ?? "")", "error": "\(error)",
            ])
    }
}
