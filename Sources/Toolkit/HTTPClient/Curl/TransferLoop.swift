internal import CCurl
internal import Locking

/// The client's event loop. It performs the commands of the mailbox, runs libcurl and delivers results.
///
/// ``Client`` creates the loop and passes it to the loop's thread. After that, only this thread uses the loop, so
/// `@unchecked Sendable` is safe.
final class TransferLoop: @unchecked Sendable {
    let options: ClientOptions
    let multi: Multi
    private let mailbox: Mailbox
    private var hostLimits: HostLimits<Transfer>
    /// All handles. Their number is at most the maximum number of connections.
    private var handles: [EasyHandle] = []
    private var idle: [EasyHandle] = []
    /// The groups that have collected results that are not delivered yet.
    private var lingering: [OutboundGroup] = []
    /// The time of the next check of the streams' idle timeouts; `nil` when no check is needed.
    private var idleCheckDue: UInt64?
    /// The time of the next check of the waiting requests' queue timeouts; `nil` when no check is needed.
    private var queueCheckDue: UInt64?

    init(options: ClientOptions, mailbox: Mailbox) throws(ClientError) {
        self.options = options
        self.mailbox = mailbox
        multi = try Multi(eventFD: mailbox.eventFD, connections: max(options.maxConnections, 1))
        hostLimits = HostLimits(
            limit: options.maxConnections, hostLimit: options.perHostConnections, waitingLimit: options.waitingLimit)
    }

    /// The main function of the loop thread. Runs until the mailbox is closed, then ends all transfers.
    func run() {
        while true {
            let (commands, isClosed) = mailbox.drain()
            for command in commands { perform(command) }
            multi.runTimer()
            finishTransfers()
            submit()
            if isClosed { break }
            // If commands were performed, further commands may have arrived, so the loop checks the sockets without
            // waiting.
            multi.wait(until: commands.isEmpty ? nextDeadline : 0)
            endSilentStreams()
            finishTransfers()
            endLongWaits()
            submit()
        }
        stop()
    }

    /// The next time at which the loop must act; `nil` when there is none. The loop computes this time in every
    /// iteration. To be fast, the computation creates no array.
    private var nextDeadline: UInt64? {
        var next = min(multi.timerDue ?? .max, idleCheckDue ?? .max, queueCheckDue ?? .max)
        for group in lingering { next = min(next, group.due ?? .max) }
        return next == .max ? nil : next
    }

    private func submit() {
        guard !lingering.isEmpty else { return }
        let now = MonotonicTime.now.nanoseconds
        lingering.removeAll { $0.submit(at: now) }
    }

    private func stop() {
        let reason = OutboundFailure(.cancelled, detail: "the HTTP client was shut down")
        for transfer in hostLimits.drain() { drop(transfer, reason) }
        for handle in handles {
            if let transfer = handle.transfer { finish(transfer, reason) }
        }
        for group in lingering { _ = group.submit(at: .max) }
        lingering = []
        idle = []
        handles = []
        // The connections are closed here and not in `deinit`, because a caller of ``Client/shutdown()`` expects closed
        // connections.
        multi.end()
    }

    // MARK: Commands

    private func perform(_ command: Mailbox.Command) {
        switch command {
        case .start(let transfer):
            transfer.group?.began()
            admit(transfer)
        case .cancel(let transfer): cancel(transfer)
        case .cancelGroup(let group): cancel(group)
        case .resume(let transfer): resume(transfer)
        }
    }

    private func admit(_ transfer: Transfer) {
        guard !transfer.isCancelled else { return drop(transfer, Self.cancelled) }
        switch hostLimits.admit(transfer, to: transfer.url.authority) {
        case .start(let lane): start(transfer, lane)
        case .wait(let lane):
            transfer.phase = .waiting(lane)
            if let due = queueDue(of: transfer) { queueCheckDue = min(queueCheckDue ?? due, due) }
        case .refuse: drop(transfer, OutboundFailure(.overloaded, detail: "too many requests are waiting"))
        }
    }

    private func queueDue(of transfer: Transfer) -> UInt64? {
        options.queueTimeout.map { transfer.submitted &+ $0.nanoseconds }
    }

    private func endLongWaits() {
        guard let due = queueCheckDue, let limit = options.queueTimeout else { return }
        let now = MonotonicTime.now.nanoseconds
        guard due <= now else { return }
        queueCheckDue = nil
        for transfer in hostLimits.waitingItems {
            guard let due = queueDue(of: transfer), case .waiting(let lane) = transfer.phase else { continue }
            if due <= now {
                hostLimits.withdraw(transfer, from: lane)
                drop(transfer, OutboundFailure(.overloaded, detail: "no connection was free within \(limit)"))
            } else {
                queueCheckDue = min(queueCheckDue ?? due, due)
            }
        }
    }

    /// Delivers a failure for a transfer that was not started.
    private func drop(_ transfer: Transfer, _ reason: OutboundFailure) {
        transfer.phase = .finished
        deliver(OutboundResult(failure: reason), to: transfer)
    }

    private func cancel(_ transfer: Transfer) {
        switch transfer.phase {
        case .posted, .finished:
            // Either the transfer has finished, or the cancellation has arrived before the start. In the second case,
            // the start finds the transfer marked as cancelled.
            return
        case .active:
            finish(transfer, Self.cancelled)
        case .waiting(let lane):
            hostLimits.withdraw(transfer, from: lane)
            drop(transfer, Self.cancelled)
        }
    }

    /// Cancels the active requests of a group. Waiting requests are cancelled when they would start.
    private func cancel(_ group: OutboundGroup) {
        for handle in handles {
            if let transfer = handle.transfer, transfer.group === group { finish(transfer, Self.cancelled) }
        }
    }

    private static let cancelled = OutboundFailure(.cancelled, detail: "the task was cancelled")

    private func resume(_ transfer: Transfer) {
        guard case .active(_, let handle) = transfer.phase, transfer.isPaused else { return }
        transfer.isPaused = false
        transfer.lastArrival = MonotonicTime.now.nanoseconds
        let code = handle.resume()
        if code != CURLE_OK { finish(transfer, failure(of: transfer, code, handle)) }
    }

    // MARK: Starting and ending

    private func start(_ transfer: Transfer, _ lane: HostLimits<Transfer>.Lane) {
        guard !transfer.isCancelled else {
            hostLimits.release(lane)
            return drop(transfer, Self.cancelled)
        }
        transfer.started = MonotonicTime.now.nanoseconds
        transfer.lastArrival = transfer.started
        guard let handle = reuseHandle() else {
            hostLimits.release(lane)
            return drop(transfer, OutboundFailure(.overloaded, detail: "not enough memory for a request"))
        }
        transfer.phase = .active(lane, handle)
        let code = handle.prepare(for: transfer)
        guard code == CURLE_OK else {
            finish(transfer, failure(of: transfer, code, handle))
            return
        }
        let added = multi.add(handle)
        guard added == CURLM_OK else {
            finish(transfer, OutboundFailure(.overloaded, detail: "multi handle: \(added.rawValue)"))
            return
        }
        if let idleTimeout = transfer.idleTimeout {
            let due = transfer.started &+ idleTimeout.nanoseconds
            idleCheckDue = min(idleCheckDue ?? due, due)
        }
    }

    private func reuseHandle() -> EasyHandle? {
        if let handle = idle.popLast() { return handle }
        guard let handle = EasyHandle(transferLoop: self, options: options, multi: multi) else { return nil }
        handles.append(handle)
        return handle
    }

    /// Delivers the results of finished transfers, and starts waiting requests in their place.
    private func finishTransfers() {
        while true {
            while let (handle, code) = multi.nextFinished() {
                guard let transfer = handle.transfer else { continue }
                finish(transfer, code == CURLE_OK ? nil : failure(of: transfer, code, handle))
            }
            guard let (transfer, lane) = hostLimits.next() else { return }
            start(transfer, lane)
            // Sends the started transfers before the loop waits. The loop repeats, because a transfer that fails
            // immediately allows another transfer to start.
            multi.runTimer()
        }
    }

    private func finish(_ transfer: Transfer, _ failure: OutboundFailure?) {
        guard case .active(let lane, let handle) = transfer.phase else { return }
        transfer.phase = .finished
        var result = OutboundResult(failure: failure)
        result.status = transfer.response.status
        result.body = transfer.response.body
        result.truncated = transfer.response.isTruncated
        if result.status != nil { result.headers = HeaderFields(lines: transfer.response.headerBytes) }
        result.timings = handle.timings()
        result.timings.queued = .nanoseconds(Int64(transfer.started - transfer.submitted))
        result.connectedAddress = handle.address
        multi.remove(handle)
        handle.clear()
        idle.append(handle)
        hostLimits.release(lane)
        deliver(result, to: transfer)
    }

    /// Delivers the result of a transfer to its receiver. Only the first call for a transfer has an effect.
    private func deliver(_ result: OutboundResult, to transfer: Transfer) {
        let sink = transfer.sink
        transfer.sink = .done
        switch sink {
        case .whole(let continuation): continuation.resume(returning: result)
        case .group(let group, let number): if group.ended(number, result) { lingering.append(group) }
        case .stream(let buffer): buffer.finish(result.failure)
        case .done, .unposted: break
        }
    }

    // MARK: Received data

    /// Handles a header line that libcurl has received. Returns the length of the line, or 0 to make libcurl stop the
    /// transfer.
    func received(header line: UnsafeRawBufferPointer, for transfer: Transfer) -> Int {
        switch transfer.response.receive(headerLine: line, limit: options.responseHeaderLimitBytes) {
        case .more: break
        case .stop: return 0
        case .complete:
            if case .stream(let buffer) = transfer.sink, let status = transfer.response.status {
                buffer.deliver(.init(status: status, headers: HeaderFields(lines: transfer.response.headerBytes)))
            }
        }
        if transfer.idleTimeout != nil { transfer.lastArrival = MonotonicTime.now.nanoseconds }
        return line.count
    }

    /// Handles a piece of the body that libcurl has received. Returns the length of the piece, 0 to make libcurl stop
    /// the transfer, or libcurl's constant that pauses the transfer.
    func received(body bytes: UnsafeRawBufferPointer, for transfer: Transfer) -> Int {
        if case .stream(let buffer) = transfer.sink {
            guard buffer.offer(bytes) else {
                transfer.isPaused = true
                return shim_pause_writing
            }
            transfer.lastArrival = MonotonicTime.now.nanoseconds
            return bytes.count
        }
        let goesOn = transfer.response.receive(
            body: bytes, keeping: options.keptResponseBytes, limit: options.responseLimitBytes)
        return goesOn ? bytes.count : 0
    }

    private func endSilentStreams() {
        guard let due = idleCheckDue else { return }
        let now = MonotonicTime.now.nanoseconds
        guard due <= now else { return }
        idleCheckDue = nil
        for handle in handles {
            guard let transfer = handle.transfer, let timeout = transfer.idleTimeout else { continue }
            // The idle timeout of a paused stream does not run, because the stream waits for its reader.
            if transfer.isPaused { transfer.lastArrival = now }
            let due = transfer.lastArrival &+ timeout.nanoseconds
            if due <= now {
                finish(transfer, OutboundFailure(.timeout, detail: "no data arrived for \(timeout)"))
            } else {
                idleCheckDue = min(idleCheckDue ?? due, due)
            }
        }
    }
}

extension Client {
    /// The version of libcurl on this machine, for instance `7.88.1`.
    public static var libraryVersion: String {
        curl_version_info(CURLVERSION_FIRST)?.pointee.version.map { String(cString: $0) } ?? "unknown"
    }
}
