import ChatModel
import Postgres
import StorageCore

extension QueueReads {
    /// Removes one batch of finished deliveries whose last change is before `edge`. Returns true when there may be more.
    fileprivate func removeFinished(before edge: Timetoken) async throws(StoreFailure) -> Bool {
        let most = QueueTransaction.turnRows
        // A delivery is never older than its event, so the statement reads only the beginning of the table.
        let rows = try await pool.run([
            Statement(
                """
                WITH gone AS (DELETE FROM delivery WHERE (tt, ep) IN (
                    SELECT tt, ep FROM delivery WHERE tt < $1 AND state <> 0 AND touched < $1 ORDER BY tt, ep
                    LIMIT \(most) FOR UPDATE SKIP LOCKED) RETURNING tt, ep),
                logs AS (DELETE FROM attempt_log l USING gone g WHERE l.tt = g.tt AND l.ep = g.ep)
                SELECT count(*) FROM gone
                """, [.timetoken(edge)])
        ])[0]
        return rows.integer(0, 0) == Int64(most)
    }

    /// Removes the rows of nodes whose leases ended more than an hour ago. A node that renews its lease later adds its
    /// row again.
    fileprivate func removeNodes() async throws(StoreFailure) {
        _ = try await pool.run([
            Statement("DELETE FROM node WHERE lease_until < \(LaneRow.databaseTime) - 36000000000")
        ])
    }

    /// The subscribers in one of several states that have waiting deliveries.
    fileprivate func waitingLanes(_ condition: String) async throws(StoreFailure) -> [Int64] {
        let rows = try await pool.run([Statement("SELECT id FROM subscriber WHERE waiting > 0 AND (\(condition))")])[0]
        return (0..<rows.count).compactMap { rows.integer($0, 0) }
    }
}

extension ClusterDeliveries {
    /// Removes finished deliveries that have outlived their time. Makes two kinds of waiting deliveries dead: those of
    /// closed subscribers that are left because closing was interrupted, and those that have waited too long because the
    /// subscriber is paused or its consumer has not pulled them.
    func removeOutlived() async throws(ChatError) {
        let closed = try await asking { () throws(StoreFailure) in try await reads.waitingLanes("state = 2") }
        for number in closed {
            while try await writer.run({ (transaction) throws(PostgresFailure) in
                .success(try await transaction.markDead(number))
            }) {}
        }
        let edge = memory.now.adding(.zero - memory.limits.deliveriesKept)
        let patient = try await asking { () throws(StoreFailure) in
            try await reads.waitingLanes("state = 1 OR state = 0 AND pulled")
        }
        for number in patient {
            while try await writer.run({ (transaction) throws(PostgresFailure) in
                .success(try await transaction.markAgedDead(number, before: edge))
            }) {}
        }
        try await asking { () throws(StoreFailure) in
            while try await reads.removeFinished(before: edge) {}
            try await reads.removeNodes()
        }
    }
}
