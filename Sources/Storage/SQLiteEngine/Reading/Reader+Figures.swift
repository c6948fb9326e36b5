import ChatModel
import Glibc
import SQLite

extension Reader {
    /// Deliveries by what they wait for, each answered by an index that holds no others: what was delivered is not looked
    /// at, however much that is.
    private static let queues = [
        ("waiting", "state = 0 AND ep IN (SELECT id FROM subscriber WHERE state = 0)"),
        ("held", "state = 0 AND ep IN (SELECT id FROM subscriber WHERE state = 1)"),
        ("dead", "state = 2 AND ep IN (SELECT id FROM subscriber)"),
    ]

    func figures() throws(SQLiteFailure) -> EngineStatistics {
        var figures = EngineStatistics()
        let ends = try statement("SELECT (SELECT min(tt) FROM event), (SELECT max(tt) FROM event)")
        try ends.forEachRow { row in
            figures.oldestEvent = row.optionalInteger(0).map { Timetoken(UInt64($0)) }
            figures.newestEvent = row.optionalInteger(1).map { Timetoken(UInt64($0)) }
            return true
        }
        for (state, condition) in Self.queues {
            let count = try statement("SELECT count(*), min(tt) FROM delivery WHERE \(condition)")
            try count.forEachRow { row in
                let oldest = row.optionalInteger(1).map { Timetoken(UInt64($0)) }
                figures.deliveries.append((state, EngineStatistics.Queue(count: Int(row.integer(0)), oldest: oldest)))
                return true
            }
        }
        let pages = try statement("PRAGMA page_count").firstInteger() ?? 0
        figures.bytes = Int(pages * (try statement("PRAGMA page_size").firstInteger() ?? 0))
        return figures
    }
}

extension EngineStatistics {
    /// Adds what stands beside the database, which is in its pages only after a checkpoint.
    mutating func measureFiles(_ path: String) {
        var status = stat()
        guard path != ":memory:", stat(path + "-wal", &status) == 0 else { return }
        walBytes = Int(status.st_size)
        bytes = (bytes ?? 0) + Int(status.st_size)
    }
}
