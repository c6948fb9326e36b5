internal import CMicrohttpd
import Glibc
import Locking

/// One HTTP exchange: a request and its response, from the request line to the last byte of the response.
///
/// libmicrohttpd calls `begin` with the header, `upload` with each piece of the body, and `ready` when the request is
/// complete. After the connection is resumed, it calls `ready` again. The handler starts immediately, on the loop. The
/// work that remains after its start is a task or an operation (`PendingReply`). If the handler finishes without
/// suspending, the response is queued in the same call. Otherwise, the connection is suspended until the handler's
/// response is passed to `decide`, or the request is detached (``ServerCore/detach(_:)``).
final class Exchange: @unchecked Sendable {
    // `@unchecked Sendable` is safe, because the object is used only on the loop's thread, where its task also runs.

    let core: ServerCore
    let peer: HTTPConnection
    let connection: OpaquePointer
    private let target: RequestTarget

    private(set) var hasBegun = false
    private(set) var isHTTP10 = false
    var head: Request.Head?
    private var match: RouteMatch?
    private var fields = HeadFields()
    private var intake: BodyReceiver?
    private var pump: BodyPump?
    private var isStarted = false
    private var task: Task<Void, Never>?
    /// The deferred response that the client waits for on a suspended connection; `nil` in any other case.
    private var deferred: DeferredResponse?
    /// The response from the time when it is known until it is sent. The rest of the request's body is discarded
    /// meanwhile.
    private var decision: Response?
    private var drained = 0
    private var isSuspended = false
    /// True while the handler waits for an operation whose response will be short.
    private var mayDetach = false
    /// True when the library regards the request as complete, although its response is not known yet; see
    /// ``ServerCore/detach(_:)``.
    private(set) var isDetached = false
    private var hasClientLeft = false
    private var isAbandoned = false
    private var isOver = false

    /// Begins an exchange when the request line has arrived.
    ///
    /// - Parameter target: the request target, in memory of the library. The text is copied.
    init(core: ServerCore, peer: HTTPConnection, connection: OpaquePointer, target: UnsafePointer<CChar>) {
        self.core = core
        self.peer = peer
        self.connection = connection
        let size = strlen(target)
        self.target = target.withMemoryRebound(to: UInt8.self, capacity: size) {
            RequestTarget(UnsafeBufferPointer(start: $0, count: size))
        }
        peer.exchange = self
        core.move(peer, to: .header)
    }
}

// MARK: - Calls from libmicrohttpd

extension Exchange {
    /// Handles a complete header. The library closes the connection after a response that is queued here. Therefore
    /// only errors after which the connection must be closed are sent here.
    func begin(
        path: UnsafePointer<CChar>, method: UnsafePointer<CChar>, version: UnsafePointer<CChar>
    ) -> MHD_Result {
        hasBegun = true
        core.dropPartialHeader(of: peer)
        core.requestBegan()
        let header = UnsafeRawBufferPointer(start: method, count: shim_connection_header_size(connection))
        isHTTP10 = strcmp(version, "HTTP/1.0") == 0
        let headers: Headers
        (headers, fields) = RequestHeadParser.read(connection, header, version: version, isHTTP10: isHTTP10)
        let method = HTTPMethod(method)
        let client = core.options.isTrustedProxy.map { peer.address.client(headers, isTrusted: $0) } ?? peer.address
        let id = fields.hasRequestID ? RequestID.accepted(headers["X-Request-Id"]) : nil
        let head = Request.Head(
            id: id ?? core.makeRequestID(), method: method, target: target.text, pathSize: target.pathSize,
            headers: headers, remoteAddress: client, isSecure: core.isSecure, receivedAt: .now)
        self.head = head
        peer.received &+= UInt64(header.count) &+ fields.bodyBytesOnWire
        let match = head.withPath { core.router.match(method: method, path: $0, headers: headers) }
        self.match = match
        if let problem = fields.framingProblem { return refuse(problem.problem) }
        if let problem = oversize(headerSize: header.count, method: method) { return refuse(problem) }
        // The library reads the version after the last space of the line, but it ends the target at the first NUL. If
        // the line contains a NUL, the target and the version are therefore not adjacent. Otherwise the version begins one
        // byte (the separator) after the end of the target.
        let isWhole = version == path + target.size + 1
        if let detail = isWhole ? target.problem : "The request target contains a NUL character" {
            decision = response(to: .malformedRequest("\(detail)"))
        }
        return fields.hasBody ? beginBody(match, head) : .YES
    }

    /// Processes a piece of the body. On return, `size` is the number of bytes that were not consumed.
    func upload(_ data: UnsafePointer<CChar>, _ size: UnsafeMutablePointer<Int>) -> MHD_Result {
        let bytes = UnsafeRawBufferPointer(start: data, count: size.pointee)
        guard !isAbandoned else { return .NO }
        guard decision == nil, let (used, verdict) = intake?.offer(bytes) else { return discard(size) }
        core.receivedBody(used)
        size.pointee -= used
        switch verdict {
        case .goOn:
            return intake?.isComplete == true || keepsPace() ? .YES : refuse(.requestTimeout)
        case .wait:
            suspend()
            return .YES
        case .refuse(let problem):
            pump?.fail(problem)
            if problem.status == 413, let match, let head { match.recordTooLarge(head, target.query) }
            return refuse(problem)
        }
    }

    /// Handles a request that is complete or was resumed. Queues the response if it is known. Otherwise detaches the
    /// request or suspends the connection.
    func ready() -> MHD_Result {
        guard !isAbandoned else { return .NO }
        if decision == nil, let problem = intake?.finish(), pump == nil { decision = response(to: problem) }
        if decision == nil, !isStarted { startHandler(body: RequestBody(bytes: intake?.collected ?? [])) }
        // If the handler waits only for an actor of this loop, running the queued jobs of the loop completes the
        // handler.
        if decision == nil { core.loop.runJobs(atMost: 16) { self.decision != nil || self.isAbandoned } }
        guard !isAbandoned else { return .NO }
        // Taken out of the exchange, so that header fields are added in place.
        guard var response = decision.take() else {
            if mayDetach, core.detach(self) {
                isDetached = true
                core.move(peer, to: .working)
            } else {
                suspend()
            }
            return .YES
        }
        return reply(&response)
    }

    /// Handles the end of the request in the library: the library has sent the response or the placeholder, or the
    /// connection has failed. The library may close the connection after this call.
    func completed(_ code: MHD_RequestTerminationCode) {
        // Precedes the check, because a detached request may already be over.
        peer.hasPlaceholder = false
        guard !isOver else { return }
        if isDetached, code == .REQUEST_TERMINATED_COMPLETED_OK {
            // The library has written the placeholder and keeps the connection. The response is still to be sent.
            core.reclaim(from: peer)?.giveUp()
            return
        }
        if isDetached { core.detachedEnded() }
        isOver = true
        task?.cancel()
        task = nil
        deferred?.disconnected()
        deferred = nil
        pump?.fail(CancellationError())
        pump = nil
        intake = nil
        peer.exchange = nil
        guard code == .REQUEST_TERMINATED_COMPLETED_OK else { return }
        // The library keeps the connection, because the response was not deferred.
        core.reclaim(from: peer)?.giveUp()
        core.move(peer, to: .idle)
    }
}

extension Exchange {
    /// Releases the reference to this object that the library's request context owns. Usually, the completion callback
    /// releases the reference. Call this function only when the library ends a request without that callback.
    func release() {
        Unmanaged.passUnretained(self).release()  // retained in `Callbacks.requestLine`
    }
}

// MARK: - Body

extension Exchange {
    /// The maximum number of body bytes that are read and discarded on an encrypted connection before a response is
    /// sent.
    private static let longestDiscard = 1024 * 1024

    private func beginBody(_ match: RouteMatch, _ head: Request.Head) -> MHD_Result {
        let plan = match.plan
        let limit = plan.bodyPolicy.limit
        if let length = fields.contentLength, length > UInt64(limit) {
            match.recordTooLarge(head, target.query)
            // The response is sent before any part of the body is read. A client that sent `Expect: 100-continue` then
            // need not send the body.
            return refuse(.bodyTooLong(limit: limit))
        }
        core.move(peer, to: .body)
        guard decision == nil else { return .YES }
        var inflate: Inflate?
        if fields.hasContentEncoding, let coding = Self.contentCoding(head.headers) {
            do {
                inflate = try Inflate(coding: coding)
            } catch {
                return refuse(.overloaded("Not enough memory to decompress the body; try again"))
            }
            guard inflate != nil else { return refuse(.unsupportedContentEncoding(coding)) }
        }
        if case .streamed = plan.bodyPolicy {
            let pump = BodyPump(loop: core.loop)
            pump.onWritable = { [unowned self] in resume() }
            self.pump = pump
        }
        intake = BodyReceiver(
            limit: limit, inflate: inflate, trustsCoding: plan.options.trustsContentEncoding, pump: pump,
            expected: fields.contentLength, core: core)
        if let pump { startHandler(body: RequestBody(pump: pump)) }
        guard let decision, decision.isSmall, !fields.isShort else { return .YES }
        return refuse(decision)
    }

    /// The codings of the body in lower case, in the order of their application; nil if the body is not encoded.
    private static func contentCoding(_ headers: Headers) -> String? {
        let fields = headers[all: "Content-Encoding"].map { $0.lowercased() }
        let codings = fields.filter { !$0.isEmpty && $0 != "identity" }
        return codings.isEmpty ? nil : codings.joined(separator: ", ")
    }

    /// Discards a piece of the body after the response is known, so that the connection can be used again. Ends the
    /// connection when the body exceeds a limit.
    private func discard(_ size: UnsafeMutablePointer<Int>) -> MHD_Result {
        drained += size.pointee
        core.receivedBody(size.pointee)
        size.pointee = 0
        core.move(peer, to: .body)
        guard let decision, decision.isSmall else { return .YES }
        if core.isSecure { return drained > Self.longestDiscard ? .NO : .YES }
        return drained > RoutePlan.refusedBodyLimit ? refuse(decision) : .YES
    }

    /// Returns true when the body arrives fast enough (``ServerOptions/Deadlines/bodyMinimumRate``). Also restarts the
    /// connection's deadline.
    private func keepsPace() -> Bool {
        core.move(peer, to: .body)
        guard let head, let received = intake?.wireLength else { return true }
        let taken = MonotonicTime.now.nanoseconds(since: head.receivedAt)
        guard taken > core.options.deadlines.bodyGrace.nanoseconds, pump == nil else { return true }
        return Double(received) >= Double(taken) / 1e9 * Double(core.options.deadlines.bodyMinimumRate)
    }

    private func oversize(headerSize: Int, method: HTTPMethod) -> Problem? {
        let limits = core.options.limits
        // The 10 bytes are two spaces and "HTTP/1.1".
        let lineSize = method.rawValue.utf8.count + target.size + 10
        if lineSize > limits.requestLineBytes { return .targetTooLong(limit: limits.requestLineBytes) }
        return headerSize - lineSize > limits.headerBytes ? .headersTooLarge(limit: limits.headerBytes) : nil
    }
}

// MARK: - Handler

extension Exchange {
    private func startHandler(body: RequestBody) {
        guard let head, let match else { return }
        isStarted = true
        let request = match.request(head, target.query, body)
        handle(request) { try match.plan.handler.start(request) }
    }

    /// Passes the response of `start` to `decide`, or begins the rest of the work.
    private func handle(_ request: Request, _ start: () throws -> Handler.Reply) {
        do {
            let reply = try start()
            guard case .now(let response) = reply, !response.isLong else { return finish(reply, request) }
            decide(response)
        } catch {
            failed(error)
        }
    }

    /// Begins the rest of a handler's work. A task runs until it finishes or suspends before this method returns.
    private func finish(_ reply: Handler.Reply, _ request: Request) {
        // After a pending reply, the connection may be suspended, or may already serve its next request.
        if !isSuspended, !isOver { core.move(peer, to: pump == nil ? .working : .body) }
        core.handlerBegan()
        if case .pending(let pending) = reply {
            mayDetach = pending.isShort
            let end: @Sendable () -> Void = { [self] in
                handle(request) { try pending.reply() }
                core.handlerEnded()
            }
            return pending.begin { [loop = core.loop] in loop.post(end) }
        }
        task = Task.immediate(executorPreference: core.tasks) { [self] in
            do {
                let response = try await reply.response()
                decide(response.isLong ? await response.compressed(for: request.headers) : response)
            } catch {
                failed(error)
            }
            core.handlerEnded()
        }
        if isOver || isAbandoned || hasClientLeft { task?.cancel() }
        // No reference to a task is needed after the task has finished.
        if decision != nil { task = nil }
    }

    private func failed(_ error: any Error) {
        if error is CancellationError, isOver || isAbandoned { return }
        guard let problem = error as? Problem else {
            core.logFailure(error, of: head)
            return decide(response(to: .internalError))
        }
        decide(response(to: problem))
    }

    @inline(__always)  // Otherwise the response is copied.
    func decide(_ response: consuming Response) {
        guard !isOver, decision == nil else { return }
        deferred = nil
        decision = response
        isDetached ? sendDetached() : resume()
    }

    /// Sends the response of a request that the library regards as complete.
    private func sendDetached() {
        guard var response = decision.take() else { return }
        finish(&response)
        isOver = true
        task = nil
        core.send(response, ofDetached: self)
    }

    private func suspend() {
        guard !isSuspended else { return }
        isSuspended = true
        core.move(peer, to: .working)
        core.suspended(self)
        MHD_suspend_connection(connection)
    }

    private func resume() {
        guard isSuspended, !isOver else { return }
        isSuspended = false
        core.resumed(self)
        if pump != nil { core.move(peer, to: .body) }
        MHD_resume_connection(connection)
    }

    /// Handles a client that has closed its side of the connection while the request was being processed.
    func clientLeft() {
        guard isSuspended || isDetached else { return }
        hasClientLeft = true
        task?.cancel()
        pump?.fail(CancellationError())
        // A request with a deferred response has no task that could be cancelled, so the request is ended here.
        if deferred != nil { abandon() }
    }

    /// Ends the request without a response. The library then closes the connection.
    func abandon() {
        isAbandoned = true
        task?.cancel()
        pump?.fail(CancellationError())
        resume()
    }

    func response(to problem: Problem) -> Response {
        core.router.answer(to: problem, plan: match?.plan, requestID: head?.id ?? "")
    }
}

// MARK: - Response

extension Exchange {
    /// Sends an error response and closes the connection without processing the rest of the client's data.
    private func refuse(_ problem: Problem) -> MHD_Result { refuse(response(to: problem)) }

    private func refuse(_ response: Response) -> MHD_Result {
        var response = response
        decision = response
        if core.isSecure {
            // On an encrypted connection, the library must send the response. Closing a socket with unread input resets
            // the connection, and the client would lose the response. Therefore a body of acceptable length is first
            // read to its end.
            guard fields.framingProblem != nil || !fields.hasBody else { return .YES }
            finish(&response)
            return core.queue(response, isHead: head?.method == .head, on: self, closing: true)
        }
        finish(&response)
        return core.adopt(self, saying: response)
    }

    private func reply(_ response: inout Response) -> MHD_Result {
        guard let head else { return .NO }
        if case .deferred(let opening) = response.body { return open(opening, head) }
        finish(&response)
        if case .stream(let opening) = response.body, head.method != .head {
            return core.openStream(opening, for: self, headers: response.headers)
        }
        return core.queue(response, isHead: head.method == .head, on: self, closing: false)
    }

    /// Starts a deferred response. The client waits on a duplicate of its socket. If that is not possible, the client
    /// waits on the suspended connection, as it does while a handler runs.
    private func open(_ opening: DeferredStart, _ head: Request.Head) -> MHD_Result {
        guard let match else { return .NO }
        let reply = DeferredResponse(
            core.router.context(of: head, plan: match.plan), remoteAddress: head.remoteAddress, peer: peer.address,
            core: core)
        opening.open(reply)
        if var answer = reply.answer { return self.reply(&answer) }
        if canLeave(head), core.suspend(reply, of: self, isLast: head.wantsClose) { return .NO }
        deferred = reply
        guard !peer.hasEnded else { return .NO }
        reply.setPlace(in: .suspended(self))
        Socket.watchForSilence(peer.descriptor)
        suspend()
        return .YES
    }

    /// Returns true when libmicrohttpd can drop the connection now and receive it again later. This is not possible for
    /// instance when libmicrohttpd has already read bytes of the next request.
    private func canLeave(_ head: Request.Head) -> Bool {
        guard !core.isSecure, !isHTTP10, head.method != .head, !core.isDraining else { return false }
        return !peer.hasReadAhead
    }

    /// Adds the fields of CORS and `Strict-Transport-Security`, and reports the response to the router's observer.
    func finish(_ response: inout Response) {
        guard let head, let match else { return }
        core.router.finish(&response, to: head, plan: match.plan)
    }
}

extension Response {
    /// True when the whole response is in memory.
    fileprivate var isSmall: Bool { body.isWhole }
}

extension Request.Head {
    /// True when the client asks the server to close the connection after the response (RFC 9112, 9.6).
    var wantsClose: Bool {
        headers[all: "Connection"].contains { field in
            field.utf8.split(separator: UInt8(ascii: ",")).contains { option in
                let option = option.drop(while: ASCII.isBlank)
                return option.prefix { !ASCII.isBlank($0) }.map(ASCII.lowercased).elementsEqual("close".utf8)
            }
        }
    }
}

extension HeadFields {
    /// The number of body bytes to add to ``HTTPConnection/received``. The number of received bytes of a chunked body
    /// is unknown. The value is then so large that ``HTTPConnection/hasReadAhead`` stays true afterwards.
    fileprivate var bodyBytesOnWire: UInt64 { isChunked ? 1 << 62 : contentLength ?? 0 }

    /// True when the declared length of the body is short enough to read and discard the body.
    fileprivate var isShort: Bool {
        !isChunked && (contentLength ?? 0) <= UInt64(RoutePlan.refusedBodyLimit)
    }
}
