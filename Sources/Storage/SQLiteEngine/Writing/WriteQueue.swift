import ChatModel
import Locking
import StorageCore

/// The queue of write requests between callers and the writer's thread. The writer takes the waiting requests as one
/// batch, at most 2,000 drafts or 4 MiB. The queue has limits. A request above a limit is rejected immediately, because
/// otherwise all callers would wait too long.
final class WriteQueue: Sendable {
    /// The maximum number of drafts (events to append) in one transaction, so that the callers of a batch do not wait
    /// long.
    fileprivate static let batchDrafts = 2000
    /// The maximum number of bytes in one transaction.
    fileprivate static let batchBytes = 4 * 1024 * 1024
    /// The maximum time that the writer waits for more requests before it begins a batch (600 µs). After a batch, many
    /// of its callers immediately send their next request. If the writer committed only the first of these requests,
    /// the others would wait for two commits. The writer therefore waits for about seven eighths of the requests that
    /// were in the last batch or in the queue at the end of that batch. A single caller never waits.
    ///
    /// The time begins at the end of the last batch. If it ends while the queue is empty, it begins again with the next
    /// request.
    private static let gatherNanoseconds: UInt64 = 600_000

    fileprivate struct State: Sendable {
        var requests: [any WriteRequest] = []
        var reads: [ReadJob] = []
        var drafts = 0
        var bytes = 0
        /// The batch in progress; nil between batches.
        var flight: Flight?
        var isWatched = false
        var phase = Phase.open
        /// The writer stops waiting for more requests when more than this number are in the queue.
        var enough = 0
        /// The machine's uptime in nanoseconds at which the writer stops waiting for more requests; zero if that time has
        /// passed while the queue was empty.
        var gatherUntil: UInt64 = 0
        /// The writer is woken when more than this number of requests are in the queue. Waking a thread costs system
        /// calls in both threads. While the writer waits for more requests, waking it for each one would be useless.
        /// While the writer works, it need not be woken, because it checks the queue before it sleeps.
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
    /// Requests without drafts are internal, for instance for deliveries and cursors. Their number is limited by the
    /// number of leases and planners. A full queue does not reject them. Otherwise, deliveries that were already sent
    /// would be sent again.
    ///
    /// - Returns: `refusal`, the reason why the request was rejected, or nil when it was accepted; and `isFirst`, which
    ///   is true when the caller must schedule a check of the deadlines.
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

    /// Adds a read that runs on the writer's connection, for a store in memory. Returns the reason why the read was
    /// rejected, or nil when it was accepted.
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

    /// Begins to reject new requests. The writer receives `.drained` when all accepted requests are completed.
    func drain() {
        monitor.withLock { if $0.phase == .open { $0.phase = .draining } }
        monitor.wakeOne()
    }

    /// Makes the writer's thread end. No requests may follow.
    func finish() {
        monitor.withLock { $0.phase = .finishing }
        monitor.wakeOne()
    }

    // MARK: The writer

    /// Waits until there is a task for the writer and returns it. Requests come before housekeeping, unless
    /// housekeeping is overdue.
    ///
    /// - Parameter housekeepingAt: the uptime in nanoseconds at which the next batch of housekeeping (the removal of
    ///   expired data) is due. If the batch is overdue by more than `patience` nanoseconds, it comes before requests.
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
            // This wait also covers the time before the first request, so that the first request does not wake the
            // writer.
            if state.mustGather(now, Self.gatherNanoseconds) { return .sleepUntil(state.gatherUntil) }
            if !state.requests.isEmpty { return .done(.batch(state.removeBatch())) }
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

    /// Called before the commit of a batch. Returns false when the deadline of the batch has passed. The batch must
    /// then be rolled back, because its callers were already informed that nothing was stored.
    func beginCommit() -> Bool {
        monitor.withLock { state in
            guard state.flight?.isGivenUp != true else { return false }
            state.flight?.isCommitting = true
            return true
        }
    }

    /// Called when a batch is committed, before its callers receive their results. Counts the callers, to estimate how
    /// many requests will arrive for the next batch.
    func countCallers() {
        monitor.withLock { state in
            state.enough = ((state.flight?.requests.count ?? 0) + state.requests.count) * 7 / 8
        }
    }

    /// Called when a batch has ended, with or without success.
    func endBatch() {
        let end = MonotonicTime.now.nanoseconds
        monitor.withLock { state in
            state.flight = nil
            state.gatherUntil = end + Self.gatherNanoseconds
        }
    }

    // MARK: The deadline thread

    /// Removes the requests that were made before `moment`.
    ///
    /// - Returns: `unstored`, the overdue requests of which nothing is stored; `unknown`, the overdue requests whose
    ///   commit is in progress; and `isBusy`, which is true when requests are left, so that the deadline thread must
    ///   check again.
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

    /// The number of drafts and bytes in the waiting requests, for health checks and statistics.
    var waiting: (drafts: Int, bytes: Int) { monitor.withLock { ($0.drafts, $0.bytes) } }
}

extension WriteQueue.State {
    /// Returns true if the writer should wait for more requests before it begins a batch.
    fileprivate mutating func mustGather(_ now: UInt64, _ patience: UInt64) -> Bool {
        guard phase == .open, enough > 0, requests.count <= enough else { return false }
        if gatherUntil == 0, !requests.isEmpty { gatherUntil = now + patience }
        guard now < gatherUntil else {
            gatherUntil = 0
            return false
        }
        wakesAbove = enough
        return true
    }

    /// Returns true if the writer must be woken for the request that was just added.
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
    /// All accepted requests are completed. The writer must store its final state.
    case drained
    case finish
}
