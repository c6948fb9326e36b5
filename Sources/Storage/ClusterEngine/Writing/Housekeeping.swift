import ChatModel
import StorageCore

/// Removes data that has outlived its time, in short transactions, because all writers of the cluster wait for them.
struct Housekeeping: Sendable {
    let memory: NodeMemory
    let writer: WriterHandle

    /// The maximum number of rows that one transaction removes.
    private static let rows = 2000
    /// The time for which a node can be disconnected and still learn of deletions.
    private static let noticesKept: Duration = .seconds(3600)

    /// Removes everything that has outlived its time at the time of the call.
    func removeOutlived() async throws(ChatError) {
        let now = memory.now
        let edges = HousekeepingEdges(
            now: now, passing: now.adding(.zero - memory.limits.passingAge),
            tombstones: now.adding(.zero - memory.limits.deliveriesKept), notices: now.adding(.zero - Self.noticesKept))
        for removal in Removal.allCases {
            var isMoreLeft = true
            while isMoreLeft {
                isMoreLeft = try await writer.transaction { [memory] (transaction, batch) throws(StoreFailure) in
                    let result = try await transaction.remove(removal, edges, limit: Self.rows) { app, age in
                        // The retention may have been changed while this node was away.
                        memory.retention.update(app) { $0.age = age }
                        return memory.retention.cutoff(of: app, now: now)
                    }
                    for notice in result.notices { batch.add(notice) }
                    if result.hasRemoved { batch.hasRemovals = true }
                    return result.isMoreLeft
                }
            }
        }
        memory.tailIndex.sweep()
    }
}

/// The kinds of data that outlive their time.
enum Removal: Sendable, CaseIterable {
    /// Events older than the retention of their app.
    case outlived
    /// Events whose own expiry has passed.
    case expired
    case passing, repeats, claims, tombstones, notices, writers
}

/// The times before which data is removed.
struct HousekeepingEdges: Sendable {
    var now: Timetoken
    /// Ephemeral events before this time are removed.
    var passing: Timetoken
    /// Tombstones of records before this time are removed.
    var tombstones: Timetoken
    /// Notices before this time are removed.
    var notices: Timetoken
}

/// The result of one turn of housekeeping.
struct HousekeepingResult: Sendable {
    var notices: [Notice] = []
    /// True if rows were removed or changed.
    var hasRemoved: Bool
    /// True when more rows are left to remove.
    var isMoreLeft = false
}
