import ChatModel
import Locking
import Logging
import StorageCore

/// Carries out the write requests of this node, in batches. One transaction writes a batch. While it runs, the requests
/// of the next batch gather. So a request costs fewer round trips and commits when the load is higher (group commit).
actor Writer {
    private let store: any ClusterStore
    private let memory: NodeMemory
    private let follower: Follower
    private let bus: (any ClusterBus)?
    private let logger: Logger
    private let scheduler: any ClusterScheduler
    private let uptime: @Sendable () -> UInt64
    let queue: WriteQueue
    /// The failure of the last transaction; nil if it succeeded.
    private(set) var failure: StoreFailure?
    private(set) var commits = NodeStatistics.Timing()
    private(set) var writes = NodeStatistics.Timing()
    private(set) var failedCommits: UInt64 = 0

    init(
        store: any ClusterStore, memory: NodeMemory, follower: Follower, bus: (any ClusterBus)?,
        settings: ClusterEngineSettings
    ) {
        self.store = store
        self.memory = memory
        self.follower = follower
        self.bus = bus
        logger = settings.logger
        scheduler = settings.scheduler
        uptime = settings.uptime
        queue = WriteQueue(limits: memory.limits)
    }

    /// Serves the queue until it is closed and empty.
    func run() async {
        while !queue.isDrained {
            let requests = queue.take()
            if requests.isEmpty { await queue.signal.wait() } else { await process(requests) }
            queue.endBatch()
        }
    }

    private func process(_ requests: [any WriteRequest]) async {
        do throws(StoreFailure) {
            try await write(requests)
            if failure != nil { logger.notice("the store works again") }
            failure = nil
        } catch {
            failedCommits += 1
            await recover(from: error, requests)
        }
    }

    /// Handles a failed batch. If a single request may have caused the failure, each request runs again alone, so that
    /// only the faulty one fails.
    private func recover(from failure: StoreFailure, _ requests: [any WriteRequest]) async {
        if case .rejected = failure, requests.count > 1 {
            for request in requests { await process([request]) }
            return
        }
        // While the store is away, only its first failure is logged.
        if self.failure == nil {
            logger.error(
                "commit failed; the requests in this commit receive an error", metadata: ["failure": "\(failure)"])
        }
        if case .rejected = failure {} else { self.failure = failure }
        for request in requests { request.fail(failure.answer) }
    }

    private func write(_ requests: [any WriteRequest]) async throws(StoreFailure) {
        try await transaction { (transaction, batch) throws(StoreFailure) in
            var lookup = Lookup()
            for request in requests { lookup.formUnion(request.lookup) }
            if !lookup.isEmpty { batch.add(try await transaction.read(lookup)) }
            // What the first answers lead to, for instance the first events of repeated requests.
            lookup = Lookup()
            for request in requests { lookup.formUnion(request.followUp(in: batch)) }
            if !lookup.isEmpty { batch.add(try await transaction.read(lookup)) }
            for request in requests { try await request.perform(on: batch, transaction) }
        }
        let now = uptime()
        for request in requests {
            request.answer()
            writes.add(.nanoseconds(now - min(now, request.since)))
        }
    }

    /// Commits a transaction. If the connection is lost meanwhile, asks the store for the outcome on a new one.
    private func commit(
        _ transaction: any StoreTransaction, _ changes: StoreChanges
    ) async throws(StoreFailure) {
        do throws(StoreFailure) {
            try await transaction.commit(changes)
        } catch {
            guard case .outcomeUnknown(let text) = error else { throw error }
            await transaction.rollback()
            let until = uptime() + Self.outcomeWait
            for _ in 0..<Self.outcomeAttempts where uptime() < until {
                // If the store does not answer, the writer asks again.
                switch try? await store.isCommitted(transaction) {
                case true: return
                case false: throw .unavailable(text)
                case nil: await scheduler.sleep(.milliseconds(50))
                }
            }
            throw error
        }
    }

    /// The time for which the writer asks for the outcome of a commit (4 s), in nanoseconds.
    private static let outcomeWait: UInt64 = 4_000_000_000
    /// The number of times that the writer asks, at most.
    private static let outcomeAttempts = 80

    /// Runs `body` in a transaction that holds the lock of the head, and commits the batch. Returns when the commit is
    /// visible on this node.
    ///
    /// - Throws: the failure of the store. Nothing is stored, except after `.outcomeUnknown`.
    private func transaction(
        _ body: (any StoreTransaction, Batch) async throws(StoreFailure) -> Void
    ) async throws(StoreFailure) {
        let start = uptime()
        let transaction = try await store.begin()
        guard queue.mayGoOn else {
            await transaction.rollback()
            throw .unavailable("the requests have waited too long")
        }
        let batch = Batch(start: transaction.head, memory: memory)
        let frame: Frame?
        do throws(StoreFailure) {
            try await body(transaction, batch)
            frame = batch.finish()
            if frame != nil {
                guard queue.beginCommit() else { throw StoreFailure.unavailable("the requests have waited too long") }
                try await commit(transaction, batch.changes)
            }
        } catch {
            await transaction.rollback()
            throw error
        }
        guard let frame else { return await transaction.rollback() }
        commits.add(.nanoseconds(uptime() - start))
        bus?.publish(FrameCodec.encode(frame))
        await follower.receiveOwn(frame, expectsFrames: bus.map { $0.problem == nil } ?? false)
    }
}
