import ChatModel
import Locking
import StorageCore

@testable import ClusterEngine

/// A store whose next commit loses its connection, before or after the server has committed, and which cannot be
/// followed at times.
final class FaultyStore: ClusterStore {
    private let store: PostgresStore
    private let commitsFirst: Bool
    /// True if the next commit fails.
    let isArmed = Lock(false)
    /// True while the commits of other nodes cannot be read.
    let isAway = Lock(false)

    init(_ store: PostgresStore, commitsFirst: Bool = false) {
        self.store = store
        self.commitsFirst = commitsFirst
    }

    private struct Transaction: StoreTransaction {
        let transaction: any StoreTransaction
        let store: FaultyStore
        var head: Head { transaction.head }
        func read(_ lookup: Lookup) async throws(StoreFailure) -> Found { try await transaction.read(lookup) }
        func delete(
            after: Timetoken, before: Timetoken, in channel: ChannelID, limit: Int
        ) async throws(StoreFailure) -> [(timetoken: Timetoken, expires: Timetoken?)] {
            try await transaction.delete(after: after, before: before, in: channel, limit: limit)
        }
        func remove(
            _ removal: Removal, _ edges: HousekeepingEdges, limit: Int,
            cutoff: @Sendable (AppID, Duration) -> Timetoken
        ) async throws(StoreFailure) -> HousekeepingResult {
            try await transaction.remove(removal, edges, limit: limit, cutoff: cutoff)
        }
        func commit(_ changes: StoreChanges) async throws(StoreFailure) {
            guard
                store.isArmed.withLock({ isArmed in
                    defer { isArmed = false }
                    return isArmed
                })
            else { return try await transaction.commit(changes) }
            if store.commitsFirst { try await transaction.commit(changes) } else { await transaction.rollback() }
            throw .outcomeUnknown("the connection is lost")
        }
        func rollback() async { await transaction.rollback() }
    }

    var database: ClusterDatabase { store.database }

    func begin() async throws(StoreFailure) -> any StoreTransaction {
        Transaction(transaction: try await store.begin(), store: self)
    }
    func isCommitted(_ transaction: any StoreTransaction) async throws(StoreFailure) -> Bool {
        guard let transaction = transaction as? Transaction else { return false }
        return try await store.isCommitted(transaction.transaction)
    }
    func follow(after head: Head, _ body: @Sendable (Frame) async -> Void) async throws(StoreFailure) -> Head {
        guard !isAway.withLock({ $0 }) else { throw .unavailable("away") }
        return try await store.follow(after: head, body)
    }
    func records(_ keys: [RecordKey]) async throws(StoreFailure) -> [Record?] { try await store.records(keys) }
    func list(_ query: RecordQuery) async throws(ListFailure) -> Page<Record> { try await store.list(query) }
    func changes(after revision: Revision) async throws(StoreFailure) -> RecordChanges? {
        try await store.changes(after: revision)
    }
    func events(_ query: EventsQuery) async throws(StoreFailure) -> Page<Event> { try await store.events(query) }
    func everything(
        after position: Timetoken, upTo end: Timetoken, limit: Int
    ) async throws(StoreFailure) -> Page<Event> {
        try await store.everything(after: position, upTo: end, limit: limit)
    }
    func event(at timetoken: Timetoken) async throws(StoreFailure) -> Event? { try await store.event(at: timetoken) }
    func history(_ requests: [HistoryQuery]) async throws(StoreFailure) -> [Page<Event>] {
        try await store.history(requests)
    }
    func counts(_ requests: [HistoryQuery]) async throws(StoreFailure) -> [Int] { try await store.counts(requests) }
    func earlier(_ claim: Claim, now: Timetoken) async throws(StoreFailure) -> StoredClaim? {
        try await store.earlier(claim, now: now)
    }
    func newestLoss(_ query: LossQuery) async throws(StoreFailure) -> Timetoken? { try await store.newestLoss(query) }
    func retentions() async throws(StoreFailure) -> [AppID: RetentionTable.Entry] { try await store.retentions() }
    func restored() async throws(StoreFailure) -> Timetoken { try await store.restored() }
    func close() async { await store.close() }
}
