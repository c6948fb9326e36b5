import ChatModel
import Locking

/// The queue between callers and the writer. The writer removes all waiting requests at once. Bounded: past the limits
/// callers are rejected at once, because a queue that only grows serves no caller in time.
final class WriteQueue: Sendable {
    /// The maximum content of one transaction, so that no batch makes its callers wait long.
    fileprivate static let batchDrafts = 2000
    fileprivate static let batchBytes = 4 * 1024 * 1024
    /// The time that the writer waits for more requests. The callers of the last batch have just been answered, and
    /// many of them send their next request at once; a commit for the first few would make the others wait for the disk
    /// twice. So the writer waits at most this long until three quarters as many callers have gathered as were present
    /// when it finished, answered or waiting. A single caller never waits.
    private static let gatherNanoseconds: UInt64 = 200_000

    fileprivate struct State: Sendable {
        var requests: [any WriteRequest] = []
        var reads: [ReadJob] = []
        var drafts = 0
        var bytes = 0
        /// The batch in progress and its start; nil between batches.
        var flight: Flight?
        var isWatched = false
        var phase = Phase.open
        /// The writer stops gathering when more requests than this wait.
        var enough = 0
        /// The machine's uptime at which the writer stops gathering; zero when it is not gathering.
        var gatherUntil: UInt64 = 0
        /// The sleeping writer is woken when more requests than this wait. A wake-up costs both threads system calls,
        /// and while the writer gathers most of them would only send it back to sleep. While it works none is needed,
        /// because it checks the queue before it sleeps.
        var wakesAbove = Int.max
    }

    fileprivate struct Flight: Sendable {
        let requests: [any WriteRequest]
        var isCommitting = false
        var isGivenUp = false
    }

    fileprivate enum Phase: Sendable { case open, draining, drained, finishing }

    private let monitor = Monitor(State())
    private let limits: Limits

    init(limits: Limits) { self.limits = limits }

    // MARK: Callers

    /// Adds a request.
    ///
    /// Requests without drafts come from the engine's own parts (deliveries, cursors), whose number is bounded by
    /// leases and planners. They are never rejected for lack of room, because that would repeat what has already been
    /// sent.
    ///
    /// - Returns: the reason why the request was rejected, nil when it was accepted; and `isFirst`, true when no
    ///   deadline check is scheduled yet.
    func offer(_ request: any WriteRequest) -> (refusal: ChatError?, isFirst: Bool) {
        let answer: (refusal: ChatError?, isFirst: Bool, wakes: Bool) = monitor.withLock { state in
            guard state.phase == .open else { return (.closing, false, false) }
            if request.draftCount > 0, !state.requests.isEmpty || state.flight != nil {
                guard state.drafts + request.draftCount <= limits.waitingDrafts,
                    state.bytes + request.bytes <= limits.waitingBytes
                else { return (.overloaded, false, false) }
            }
            state.requests.append(request)
            state.drafts += request.draftCount
            state.bytes += request.bytes
            defer { state.isWatched = true }
            return (nil, !state.isWatched, state.wakesWriter())
        }
        if answer.wakes { monitor.wakeOne() }
        return (answer.refusal, answer.isFirst)
    }

    /// Adds a read for the writer's connection, the only one of a store in memory.
    func offer(_ read: ReadJob) -> ChatError? {
        let refusal: ChatError? = monitor.withLock { state in
            guard state.phase == .open || state.phase == .draining else { return .closing }
            guard state.reads.count < limits.waitingDrafts else { return .overloaded }
            state.reads.append(read)
            return nil
        }
        if refusal == nil { monitor.wakeOne() }
        return refusal
    }

    /// Accepts no new requests. The writer gets `.drained` when the accepted ones are done.
    func drain() {
        monitor.withLock { if $0.phase == .open { $0.phase = .draining } }
        monitor.wakeOne()
    }

    /// Ends the writer; no requests will follow.
    func finish() {
        monitor.withLock { $0.phase = .finishing }
        monitor.wakeOne()
    }

    // MARK: The writer

    /// Sleeps until there is a task. Requests go before housekeeping, unless that is overdue.
    ///
    /// - Parameter housekeepingAt: the uptime of the next housekeeping turn; when it is overdue by `patience`, it goes
    ///   first.
    func next(housekeepingAt: UInt64, patience: UInt64) -> WriterTask {
        monitor.wait { state in
            let now = MonotonicTime.now.nanoseconds
            state.wakesAbove = .max
            if !state.reads.isEmpty {
                defer { state.reads = [] }
                return .done(.reads(state.reads))
            }
            if state.phase == .open, now >= housekeepingAt, state.requests.isEmpty || now - housekeepingAt > patience {
                return .done(.housekeeping)
            }
            if !state.requests.isEmpty {
                if state.mustGather(now, Self.gatherNanoseconds) { return .sleepUntil(state.gatherUntil) }
                return .done(.batch(state.removeBatch()))
            }
            switch state.phase {
            case .open:
                state.wakesAbove = 0
                return .sleepUntil(housekeepingAt)
            case .draining:
                state.phase = .drained
                return .done(.drained)
            case .drained: return .sleep
            case .finishing: return .done(.finish)
            }
        }
    }

    /// Called before the commit. Returns false when the batch was given up: it must then be rolled back, because its
    /// callers received the answer that nothing was stored.
    func beginCommit() -> Bool {
        monitor.withLock { state in
            guard state.flight?.isGivenUp != true else { return false }
            state.flight?.isCommitting = true
            return true
        }
    }

    /// Called when the batch is done and before its callers are answered. Counts the callers, to know how many may
    /// gather for the next batch.
    func countCallers() {
        monitor.withLock { state in
            state.enough = ((state.flight?.requests.count ?? 0) + state.requests.count) * 3 / 4
        }
    }

    /// Called when the batch has ended, whatever its outcome.
    func endBatch() { monitor.withLock { $0.flight = nil } }

    // MARK: The deadline thread

    /// Removes requests that have waited since before `moment`.
    ///
    /// - Returns: requests that were not begun or whose commit was not started; requests whose commit is under way; and
    ///   true when anything still waits, so that the deadline thread checks again.
    func overdue(since moment: UInt64) -> (unstored: [any WriteRequest], unknown: [any WriteRequest], isBusy: Bool) {
        monitor.withLock { state in
            var unstored: [any WriteRequest] = []
            var unknown: [any WriteRequest] = []
            let late = state.requests.prefix { $0.since < moment }.count
            if late > 0 {
                unstored = Array(state.requests.prefix(late))
                state.requests.removeFirst(late)
                for request in unstored { state.leave(request) }
            }
            if let flight = state.flight, !flight.isGivenUp, let oldest = flight.requests.first, oldest.since < moment {
                if flight.isCommitting {
                    unknown = flight.requests.filter { $0.since < moment }
                } else {
                    unstored += flight.requests
                    state.flight?.isGivenUp = true
                }
            }
            state.isWatched = !state.requests.isEmpty || state.flight != nil
            return (unstored, unknown, state.isWatched)
        }
    }

    /// The waiting requests, for health and statistics.
    var waiting: (drafts: Int, bytes: Int) { monitor.withLock { ($0.drafts, $0.bytes) } }
}

extension WriteQueue.State {
    /// True when the writer should wait for more requests.
    fileprivate mutating func mustGather(_ now: UInt64, _ patience: UInt64) -> Bool {
        guard phase == .open, requests.count <= enough else { return false }
        if gatherUntil == 0 { gatherUntil = now + patience }
        guard now < gatherUntil else { return false }
        wakesAbove = enough
        return true
    }

    /// True when the request that has just arrived is the one that wakes the writer.
    fileprivate mutating func wakesWriter() -> Bool {
        guard requests.count > wakesAbove else { return false }
        wakesAbove = .max
        return true
    }

    fileprivate mutating func removeBatch() -> [any WriteRequest] {
        var batch: [any WriteRequest]
        if max(drafts, requests.count) <= WriteQueue.batchDrafts, bytes <= WriteQueue.batchBytes {
            batch = requests
            requests = []
            drafts = 0
            bytes = 0
        } else {
            var batchDrafts = 0
            var batchBytes = 0
            let count =
                requests.prefix { request in
                    batchDrafts += max(1, request.draftCount)
                    batchBytes += request.bytes
                    return batchDrafts <= WriteQueue.batchDrafts && batchBytes <= WriteQueue.batchBytes
                }.count
            batch = Array(requests.prefix(max(1, count)))
            requests.removeFirst(batch.count)
            for request in batch { leave(request) }
        }
        gatherUntil = 0
        flight = WriteQueue.Flight(requests: batch)
        return batch
    }

    fileprivate mutating func leave(_ request: any WriteRequest) {
        drafts -= request.draftCount
        bytes -= request.bytes
    }
}

/// The writer's next task.
enum WriterTask: Sendable {
    case batch([any WriteRequest])
    case reads([ReadJob])
    case housekeeping
    /// All accepted requests are done; the writer saves its final state.
    case drained
    case finish
}
