import ChatModel
import Locking

/// Where callers leave their wishes and the writer picks them up, all that wait at once. Bounded: past the limits callers
/// are refused at once, because a queue that only grows answers nobody in time.
final class WriteQueue: Sendable {
    /// At most this much goes into one transaction, so that no batch makes its callers wait long.
    fileprivate static let batchDrafts = 2000
    fileprivate static let batchBytes = 4 * 1024 * 1024
    /// The callers of the last batch have just been answered, and many of them come again at once: a commit for the first
    /// few of them would make the others wait for the disk twice. So the writer lets three quarters of those gather that were
    /// there when it was done, answered or waiting, for at most this long; one caller alone never waits.
    private static let gatherNanoseconds: UInt64 = 200_000

    /// What the writer is to do next.
    enum Order: Sendable {
        case batch([any WriteRequest])
        case reads([ReadJob])
        case housekeeping
        /// Everything accepted is done; write the last things down.
        case drained
        case finish
    }

    fileprivate struct State: Sendable {
        var requests: [any WriteRequest] = []
        var reads: [ReadJob] = []
        var drafts = 0
        var bytes = 0
        /// The batch being worked on, and since when; nil between batches.
        var flight: Flight?
        var isWatched = false
        var phase = Phase.open
        /// More than so many are waited for.
        var enough = 0
        /// Uptime of the machine at which the writer stops gathering; zero: it is not.
        var gatherUntil: UInt64 = 0
        /// More wishes than these wake the sleeping writer: a wake costs both threads system calls, and while it lets
        /// wishes gather most would only send it back to sleep. None do while it works, for it looks here before it sleeps.
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

    /// - Returns: why the wish was not taken; nil if it was. `isFirst`: nobody watches the deadlines yet.
    ///
    /// Wishes without drafts come from the engine's own parts (deliveries, cursors), whose number is bounded by leases and
    /// planners; refusing them would repeat what has already been sent.
    func offer(_ request: any WriteRequest) -> (refusal: ChatError?, isFirst: Bool) {
        let answer: (refusal: ChatError?, isFirst: Bool, wakes: Bool) = monitor.withLock { state in
            guard state.phase == .open else { return (.closing, false, false) }
            if request.drafts > 0, !state.requests.isEmpty || state.flight != nil {
                guard state.drafts + request.drafts <= limits.waitingDrafts,
                    state.bytes + request.bytes <= limits.waitingBytes
                else { return (.overloaded, false, false) }
            }
            state.requests.append(request)
            state.drafts += request.drafts
            state.bytes += request.bytes
            defer { state.isWatched = true }
            return (nil, !state.isWatched, state.wakesWriter())
        }
        if answer.wakes { monitor.wakeOne() }
        return (answer.refusal, answer.isFirst)
    }

    /// A read for the writer's own connection: in memory there is no other.
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

    /// No new wishes; the writer is told `.drained` when the accepted ones are done.
    func drain() {
        monitor.withLock { if $0.phase == .open { $0.phase = .draining } }
        monitor.wakeOne()
    }

    /// Nothing more will be asked of the writer.
    func finish() {
        monitor.withLock { $0.phase = .finishing }
        monitor.wakeOne()
    }

    // MARK: The writer

    /// Sleeps until there is something to do. Wishes go before housekeeping, unless that is overdue.
    ///
    /// - Parameter housekeepingAt: uptime of the next turn; overdue by `patience` it goes first.
    func next(housekeepingAt: UInt64, patience: UInt64) -> Order {
        monitor.wait { state in
            let now = uptimeNanoseconds()
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
                return .done(.batch(state.takeBatch()))
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

    /// The writer is about to commit. False if the batch was given up: then it must be rolled back, because its callers
    /// were told that nothing is stored.
    func mayCommit() -> Bool {
        monitor.withLock { state in
            guard state.flight?.isGivenUp != true else { return false }
            state.flight?.isCommitting = true
            return true
        }
    }

    /// The batch is done, and nobody answered yet: counts who is there, to know how many may come together next.
    func countCallers() {
        monitor.withLock { state in
            state.enough = ((state.flight?.requests.count ?? 0) + state.requests.count) * 3 / 4
        }
    }

    /// The batch is over, one way or the other.
    func land() { monitor.withLock { $0.flight = nil } }

    // MARK: The clerk

    /// Takes back what has waited since before `moment`.
    ///
    /// - Returns: wishes that were not begun or whose commit was not sent; wishes whose commit is under way; and whether
    ///   anything still waits, so that the clerk looks again.
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

    /// Wishes waiting now, for health and figures.
    var waiting: (drafts: Int, bytes: Int) { monitor.withLock { ($0.drafts, $0.bytes) } }
}

extension WriteQueue.State {
    /// Whether more wishes are worth waiting for.
    fileprivate mutating func mustGather(_ now: UInt64, _ patience: UInt64) -> Bool {
        guard phase == .open, requests.count <= enough else { return false }
        if gatherUntil == 0 { gatherUntil = now + patience }
        guard now < gatherUntil else { return false }
        wakesAbove = enough
        return true
    }

    /// Whether the wish that has just come is the one the writer sleeps for.
    fileprivate mutating func wakesWriter() -> Bool {
        guard requests.count > wakesAbove else { return false }
        wakesAbove = .max
        return true
    }

    fileprivate mutating func takeBatch() -> [any WriteRequest] {
        var batch: [any WriteRequest]
        if max(drafts, requests.count) <= WriteQueue.batchDrafts, bytes <= WriteQueue.batchBytes {
            batch = requests
            requests = []
            drafts = 0
            bytes = 0
        } else {
            var takenDrafts = 0
            var takenBytes = 0
            let count =
                requests.prefix { request in
                    takenDrafts += max(1, request.drafts)
                    takenBytes += request.bytes
                    return takenDrafts <= WriteQueue.batchDrafts && takenBytes <= WriteQueue.batchBytes
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
        drafts -= request.drafts
        bytes -= request.bytes
    }
}
