public import ChatModel
import SQLite

/// What waits in a store, as somebody sees it who looks from outside.
public struct StoreQueue: Sendable {
    /// Deliveries to be tried, and those given up.
    public var waiting: Int
    public var dead: Int
    /// Endpoints that get nothing at the moment, with their apps.
    public var disabled: [String]
}

extension StoreFile {
    /// The version of the SQLite library in use.
    public static var libraryVersion: String { Database.libraryVersion }

    /// Whether an engine has the file, in whatever process. Makes nothing where there is nothing.
    public var isInUse: Bool {
        guard StoreFile(at: path + ".lock").exists else { return false }
        do throws(FileLock.LockError) {
            _ = try FileLock(path: path + ".lock")
            return false
        } catch { return error == .held }
    }

    /// The last timetoken that may have been given out.
    public func lastReserved() throws(SQLiteEngineFailure) -> Timetoken {
        try reading { (database) throws(SQLiteFailure) in try Heads(database).timetoken }
    }

    /// What waits for webhooks.
    public func queue() throws(SQLiteEngineFailure) -> StoreQueue {
        try reading { (database) throws(SQLiteFailure) in
            func deliveries(_ state: Int) throws(SQLiteFailure) -> Int {
                // By the index of states: a walk over millions of rows would be read from the disk.
                Int(
                    try database.integer(
                        """
                        SELECT sum((SELECT count(*) FROM delivery INDEXED BY delivery_state
                        WHERE ep = subscriber.id AND state = \(state))) FROM subscriber
                        """) ?? 0)
            }
            var disabled: [String] = []
            let subscribers = try database.prepare(
                "SELECT app, name FROM subscriber WHERE state = \(LaneState.paused.rawValue) ORDER BY app, name")
            try subscribers.forEachRow { row throws(SQLiteFailure) in
                disabled.append("\(row.text(0))/\(row.text(1))")
                return true
            }
            return StoreQueue(waiting: try deliveries(0), dead: try deliveries(2), disabled: disabled)
        }
    }
}
