public import ChatModel
import Postgres

extension ClusterEngine {
    /// The measurements of this node.
    public func nodeStatistics() async -> NodeStatistics? {
        var statistics = NodeStatistics()
        statistics.commits = await writer.commits
        statistics.writes = await writer.writes
        statistics.failedCommits = await writer.failedCommits
        statistics.gapReads = await follower.gapReads
        statistics.headAge = await follower.headAge
        statistics.leaseLeft = queue.node.leaseLeft
        statistics.lanes = queue.node.lanes.all.count
        statistics.isBusConnected = bus.map { $0.problem == nil }
        return statistics
    }

    /// The size of the store, its oldest and newest event, and the deliveries by state. Reads one row for each webhook
    /// and subscription, and the index entries of all dead deliveries.
    ///
    /// - Throws: the errors of the store.
    public func statistics() async throws(ChatError) -> EngineStatistics {
        var statistics = try await asking { () throws(StoreFailure) in try await store.database.statistics() }
        statistics.waitingEvents = writer.queue.waitingDrafts
        return statistics
    }
}

extension ClusterDatabase {
    fileprivate func statistics() async throws(StoreFailure) -> EngineStatistics {
        let answers = try await pool.run([
            Statement(
                """
                SELECT (SELECT min(tt) FROM event), (SELECT max(tt) FROM event),
                    pg_database_size(current_database())
                """),
            Statement(
                """
                SELECT s.state, sum(s.waiting)::bigint, min(w.tt) FROM subscriber s
                LEFT JOIN LATERAL (SELECT tt FROM delivery WHERE ep = s.id AND state = 0 ORDER BY tt LIMIT 1) w ON true
                GROUP BY s.state
                """),
            Statement(
                """
                SELECT sum(d.count)::bigint, min(d.tt) FROM subscriber s
                CROSS JOIN LATERAL (SELECT count(*) AS count, min(tt) AS tt FROM delivery
                    WHERE ep = s.id AND state = 2) d
                """),
        ])
        var statistics = EngineStatistics()
        statistics.oldestEvent = answers[0].timetoken(0, 0)
        statistics.newestEvent = answers[0].timetoken(0, 1)
        statistics.bytes = answers[0].integer(0, 2).map { Int(clamping: $0) }
        for (number, state) in ["waiting", "held"].enumerated() {
            let row = (0..<answers[1].count).first { answers[1].integer($0, 0) == Int64(number) }
            statistics.deliveries.append((state, row.map { answers[1].queue($0, 1) } ?? .init(count: 0, oldest: nil)))
        }
        statistics.deliveries.append(("dead", answers[2].queue(0, 0)))
        return statistics
    }
}

extension Rows {
    /// The number of deliveries in a column, and the timetoken of the oldest event in the next column.
    fileprivate func queue(_ row: Int, _ column: Int) -> EngineStatistics.Queue {
        EngineStatistics.Queue(
            count: Int(clamping: integer(row, column) ?? 0), oldest: timetoken(row, column + 1))
    }
}
