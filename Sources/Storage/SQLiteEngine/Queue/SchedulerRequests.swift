import ChatModel
import SQLite

/// Reads a lane's earliest items on the writer's thread, where nothing can come between the rows and what memory makes of them.
final class LaneFetchRequest: WriteRequest {
    let since: UInt64
    private let lane: Int64
    private let scheduler: DeliveryScheduler

    init(_ lane: Int64, scheduler: DeliveryScheduler, since: UInt64) {
        self.lane = lane
        self.scheduler = scheduler
        self.since = since
    }

    var drafts: Int { 0 }
    var bytes: Int { 0 }
    var needsTransaction: Bool { false }

    func perform(on writer: Writer) throws(SQLiteFailure) { try writer.fetchLane(lane, scheduler: scheduler) }
    func fail(_ error: ChatError) { scheduler.fetchFailed(lane) }
}

/// Records leases that ran out.
final class ExpiryRequest: WriteRequest {
    let since: UInt64
    private let leases: [ExpiredLease]
    private let scheduler: DeliveryScheduler

    init(_ leases: [ExpiredLease], scheduler: DeliveryScheduler, since: UInt64) {
        self.leases = leases
        self.scheduler = scheduler
        self.since = since
    }

    var drafts: Int { 0 }
    var bytes: Int { 0 }
    var needsTransaction: Bool { true }

    func perform(on writer: Writer) throws(SQLiteFailure) { try writer.expire(leases, scheduler: scheduler) }
    func fail(_ error: ChatError) { scheduler.abandonFinish(leases.map(\.key)) }
}
