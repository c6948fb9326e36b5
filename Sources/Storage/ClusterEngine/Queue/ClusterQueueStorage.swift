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

    /// Records the attempts that wait, in one transaction.
    func recordFinished() async {
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
        } catch {
            let all =
                taken.withLock { $0 }
                + finished.withLock { waiting in
                    defer { waiting = [] }
                    return waiting
                }
            for call in all { call.completion.answer(.failure(error)) }
        }
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
