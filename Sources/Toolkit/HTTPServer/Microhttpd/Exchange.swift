internal import CMicrohttpd
import Glibc

/// One request and its answer, from the request line to the last byte.
///
/// libmicrohttpd calls it: `begin` with the header, `upload` with pieces of body, `ready` when the request is complete
/// and again whenever the connection was resumed. The handler runs as a task on the loop, immediately: if it finishes
/// without a real wait the answer is queued in the same call, otherwise the connection is suspended until `decide`.
final class Exchange: @unchecked Sendable {
    // Safe to share: touched only by the loop's thread; its task runs there too.

    let core: ServerCore
    let peer: HTTPConnection
    let connection: OpaquePointer
    private let target: [UInt8]

    private(set) var hasBegun = false
    private(set) var isHTTP10 = false
    var head: Request.Head?
    private var plan: RoutePlan?
    private var query = Query()
    private var fields = HeadFields()
    private var intake: BodyReceiver?
    private var pump: BodyPump?
    private var task: Task<Void, Never>?
    /// Who gives the answer, when nobody has by the time the handler is done.
    private var late: DeferredResponse?
    /// The answer, once it is known. Before the body has ended the rest of it is thrown away.
    private var decision: Response?
    private var drained = 0
    private var isSuspended = false
    private var isAbandoned = false
    private var isOver = false

    /// - Parameter target: the library's memory; copied.
    init(core: ServerCore, peer: HTTPConnection, connection: OpaquePointer, target: UnsafePointer<CChar>) {
        self.core = core
        self.peer = peer
        self.connection = connection
        self.target = Array(
            UnsafeRawBufferPointer(start: target, count: strlen(target)))
        peer.exchange = self
        core.move(peer, to: .header)
    }
}

// MARK: - The library's calls

extension Exchange {
    /// The header is complete. An answer queued here would cost the connection (the library closes it), so only
    /// refusals that want just that are given here.
    func begin(
        path: UnsafePointer<CChar>, method: UnsafePointer<CChar>, version: UnsafePointer<CChar>
    ) -> MHD_Result {
        hasBegun = true
        core.requestBegan()
        let headerSize = shim_connection_header_size(connection)
        var reader = RequestHeadParser(connection, version: version, size: headerSize)
        isHTTP10 = strcmp(version, "HTTP/1.0") == 0
        reader.checkFraming(isHTTP10: isHTTP10, end: UnsafeRawPointer(method) + headerSize)
        let method = HTTPMethod(rawValue: String(cString: method))
        let parts = RequestTarget(target)
        let client =
            core.options.isTrustedProxy.map { peer.address.client(reader.headers, isTrusted: $0) } ?? peer.address
        let head = Request.Head(
            id: reader.requestID ?? core.makeRequestID(), method: method, path: parts.path,
            queryText: parts.queryText, headers: reader.headers, remoteAddress: client,
            isSecure: core.isSecure, receivedAt: .now)
        self.head = head
        fields = reader.fields
        peer.received &+= UInt64(headerSize) &+ fields.bodyBytesOnWire
        query = parts.query
        let plan = core.router.plan(method: method, path: parts.path, headers: head.headers)
        self.plan = plan
        if let problem = fields.framingProblem { return refuse(problem) }
        if let problem = oversize(headerSize: headerSize, method: method) { return refuse(problem) }
        // The library takes the version from behind the last space; a NUL inside the line ends its idea of the target.
        let isWhole = version == path + target.count + 1
        if let problem = isWhole ? parts.problem : .malformedRequest("The request target holds a NUL") {
            decision = response(to: problem)
        }
        guard fields.hasBody else { return .YES }
        return beginBody(plan, head)
    }

    /// Some of the body, and when it returns, how much of it is left.
    func upload(_ data: UnsafePointer<CChar>, _ size: UnsafeMutablePointer<Int>) -> MHD_Result {
        let bytes = UnsafeRawBufferPointer(start: data, count: size.pointee)
        guard !isAbandoned else { return .NO }
        guard decision == nil, let intake else { return discard(size) }
        let (used, verdict) = intake.offer(bytes)
        core.receivedBody(used)
        size.pointee -= used
        switch verdict {
        case .goOn:
            return keepsPace(intake) ? .YES : refuse(.requestTimeout)
        case .wait:
            suspend()
            return .YES
        case .refuse(let problem):
            pump?.fail(problem)
            if problem.status == 413, let plan, let head { plan.noteTooLarge(head, query) }
            return refuse(problem)
        }
    }

    /// The request is complete, or was waited for: answers if it can.
    func ready() -> MHD_Result {
        guard !isAbandoned else { return .NO }
        if decision == nil { finishBody() }
        if decision == nil, task == nil { startHandler(body: RequestBody(bytes: intake?.collected ?? [])) }
        // A handler that only asked an actor of this loop is done as soon as that has had its turn.
        if decision == nil { core.loop.runJobs(atMost: 16) { self.decision != nil || self.isAbandoned } }
        guard !isAbandoned else { return .NO }
        guard let decision else {
            suspend()
            return .YES
        }
        return reply(decision)
    }

    /// The library is done with this request, well or not. The connection may be gone after it.
    func completed(_ code: MHD_RequestTerminationCode) {
        guard !isOver else { return }
        isOver = true
        task?.cancel()
        task = nil
        late?.gone()
        late = nil
        pump?.fail(CancellationError())
        pump = nil
        intake = nil
        peer.exchange = nil
        if code == .REQUEST_TERMINATED_COMPLETED_OK { core.move(peer, to: .idle) }
    }
}

extension Exchange {
    /// Gives up the reference that the library's slot held, for the one case in which its callback does not.
    func letGo() {
        Unmanaged.passUnretained(self).release()  // retained in `Callbacks.requestLine`
    }
}

// MARK: - Body

extension Exchange {
    /// The most of an unwanted body that is read when there is no other way to answer.
    private static let longestDiscard = 1024 * 1024

    private func beginBody(_ plan: RoutePlan, _ head: Request.Head) -> MHD_Result {
        let limit = plan.bodyPolicy.limit
        if let length = fields.contentLength, length > UInt64(limit) {
            plan.noteTooLarge(head, query)
            // Before anything of it is read: a client that asks first (Expect) need not send it at all.
            return refuse(.bodyTooLong(limit: limit))
        }
        core.move(peer, to: .body)
        guard decision == nil else { return .YES }
        var inflate: Inflate?
        if let coding = fields.contentEncoding {
            do {
                inflate = try Inflate(coding: coding)
            } catch {
                return refuse(.overloaded("No memory to decompress the body"))
            }
            guard inflate != nil else { return refuse(.unsupportedContentEncoding(coding)) }
        }
        if case .streamed = plan.bodyPolicy {
            let pump = BodyPump(loop: core.loop)
            pump.onRoom = { [unowned self] in resume() }
            self.pump = pump
        }
        intake = BodyReceiver(
            limit: limit, inflate: inflate, trustsCoding: plan.manners.trustsContentEncoding, pump: pump,
            expected: fields.contentLength, core: core)
        if let pump { startHandler(body: RequestBody(pump: pump)) }
        guard let decision, decision.isSmall, !fields.isShort else { return .YES }
        return refuse(decision)
    }

    private func finishBody() {
        guard let intake else { return }
        if let problem = intake.finish(), pump == nil { decision = response(to: problem) }
    }

    /// The answer is known before the body has ended: reads on for a while so that the connection can be kept.
    private func discard(_ size: UnsafeMutablePointer<Int>) -> MHD_Result {
        drained += size.pointee
        core.receivedBody(size.pointee)
        size.pointee = 0
        core.move(peer, to: .body)
        guard let decision, decision.isSmall else { return .YES }
        if core.isSecure { return drained > Self.longestDiscard ? .NO : .YES }
        return drained > RoutePlan.refusedBodyLimit ? refuse(decision) : .YES
    }

    /// Whether the body comes fast enough to be waited for.
    private func keepsPace(_ intake: BodyReceiver) -> Bool {
        core.move(peer, to: .body)
        guard let head else { return true }
        let taken = ContinuousClock.now - head.receivedAt
        guard taken > core.options.deadlines.bodyGrace, pump == nil else { return true }
        return Double(intake.wireLength) >= taken / .seconds(1) * Double(core.options.deadlines.bodyMinimumRate)
    }

    private func oversize(headerSize: Int, method: HTTPMethod) -> Problem? {
        let limits = core.options.limits
        // Method, two spaces, target, "HTTP/1.1".
        let lineSize = method.rawValue.utf8.count + target.count + 10
        if lineSize > limits.requestLineBytes { return .targetTooLong(limit: limits.requestLineBytes) }
        return headerSize - lineSize > limits.headerBytes ? .headersTooLarge(limit: limits.headerBytes) : nil
    }
}

// MARK: - Handler

extension Exchange {
    private func startHandler(body: RequestBody) {
        guard let head, let plan else { return }
        var request = Request(head: head, query: query, body: body)
        request.parameters = plan.parameters
        core.move(peer, to: pump == nil ? .working : .body)
        core.handlerBegan()
        task = Task.immediate(executorPreference: core.tasks) { [self] in
            do {
                let response = try await plan.handler(request)
                decide(response.isLong ? await response.compressed(for: request.headers) : response)
            } catch {
                failed(error)
            }
            core.handlerEnded()
        }
        // A task that is over already need not be kept.
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

    func decide(_ response: Response) {
        guard !isOver, decision == nil else { return }
        late = nil
        decision = response
        resume()
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

    /// The client has closed its side while we were at work: nobody is there to read an answer.
    func clientLeft() {
        guard isSuspended else { return }
        task?.cancel()
        pump?.fail(CancellationError())
        // Nobody else would end the request.
        if late != nil { abandon() }
    }

    /// The server stops and waits no longer: the library is told to drop the connection.
    func abandon() {
        isAbandoned = true
        task?.cancel()
        pump?.fail(CancellationError())
        resume()
    }

    func response(to problem: Problem) -> Response {
        core.router.answer(to: problem, plan: plan, requestID: head?.id ?? "")
    }
}

// MARK: - Answer

extension Exchange {
    /// Answers and ends the connection without reading what the client may still be sending.
    private func refuse(_ problem: Problem) -> MHD_Result { refuse(response(to: problem)) }

    private func refuse(_ response: Response) -> MHD_Result {
        decision = response
        if core.isSecure {
            // The library's answer would be lost in the reset that closing on unread input brings, and its socket cannot
            // be taken over: a body of bearable length is read to its end first.
            guard fields.framingProblem != nil || !fields.hasBody else { return .YES }
            return core.queue(finished(response), isHead: head?.method == .head, on: self, closing: true)
        }
        return core.takeOver(self, saying: finished(response))
    }

    private func reply(_ response: Response) -> MHD_Result {
        guard let head else { return .NO }
        if case .stream(let opening) = response.body, head.method != .head {
            return core.openStream(opening, for: self, headers: finished(response).headers)
        }
        if case .late(let opening) = response.body { return open(opening, head) }
        let complete = finished(response)
        core.move(peer, to: .reply)
        return core.queue(complete, isHead: head.method == .head, on: self, closing: false)
    }

    /// Asks for the answer again, of somebody who may not have it yet: then waits on a socket of our own, or as for a
    /// handler.
    private func open(_ opening: DeferredStart, _ head: Request.Head) -> MHD_Result {
        guard let plan else { return .NO }
        let reply = DeferredResponse(
            core.router.context(of: head, plan: plan), remoteAddress: head.remoteAddress, peer: peer.address,
            core: core)
        opening.open(reply)
        decision = reply.answer
        if let answer = reply.answer { return self.reply(answer) }
        if canLeave(head), core.park(reply, of: self, isLast: head.asksToClose) { return .NO }
        late = reply
        guard !peer.hasEnded else { return .NO }
        reply.settle(in: .suspended(self))
        Socket.watchForSilence(peer.descriptor)
        suspend()
        return .YES
    }

    /// Whether libmicrohttpd may forget the connection and be given it again: it must know nothing of it that we do not.
    private func canLeave(_ head: Request.Head) -> Bool {
        guard !core.isSecure, !isHTTP10, head.method != .head, !core.isDraining else { return false }
        return !peer.hasReadAhead
    }

    /// With what every answer carries; counted and observed.
    func finished(_ response: Response) -> Response {
        guard let head, let plan else { return response }
        return core.router.finished(response, for: head, plan: plan)
    }
}

extension Response {
    /// Whether the whole answer is in memory.
    fileprivate var isSmall: Bool { body.isWhole }
}

extension Request.Head {
    /// Whether the client wants no further request on its connection (RFC 9112, 9.6).
    fileprivate var asksToClose: Bool {
        headers[all: "Connection"].contains { field in
            field.utf8.split(separator: UInt8(ascii: ",")).contains { option in
                let option = option.drop(while: ASCII.isBlank)
                return option.prefix { !ASCII.isBlank($0) }.map(ASCII.lowercased).elementsEqual("close".utf8)
            }
        }
    }
}

extension HeadFields {
    /// What of the body is counted by its connection; a chunked one has a length on the wire that nobody knows, and ends
    /// the counting.
    fileprivate var bodyBytesOnWire: UInt64 { isChunked ? 1 << 62 : contentLength ?? 0 }

    /// Whether the body is known to be short enough to be read and thrown away.
    fileprivate var isShort: Bool {
        !isChunked && (contentLength ?? 0) <= UInt64(RoutePlan.refusedBodyLimit)
    }
}
