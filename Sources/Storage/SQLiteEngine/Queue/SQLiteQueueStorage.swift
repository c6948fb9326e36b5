import ChatModel
import SQLite
import StorageCore

/// The storage operations of a store's delivery queue.
struct SQLiteQueueStorage: QueueStorage {
    let readers: Readers
    let writerHandle: WriterHandle

    func uptime() -> UInt64 { writerHandle.uptime() }

    func callScheduler(at moment: UInt64) { writerHandle.deadlineThread.call(at: moment) }

    func record(_ finished: [FinishedAttempts], scheduler: DeliveryScheduler) {
        writerHandle.submit(FinishRequest(finished, scheduler: scheduler, since: uptime()))
    }

    func requestFetch(of lane: Int64, scheduler: DeliveryScheduler) {
        writerHandle.submit(LaneFetchRequest(lane, scheduler: scheduler, since: uptime()))
    }

    func fetch(_ lane: Int64, scheduler: DeliveryScheduler) async throws(ChatError) {
        try await writerHandle.run(needsTransaction: false) { (writer) throws(SQLiteFailure) in
            try writer.fetchLane(lane, scheduler: scheduler)
            return .success(())
        }
    }

    func requestExpiry(of leases: [ExpiredLease], scheduler: DeliveryScheduler) {
        writerHandle.submit(ExpiryRequest(leases, scheduler: scheduler, since: uptime()))
    }

    func expire(_ leases: [ExpiredLease], scheduler: DeliveryScheduler) async throws(ChatError) {
        try await writerHandle.run { (writer) throws(SQLiteFailure) in
            try writer.expire(leases, scheduler: scheduler)
            return .success(())
        }
    }

    func leases(_ grants: [DeliveryScheduler.Grant]) async throws(ChatError) -> [DeliveryKey: Lease] {
        try await readers.run { (reader) throws(SQLiteFailure) in try reader.leases(grants) }
    }

    func followers(of grants: [DeliveryScheduler.Grant]) async throws(ChatError) -> [DeliveryKey: [DueItem]] {
        try await readers.run { (reader) throws(SQLiteFailure) in try reader.followers(of: grants) }
    }
}

/// A request that reads the earliest deliveries of a lane (a subscriber's queue) from the database. It runs on the
/// writer's thread, so that no commit can happen between reading the rows and updating memory.
final class LaneFetchRequest: WriteRequest {
    let since: UInt64
    private let lane: Int64
    private let scheduler: DeliveryScheduler

    init(_ lane: Int64, scheduler: DeliveryScheduler, since: UInt64) {
        self.lane = lane
        self.scheduler = scheduler
        self.since = since
    }

    var draftCount: Int { 0 }
    var bytes: Int { 0 }
    var needsTransaction: Bool { false }

    func perform(on writer: Writer) throws(SQLiteFailure) { try writer.fetchLane(lane, scheduler: scheduler) }
    func fail(_ error: ChatError) { scheduler.fetchFailed(lane) }
}

/// A request that records expired leases as failed attempts.
final class ExpiryRequest: WriteRequest {
    let since: UInt64
    private let leases: [ExpiredLease]
    private let scheduler: DeliveryScheduler

    init(_ leases: [ExpiredLease], scheduler: DeliveryScheduler, since: UInt64) {
        self.leases = leases
        self.scheduler = scheduler
        self.since = since
    }

    var draftCount: Int { 0 }
    var bytes: Int { 0 }
    var needsTransaction: Bool { true }

    func perform(on writer: Writer) throws(SQLiteFailure) { try writer.expire(leases, scheduler: scheduler) }
    func fail(_ error: ChatError) { scheduler.cancelRecording(of: leases.map(\.key)) }
}

/// A request that records the collected attempts in one commit.
final class FinishRequest: WriteRequest {
    let since: UInt64
    private let finished: [FinishedAttempts]
    private let scheduler: DeliveryScheduler

    init(_ finished: [FinishedAttempts], scheduler: DeliveryScheduler, since: UInt64) {
        self.finished = finished
        self.scheduler = scheduler
        self.since = since
    }

    var draftCount: Int { 0 }
    var bytes: Int { 0 }
    var needsTransaction: Bool { true }

    func perform(on writer: Writer) throws(SQLiteFailure) {
        for one in finished {
            let recorded = try writer.finish(one.attempts, one.keys, scheduler: scheduler)
            writer.answers.append { one.completion.answer(.success(recorded)) }
        }
    }

    func fail(_ error: ChatError) {
        for one in finished { one.completion.answer(.failure(error)) }
    }
}
