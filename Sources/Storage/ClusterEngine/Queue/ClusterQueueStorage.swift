import ChatModel
import Locking
import Postgres
import StorageCore

/// The storage operations of a node's delivery queue.
final class ClusterQueueStorage: QueueStorage {
    private let lanes: OwnedLanes
    private let writer: QueueWriter
    private let reads: QueueReads
    private let scheduler: any ClusterScheduler
    private let clock: @Sendable () -> UInt64
    /// The uptime of the machine at which the delivery scheduler is called next; `.max` for none.
    private let nextCall = Lock<UInt64>(.max)
    /// The attempts that wait for the next transaction.
    private let finished = Lock<[FinishedAttempts]>([])
    private struct Repetition: Sendable {
        /// The uptime of the first of the latest failures to record attempts; nil after a success.
        var since: UInt64?
        var isClosed = false
    }
    private let repetition = Lock(Repetition())

    /// The time for which the recording of attempts is repeated while the store is unavailable (10 s, in nanoseconds).
    /// After that time the node has lost its lanes. Without the repetition, a delivery would wait until its lease ends.
    private static let longestRepetition: UInt64 = 10_000_000_000
    /// The time between two repetitions.
    private static let repetitionWait: Duration = .milliseconds(250)

    init(
        lanes: OwnedLanes, writer: QueueWriter, reads: QueueReads, scheduler: any ClusterScheduler,
        uptime: @escaping @Sendable () -> UInt64
    ) {
        self.lanes = lanes
        self.writer = writer
        self.reads = reads
        self.scheduler = scheduler
        clock = uptime
    }

    func uptime() -> UInt64 { clock() }

    func callScheduler(at moment: UInt64) {
        let isEarlier = nextCall.withLock { next in
            guard moment < next else { return false }
            next = moment
            return true
        }
        guard isEarlier else { return }
        scheduler.run { [self] in
            let now = MonotonicTime.now.nanoseconds
            if moment > now { await scheduler.sleep(.nanoseconds(Int64(clamping: moment - now))) }
            // Another call may have replaced this one by an earlier one.
            let isNext = nextCall.withLock { next in
                guard next == moment else { return false }
                next = .max
                return true
            }
            if isNext { lanes.scheduler.serve() }
        }
    }

    func record(_ finished: [FinishedAttempts], scheduler deliveries: DeliveryScheduler) {
        let isFirst = self.finished.withLock { waiting in
            waiting += finished
            return waiting.count == finished.count
        }
        if isFirst { scheduler.run { [self] in await recordFinished() } }
    }

    /// Records the attempts that wait, in one transaction. While the store is away, repeats this later.
    func recordFinished() async {
        guard !finished.withLock({ $0.isEmpty }) else { return }
        let taken = Lock<[FinishedAttempts]>([])
        do throws(ChatError) {
            try await writer.run { [finished] (transaction) throws(PostgresFailure) in
                // The attempts that have arrived while the transaction waited for its turn are recorded with it.
                let more = finished.withLock { waiting in
                    defer { waiting = [] }
                    return waiting
                }
                let all = taken.withLock { taken in
                    taken += more
                    return taken
                }
                let recorded = try await transaction.finish(all)
                transaction.afterCommit {
                    for (call, recorded) in zip(all, recorded) { call.completion.answer(.success(recorded)) }
                }
                return .success(())
            }
            repetition.withLock { $0.since = nil }
        } catch {
            let isRepeated = mayRepeat(after: error)
            let failed = finished.withLock { waiting -> [FinishedAttempts] in
                waiting = taken.withLock { $0 } + waiting
                guard !isRepeated else { return [] }
                defer { waiting = [] }
                return waiting
            }
            for call in failed { call.completion.answer(.failure(error)) }
            guard isRepeated else { return }
            scheduler.run { [self] in
                await scheduler.sleep(Self.repetitionWait)
                await recordFinished()
            }
        }
    }

    /// Returns true if a recording that stored nothing is repeated.
    private func mayRepeat(after error: ChatError) -> Bool {
        guard error.code == .unavailable || error.code == .storageFull else { return false }
        let now = clock()
        return repetition.withLock { state in
            let since = state.since ?? now
            state.since = since
            return !state.isClosed && now - since < Self.longestRepetition
        }
    }

    /// Records the attempts that wait. Later ones are recorded at once or not at all.
    func close() async {
        repetition.withLock { $0.isClosed = true }
        await recordFinished()
    }

    func requestFetch(of lane: Int64, scheduler deliveries: DeliveryScheduler) {
        scheduler.run { [self] in
            do throws(ChatError) {
                try await fetch(lane, scheduler: deliveries)
            } catch {
                deliveries.fetchFailed(lane)
            }
        }
    }

    func fetch(_ lane: Int64, scheduler: DeliveryScheduler) async throws(ChatError) {
        try await writer.run { (transaction) throws(PostgresFailure) in
            try await transaction.fetch(lane)
            return .success(())
        }
    }

    func requestExpiry(of leases: [ExpiredLease], scheduler deliveries: DeliveryScheduler) {
        scheduler.run { [self] in
            do throws(ChatError) {
                try await expire(leases, scheduler: deliveries)
            } catch {
                deliveries.cancelRecording(of: leases.map(\.key))
            }
        }
    }

    func expire(_ leases: [ExpiredLease], scheduler: DeliveryScheduler) async throws(ChatError) {
        try await writer.run { (transaction) throws(PostgresFailure) in
            try await transaction.expire(leases)
            return .success(())
        }
    }

    func leases(_ grants: [DeliveryScheduler.Grant]) async throws(ChatError) -> [DeliveryKey: Lease] {
        try await asking { () throws(StoreFailure) in try await reads.leases(grants) }
    }

    func followers(of grants: [DeliveryScheduler.Grant]) async throws(ChatError) -> [DeliveryKey: [DueItem]] {
        try await asking { () throws(StoreFailure) in try await reads.followers(of: grants) }
    }
}
